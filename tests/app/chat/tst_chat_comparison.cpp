// Tests that several versions of an answer are made at once, shown side by side until one is kept, and that none of
// them is lost.
#include "tests/support/chat_bench.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>

using namespace std::chrono_literals;
using Status = MessageModel::Status;

class TestChatComparison : public QObject, private ChatCase
{
    Q_OBJECT

private:
    MessageModel* answers() const { return chat->comparison()->answers(); }
    QVariant column(int at, int role) const { return answers()->data(answers()->index(at), role); }
    QString columnId(int at) const { return column(at, MessageModel::MessageIdRole).toString(); }
    QString columnText(int at) const { return column(at, MessageModel::RawTextRole).toString(); }
    Status columnStatus(int at) const { return Status(column(at, MessageModel::StatusRole).toInt()); }
    QList<Status> statuses() const
    {
        QList<Status> all;
        for (int i = 0; i < answers()->count(); ++i)
            all += columnStatus(i);
        return all;
    }
    QStringList columnTexts() const
    {
        QStringList all;
        for (int i = 0; i < answers()->count(); ++i)
            all += columnText(i);
        return all;
    }
    /// Lets a question be answered with "first", and then in this many versions, whose text is the number of their turn
    /// in the engine: 2, 3, ...
    void askAgain(int versions)
    {
        bench->says("first");
        bench->answer("question");
        bench->script->change([](auto& settings) { settings.says_turn = true; });
        chat->turn()->regenerateTogether(bench->lastId(), versions);
    }
    /// Does the same with versions that do not end by themselves, and waits until each has some text.
    void askForLong(int versions)
    {
        bench->says("first");
        bench->answer("question");
        bench->saysForever();
        bench->script->change([](auto& settings) { settings.says_turn = true; });
        chat->turn()->regenerateTogether(bench->lastId(), versions);
        QTRY_VERIFY(answers()->count() == 1 + versions && !columnTexts().contains(QString()));
    }
    StoredConversation stored() const { return *bench->store->conversation(chat->conversationId()); }

private Q_SLOTS:
    void init()
    {
        makeBench();
        bench->openModel();
        new QAbstractItemModelTester(answers(), QAbstractItemModelTester::FailureReportingMode::QtTest, chat);
    }

    void cleanup() { bench.reset(); }

    void severalAreMadeAtOnce()
    {
        QVERIFY(!chat->comparison()->isShown());
        askAgain(3);
        QVERIFY(chat->comparison()->isShown());
        QCOMPARE(chat->comparison()->question(), "question");
        QCOMPARE(answers()->count(), 4);
        QCOMPARE(chat->comparison()->current(), 1);  // the first of the new ones
        QSignalSpy ended(bench->turns.get(), &TurnRunner::turnEnded);
        settle();
        QCOMPARE(columnTexts(), (QStringList{"first", "2 ", "3 ", "4 "}));
        QCOMPARE(statuses(), QList<Status>(4, MessageModel::Complete));
        QCOMPARE(column(3, MessageModel::OwnTokensRole).toInt(), 1);
        QVERIFY(column(3, MessageModel::PromptTokensRole).toInt() > 0);
        QVERIFY(!column(3, MessageModel::ModelNameRole).toString().isEmpty());
        QCOMPARE(bench->texts(), (QStringList{"question", "2 "}));
        QCOMPARE(ended.size(), 1);
        QVERIFY(chat->comparison()->isShown());  // until one is kept

        const auto requests = bench->script->requests();
        QCOMPARE(requests.size(), size_t(4));
        QCOMPARE(requests[3].messages.size(), size_t(1));
        QCOMPARE(requests[1].saved_as, chat->conversationId().toStdString());
        QVERIFY(requests[2].saved_as.empty() && requests[3].saved_as.empty());  // one file has the KV of one answer
        QVERIFY(!requests[2].sampling.seed);

        const QList<StoredMessage> messages = stored().messages;
        QCOMPARE(messages.size(), 5);
        for (int i = 2; i < 5; ++i) {
            QCOMPARE(messages[i].parent, messages[0].id);
            QCOMPARE(messages[i].text, QString::number(i) + ' ');
            QVERIFY(messages[i].status == StoredMessage::Status::Complete);
        }
        QCOMPARE(stored().header.leaf, messages[2].id);
    }

    void aSeedIsAnotherForEach()
    {
        ConversationSettings settings;
        settings.sampling.insert("seed", 41);
        chat->setSettings(settings);
        askAgain(3);
        settle();
        const auto requests = bench->script->requests();
        for (size_t i = 0; i < 3; ++i)
            QCOMPARE(requests[1 + i].sampling.seed.value_or(0), std::uint64_t(41 + i));
    }

    void aLargerContextLetsAllGoOn()
    {
        bench->script->change([](auto& settings) { settings.model_context_tokens = 10'000; });
        bench->openModel(2'000);
        askForLong(3);
        chat->turn()->stopVersion(columnId(3));
        QTRY_COMPARE(columnStatus(3), MessageModel::Stopped);
        chat->context()->raise();
        bench->turns->onLoadStarted();  // as the model's controller does
        settle();
        QCOMPARE(statuses().mid(1), QList<Status>(3, MessageModel::Stopped));
        const QStringList cut = columnTexts();
        bench->script->change([](auto& settings) {
            settings.words = {"end"};
            settings.says_turn = false;
        });
        bench->openModel(4'000);
        QVERIFY(chat->turn()->busy());
        settle();
        QCOMPARE(columnTexts(), (QStringList{cut[0], cut[1] + "end", cut[2] + "end", cut[3]}));
        QCOMPARE(statuses(), (QList<Status>{MessageModel::Complete, MessageModel::Complete, MessageModel::Complete,
                                            MessageModel::Stopped}));
        const auto requests = bench->script->requests();
        QCOMPARE(requests.size(), size_t(6));
        for (size_t i = 0; i < 2; ++i)  // each behind its own text
            QCOMPARE(QString::fromStdString(requests[4 + i].messages.back().text), cut[qsizetype(1 + i)]);
    }

    void whatIsNotKeptDoesNotGoOnInALargerContext()
    {
        bench->script->change([](auto& settings) { settings.model_context_tokens = 10'000; });
        bench->openModel(2'000);
        askForLong(2);
        chat->context()->raise();
        bench->turns->onLoadStarted();
        settle();
        chat->comparison()->keep(columnId(1));
        bench->script->change([](auto& settings) {
            settings.words = {"end"};
            settings.says_turn = false;
        });
        bench->openModel(4'000);
        QVERIFY(chat->turn()->busy());
        settle();
        QCOMPARE(bench->script->requests().size(), size_t(4));  // the first one, two versions, and the one that goes on
    }

    void allThatFilledTheContextGoOnInALargerOne()
    {
        bench->script->change([](auto& settings) { settings.model_context_tokens = 150; });
        bench->openModel(40);
        bench->script->change([](auto& settings) { settings.words.assign(60, "w "); });
        bench->answer("question");
        chat->turn()->regenerateTogether(bench->lastId(), 2);
        settle();
        QCOMPARE(statuses(), QList<Status>(3, MessageModel::ContextFull));
        bench->says("end");
        chat->context()->raise();
        bench->turns->onLoadStarted();
        bench->openModel(80);
        QVERIFY(chat->turn()->busy());
        settle();
        QCOMPARE(statuses(), QList<Status>(3, MessageModel::Complete));
    }

    void allWhosePromptDidNotFitAreAskedAgain_data()
    {
        QTest::addColumn<bool>("raises");
        QTest::newRow("in a larger context") << true;
        QTest::newRow("without the oldest messages") << false;
    }

    void allWhosePromptDidNotFitAreAskedAgain()
    {
        QFETCH(bool, raises);
        bench->says("first");
        bench->answer("q");
        bench->answer(QString("r ").repeated(10));
        bench->script->change([](auto& settings) { settings.model_context_tokens = 150; });
        bench->openModel(20);  // of the 24 tokens of the prompt, the last question has 14
        chat->turn()->regenerateTogether(bench->lastId(), 2);
        settle();
        QCOMPARE(statuses(), (QList<Status>{MessageModel::Complete, MessageModel::Failed, MessageModel::Failed}));
        QVERIFY(chat->context()->full());
        bench->says("end");
        if (raises) {
            chat->context()->raise();
            bench->turns->onLoadStarted();
            bench->openModel(40);
        } else {
            chat->context()->dropOldest();
        }
        settle();
        QCOMPARE(columnTexts(), (QStringList{"first", "end", "end"}));
        QCOMPARE(statuses(), QList<Status>(3, MessageModel::Complete));
    }

    void howManyThereMayBe()
    {
        askAgain(100);
        QCOMPARE(answers()->count(), 5);
        settle();
        chat->turn()->regenerateTogether(bench->lastId(), 0);
        settle();
        QCOMPARE(answers()->count(), 7);
        chat->turn()->regenerateTogether(bench->idAt(0), 2);  // the user's own words
        chat->turn()->regenerateTogether("nobody", 2);
        QVERIFY(!chat->turn()->busy());
        bench->saysForever();
        chat->turn()->regenerateTogether(bench->lastId(), 2);
        QCOMPARE(answers()->count(), 9);
        chat->turn()->regenerateTogether(bench->lastId(), 2);  // while it is answered
        QCOMPARE(answers()->count(), 9);
    }

    void stopStopsAll()
    {
        askForLong(3);
        QCOMPARE(statuses().mid(1), QList<Status>(3, MessageModel::Streaming));
        chat->turn()->stop();
        QCOMPARE(chat->turn()->state(), ChatTurn::Stopping);
        settle();
        QCOMPARE(statuses().mid(1), QList<Status>(3, MessageModel::Stopped));
        QCOMPARE(bench->script->stopped_turns(), 3);
        for (const StoredMessage& message : stored().messages.mid(2)) {
            QVERIFY(message.status == StoredMessage::Status::Stopped);
            QVERIFY(!message.text.isEmpty());
        }
    }

    void oneIsStoppedAndTheOthersGoOn()
    {
        askForLong(3);
        chat->turn()->stopVersion(columnId(2));
        QTRY_COMPARE(columnStatus(2), MessageModel::Stopped);
        QVERIFY(chat->turn()->busy());
        const QString stopped = columnText(2);
        const qsizetype first = columnText(1).size(), last = columnText(3).size();
        QTRY_VERIFY(columnText(1).size() > first && columnText(3).size() > last);
        QCOMPARE(columnText(2), stopped);
        QVERIFY(stored().messages[3].status == StoredMessage::Status::Stopped);  // and saved at once

        // Now the first version is stopped, whose numbers the conversation shows.
        chat->turn()->stopVersion(columnId(1));
        QTRY_COMPARE(columnStatus(1), MessageModel::Stopped);
        QCOMPARE(chat->turn()->state(), ChatTurn::Answering);
        QVERIFY(!chat->turn()->send("too early"));
        chat->turn()->stopVersion(columnId(3));
        settle();
        bench->script->change([](auto& settings) { settings.words = {"done"}; });
        bench->answer("next");  // the engine is free
        QCOMPARE(bench->texts().size(), 4);
    }

    void oneFailsAndTheOthersGoOn()
    {
        bench->script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::NoMemory, "there is no memory left"};
            settings.turn_with_error = 3;
        });
        askAgain(3);
        settle();
        QCOMPARE(statuses(), (QList<Status>{MessageModel::Complete, MessageModel::Complete, MessageModel::Failed,
                                            MessageModel::Complete}));
        QVERIFY(!column(2, MessageModel::SentenceRole).toString().isEmpty());
        QVERIFY(stored().messages[3].status == StoredMessage::Status::Failed);
        QCOMPARE(stored().messages[4].text, "4 ");
    }

    void nothingIsLostWhenTheProgramEnds()
    {
        askForLong(2);
        restart();
        QVERIFY(!chat->comparison()->isShown());
        QCOMPARE(bench->last(MessageModel::VersionCountRole).toInt(), 3);
        QCOMPARE(bench->lastStatus(), MessageModel::Interrupted);
        chat->comparison()->show(bench->lastId());
        QCOMPARE(statuses().mid(1), QList<Status>(2, MessageModel::Interrupted));
        QVERIFY(columnText(1).startsWith("2 ") && columnText(2).startsWith("3 "));
    }

    void aConversationGoesOnWithTheOneThatIsKept()
    {
        askAgain(2);
        settle();
        chat->comparison()->keep(columnId(2));
        QVERIFY(!chat->comparison()->isShown());
        QCOMPARE(answers()->count(), 0);
        QCOMPARE(bench->texts(), (QStringList{"question", "3 "}));
        QCOMPARE(stored().header.leaf, bench->lastId());
        bench->answer("next");
        QCOMPARE(sent()[1].text.c_str(), "3 ");
        const auto places = bench->script->sequences();
        QCOMPARE(places.back(), places[2]);  // with the KV of its own words

        // What is branched off or asked otherwise afterwards has the same words before it.
        QVERIFY(chat->versions()->edit(bench->idAt(2), "another"));
        settle();
        QCOMPARE(sent()[1].text.c_str(), "3 ");
        chat->versions()->branch(bench->idAt(1));
        QCOMPARE(bench->texts(), (QStringList{"question", "3 "}));
        restart();
        QCOMPARE(bench->texts(), (QStringList{"question", "3 "}));
    }

    void whatIsKeptGoesOnAloneWhileItIsMade()
    {
        askForLong(3);
        const QString kept = columnId(3);
        chat->comparison()->keep(kept);
        QVERIFY(!chat->comparison()->isShown());
        QCOMPARE(bench->lastId(), kept);
        QTRY_COMPARE(bench->script->stopped_turns(), 2);
        const qsizetype length = bench->lastText().size();
        QTRY_VERIFY(bench->lastText().size() > length);
        QCOMPARE(chat->turn()->state(), ChatTurn::Answering);
        chat->turn()->stop();
        settle();
        QCOMPARE(bench->lastId(), kept);
        // The numbers are its own.
        QCOMPARE(chat->telemetry()->contextTokens(), bench->last(MessageModel::PromptTokensRole).toInt() +
                                                         bench->last(MessageModel::OwnTokensRole).toInt());
    }

    void theyWaitAndAreTakenBack()
    {
        bench->turns->setMostAtOnce(1);
        bench->says("first");
        bench->answer("question");
        const QString b = chat->conversationId();
        bench->saysForever();
        chat->newConversation();
        QVERIFY(chat->turn()->send("another"));
        const QString a = chat->conversationId();
        QVERIFY(chat->open(b));
        chat->turn()->regenerateTogether(bench->lastId(), 3);
        QCOMPARE(statuses(), (QList<Status>{MessageModel::Complete, MessageModel::Queued, MessageModel::Queued,
                                            MessageModel::Queued}));
        chat->turn()->stop();
        QVERIFY(!chat->comparison()->isShown());  // there is one again
        QCOMPARE(bench->texts(), (QStringList{"question", "first"}));
        QCOMPARE(bench->last(MessageModel::VersionCountRole).toInt(), 1);

        // Who keeps what was there does not wait for others any more.
        chat->turn()->regenerateTogether(bench->lastId(), 2);
        QVERIFY(chat->turn()->queued());
        chat->comparison()->keep(columnId(0));
        QVERIFY(!chat->turn()->busy());
        QVERIFY(!chat->comparison()->isShown());
        QCOMPARE(bench->texts(), (QStringList{"question", "first"}));

        chat->turn()->regenerateTogether(bench->lastId(), 2);
        bench->turns->onLoadStarted();
        bench->turns->onModelGone();
        QCOMPARE(statuses(), (QList<Status>{MessageModel::Complete, MessageModel::Failed, MessageModel::Failed}));
        QCOMPARE(stored().messages.size(), 4);
    }

    void whatIsMadeElsewhereIsThereWhenOneComesBack()
    {
        askForLong(2);
        const QString a = chat->conversationId();
        chat->newConversation();
        QVERIFY(!chat->comparison()->isShown());
        QCOMPARE(answers()->count(), 0);
        QTest::qWait(50);
        QCOMPARE(answers()->count(), 0);  // their text goes on arriving
        QVERIFY(chat->open(a));
        QVERIFY(chat->comparison()->isShown());
        const qsizetype length = columnText(2).size();
        QTRY_VERIFY(columnText(2).size() > length);

        // And what nobody wants any more does not keep the next one waiting.
        chat->newConversation();
        bench->script->change([](auto& settings) {
            settings.words = {"done"};
            settings.says_turn = false;
        });
        bench->store->moveToTrash(a);
        bench->answer("hello");
        QCOMPARE(bench->lastText(), "done");
    }

    void theModelIsLost()
    {
        bench->script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::CannotRead, "the model file was cut off"};
            settings.turn_with_error = 2;
        });
        QSignalSpy lost(bench->turns.get(), &TurnRunner::modelLost);
        askAgain(2);
        settle();
        QCOMPARE(lost.size(), 1);
        QCOMPARE(columnStatus(1), MessageModel::Failed);
        QVERIFY(!chat->turn()->canSend());
    }

    void theyAreComparedLater()
    {
        bench->says("first");
        bench->answer("question");
        chat->comparison()->show(bench->lastId());
        QVERIFY(!chat->comparison()->isShown());  // with what?
        bench->says("second");
        chat->turn()->retry();
        settle();
        QVERIFY(!chat->comparison()->isShown());
        chat->versions()->step(-1);
        chat->comparison()->show(bench->idAt(0));  // the user's own words
        QVERIFY(!chat->comparison()->isShown());
        chat->comparison()->show(bench->lastId());
        QVERIFY(chat->comparison()->isShown());
        QCOMPARE(columnTexts(), (QStringList{"first", "second"}));
        QCOMPARE(chat->comparison()->current(), 0);
        chat->comparison()->close();
        QVERIFY(!chat->comparison()->isShown());
        QCOMPARE(bench->lastText(), "first");

        chat->comparison()->show(bench->lastId());
        chat->comparison()->keep("nobody");
        QVERIFY(chat->comparison()->isShown());
        bench->answer("next");  // what is asked goes on with the one that was shown
        QVERIFY(!chat->comparison()->isShown());
        QCOMPARE(sent()[1].text.c_str(), "first");

        // In the middle of a conversation; what followed the other one is there again.
        chat->comparison()->show(bench->idAt(1));
        chat->comparison()->keep(columnId(1));
        QCOMPARE(bench->texts(), (QStringList{"question", "second"}));
        chat->comparison()->show(bench->lastId());
        chat->comparison()->keep(columnId(0));
        QCOMPARE(bench->texts(), (QStringList{"question", "first", "next", "second"}));
    }
};

SPILLWAY_TEST(QApplication, TestChatComparison)
#include "tst_chat_comparison.moc"
