// Tests that the context's ledger counts what fills it, and that turns can be left out and brought back and the context
// be raised.
#include "tests/support/chat_bench.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>

using namespace std::chrono_literals;
using Status = MessageModel::Status;

class TestChatContext : public QObject, private ChatCase
{
    Q_OBJECT

private:
    void words(size_t count)
    {
        bench->script->change([&](auto& settings) { settings.words.assign(count, "w "); });
    }
    QList<int> leftOut() const
    {
        QList<int> rows;
        for (int row = 0; row < chat->messages()->count(); ++row)
            if (bench->at(row, MessageModel::LeftOutRole).toBool())
                rows += row;
        return rows;
    }
    /// Calls `act` as soon as the answer that runs comes near the context's end, a state that is over some tokens
    /// later.
    template <class Act>
    void whenNearlyFull(const Act& act)
    {
        bool done = false;
        const auto connection = connect(chat->context(), &ChatContext::changed, chat, [&] {
            if (!chat->context()->nearlyFull() || std::exchange(done, true))
                return;
            act();
        });
        QTRY_VERIFY(done);
        disconnect(connection);
    }
    static engine::ModelInfo model(int inUse, int madeFor, std::int64_t bytesPerToken)
    {
        engine::ModelInfo info;
        info.context_in_use = inUse;
        info.context_tokens = madeFor;
        info.kv_bytes_per_token_f16 = bytesPerToken;
        return info;
    }

private Q_SLOTS:
    void init() { makeBench(); }

    void cleanup() { bench.reset(); }

    void theLedgerCountsBeforeAnythingIsSent()
    {
        QVERIFY(!chat->context()->ledger().known);
        bench->openModel(100);
        QTRY_VERIFY(chat->context()->ledger().known);
        QCOMPARE(chat->context()->ledger().templateTokens, 4);
        QCOMPARE(chat->context()->ledger().limit, 100);
        QCOMPARE(chat->context()->ledger().answerReserve, 25);
        ConversationSettings settings;
        settings.systemPrompt = "one two three";
        settings.sampling["max_tokens"] = 5;
        chat->setSettings(settings);
        QTRY_COMPARE(chat->context()->ledger().systemTokens, 3);
        QCOMPARE(chat->context()->ledger().templateTokens, 8);
        QCOMPARE(chat->context()->ledger().answerReserve, 5);
        QCOMPARE(chat->telemetry()->contextTokens(), 11);
        QVERIFY(bench->script->requests().empty());

        bench->answer("a b");
        QTRY_COMPARE(chat->context()->ledger().messageTokens, 2 + 3);
        QCOMPARE(bench->at(0, MessageModel::OwnTokensRole).toInt(), 2);
        QCOMPARE(bench->at(1, MessageModel::OwnTokensRole).toInt(), 3);
        QCOMPARE(bench->at(1, MessageModel::PromptTokensRole).toInt(), 3 + 2 + 8);
        QCOMPARE(bench->at(1, MessageModel::TemplateTokensRole).toInt(), 8);
        QCOMPARE(bench->at(1, MessageModel::ModelNameRole).toString(), "m");
        QCOMPARE(chat->telemetry()->contextTokens(),
                 chat->context()->ledger().total());     // one number, also after a turn
        QVERIFY(chat->telemetry()->ttftMs().isValid());  // and those of the turn stay
        chat->newConversation();
        QTRY_COMPARE(chat->context()->ledger().total(), 4);
    }

    void whatIsTypedAndDraggedIsCountedAtRest()
    {
        chat->context()->setCountRest(300);
        bench->openModel(100);
        QTRY_VERIFY(chat->context()->ledger().known);
        const int before = bench->script->counted_prompts();
        ConversationSettings settings;
        for (int i = 0; i < 60; ++i) {
            settings.sampling["temperature"] = i / 60.0;  // says nothing about the prompt
            chat->setSettings(settings);
            QTest::qWait(1);
        }
        QTest::qWait(500);
        QCOMPARE(bench->script->counted_prompts(), before);
        for (int i = 0; i < 60; ++i) {
            settings.systemPrompt += "w ";
            chat->setSettings(settings);
            QTest::qWait(1);
        }
        QTRY_COMPARE(chat->context()->ledger().systemTokens, 60);
        QVERIFY2(bench->script->counted_prompts() <= before + 5,
                 qPrintable(QString::number(bench->script->counted_prompts() - before)));
    }

    void onePromptIsCountedAtATime()
    {
        bench->openModel(100);
        QTRY_VERIFY(chat->context()->ledger().known);
        bench->script->change([](auto& s) { s.count = 500ms; });
        const int before = bench->script->counted_prompts();
        ConversationSettings settings;
        QElapsedTimer clock;
        clock.start();
        for (int words = 1; clock.elapsed() < 600; ++words) {
            settings.systemPrompt = QString("w ").repeated(words);
            chat->setSettings(settings);
            QTest::qWait(3 * ChatBench::kRest_ms);
        }
        bench->script->change([](auto& s) { s.count = 0ms; });
        QTRY_COMPARE(chat->context()->ledger().systemTokens, int(settings.systemPrompt.size()) / 2);
        QVERIFY2(bench->script->counted_prompts() <= before + 4,
                 qPrintable(QString::number(bench->script->counted_prompts() - before)));
    }

    void aTurnDoesNotWaitForACount()
    {
        bench->openModel(100);
        QTRY_VERIFY(chat->context()->ledger().known);
        bench->script->change([](auto& s) { s.count = 60s; });
        const int before = bench->script->counted_prompts();
        ConversationSettings settings;
        settings.systemPrompt = "one two three";
        chat->setSettings(settings);
        QTRY_COMPARE(bench->script->counted_prompts(), before + 1);
        bench->script->change([](auto& s) { s.count = 0ms; });
        bench->answer("a b");
        QTRY_COMPARE(chat->context()->ledger().systemTokens, 3);
        QTRY_COMPARE(chat->context()->ledger().messageTokens, 2 + 3);
    }

    void nearlyFullIsSaidOnce()
    {
        bench->openModel(40);
        words(33);  // 5 + 33 of 40
        QSignalSpy changed(chat->context(), &ChatContext::changed);
        bench->answer("go");
        QVERIFY(chat->context()->nearlyFull());
        QVERIFY(!chat->context()->full());
        chat->context()->dismissNotice();
        QVERIFY(!chat->context()->nearlyFull());
        QVERIFY(!chat->context()->canDropOldest());  // there is one turn only
        chat->context()->dropOldest();
        QVERIFY(leftOut().isEmpty());
    }

    void leavingOutAndBringingBack()
    {
        bench->openModel(100);
        words(16);
        for (const char* question : {"q q q", "r r r", "s s s"})  // 27 tokens each, and 4 for the next question
            bench->answer(question);
        QTRY_COMPARE(chat->context()->ledger().messageTokens, 3 * 19);
        QVERIFY(chat->context()->canDropOldest());
        chat->context()->dropOldest();
        QCOMPARE(leftOut(), (QList<int>{0, 1, 2, 3}));
        QCOMPARE(bench->at(4, MessageModel::LeftOutAboveRole).toInt(), 4);
        QTRY_COMPARE(chat->context()->ledger().messageTokens, 19);
        QCOMPARE(chat->telemetry()->contextTokens(), 19 + 3 * 4);
        bench->answer("t");
        QCOMPARE(sent().size(), size_t(3));
        QCOMPARE(sent()[0].text.c_str(), "s s s");

        const QString id = chat->conversationId();  // it survives a restart
        bench->end();
        bench->start();
        chat = bench->chat.get();
        bench->openModel(200);
        QVERIFY(chat->open(id));
        QCOMPARE(leftOut(), (QList<int>{0, 1, 2, 3}));
        chat->context()->bringBack(bench->idAt(4));  // from the mark
        QVERIFY(leftOut().isEmpty());
        bench->answer("u");
        QCOMPARE(sent().size(), size_t(9));
        chat->context()->bringBack(bench->idAt(4));  // nothing to bring back
        QVERIFY(leftOut().isEmpty());
    }

    void nothingIsLeftOutWithoutAModel()
    {
        bench->openModel(100);
        words(16);
        for (const char* question : {"q q q", "r r r", "s s s"})
            bench->answer(question);
        QVERIFY(chat->context()->canDropOldest());
        for (const bool loading : {true, false}) {
            if (loading)
                bench->turns->onLoadStarted();
            else
                bench->turns->onModelGone();
            QVERIFY(!chat->context()->canDropOldest());
            chat->context()->dropOldest();
            QVERIFY(leftOut().isEmpty());
        }
    }

    void anAnswerThatFilledTheContextGoesOn()
    {
        bench->openModel(100);
        words(20);
        bench->answer("q");
        words(50);
        bench->answer("r");
        words(80);
        bench->answer("s");  // 25 + 54 + 9: a dozen words fit
        QCOMPARE(bench->lastStatus(), Status::ContextFull);
        QVERIFY(chat->context()->full());
        const QString cut = bench->last(MessageModel::RawTextRole).toString();
        words(3);
        chat->context()->dropOldest();
        QTRY_VERIFY(!chat->turn()->busy());
        QVERIFY(!chat->context()->full());
        QVERIFY(bench->script->requests().back().continue_last);
        QCOMPARE(bench->last(MessageModel::RawTextRole).toString(), cut + "w w w ");
        QCOMPARE(bench->lastStatus(), Status::Complete);
    }

    void whatFilledASmallerContextFitsALargerOne()
    {
        bench->openModel(40);
        words(60);
        bench->answer("go");
        QVERIFY(chat->context()->full());
        restart();
        QVERIFY(!chat->context()->full());  // nobody knows yet
        bench->openModel(40);
        QTRY_VERIFY(chat->context()->full());
        restart();
        bench->openModel(200);
        QTRY_VERIFY(chat->context()->ledger().known);
        QVERIFY(!chat->context()->full());
    }

    void whatNobodyCountsIsAsFullAsItsLastAnswerWas()
    {
        bench->script->change([](auto& s) { s.counts_prompts = false; });
        bench->openModel(40);
        words(60);
        bench->answer("go");
        QVERIFY(chat->context()->full());
        restart();
        bench->openModel(40);
        QTRY_VERIFY(chat->context()->full());
        QVERIFY(!chat->context()->ledger().known);
    }

    void aPromptThatDoesNotFitIsAskedAgain()
    {
        bench->openModel(60);
        words(20);
        bench->answer("q");
        bench->answer(QString("r ").repeated(40));
        QCOMPARE(bench->lastStatus(), Status::Failed);
        QVERIFY(chat->context()->full());
        QVERIFY(chat->context()->canDropOldest());
        chat->context()->dropOldest();
        QTRY_VERIFY(!chat->turn()->busy());
        QCOMPARE(sent().size(), size_t(1));
        QVERIFY(bench->lastText().startsWith("w w"));
        QCOMPARE(bench->last(MessageModel::VersionCountRole).toInt(), 1);
    }

    void leavingOutInTheMiddleOfAnAnswer()
    {
        bench->openModel(100);
        words(40);
        bench->answer("q");
        bench->script->change([](auto& settings) {
            settings.words.assign(60, "w ");
            settings.per_token = 4ms;
        });
        QVERIFY(chat->turn()->send("r"));  // 45 + 9 and up to 46
        whenNearlyFull([&] {
            chat->context()->dropOldest();
            QVERIFY(!chat->context()->nearlyFull());
            bench->script->change([](auto& settings) { settings.words.assign(2, "x "); });
        });
        QTRY_VERIFY(!chat->turn()->busy());
        QCOMPARE(bench->lastStatus(), Status::Complete);  // it was full and went on by itself
        QVERIFY(bench->lastText().endsWith("w x x "));
        QVERIFY(!chat->context()->full());
    }

    void raisingTheContext()
    {
        bench->script->change([](auto& settings) { settings.model_context_tokens = 150; });
        bench->openModel(40);
        words(60);
        bench->answer("go");
        QCOMPARE(bench->lastStatus(), Status::ContextFull);
        QCOMPARE(chat->context()->largerTokens(), 80);
        QVERIFY(chat->context()->largerBytes() > 0);
        QSignalSpy reload(chat->context(), &ChatContext::reloadRequested);
        words(3);
        chat->context()->raise();
        QCOMPARE(reload.size(), 1);
        QCOMPARE(reload[0][0].toInt(), 80);
        bench->turns->onLoadStarted();  // as the model's controller does
        bench->openModel(80);
        QTRY_VERIFY(!chat->turn()->busy());
        QVERIFY(bench->script->requests().back().continue_last);  // the answer goes on by itself
        QCOMPARE(bench->lastStatus(), Status::Complete);
        QVERIFY(!chat->context()->full());
        QCOMPARE(chat->context()->largerTokens(), 150);
    }

    void raisingTheContextOfAnAnswerThatRuns()
    {
        bench->script->change([](auto& settings) { settings.model_context_tokens = 1000; });
        bench->openModel(100);
        bench->saysForever();
        QVERIFY(chat->turn()->send("go"));
        whenNearlyFull([&] {
            chat->context()->raise();
            bench->turns->onLoadStarted();
            bench->script->change([](auto& settings) {
                settings.words = {"end"};
                settings.per_token = 0us;
            });
        });
        bench->openModel(200);
        QTRY_VERIFY(!chat->turn()->busy());
        QVERIFY(bench->lastText().endsWith("w end"));

        chat->context()->raise();  // nothing was cut: nothing goes on
        const auto requests = bench->script->requests().size();
        bench->turns->onLoadStarted();
        bench->openModel(400);
        QTest::qWait(50);
        QCOMPARE(bench->script->requests().size(), requests);
    }

    void whatWasDeletedDoesNotGoOn()
    {
        bench->script->change([](auto& settings) { settings.model_context_tokens = 150; });
        bench->openModel(40);
        words(60);
        bench->answer("go");
        QVERIFY(chat->context()->full());
        const QString id = chat->conversationId();
        const auto requests = bench->script->requests().size();
        chat->context()->raise();
        bench->turns->onLoadStarted();
        bench->store->moveToTrash(id);
        QVERIFY(chat->conversationId() != id);
        bench->openModel(80);
        QTest::qWait(50);
        QCOMPARE(bench->script->requests().size(), requests);
        QVERIFY(!chat->open(id));
        bench->store->restore(id);
        QVERIFY(chat->open(id));
    }

    void whenAContextCanBeRaised()
    {
        constexpr std::int64_t kGiB = 1LL << 30;
        const auto larger = largerContext(model(4096, 131072, 32768), 8 * kGiB);
        QVERIFY(larger);
        QCOMPARE(larger->tokens, 8192);
        QCOMPARE(larger->bytes, 8192LL * 32768);
        QVERIFY(!largerContext(model(4096, 4096, 32768), 8 * kGiB));        // not made for more
        QVERIFY(!largerContext(model(4096, 131072, 1 << 20), 8 * kGiB));    // 8 GiB, and a margin
        QVERIFY(!largerContext(model(4096, 131072, 32768), std::nullopt));  // nobody can tell
        QVERIFY(!largerContext(model(0, 131072, 32768), 8 * kGiB));         // nothing is loaded
        QCOMPARE(largerContext(model(100'000, 131072, 32768), 80 * kGiB)->tokens, 131072);
    }

    void whatNobodyCountedIsGuessed()
    {
        OpenConversation conversation;
        QString parent;
        for (int i = 0; i < 10; ++i) {
            StoredMessage message;
            message.id = QString::number(i);
            message.parent = parent;
            message.role = i % 2 ? StoredMessage::Role::Assistant : StoredMessage::Role::User;
            message.text = QString("word ").repeated(80);  // 100 tokens by the guess
            conversation.tree.add(message);
            parent = message.id;
        }
        QCOMPARE(oldestTurns(conversation, 1060), (QStringList{"0", "1", "2", "3", "4", "5"}));
        QCOMPARE(oldestTurns(conversation, 100).size(), 8);      // never the last turn
        QCOMPARE(oldestTurns(conversation, 100'000).size(), 2);  // one turn is what was asked for
        QCOMPARE(oldestTurns(conversation, 0).size(), 2);        // of which nobody knows how much it holds
        QVERIFY(oldestTurns({}, 100).isEmpty());
    }
};

SPILLWAY_TEST(QApplication, TestChatContext)
#include "tst_chat_context.moc"
