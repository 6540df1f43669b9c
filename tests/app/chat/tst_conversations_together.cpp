// Tests that several conversations are answered at the same time, each by itself, whether the others stop, fail or are
// thrown away.
#include "tests/support/chat_bench.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>

using namespace std::chrono_literals;
using Status = MessageModel::Status;

class TestConversationsTogether : public QObject, private ChatCase
{
    Q_OBJECT

private:
    /// Each word of an answer is its turn's number: 1, 2, ...
    void numberTheAnswers()
    {
        bench->saysForever();
        bench->script->change([](auto& settings) { settings.says_turn = true; });
    }
    /// A new conversation that is being answered and has some text.
    QString askForLong(const QString& question)
    {
        QString id = ask(question);
        [this] { QTRY_VERIFY(!bench->lastText().isEmpty()); }();
        return id;
    }
    StoredMessage stored(const QString& id) const { return bench->store->conversation(id)->messages.value(1); }

private Q_SLOTS:
    void init()
    {
        makeBench();
        bench->openModel();
    }

    void cleanup() { bench.reset(); }

    void eachHasItsOwnWords()
    {
        bench->script->change([](auto& settings) {
            settings.words.assign(20, "w ");
            settings.says_turn = true;
            settings.per_token = 20ms;
        });
        QSignalSpy ended(bench->turns.get(), &TurnRunner::turnEnded);
        const QString a = ask("first");
        const QString b = ask("second");
        QTRY_COMPARE(chat->turn()->state(), ChatTurn::Answering);
        QVERIFY(ended.empty());  // nobody waited
        QCOMPARE(chat->turn()->countElsewhere(), 1);
        QCOMPARE(chat->turn()->answeredElsewhere(), a);
        QCOMPARE(chat->turn()->titleElsewhere(), "first");
        QTRY_VERIFY(chat->turn()->tokensPerSecondElsewhere().isValid());
        QTRY_COMPARE(ended.size(), 2);
        QCOMPARE(bench->texts(), (QStringList{"second", QStringLiteral("2 ").repeated(20)}));
        QVERIFY(chat->open(a));
        QCOMPARE(bench->texts(), (QStringList{"first", QStringLiteral("1 ").repeated(20)}));
        QCOMPARE(bench->lastStatus(), Status::Complete);
        QCOMPARE(bench->last(MessageModel::OwnTokensRole).toInt(), 20);
        QCOMPARE(stored(b).text, QStringLiteral("2 ").repeated(20));
        QCOMPARE(chat->turn()->countElsewhere(), 0);
        QVERIFY(!chat->turn()->tokensPerSecondElsewhere().isValid());
        const auto requests = bench->script->requests();
        QCOMPARE(requests[0].saved_as, a.toStdString());
        QCOMPARE(requests[1].saved_as, b.toStdString());
    }

    /// Pins are those of their conversation, whatever the engine was given last.
    void whatIsPinnedIsOfItsConversation()
    {
        numberTheAnswers();
        const QString a = askForLong("first");
        const QString b = askForLong("second");
        std::vector<engine::SequenceId> pinned;
        for (const QString& id : {a, b}) {
            QVERIFY(chat->open(id));
            chat->pins()->toggle(bench->store->conversation(id)->messages.first().id);
            const auto pins = [&] {
                std::vector<engine::SetPins> all;
                for (const engine::Command& command : bench->script->commands())
                    if (const auto* one = std::get_if<engine::SetPins>(&command))
                        all.push_back(*one);
                return all;
            };
            QTRY_COMPARE(pins().size(), pinned.size() + 1);
            QCOMPARE(pins().back().tokens.size(), 1u);
            pinned.push_back(pins().back().sequence);
        }
        QVERIFY(pinned[0] > 0 && pinned[1] > pinned[0]);  // they are numbered as they were made
        chat->turn()->stop();
        QVERIFY(chat->open(a));
        chat->turn()->stop();
        settle();
    }

    void oneIsStoppedAndTheOtherGoesOn()
    {
        numberTheAnswers();
        const QString a = askForLong("first");
        const QString b = askForLong("second");
        chat->turn()->stop();
        settle();
        QCOMPARE(bench->lastStatus(), Status::Stopped);
        QCOMPARE(stored(b).status, StoredMessage::Status::Stopped);
        QVERIFY(chat->open(a));
        QCOMPARE(chat->turn()->state(), ChatTurn::Answering);
        const qsizetype length = bench->lastText().size();
        QTRY_VERIFY(bench->lastText().size() > length);
        QVERIFY(!bench->lastText().contains('2'));
        QCOMPARE(bench->script->stopped_turns(), 1);
    }

    void oneFailsAndTheOtherGoesOn()
    {
        numberTheAnswers();
        bench->script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::NoMemory, "there is no memory left"};
            settings.turn_with_error = 2;
            settings.tokens_before_error = 3;
        });
        const QString a = askForLong("first");
        ask("second");
        settle();
        QCOMPARE(bench->lastStatus(), Status::Failed);
        QCOMPARE(bench->lastText(), "2 2 2 ");
        QVERIFY(chat->open(a));
        const qsizetype length = bench->lastText().size();
        QTRY_VERIFY(bench->lastText().size() > length);
        QVERIFY(chat->turn()->busy());
    }

    void allFailWithTheModel()
    {
        numberTheAnswers();
        QSignalSpy lost(bench->turns.get(), &TurnRunner::modelLost);
        const QString a = askForLong("first");
        bench->script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::CannotRead, "the model file was cut off"};
            settings.turn_with_error = 2;
        });
        ask("second");
        settle();
        QCOMPARE(lost.size(), 1);
        QVERIFY(!chat->turn()->canSend());
        bench->turns->stopAll();
        QTRY_VERIFY(!bench->turns->busy());
        QVERIFY(!stored(a).text.isEmpty());
        QCOMPARE(lost.size(), 1);
    }

    void oneIsThrownAwayAndTheOtherGoesOn()
    {
        numberTheAnswers();
        const QString a = askForLong("first");
        const QString b = askForLong("second");
        const QString c = askForLong("third");
        bench->store->moveToTrash(b);
        QCOMPARE(bench->turns->answered(), (QStringList{a, c}));
        QTRY_COMPARE(bench->script->stopped_turns(), 1);
        QTRY_COMPARE(bench->script->live_sequences(), 2);
        const qsizetype length = bench->lastText().size();
        QTRY_VERIFY(bench->lastText().size() > length);
        bench->store->moveToTrash(c);  // the one that is shown
        QCOMPARE(chat->messages()->count(), 0);
        bench->store->restore(b);  // what had come of its answer is there again
        QCOMPARE(stored(b).status, StoredMessage::Status::Stopped);
        QVERIFY(stored(b).text.startsWith("2 ") && stored(b).tokens.value_or(0) > 0);
        QVERIFY(chat->open(a));
        QCOMPARE(chat->turn()->state(), ChatTurn::Answering);
        chat->turn()->stop();
        QTRY_VERIFY(!bench->turns->busy());
    }

    void theEngineForgetsWhatIsThrownAway()
    {
        const QString a = ask("first");
        settle();
        const QString b = ask("second");
        settle();
        QCOMPARE(bench->script->live_sequences(), 2);
        chat->turn()->regenerateTogether(bench->lastId(), 2);
        settle();
        QCOMPARE(bench->script->live_sequences(), 3);
        bench->store->moveToTrash(a);  // it is neither shown nor answered
        QTRY_VERIFY(bench->script->live_sequences() < 3);
        QTest::qWait(50);
        QCOMPARE(bench->script->live_sequences(), 2);  // one may still be chosen of those side by side
        bench->store->moveToTrash(b);
        QTRY_COMPARE(bench->script->live_sequences(), 0);
    }

    void theOnesBeyondTheBoundWaitInOrder()
    {
        numberTheAnswers();
        bench->turns->setMostAtOnce(2);
        const QString a = askForLong("first");
        const QString b = askForLong("second");
        const QString c = ask("third");
        QVERIFY(chat->turn()->queued());
        QCOMPARE(chat->turn()->queuePosition(), 1);
        QCOMPARE(chat->turn()->countElsewhere(), 2);
        const QString d = ask("fourth");
        QCOMPARE(chat->turn()->queuePosition(), 2);
        QTest::qWait(50);
        QCOMPARE(bench->script->requests().size(), size_t(2));

        QSignalSpy moved(chat->turn(), &ChatTurn::stateChanged);
        bench->store->moveToTrash(b);
        QTRY_COMPARE(chat->turn()->queuePosition(), 1);
        QVERIFY(!moved.empty());
        QTRY_COMPARE(bench->turns->answered(), (QStringList{a, c}));
        QVERIFY(chat->open(c));
        QTRY_VERIFY(bench->lastText().startsWith("3 "));
        bench->turns->stopAll();
        QTRY_VERIFY(!bench->turns->busy());
        QCOMPARE(bench->script->requests().size(), size_t(3));
        QVERIFY(chat->open(d));
        QCOMPARE(bench->texts(), QStringList{"fourth"});
    }

    void aServerElsewhereIsAskedForAsMany()
    {
        numberTheAnswers();
        engine::ModelInfo remote = bench->script->model("m.gguf");
        remote.path = "http://127.0.0.1:8000/#tiny";
        bench->turns->onModelReady(remote);
        for (int i = 0; i < kMostAnswersAtOnce; ++i)
            askForLong(QString::number(i));
        QCOMPARE(bench->turns->answered().size(), qsizetype(kMostAnswersAtOnce));
        ask("one more");
        QCOMPARE(chat->turn()->queuePosition(), 1);
    }

    void aLoadEndsAll()
    {
        numberTheAnswers();
        const QString a = askForLong("first");
        const QString b = askForLong("second");
        bench->turns->onLoadStarted();
        QCOMPARE(chat->turn()->state(), ChatTurn::Stopping);
        bench->openModel();
        const QString c = askForLong("third");
        for (const QString& id : {a, b})
            QCOMPARE(stored(id).status, StoredMessage::Status::Stopped);
        QCOMPARE(bench->turns->answered(), QStringList{c});
    }

    void aLargerContextForOneLetsTheOthersGoOn()
    {
        bench->script->change([](auto& settings) { settings.model_context_tokens = 10'000; });
        bench->openModel(2'000);
        bench->saysForever();
        const QString stopped = askForLong("stopped");
        const QString other = askForLong("other");
        const QString gone = askForLong("gone");
        const QString raised = askForLong("raised");
        QVERIFY(chat->open(stopped));
        chat->turn()->stop();
        QVERIFY(chat->open(raised));
        chat->context()->raise();
        bench->turns->onLoadStarted();  // as the model's controller does
        bench->script->change([](auto& settings) { settings.words = {"end"}; });
        bench->store->moveToTrash(gone);
        bench->openModel(4'000);
        QTRY_VERIFY(!bench->turns->busy());
        QCOMPARE(bench->script->requests().size(), size_t(6));
        QVERIFY(bench->script->requests()[4].continue_last && bench->script->requests()[5].continue_last);
        for (const QString& id : {raised, other}) {
            QCOMPARE(stored(id).status, StoredMessage::Status::Complete);
            QVERIFY2(stored(id).text.endsWith("w end"), qPrintable(stored(id).text));
        }
        QCOMPARE(stored(stopped).status, StoredMessage::Status::Stopped);
    }

    void nothingIsLostWhenTheProgramEnds()
    {
        numberTheAnswers();
        const QString a = askForLong("first");
        const QString b = askForLong("second");
        restart();
        QCOMPARE(chat->conversationId(), b);
        QCOMPARE(bench->lastStatus(), Status::Interrupted);
        QVERIFY(bench->lastText().startsWith("2 "));
        QVERIFY(chat->open(a));
        QCOMPARE(bench->lastStatus(), Status::Interrupted);
        QVERIFY(bench->lastText().startsWith("1 "));
    }

    void whatIsWarnedOfSaysWhere()
    {
        numberTheAnswers();
        const QString a = askForLong("first");
        bench->script->change([](auto& settings) { settings.warning = "there is no memory left for this answer"; });
        ask("second");
        QVERIFY(chat->open(a));
        QTRY_COMPARE(chat->warnings(), "“second”: There is no memory left for this answer.");
    }

    void versionsAreMadeBesideAnotherConversation()
    {
        bench->says("first");
        bench->answer("question");
        const QString a = chat->conversationId();
        numberTheAnswers();
        askForLong("another");
        QVERIFY(chat->open(a));
        bench->script->change([](auto& settings) { settings.words.assign(20, "w "); });
        chat->turn()->regenerateTogether(bench->lastId(), 2);
        settle();
        const MessageModel* const answers = chat->comparison()->answers();
        QCOMPARE(answers->count(), 3);
        QCOMPARE(answers->data(answers->index(1), MessageModel::RawTextRole).toString(),
                 QStringLiteral("3 ").repeated(20));
        QCOMPARE(answers->data(answers->index(2), MessageModel::RawTextRole).toString(),
                 QStringLiteral("4 ").repeated(20));
        // What is kept is not computed again, though the other is still answered.
        const QString kept = answers->data(answers->index(2), MessageModel::MessageIdRole).toString();
        chat->comparison()->keep(kept);
        bench->answer("next");
        const auto places = bench->script->sequences();
        QCOMPARE(places.back(), places[3]);
        QCOMPARE(chat->turn()->countElsewhere(), 1);
    }
};

SPILLWAY_TEST(QApplication, TestConversationsTogether)
#include "tst_conversations_together.moc"
