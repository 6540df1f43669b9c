// Tests that the list of messages changes no more rows than it has to while an answer grows and when another version is
// shown.
#include "app/chat/message_model.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

using Status = MessageModel::Status;
using Role = StoredMessage::Role;

class TestMessageModel : public QObject
{
    Q_OBJECT

private:
    static QVariant at(const MessageModel& model, int row, int role) { return model.data(model.index(row), role); }
    static BlockModel* blocks(const MessageModel& model, int row)
    {
        return at(model, row, MessageModel::BlocksRole).value<BlockModel*>();
    }
    static QString joined(const BlockModel& blocks)
    {
        QStringList all;
        for (int i = 0; i < blocks.rowCount(); ++i)
            all += blocks.data(blocks.index(i), BlockModel::ContentRole).toString();
        return all.join('\n');
    }
    static StoredMessage message(const QString& id, const QString& parent, Role role, const QString& text)
    {
        StoredMessage message;
        message.id = id;
        message.parent = parent;
        message.role = role;
        message.text = text;
        return message;
    }
    /// "q1", "a1" and so on, one below the other.
    static OpenConversation conversation(int turns)
    {
        OpenConversation made;
        QString parent;
        for (int i = 1; i <= turns; ++i) {
            const QString question = QStringLiteral("q%1").arg(i);
            const QString answer = QStringLiteral("a%1").arg(i);
            made.tree.add(message(question, parent, Role::User, "question " + question));
            made.tree.add(message(answer, question, Role::Assistant, "answer " + answer));
            parent = answer;
        }
        return made;
    }
    /// A question whose answer "a" has begun.
    static OpenConversation answering()
    {
        OpenConversation made;
        made.tree.add(message("q", {}, Role::User, "hello"));
        made.tree.add(message("a", "q", Role::Assistant, {}));
        made.tree.find("a")->status = StoredMessage::Status::Streaming;
        made.phase = OpenConversation::Phase::Reading;
        made.answers = {"a"};
        return made;
    }
    static void grow(OpenConversation& conversation, MessageModel& model, const QString& text)
    {
        conversation.tree.find(conversation.answers.first())->text += text;
        model.append(conversation.answers.first(), text);
    }
    static void end(OpenConversation& conversation, MessageModel& model, StoredMessage::Status status)
    {
        conversation.tree.find(conversation.answers.first())->status = status;
        conversation.phase = OpenConversation::Phase::Idle;
        conversation.answers.clear();
        model.show(conversation);
    }
    static QStringList ids(const MessageModel& model)
    {
        QStringList all;
        for (int i = 0; i < model.count(); ++i)
            all += at(model, i, MessageModel::MessageIdRole).toString();
        return all;
    }

private Q_SLOTS:
    void aSentenceFromElsewhereHidesNothing()
    {
        OpenConversation made = conversation(1);
        made.tree.find("a1")->status = StoredMessage::Status::Failed;
        made.tree.find("a1")->sentence = QStringLiteral("It\u202E failed.");
        MessageModel model;
        model.show(made);
        QCOMPARE(at(model, 1, MessageModel::SentenceRole), "It⟨U+202E⟩ failed.");
    }

    void aTurn()
    {
        MessageModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy changed(&model, &MessageModel::dataChanged);
        OpenConversation conversation = answering();
        model.show(conversation);
        QCOMPARE(model.count(), 2);
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), int(Status::Waiting));

        grow(conversation, model, "one ");
        grow(conversation, model, "two");
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), int(Status::Streaming));
        QCOMPARE(at(model, 1, MessageModel::TextRole).toString(), "one two");
        QVERIFY(!at(model, 1, MessageModel::TokensPerSecondRole).isValid());
        model.show(conversation);  // nothing is new

        StoredMessage& answer = *conversation.tree.find("a");
        answer.tokens = 2;
        answer.tokensPerSecond = 20.0;
        end(conversation, model, StoredMessage::Status::Complete);
        for (const QList<QVariant>& signal : std::as_const(changed))
            QCOMPARE(signal.first().toModelIndex().row(), 1);  // the other messages are left alone
        QCOMPARE(changed.size(), 3);
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), int(Status::Complete));
        QCOMPARE(at(model, 1, MessageModel::OwnTokensRole).toInt(), 2);
        QCOMPARE(at(model, 1, MessageModel::TokensPerSecondRole).toDouble(), 20.0);
        QVERIFY(!at(model, 1, MessageModel::TtftMsRole).isValid());  // unknown is not zero
    }

    void aThoughtsTimeReachesItsBlock()
    {
        MessageModel model;
        OpenConversation conversation = answering();
        model.show(conversation);
        grow(conversation, model, "<think>so");
        BlockModel* const before = blocks(model, 1);
        const auto ms = [&] { return before->data(before->index(0), BlockModel::ThoughtMsRole); };
        QCOMPARE(before->rowCount(), 1);
        grow(conversation, model, "</think>Yes.");
        QVERIFY(!ms().isValid());
        conversation.tree.find("a")->reasoningMs = 4200;
        model.show(conversation);
        QCOMPARE(ms().toDouble(), 4200.0);
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), int(Status::Streaming));
        end(conversation, model, StoredMessage::Status::Complete);
        QCOMPARE(blocks(model, 1), before);
        QCOMPARE(ms().toDouble(), 4200.0);
    }

    void statuses_data()
    {
        QTest::addColumn<StoredMessage::Status>("stored");
        QTest::addColumn<int>("status");
        QTest::addColumn<bool>("canContinue");
        using Stored = StoredMessage::Status;
        QTest::newRow("complete") << Stored::Complete << int(Status::Complete) << false;
        QTest::newRow("stopped") << Stored::Stopped << int(Status::Stopped) << true;
        QTest::newRow("length") << Stored::LengthLimit << int(Status::LengthLimit) << true;
        QTest::newRow("full") << Stored::ContextFull << int(Status::ContextFull) << true;
        QTest::newRow("failed") << Stored::Failed << int(Status::Failed) << true;
        QTest::newRow("the program ended") << Stored::Streaming << int(Status::Interrupted) << true;
    }

    void statuses()
    {
        QFETCH(StoredMessage::Status, stored);
        QFETCH(int, status);
        QFETCH(bool, canContinue);
        OpenConversation one = conversation(2);
        one.tree.find("a1")->status = stored;
        one.tree.find("a2")->status = stored;
        MessageModel model;
        model.show(one);
        QCOMPARE(at(model, 3, MessageModel::StatusRole).toInt(), status);
        QCOMPARE(at(model, 3, MessageModel::CanContinueRole).toBool(), canContinue);
        QVERIFY(!at(model, 1, MessageModel::CanContinueRole).toBool());  // the conversation went on without
        one.tree.find("a2")->text.clear();
        model.show(one);
        QVERIFY(!at(model, 3, MessageModel::CanContinueRole).toBool());  // there is nothing to go on with
    }

    void anUnansweredQuestionIsOne()
    {
        MessageModel model;
        OpenConversation one = conversation(1);
        one.tree.add(message("q2", "a1", Role::User, "and?"));
        model.show(one);
        QVERIFY(at(model, 2, MessageModel::UnansweredRole).toBool());
        QVERIFY(!at(model, 0, MessageModel::UnansweredRole).toBool());
    }

    void anotherVersionKeepsWhatIsTheSame()
    {
        MessageModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        OpenConversation one = conversation(3);
        model.show(one);
        BlockModel* const first = blocks(model, 1);
        one.tree.add(message("q2b", "a1", Role::User, "another question"));
        QSignalSpy removed(&model, &MessageModel::rowsRemoved);
        QSignalSpy inserted(&model, &MessageModel::rowsInserted);
        QSignalSpy changed(&model, &MessageModel::dataChanged);
        QSignalSpy reset(&model, &MessageModel::modelReset);
        model.show(one);
        QCOMPARE(ids(model), (QStringList{"q1", "a1", "q2b"}));
        QCOMPARE(removed.size(), 1);
        QCOMPARE(removed[0][1].toInt(), 2);
        QCOMPARE(inserted.size(), 1);
        QCOMPARE(changed.size(), 0);
        QCOMPARE(reset.size(), 0);
        QCOMPARE(blocks(model, 1), first);
        QCOMPARE(at(model, 2, MessageModel::VersionRole).toInt(), 2);
        QCOMPARE(at(model, 2, MessageModel::VersionCountRole).toInt(), 2);

        QVERIFY(one.tree.showVersion("q2b", -1));
        model.show(one);
        QCOMPARE(ids(model), (QStringList{"q1", "a1", "q2", "a2", "q3", "a3"}));
        QCOMPARE(at(model, 2, MessageModel::VersionRole).toInt(), 1);

        OpenConversation other;
        model.show(other);
        QCOMPARE(model.count(), 0);
    }

    void whatIsLeftOutIsMarkedWhereItEnds()
    {
        MessageModel model;
        OpenConversation one = conversation(3);
        for (const char* id : {"q1", "a1", "q2", "a2"})
            one.tree.find(id)->leftOut = true;
        model.show(one);
        QVERIFY(at(model, 0, MessageModel::LeftOutRole).toBool());
        QCOMPARE(at(model, 3, MessageModel::LeftOutAboveRole).toInt(), 0);
        QCOMPARE(at(model, 4, MessageModel::LeftOutAboveRole).toInt(), 4);
        QCOMPARE(at(model, 5, MessageModel::LeftOutAboveRole).toInt(), 0);
    }

    void aLongAnswerChangesOnlyItsLastBlock()
    {
        MessageModel model;
        OpenConversation conversation = answering();
        model.show(conversation);
        BlockModel* const answer = blocks(model, 1);
        const QAbstractItemModelTester tester(answer, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QString all;
        for (int line = 0; all.size() < 100'000; ++line) {
            const QString piece = (line % 7 ? " " : "\n") + QStringLiteral("line %1 of a long answer,").arg(line);
            const int lastRow = answer->rowCount() - 1;
            QSignalSpy changed(answer, &BlockModel::dataChanged);
            grow(conversation, model, piece);
            for (const QList<QVariant>& signal : std::as_const(changed))
                QVERIFY(signal.first().toModelIndex().row() >= lastRow - 1);
            all += piece;
        }
        QVERIFY(answer->rowCount() >= 12);
        for (int i = 0; i < answer->rowCount(); ++i)
            QVERIFY(answer->data(answer->index(i), BlockModel::ContentRole).toString().size() <= 8200);
        QCOMPARE(joined(*answer), all.trimmed());
        QCOMPARE(at(model, 1, MessageModel::TextRole).toString(), all.mid(1));
    }

    void aLongLineIsCutBetweenCharacters()
    {
        MessageModel model;
        OpenConversation conversation = answering();
        model.show(conversation);
        QString all = "a";  // so that the pairs straddle the even positions
        for (int i = 0; i < 10'000; ++i)
            all += QStringLiteral("😀");
        grow(conversation, model, all);
        BlockModel* const answer = blocks(model, 1);
        QVERIFY(answer->rowCount() > 1);
        for (int i = 0; i < answer->rowCount(); ++i) {
            const QString block = answer->data(answer->index(i), BlockModel::ContentRole).toString();
            QVERIFY(block.front() == 'a' || block.front().isHighSurrogate());
            QVERIFY(block.back().isLowSurrogate());
        }
    }

    void spaceAroundAnAnswerIsNotShown()
    {
        MessageModel model;
        OpenConversation conversation = answering();
        model.show(conversation);
        for (const char* piece : {" ", "\n\n", " one", "\n two\n", "\n\n"})
            grow(conversation, model, piece);
        end(conversation, model, StoredMessage::Status::Complete);
        QCOMPARE(joined(*blocks(model, 1)), "one\ntwo");
        QCOMPARE(at(model, 1, MessageModel::RawTextRole).toString(), " \n\n one\n two\n\n\n");
        MessageModel again;  // the same when it is read back
        again.show(conversation);
        QCOMPARE(joined(*blocks(again, 1)), "one\ntwo");
    }

    /// Guessed places are those of the text as it is shown: without the space before it, and with signs for hidden
    /// characters.
    void guessedPiecesAreThoseOfTheShownText()
    {
        MessageModel model;
        OpenConversation conversation = answering();
        conversation.header.id = "c";
        // The character at %1 turns the order of those that follow.
        const QString text = QStringLiteral(" \n\u00E9in\r\nz%1wei \U0001F600drei").arg(QChar(0x202E));
        const auto bytesTo = [&](const QString& end) { return int(text.left(text.indexOf(end)).toUtf8().size()); };
        engine::Turn turn;
        turn.text = text.toStdString();
        turn.guessed = {{1, bytesTo("in")}, {bytesTo("n\r"), bytesTo("wei")}, {bytesTo("drei"), int(turn.text.size())}};
        GuessedText guessed;
        guessed.begin("c", "a", 0);
        guessed.end("c", "a", turn);
        model.show(conversation);
        grow(conversation, model, text);
        end(conversation, model, StoredMessage::Status::Complete);
        QVERIFY(model.guessedPlaces(1).isEmpty());
        model.setGuessed(&guessed);
        QStringList pieces;
        const QString shown = model.shownText(1);
        const QList<int> places = model.guessedPlaces(1);
        for (qsizetype i = 0; i + 1 < places.size(); i += 2)
            pieces += shown.mid(places[i], places[i + 1] - places[i]);
        QCOMPARE(pieces, QStringList({"\u00E9", "n\nz⟨U+202E⟩", "drei"}));
        QVERIFY(model.guessedPlaces(0).isEmpty());

        guessed.begin("c", "a", text.indexOf("drei"));  // it goes on from there
        QCOMPARE(model.guessedPlaces(1).size(), 4);
        turn.text = "vier";
        turn.guessed = {{0, 4}};
        guessed.end("c", "a", turn);
        QCOMPARE(guessed.of("c", "a").last(), (TextPiece{text.indexOf("drei"), text.indexOf("drei") + 4}));
        guessed.begin("c", "a", 0);  // it is answered again
        QVERIFY(model.guessedPlaces(1).isEmpty());
        guessed.end("c", "a", turn);
        guessed.forget("c");
        QVERIFY(guessed.of("c", "a").isEmpty());
    }

    void piecesAreShownAsTheWhole()
    {
        const QString text = QStringLiteral("\r\n\u2028 one\u202E\r\ntwo\r \x1b😀") + QString(1100, 'x');
        for (qsizetype cut = 0; cut < 24; ++cut) {
            MessageModel model;
            OpenConversation conversation = answering();
            model.show(conversation);
            grow(conversation, model, text.left(cut));
            QVERIFY(!at(model, 1, MessageModel::TextRole).toString().contains("␍\n"));
            grow(conversation, model, text.mid(cut));
            const QString shown = QStringLiteral("one⟨U+202E⟩\ntwo␍ ␛😀") + QString(1100, 'x');
            QCOMPARE(at(model, 1, MessageModel::TextRole).toString(), shown);
            QVERIFY(shown.startsWith(at(model, 1, MessageModel::BeginningRole).toString()));
            QCOMPARE(joined(*blocks(model, 1)).remove('\n'), QString(shown).remove('\n'));
        }
    }

    void aCutAnswerGoesOn()
    {
        MessageModel model;
        OpenConversation conversation = answering();
        model.show(conversation);
        grow(conversation, model, "one two \x1b");
        end(conversation, model, StoredMessage::Status::Stopped);
        QCOMPARE(at(model, 1, MessageModel::TextRole).toString(), "one two ␛");
        conversation.tree.find("a")->status = StoredMessage::Status::Streaming;
        conversation.answers = {"a"};
        conversation.phase = OpenConversation::Phase::Queued;
        model.show(conversation);
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), int(Status::Queued));
        conversation.phase = OpenConversation::Phase::Answering;
        model.show(conversation);
        grow(conversation, model, " three");
        end(conversation, model, StoredMessage::Status::Complete);
        QCOMPARE(joined(*blocks(model, 1)), "one two ␛ three");
    }
};

SPILLWAY_TEST(QCoreApplication, TestMessageModel)
#include "tst_message_model.moc"
