// Tests that conversations on disk are found by their words, whatever is typed.
#include "tests/app/store/store_case.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QThreadPool>

using namespace test_support;
using Status = StoredMessage::Status;

namespace {

QStringList words(const QList<SearchHit>& hits)
{
    QStringList found;
    for (const SearchHit& hit : hits)
        found << (hit.message.isEmpty() ? hit.title : hit.message);
    found.sort();
    return found;
}

}  // namespace

class TestConversationSearch : public StoreCase
{
    Q_OBJECT

private Q_SLOTS:
    void init() { begin(); }
    void cleanup() { end(); }

    void search_data()
    {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("found");
        QTest::newRow("one word") << "cache"
                                  << "m-cache";
        QTest::newRow("a beginning") << "quanti"
                                     << "m-quant";
        QTest::newRow("only the last may be one") << "quanti weights"
                                                  << "";
        QTest::newRow("all words") << "memory cache"
                                   << "m-cache";
        QTest::newRow("title") << "travel"
                               << "Travel plans";
        QTest::newRow("no accents needed") << "uber cafe"
                                           << "m-accent";
        QTest::newRow("accents neither") << QString::fromUtf8("ÜBER CAFÉ") << "m-accent";
        QTest::newRow("greek") << QString::fromUtf8("ΜΈΤΡΟ") << "m-greek";
        QTest::newRow("operators are words") << "cache OR weights"
                                             << "";
        QTest::newRow("not") << "NOT"
                             << "";
        QTest::newRow("near") << "NEAR(memory cache)"
                              << "";
        QTest::newRow("quotes") << "\"cache"
                                << "m-cache";
        QTest::newRow("column") << "text:cache"
                                << "";
        QTest::newRow("star") << "* cache *"
                              << "m-cache";
        QTest::newRow("c++") << "C++"
                             << "m-cpp";
        QTest::newRow("sql") << "'; DROP TABLE messages; --"
                             << "";
        QTest::newRow("nothing") << "   "
                                 << "";
        QTest::newRow("only signs") << "\"\" ( ) ^ - +"
                                    << "";
        QTest::newRow("control") << QString::fromUtf8("the\0cac", 7) << "m-cache";
        QTest::newRow("dotted") << "llama.cpp"
                                << "m-cpp";
        QTest::newRow("a word within") << QString::fromUtf8("机器") << "m-chinese";
        QTest::newRow("at its end") << QString::fromUtf8("“学习”，") << "m-chinese";
        QTest::newRow("several within") << QString::fromUtf8("有趣 我喜欢") << "m-chinese";
        QTest::newRow("within, not there") << QString::fromUtf8("有趣 深度") << "";
        QTest::newRow("within Japanese") << QString::fromUtf8("学習") << "m-japanese";
        QTest::newRow("within Thai") << QString::fromUtf8("แมว") << "m-thai";
        QTest::newRow("between spaces and within") << QString::fromUtf8("gpu 内存") << "m-mixed";
        QTest::newRow("within and a beginning") << QString::fromUtf8("内存 gp") << "m-mixed";
        QTest::newRow("both in one") << QString::fromUtf8("kv缓存") << "m-mixed";
        QTest::newRow("a title within") << QString::fromUtf8("计划") << QString::fromUtf8("旅行计划");
        QTest::newRow("patterns are signs") << QString::fromUtf8("机%习_") << "m-chinese";
    }
    void search()
    {
        QFETCH(QString, words);
        QFETCH(QString, found);
        const QList<std::pair<const char*, QString>> texts{
            {"m-cache", "The KV cache lives in memory and grows."},
            {"m-quant", "Quantised weights: quantisation makes them small."},
            {"m-accent", QString::fromUtf8("Über das Café")},
            {"m-greek", QString::fromUtf8("ο ΛΟΓΟΣ και το μέτρο")},
            {"m-cpp", "C++ as in llama.cpp"},
            {"m-chinese", QString::fromUtf8("我喜欢机器学习，因为它很有趣")},
            {"m-japanese", QString::fromUtf8("機械学習について教えてください")},
            {"m-thai", QString::fromUtf8("ฉันรักแมวและหมา")},
            {"m-mixed", QString::fromUtf8("GPU 的内存里有KV缓存。")},
        };
        StoredConversation conversation{.header = {.id = "c", .title = "Travel plans"}, .messages = {}};
        for (const auto& [id, text] : texts)
            conversation.messages.append({.id = id, .text = text, .sentence = {}, .attachments = {}, .model = {}});
        store->saveAll(conversation);
        store->saveAll({.header = {.id = "d", .title = QString::fromUtf8("旅行计划")}, .messages = {}});
        QCOMPARE(::words(hits(words, 20)).join(' '), found);
    }

    // A script without spaces has no index: all texts are read, but not where the window waits for it.
    void whatHasNoIndexIsReadElsewhere()
    {
        StoredConversation conversation = ofMessages(1200, "long");  // more than are read at once
        conversation.messages[0].text = QString::fromUtf8("最早的问题");
        store->saveAll(conversation);
        QCOMPARE(hits(QString::fromUtf8("问题"), 5).value(0).message, "long-0");
        int found = 0;
        std::stop_source stop;
        store->search(QString::fromUtf8("问题"), 5, stop.get_token(), [&](const auto&) { ++found; });
        QCOMPARE(found, 0);
        QTRY_COMPARE(found, 1);
        store->search(QString::fromUtf8("问题"), 5, stop.get_token(), [&](const auto&) { ++found; });
        stop.request_stop();
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
        QCOMPARE(found, 1);
    }

    // The first letter typed is in nearly every text, and has no index of its own.
    void oneLetterIsSearchedForOnce()
    {
        StoredConversation conversation{.header = {.id = "c", .title = "Letters"}, .messages = {}};
        QRandomGenerator random(1);
        for (int i = 0; i < 500; ++i) {
            QString text;
            for (int word = 0; word < 100; ++word)
                text += QString("%1%2 ").arg(QChar('a' + random.bounded(26))).arg(random.bounded(3000));
            conversation.messages.append({.id = QString::number(i), .text = text});
        }
        store->saveAll(conversation);
        store->flush();
        QElapsedTimer clock;
        clock.start();
        QCOMPARE(hits("a", 1).size(), 1);
        const qint64 one_us = clock.nsecsElapsed() / 1000;
        clock.restart();
        QCOMPARE(hits("a", 200).size(), 200);
        const qint64 all_us = clock.nsecsElapsed() / 1000;
        qInfo("one hit in %lld us, 200 in %lld us", one_us, all_us);
        // An excerpt of each of 200 short texts is far less than looking for the letter again for each of them.
        QVERIFY(all_us < 12 * one_us + 100'000);
    }

    void excerptsShowTheWords()
    {
        StoredConversation conversation = twoTurns("one", "A title");
        conversation.messages[1].text = QString("far away ").repeated(500) +
                                        "\n\nthe needle\x02 in\x03 it, <b>bold</b> " +
                                        QString("and more ").repeated(500);
        store->saveAll(conversation);
        const auto found = hits("needl", 5);
        QCOMPARE(found.size(), 1);
        QCOMPARE(found[0].message, conversation.messages[1].id);
        QCOMPARE(found[0].title, "A title");
        QVERIFY(found[0].excerpt.contains("\x02needle\x03"));
        QVERIFY(found[0].excerpt.contains("<b>bold</b>"));  // plain text
        QCOMPARE(found[0].excerpt.count(QChar(2)), 1);
        QVERIFY(found[0].excerpt.size() < 400);
        QCOMPARE(hits("title", 5)[0].excerpt, "A \x02title\x03");
        QCOMPARE(hits("away", 0).size(), 0);
        conversation.messages[1].text = QString::fromUtf8("远\n").repeated(500) +
                                        QString::fromUtf8("它\x02 有针，针。") + QString::fromUtf8("近").repeated(500);
        store->saveAll(conversation);
        const QString within = hits(QString::fromUtf8("针"), 5).value(0).excerpt;
        QVERIFY2(within.contains(QString::fromUtf8("远 它 有\x02针\x03，\x02针\x03。近")), qPrintable(within));
        QVERIFY2(within.startsWith("…") && within.endsWith("…") && within.size() < 200, qPrintable(within));
    }

    void whatChangesIsFoundAnew()
    {
        StoredConversation conversation = twoTurns("one", "Before");
        store->saveAll(conversation);
        conversation.header.title = "After";
        store->save(conversation.header);
        QCOMPARE(hits("Before", 5).size(), 0);
        QCOMPARE(hits("After", 5).size(), 1);

        StoredMessage answer = conversation.messages.last();
        answer.id = "streaming";
        answer.text = "";
        answer.status = Status::Streaming;
        store->save("one", answer);
        store->saveText("one", "streaming", "zebras");
        store->saveText("one", "streaming", "zebras and gnus");
        QCOMPARE(hits("gnus", 5).size(), 0);  // not before it is done
        answer.text = "zebras and gnus graze";
        answer.status = Status::Complete;
        store->save("one", answer);
        QCOMPARE(hits("graze", 5).size(), 1);
        answer.text = "nothing";
        store->save("one", answer);
        QCOMPARE(hits("graze", 5).size(), 0);
        QCOMPARE(hits("nothing", 5).size(), 1);
    }

    void anInterruptedAnswerIsFoundAfterTheRestart()
    {
        StoredConversation conversation = twoTurns("one", "T");
        conversation.messages[1].status = Status::Streaming;
        conversation.messages[1].text = "half of an elephant";
        store->saveAll(conversation);
        reopen();
        QCOMPARE(hits("elephant", 5).size(), 1);
        QCOMPARE(store->conversation("one")->messages[1].status, Status::Streaming);
    }
};

SPILLWAY_TEST(QCoreApplication, TestConversationSearch)
#include "tst_conversation_search.moc"
