// The list of messages: what the page sees while an answer grows, and what the engine is sent.
#include "app/models/message_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

using Status = MessageModel::Status;

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

private Q_SLOTS:
    void aTurn()
    {
        MessageModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy changed(&model, &MessageModel::dataChanged);

        model.appendUser("hello");
        model.beginAnswer();
        QCOMPARE(model.count(), 2);
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), int(Status::Waiting));

        model.appendToAnswer("one ");
        model.appendToAnswer("two");
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), int(Status::Streaming));
        QCOMPARE(at(model, 1, MessageModel::TextRole).toString(), "one two");
        for (const QList<QVariant>& signal : std::as_const(changed))
            QCOMPARE(signal.first().toModelIndex().row(), 1);  // the other messages are left alone
        QVERIFY(!at(model, 1, MessageModel::TokensPerSecondRole).isValid());

        engine::Turn turn;
        turn.telemetry.generated_tokens = 2;
        turn.telemetry.decode_tokens_per_s = 20.0;
        model.finishAnswer(turn);
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), int(Status::Complete));
        QCOMPARE(at(model, 1, MessageModel::TokensRole).toInt(), 2);
        QCOMPARE(at(model, 1, MessageModel::TokensPerSecondRole).toDouble(), 20.0);
        QVERIFY(!at(model, 1, MessageModel::TtftMsRole).isValid());  // unknown is not zero
    }

    void reasonsBecomeStatus_data()
    {
        QTest::addColumn<engine::StopReason>("reason");
        QTest::addColumn<int>("status");
        QTest::newRow("end") << engine::StopReason::EndOfTurn << int(Status::Complete);
        QTest::newRow("stop string") << engine::StopReason::StopString << int(Status::Complete);
        QTest::newRow("length") << engine::StopReason::MaxTokens << int(Status::LengthLimit);
        QTest::newRow("full") << engine::StopReason::ContextFull << int(Status::ContextFull);
        QTest::newRow("stopped") << engine::StopReason::Cancelled << int(Status::Stopped);
    }

    void reasonsBecomeStatus()
    {
        QFETCH(engine::StopReason, reason);
        QFETCH(int, status);
        MessageModel model;
        model.appendUser("x");
        model.beginAnswer();
        engine::Turn turn;
        turn.reason = reason;
        model.finishAnswer(turn);
        QCOMPARE(at(model, 1, MessageModel::StatusRole).toInt(), status);
    }

    void aLongAnswerChangesOnlyItsLastBlock()
    {
        MessageModel model;
        model.appendUser("long, please");
        model.beginAnswer();
        BlockModel* const answer = blocks(model, 1);
        const QAbstractItemModelTester tester(answer, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QString all;
        for (int line = 0; all.size() < 100'000; ++line) {
            const QString piece = QStringLiteral("line %1 of a long answer, ").arg(line) + (line % 7 ? "" : "\n");
            const int lastRow = answer->rowCount() - 1;
            QSignalSpy changed(answer, &BlockModel::dataChanged);
            model.appendToAnswer(piece);
            for (const QList<QVariant>& signal : std::as_const(changed))
                QVERIFY(signal.first().toModelIndex().row() >= lastRow);
            all += piece;
        }
        QVERIFY(answer->rowCount() >= 12);
        for (int i = 0; i < answer->rowCount(); ++i)
            QVERIFY(answer->data(answer->index(i), BlockModel::ContentRole).toString().size() <= 8200);
        QCOMPARE(joined(*answer), all);
        QCOMPARE(at(model, 1, MessageModel::TextRole).toString(), all);
    }

    void aLongLineIsCutBetweenCharacters()
    {
        MessageModel model;
        model.appendUser("x");
        model.beginAnswer();
        QString all = "a";  // so that the pairs straddle the even positions
        for (int i = 0; i < 10'000; ++i)
            all += QStringLiteral("😀");
        model.appendToAnswer(all);
        BlockModel* const answer = blocks(model, 1);
        QVERIFY(answer->rowCount() > 1);
        for (int i = 0; i < answer->rowCount(); ++i) {
            const QString block = answer->data(answer->index(i), BlockModel::ContentRole).toString();
            QVERIFY(block.front() == 'a' || block.front().isHighSurrogate());
            QVERIFY(block.back().isLowSurrogate());
        }
    }

    void whatTheEngineIsSent()
    {
        MessageModel model;
        model.appendUser("answered");
        model.beginAnswer();
        model.appendToAnswer("yes\x1b");  // the model reads its own words, not the picture of them
        model.finishAnswer({});
        model.appendUser("failed");
        model.beginAnswer();
        model.failAnswer("it broke");
        model.appendUser("stopped in the middle");
        model.beginAnswer();
        model.appendToAnswer("half");
        model.stopAnswer();
        model.appendUser("now");

        const auto messages = model.forEngine();
        QCOMPARE(messages.size(), size_t(5));
        const char* const expected[][2] = {{"user", "answered"},
                                           {"assistant", "yes\x1b"},
                                           {"user", "stopped in the middle"},
                                           {"assistant", "half"},
                                           {"user", "now"}};
        for (size_t i = 0; i < messages.size(); ++i) {
            QCOMPARE(messages[i].role.c_str(), expected[i][0]);
            QCOMPARE(messages[i].text.c_str(), expected[i][1]);
        }
    }

    void spaceAroundAnAnswerIsNotShown()
    {
        MessageModel model;
        model.appendUser("x");
        model.beginAnswer();
        for (const char* piece : {" ", "\n\n", " one", "\n two\n", "\n\n"})
            model.appendToAnswer(piece);
        model.finishAnswer({});
        QCOMPARE(joined(*blocks(model, 1)), "one\n two");
        model.appendUser("next");
        QCOMPARE(model.forEngine()[1].text.c_str(), " \n\n one\n two\n\n\n");  // the model reads what it wrote
    }

    void removingAndClearing()
    {
        MessageModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy counted(&model, &MessageModel::countChanged);
        model.appendUser("a");
        model.beginAnswer();
        model.removeLast();
        QCOMPARE(model.count(), 1);
        model.clear();
        QCOMPARE(model.count(), 0);
        model.clear();
        model.removeLast();
        QCOMPARE(counted.size(), 4);
    }
};

QTEST_GUILESS_MAIN(TestMessageModel)
#include "tst_message_model.moc"
