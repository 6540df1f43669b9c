// Tests that an engine which answers one conversation at a time, as a server elsewhere does, lets the others wait, and
// that each gets its own words. tst_conversations_together.cpp has those that are answered together.
#include "tests/support/chat_bench.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>

using namespace std::chrono_literals;
using Status = MessageModel::Status;
using Activity = ConversationActivity::Value;

class TestChatQueue : public QObject, private ChatCase
{
    Q_OBJECT

private:
    void finishQuickly()
    {
        bench->script->change([](auto& settings) {
            settings.words = {"done"};
            settings.per_token = 0us;
        });
    }
    QString stored(const QString& id, qsizetype message) const
    {
        return bench->store->conversation(id)->messages.value(message).text;
    }

private Q_SLOTS:
    void init()
    {
        makeBench();
        bench->turns->setMostAtOnce(1);
        bench->openModel();
    }

    void cleanup() { bench.reset(); }

    void whatIsAnsweredElsewhereIsKnown()
    {
        bench->saysForever();
        QSignalSpy changed(chat->turn(), &ChatTurn::elsewhereChanged);
        const QString a = ask("first");
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        QCOMPARE(chat->turn()->answeredElsewhere(), QString());  // it is here
        const QString b = ask("second");
        QCOMPARE(chat->turn()->answeredElsewhere(), a);
        QCOMPARE(chat->turn()->titleElsewhere(), "first");
        ConversationHeader header = bench->store->conversation(a)->header;
        header.title = QStringLiteral("renamed");
        changed.clear();
        bench->store->save(header);
        QTRY_COMPARE(chat->turn()->titleElsewhere(), "renamed");
        QVERIFY(!changed.isEmpty());

        // The next one's turn begins, and that is the one that is looked at.
        QVERIFY(chat->open(a));
        changed.clear();
        chat->turn()->stop();
        QTRY_COMPARE(chat->turn()->answeredElsewhere(), b);
        QVERIFY(!changed.isEmpty());
        QVERIFY(chat->open(b));
        QCOMPARE(chat->turn()->answeredElsewhere(), QString());
        chat->newConversation();
        QCOMPARE(chat->turn()->answeredElsewhere(), b);
        bench->store->moveToTrash(b);  // nobody wants it any more
        QTRY_COMPARE(chat->turn()->answeredElsewhere(), QString());
        QCOMPARE(chat->turn()->titleElsewhere(), QString());
    }

    void threeConversations()
    {
        std::map<QString, QList<int>> heard;
        connect(bench->turns.get(), &TurnRunner::activityChanged, this,
                [&](const QString& id, Activity activity) { heard[id] += activity; });
        bench->saysForever();
        const QString a = ask("first");
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        QCOMPARE(chat->turn()->queuePosition(), 0);
        const QString b = ask("second");
        QVERIFY(chat->turn()->queued());
        QVERIFY(chat->turn()->busy());
        QCOMPARE(chat->turn()->queuePosition(), 1);
        QCOMPARE(bench->lastStatus(), Status::Queued);
        QVERIFY(!chat->turn()->send("too early"));
        const QString c = ask("third");
        QCOMPARE(chat->turn()->queuePosition(), 2);
        QSignalSpy moved(chat->turn(), &ChatTurn::stateChanged);

        QVERIFY(chat->open(a));
        QCOMPARE(chat->turn()->state(), ChatTurn::Answering);
        QVERIFY(bench->lastText().startsWith("w"));
        const qsizetype length = bench->lastText().size();
        QTRY_VERIFY(bench->lastText().size() > length);  // and it goes on growing
        finishQuickly();
        chat->turn()->stop();
        QVERIFY(chat->open(c));
        QTRY_VERIFY(!chat->turn()->busy());
        QVERIFY(!moved.empty());
        QCOMPARE(bench->lastText(), "done");
        QCOMPARE(stored(b, 1), "done");  // nobody looked
        QVERIFY(stored(a, 1).startsWith("w"));
        QVERIFY(chat->open(b));
        QCOMPARE(bench->texts(), (QStringList{"second", "done"}));
        QCOMPARE(bench->lastStatus(), Status::Complete);
        using namespace ConversationActivity;
        QCOMPARE(heard[a], (QList<int>{Queued, Answering, Idle}));
        QCOMPARE(heard[b], (QList<int>{Queued, Answering, Idle}));
        QCOMPARE(heard[c], (QList<int>{Queued, Answering, Idle}));
        const auto requests = bench->script->requests();
        QCOMPARE(requests[1].messages.back().text.c_str(), "second");  // in the order they were asked
        QCOMPARE(requests[2].messages.back().text.c_str(), "third");
        const auto places = bench->script->sequences();
        QVERIFY(places[0] != places[1] && places[1] != places[2]);
    }

    void whatEndsWhileItWaitsIsNoEndOfAnAnswer()
    {
        finishQuickly();
        const QString b = ask("second");
        QTRY_COMPARE(chat->turn()->ending(), "The answer is complete.");
        bench->saysForever();
        ask("first");
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        QVERIFY(chat->open(b));
        chat->turn()->regenerate(bench->last(MessageModel::MessageIdRole).toString());
        QVERIFY(chat->turn()->queued());
        chat->turn()->stop();
        QVERIFY(!chat->turn()->busy());
        QCOMPARE(bench->texts(), (QStringList{"second", "done"}));
        QCOMPARE(chat->turn()->ending(), QString());
    }

    void stopWhileQueued()
    {
        bench->saysForever();
        const QString a = ask("first");
        const QString b = ask("second");
        const QString c = ask("third");
        QVERIFY(chat->open(b));
        chat->turn()->stop();
        QVERIFY(!chat->turn()->busy());
        QCOMPARE(bench->texts(), QStringList{"second"});  // no answer is left behind
        QVERIFY(bench->last(MessageModel::UnansweredRole).toBool());
        QVERIFY(chat->open(c));
        QCOMPARE(chat->turn()->queuePosition(), 1);
        finishQuickly();
        QVERIFY(chat->open(a));
        chat->turn()->stop();
        QVERIFY(chat->open(b));
        chat->turn()->retry();
        QTRY_VERIFY(!chat->turn()->busy());
        QCOMPARE(bench->texts(), (QStringList{"second", "done"}));
        QCOMPARE(stored(c, 1), "done");
    }

    void stopWhileQueuedBringsBackWhatWas()
    {
        bench->says("first answer");
        const QString b = ask("question");
        QTRY_VERIFY(!chat->turn()->busy());
        bench->saysForever();
        const QString a = ask("another");
        QVERIFY(chat->open(b));
        chat->turn()->retry();
        QVERIFY(chat->turn()->queued());
        QCOMPARE(bench->last(MessageModel::VersionCountRole).toInt(), 2);
        chat->turn()->stop();
        QCOMPARE(bench->lastText(), "first answer");
        QCOMPARE(bench->last(MessageModel::VersionCountRole).toInt(), 1);
        QVERIFY(chat->open(a));
        QVERIFY(chat->turn()->busy());
    }

    void whatIsSavedWhileQueuedIsWhatWas()
    {
        bench->says("an answer");
        const QString b = ask("question");
        settle();
        bench->answer("more");
        bench->saysForever();
        ask("another");
        QVERIFY(chat->open(b));
        chat->turn()->retry();
        QVERIFY(chat->turn()->queued());
        ConversationTree& tree = bench->open->find(b)->tree;
        tree.find(bench->idAt(0))->leftOut = tree.find(bench->idAt(1))->leftOut = true;
        chat->context()->bringBack(bench->idAt(2));
        const auto kept = [&] { return *bench->store->conversation(b); };
        QCOMPARE(kept().messages.size(), 4);
        QCOMPARE(kept().header.leaf, kept().messages[3].id);
        QVERIFY(!kept().messages[0].leftOut);
        QCOMPARE(bench->last(MessageModel::VersionCountRole).toInt(), 2);  // it still waits
        chat->turn()->stop();
        QCOMPARE(kept().messages.size(), 4);

        StoredMessage& last = *tree.find(bench->lastId());
        last.status = StoredMessage::Status::Stopped;
        tree.find(bench->idAt(0))->leftOut = true;
        chat->turn()->continueAnswer(bench->lastId());
        QVERIFY(chat->turn()->queued());
        chat->context()->bringBack(bench->idAt(1));
        QCOMPARE(kept().messages[3].status, StoredMessage::Status::Stopped);
        QVERIFY(!kept().messages[0].leftOut);
    }

    void modelLostWhileQueued()
    {
        bench->script->change([](auto& settings) {
            settings.words.assign(100, "w ");
            settings.per_token = 5ms;
            settings.generate_error = {engine::Error::Code::CannotRead, "the model file was cut off"};
            settings.tokens_before_error = 40;
        });
        QSignalSpy lost(bench->turns.get(), &TurnRunner::modelLost);
        const QString a = ask("first");
        const QString b = ask("second");
        QTRY_COMPARE(lost.size(), 1);
        QVERIFY(!chat->turn()->busy());
        QCOMPARE(bench->lastStatus(), Status::Failed);
        QVERIFY(!bench->last(MessageModel::SentenceRole).toString().isEmpty());
        QCOMPARE(bench->script->requests().size(), size_t(1));
        QVERIFY(!chat->turn()->canSend());
        bench->script->change([](auto& settings) { settings.generate_error.reset(); });
        finishQuickly();
        bench->openModel();
        chat->turn()->retry();
        QTRY_VERIFY(!chat->turn()->busy());
        QCOMPARE(bench->texts(), (QStringList{"second", "done"}));
        QVERIFY(chat->open(a));
        QCOMPARE(bench->last(MessageModel::SentenceRole).toString(), "The model file was cut off.");
    }

    void aLoadLetsThemWait()
    {
        bench->saysForever();
        const QString a = ask("first");
        const QString b = ask("second");
        QTRY_VERIFY(bench->script->requests().size() == 1);
        bench->turns->onLoadStarted();
        QVERIFY(chat->turn()->queued());
        finishQuickly();
        bench->openModel();
        QTRY_VERIFY(!chat->turn()->busy());
        QCOMPARE(bench->lastText(), "done");
        QVERIFY(chat->open(a));
        QCOMPARE(bench->lastStatus(), Status::Stopped);

        bench->saysForever();
        ask("third");
        ask("fourth");
        bench->turns->onLoadStarted();
        bench->turns->onModelGone();  // it could not be loaded
        QVERIFY(!chat->turn()->busy());
        QCOMPARE(bench->lastStatus(), Status::Failed);
    }

    void whatWasStoppedByLeavingIsNotShownElsewhere()
    {
        chat->context()->setCountRest(60'000);  // nothing is counted
        bench->saysForever();
        const QString a = ask("first");
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        chat->newConversation();
        QVERIFY(!chat->turn()->busy());
        QVERIFY(chat->turn()->canSend());
        QTest::qWait(100);  // text goes on arriving for the other one
        QCOMPARE(chat->messages()->count(), 0);
        QCOMPARE(chat->telemetry()->contextTokens(), 0);
        QVERIFY(chat->open(a));
        QVERIFY(chat->telemetry()->contextTokens() > 0);
    }
};

SPILLWAY_TEST(QApplication, TestChatQueue)
#include "tst_chat_queue.moc"
