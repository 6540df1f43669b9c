// Tests that the page can send, stop and try again, and is told of every failure by a sentence.
#include "tests/support/chat_bench.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QSignalSpy>

using namespace std::chrono_literals;
using Status = MessageModel::Status;

class TestChatController : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<ChatBench> bench;
    ChatController* chat = nullptr;
    FakeScript* script = nullptr;

    void openModel() { bench->openModel(); }
    QVariant last(int role) const { return bench->last(role); }
    Status lastStatus() const { return bench->lastStatus(); }
    void answer(const QString& text) { bench->answer(text); }

private Q_SLOTS:
    void init()
    {
        bench = std::make_unique<ChatBench>();
        chat = bench->chat.get();
        script = bench->script.get();
    }

    void cleanup() { bench.reset(); }

    void sendsTheWholeConversation()
    {
        openModel();
        answer("first");
        QCOMPARE(last(MessageModel::TextRole).toString(), "one two three");
        QCOMPARE(lastStatus(), Status::Complete);
        answer("second");
        QCOMPARE(chat->messages()->count(), 4);

        const engine::Request request = script->requests().back();
        QCOMPARE(request.messages.size(), size_t(3));
        QCOMPARE(request.messages[1].text.c_str(), "one two three");
        QCOMPARE(request.sampling.temperature, 0.0f);
        QVERIFY(request.raw_prompt.empty());
        QCOMPARE(request.full_context, engine::FullContext::Stop);
    }

    void pinsArePossibleWhileThereIsADevice()
    {
        openModel();
        QVERIFY(!chat->pins()->possible());
        engine::Telemetry frame;
        frame.device.emplace();
        Q_EMIT bench->thread->worker()->placementReady(frame);  // one was chosen meanwhile
        QTRY_VERIFY(chat->pins()->possible());
        Q_EMIT bench->thread->worker()->telemetryReady(1, engine::Telemetry(), true);  // it was lost
        QTRY_VERIFY(!chat->pins()->possible());
    }

    void draftsAreAskedForAndCounted()
    {
        script->change([](auto& settings) {
            settings.drafted_tokens = 8;
            settings.accepted_tokens = 5;
        });
        openModel();
        bench->turns->setMostDrafted(15);
        answer("first");
        QCOMPARE(script->requests().back().most_drafted, 15);
        QCOMPARE(last(MessageModel::DraftedTokensRole).toInt(), 8);
        QCOMPARE(last(MessageModel::AcceptedTokensRole).toInt(), 5);
        bench->turns->setMostDrafted(0);
        answer("second");
        QCOMPARE(script->requests().back().most_drafted, 0);
    }

    void aModelWithoutTemplateContinuesTheText()
    {
        script->change([](auto& settings) { settings.has_chat_template = false; });
        openModel();
        QVERIFY(chat->continuesText());
        answer("Once upon a time");
        QVERIFY(script->requests().back().messages.empty());
        QCOMPARE(script->requests().back().raw_prompt.c_str(), "Once upon a time");
    }

    void nothingIsSentWithoutAModel()
    {
        QVERIFY(!chat->turn()->canSend());
        QVERIFY(!chat->turn()->obstacle().isEmpty());
        QVERIFY(!chat->turn()->send("hello"));
        QCOMPARE(chat->messages()->count(), 0);
        bench->turns->onLoadStarted();
        QVERIFY(!chat->turn()->send("hello"));
        QVERIFY(chat->turn()->obstacle().contains("loading"));
        openModel();
        QVERIFY(chat->turn()->canSend());
        QVERIFY(!chat->turn()->send("  \n"));  // nothing to say
        bench->turns->onModelGone();
        QVERIFY(!chat->turn()->canSend());
    }

    void numbersAreLive()
    {
        script->change([](auto& settings) {
            settings.words.assign(20, "w ");
            settings.per_token = 15ms;
            settings.context_tokens = 500;
        });
        openModel();
        QCOMPARE(chat->telemetry()->contextLimit(), 500);
        QVERIFY(!chat->telemetry()->ttftMs().isValid());
        QVERIFY(chat->turn()->send("go"));
        QCOMPARE(chat->turn()->state(), ChatTurn::Reading);
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        QTRY_VERIFY(chat->telemetry()->tokensPerSecond().isValid());
        QTRY_VERIFY(!chat->turn()->busy());
        QCOMPARE(chat->telemetry()->contextTokens(), 5 + 20);  // one word, four of the template, twenty answered
        QTRY_COMPARE(chat->telemetry()->contextTokens(), 5 + 20 + 8);  // and what the next question comes with
        QCOMPARE(last(MessageModel::OwnTokensRole).toInt(), 20);
    }

    void stopKeepsWhatIsThere()
    {
        script->change([](auto& settings) {
            settings.words.assign(10'000, "w ");
            settings.per_token = 5ms;
        });
        openModel();
        QVERIFY(chat->turn()->send("go"));
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        QTRY_VERIFY(bench->lastText().startsWith("w w"));
        chat->turn()->stop();
        QCOMPARE(chat->turn()->state(), ChatTurn::Stopping);
        QVERIFY(!chat->turn()->send("too early"));
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Ready);
        QCOMPARE(lastStatus(), Status::Stopped);
        QVERIFY(last(MessageModel::TextRole).toString().startsWith("w w"));
        chat->turn()->stop();  // nothing to stop: nothing happens
        QCOMPARE(chat->turn()->state(), ChatTurn::Ready);
    }

    void aFailureIsASentenceAndCanBeRetried()
    {
        script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::NoMemory, "there is no memory left"};
        });
        openModel();
        answer("question");
        QCOMPARE(lastStatus(), Status::Failed);
        QCOMPARE(last(MessageModel::SentenceRole).toString(), "There is no memory left.");
        QCOMPARE(chat->messages()->count(), 2);  // the question stays
        QVERIFY(chat->turn()->canSend());

        script->change([](auto& settings) { settings.generate_error.reset(); });
        chat->turn()->retry();
        QTRY_VERIFY(!chat->turn()->busy());
        QCOMPARE(chat->messages()->count(), 2);
        QCOMPARE(lastStatus(), Status::Complete);
        QCOMPARE(script->requests().back().messages.back().text.c_str(), "question");
    }

    void howAnAnswerEndedIsToldUntilTheNextBegins()
    {
        openModel();
        ChatTurn* const turn = chat->turn();
        QCOMPARE(turn->ending(), QString());
        answer("question");
        QCOMPARE(turn->ending(), "The answer is complete.");
        QSignalSpy changed(turn, &ChatTurn::endingChanged);
        answer("again");
        QCOMPARE(changed.size(), 2);  // the same words are told anew
        QCOMPARE(turn->ending(), "The answer is complete.");
        const QString id = chat->conversationId();
        chat->newConversation();
        QCOMPARE(turn->ending(), QString());
        QVERIFY(chat->open(id));
        QCOMPARE(turn->ending(), QString());  // nobody waited for it

        script->change([](auto& settings) {
            settings.words.assign(10'000, "w ");
            settings.per_token = 5ms;
        });
        QVERIFY(turn->send("go"));
        QTRY_COMPARE(turn->state(), ChatTurn::Answering);
        turn->stop();
        QTRY_COMPARE(turn->ending(), "The answer was stopped.");

        script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::NoMemory, "there is no memory left"};
        });
        answer("more");
        QCOMPARE(turn->ending(), "There is no memory left.");
    }

    void aLostModelIsSaid()
    {
        script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::CannotRead, "the model file was cut off"};
        });
        openModel();
        QSignalSpy lost(bench->turns.get(), &TurnRunner::modelLost);
        answer("question");
        QCOMPARE(lost.size(), 1);
        QCOMPARE(last(MessageModel::SentenceRole).toString(), "The model file was cut off.");
        QVERIFY(!chat->turn()->canSend());
        script->change([](auto& settings) { settings.generate_error.reset(); });
        openModel();
        chat->turn()->retry();
        QTRY_COMPARE(lastStatus(), Status::Complete);
    }

    void staleTurnsAreDropped()
    {
        script->change([](auto& settings) {
            settings.words.assign(10'000, "old ");
            settings.per_token = 2ms;
        });
        openModel();
        QVERIFY(chat->turn()->send("go"));
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        chat->newConversation();
        QCOMPARE(chat->messages()->count(), 0);
        script->change([](auto& settings) { settings.words = {"new"}; });
        answer("again");
        QCOMPARE(chat->messages()->count(), 2);
        QCOMPARE(last(MessageModel::TextRole).toString(), "new");
    }

    void aFullContextIsSaid()
    {
        script->change([](auto& settings) {
            settings.context_tokens = 12;
            settings.words.assign(50, "w ");
        });
        openModel();
        answer("a b c");
        QCOMPARE(lastStatus(), Status::ContextFull);
        QVERIFY(chat->context()->full());
        QCOMPARE(last(MessageModel::TextRole).toString(), "w w w w w ");
        answer("more");  // does not fit any more: refused, and nothing was cut away silently
        QCOMPARE(lastStatus(), Status::Failed);
        QVERIFY(chat->context()->full());
        chat->newConversation();
        QVERIFY(!chat->context()->full());
        QTRY_COMPARE(chat->telemetry()->contextTokens(), 4);  // what the template adds to the next question
    }

    void anotherModelStopsTheAnswer()
    {
        script->change([](auto& settings) {
            settings.words.assign(10'000, "w ");
            settings.per_token = 5ms;
        });
        openModel();
        QVERIFY(chat->turn()->send("go"));
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        bench->turns->onLoadStarted();
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Ready);
        QCOMPARE(lastStatus(), Status::Stopped);
        QVERIFY(!chat->turn()->canSend());
        QCOMPARE(chat->telemetry()->contextLimit(), 0);  // the meter of a model that is gone shows nothing
    }

    void warningsAreShownOnce()
    {
        script->change([](auto& settings) { settings.warning = "the template is unusual"; });
        openModel();
        answer("a");
        answer("b");
        QCOMPARE(chat->warnings(), "The template is unusual.");
        chat->dismissWarnings();
        QVERIFY(chat->warnings().isEmpty());
    }

    void copies()
    {
        chat->clipboard()->copy("some text");
        QCOMPARE(QGuiApplication::clipboard()->text(), "some text");
        chat->clipboard()->copyLastAnswer();  // there is none
        QCOMPARE(QGuiApplication::clipboard()->text(), "some text");
        openModel();
        answer("question");
        chat->clipboard()->copyLastAnswer();
        QCOMPARE(QGuiApplication::clipboard()->text(), "one two three");
        chat->clipboard()->copyMessage(bench->idAt(0));
        QCOMPARE(QGuiApplication::clipboard()->text(), "question");

        script->change([](auto& settings) { settings.words = {"<think>", "hm", "</think>", "\n\n", "Yes", "."}; });
        answer("<think>mine</think>");
        chat->clipboard()->copyMessage(bench->idAt(2));
        QCOMPARE(QGuiApplication::clipboard()->text(), "<think>mine</think>");
        chat->clipboard()->copyMessage(bench->idAt(3));
        QCOMPARE(QGuiApplication::clipboard()->text(), "Yes.");
        chat->clipboard()->copy({});
        chat->clipboard()->copyLastAnswer();
        QCOMPARE(QGuiApplication::clipboard()->text(), "Yes.");
        QCOMPARE(chat->rawText(bench->idAt(3)), "<think>hm</think>\n\nYes.");

        script->change([](auto& settings) { settings.words = {"<think>", "hm"}; });  // it was cut
        answer("again");
        chat->clipboard()->copyLastAnswer();
        QCOMPARE(QGuiApplication::clipboard()->text(), "hm");  // all there is of it
    }

    void destructionWhileAnswering()
    {
        script->change([](auto& settings) {
            settings.words.assign(100'000, "w ");
            settings.per_token = 5ms;
        });
        openModel();
        QVERIFY(chat->turn()->send("go"));
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        bench->chat.reset();
        bench->turns.reset();  // stops the turn
        QTRY_COMPARE(script->stopped_turns(), 1);
    }
};

SPILLWAY_TEST(QApplication, TestChatController)
#include "tst_chat_controller.moc"
