// Tests that the rows of a message's blocks change only at their end while text streams in, and that a reasoning has
// its time.
#include "app/chat/block_model.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <ctime>

class TestBlockModel : public QObject
{
    Q_OBJECT

private:
    static QVariant at(const BlockModel& model, int row, int role) { return model.data(model.index(row), role); }
    static QString kinds(const BlockModel& model)
    {
        static const char letters[] = "TCGMRD";  // text, code, grid, maths, rule, reasoning ("deliberation")
        QString all;
        for (int row = 0; row < model.rowCount(); ++row)
            all += letters[at(model, row, BlockModel::KindRole).toInt()];
        return all;
    }
    static QString all(const BlockModel& model)
    {
        QStringList rows;
        for (int row = 0; row < model.rowCount(); ++row) {
            QString text = at(model, row, BlockModel::ContentRole).toString();
            if (const auto* thoughts = at(model, row, BlockModel::ThoughtsRole).value<BlockModel*>())
                text = "(" + all(*thoughts) + ")";
            rows += text;
        }
        return rows.join('\n');
    }
    static QString rich()
    {
        QFile file(SPILLWAY_SOURCE_DIR "/tests/data/markdown/rich.md");
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }

private Q_SLOTS:
    void everyKind()
    {
        BlockModel model;
        model.append(rich());
        model.finish();
        QCOMPARE(kinds(model), "DTCTTTTMTGCCRT");
        auto* const thoughts = at(model, 0, BlockModel::ThoughtsRole).value<BlockModel*>();
        QVERIFY(thoughts);
        QCOMPARE(kinds(*thoughts), "TC");
        QCOMPARE(at(model, 2, BlockModel::TitleRole).toString(), "Shell");
        QCOMPARE(at(model, 2, BlockModel::IndentRole).toInt(), 1);
        QVERIFY(model.codeText(10).startsWith("#include <cmath>\n"));
        QCOMPARE(model.codeText(0), "");
    }

    void piecesMakeTheSameRowsAsTheWhole()
    {
        const uint seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        const QString text = rich();
        BlockModel whole;
        whole.append(text);
        whole.finish();
        for (int round = 0; round < 20; ++round) {
            BlockModel model;
            const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
            QCOMPARE(model.rowCount(), 0);
            for (qsizetype at = 0; at < text.size();) {
                const qsizetype size = random.bounded(1, 12);
                model.append(text.mid(at, size));
                at += size;
            }
            model.finish();
            QCOMPARE(kinds(model), kinds(whole));
            QCOMPARE(all(model), all(whole));
        }
    }

    void onlyTheEndChanges()
    {
        BlockModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 0);
        int changes = 0;
        const QString text = rich().repeated(3);
        for (qsizetype at = 0; at < text.size(); at += 5) {
            const int lastRow = model.rowCount() - 1;
            QSignalSpy changed(&model, &BlockModel::dataChanged);
            QSignalSpy removed(&model, &BlockModel::rowsRemoved);
            QSignalSpy reset(&model, &BlockModel::modelReset);
            model.append(text.mid(at, 5));
            for (const QList<QVariant>& signal : std::as_const(changed))
                QVERIFY(signal.first().toModelIndex().row() >= lastRow - 1);
            for (const QList<QVariant>& signal : std::as_const(removed))
                QVERIFY(signal[1].toInt() >= lastRow - 1);
            QCOMPARE(reset.size(), 0);
            changes += int(changed.size());
        }
        QVERIFY(changes > 100);
    }

    void whatNobodyLooksAtIsNotRead()
    {
        BlockModel model;
        QSignalSpy inserted(&model, &BlockModel::rowsInserted);
        model.append("# one\n");
        model.append("two");
        model.finish();
        QCOMPARE(inserted.size(), 0);
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(all(model), "one\ntwo");
    }

    void aReasoningHasATime()
    {
        BlockModel live;
        QSignalSpy changed(&live, &BlockModel::dataChanged);
        QCOMPARE(live.rowCount(), 0);
        live.append("<think>\nso");
        QVERIFY(at(live, 0, BlockModel::ThinkingRole).toBool());
        live.append(" it is</think>\n\nYes.");
        QVERIFY(!at(live, 0, BlockModel::ThinkingRole).toBool());
        QVERIFY(!at(live, 0, BlockModel::ThoughtMsRole).isValid());  // nobody has said it
        QCOMPARE(all(live), "(so it is)\nYes.");
        changed.clear();
        live.setReasoningMs(4200);
        live.setReasoningMs(4200);
        QCOMPARE(changed.size(), 1);
        QCOMPARE(at(live, 0, BlockModel::ThoughtMsRole).toDouble(), 4200.0);
        QVERIFY(!at(live, 1, BlockModel::ThoughtMsRole).isValid());

        BlockModel keptBefore;  // the order in which it is filled does not matter
        keptBefore.setReasoningMs(4200);
        keptBefore.append("<think>so</think>Yes.");
        keptBefore.finish();
        QCOMPARE(keptBefore.rowCount(), 2);
        QCOMPARE(at(keptBefore, 0, BlockModel::ThoughtMsRole).toDouble(), 4200.0);
    }

    void aReasoningThatOnlyEnds()
    {
        BlockModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        for (const char* piece : {"so it", " is\n\nsure\n", "</th", "ink>\n\n", "Yes."})
            model.append(piece);
        model.finish();
        QCOMPARE(kinds(model), "DT");
        QCOMPARE(all(model), "(so it is\nsure)\nYes.");
    }

    void aReasoningThatIsCutOff()
    {
        BlockModel model;
        QCOMPARE(model.rowCount(), 0);
        model.append("<think>so it");
        model.finish();
        QVERIFY(!at(model, 0, BlockModel::ThinkingRole).toBool());
        QCOMPARE(all(model), "(so it)");
    }

    void plainTextIsShownAsTyped()
    {
        BlockModel model(BlockModel::Format::Plain);
        const QString text = "# no heading\n\n**a** <b>\n```\n$x$\n<think>\n\n  two";
        model.append(text + "\n\n");
        model.finish();
        QCOMPARE(all(model), text);
    }

    void codeThatWasTypedIsCode()
    {
        BlockModel model(BlockModel::Format::Plain);
        const QString text = "look:\n\n```cpp\nint a;\n\nint b;\n```\n\n**and**\n~~~\n```\n~~~\n```\nopen";
        model.append(text);
        model.finish();
        QCOMPARE(kinds(model), "TCTCT");
        QCOMPARE(all(model), "look:\nint a;\n\nint b;\n**and**\n```\n```\nopen");
        QCOMPARE(at(model, 1, BlockModel::TitleRole).toString(), "C++");
        QCOMPARE(model.codeText(1), "int a;\n\nint b;");
    }

    void fencesThatNobodyClosesTakeTheirLengthInTime()
    {
        QString text;
        for (int i = 0; i < 200'000; ++i)
            text += i % 2 ? "~~~~ x\n" : "```x\n";
        BlockModel model(BlockModel::Format::Plain);
        model.append(text);
        model.finish();
        const std::clock_t start = std::clock();
        QVERIFY(!kinds(model).contains('C'));
        const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
        QVERIFY2(seconds < 60, qPrintable(QString::number(seconds)));  // else it takes many minutes
    }

    /// Each row is an item of the page.
    void aTextOfVeryManyBlocksHasNotAsManyRows_data()
    {
        QTest::addColumn<bool>("typed");
        QTest::addColumn<QString>("part");
        QTest::newRow("rules") << false << "***\n";
        QTest::newRow("code") << false << "```\nx\n```\n";
        QTest::newRow("in lists") << false << "- # a\n  ***\n";
        QTest::newRow("thoughts") << false << "<think>\nx\n</think>\n***\n";
        QTest::newRow("typed") << true << "```\nx\n```\n";
    }
    void aTextOfVeryManyBlocksHasNotAsManyRows()
    {
        QFETCH(bool, typed);
        QFETCH(QString, part);
        BlockModel model(typed ? BlockModel::Format::Plain : BlockModel::Format::Markdown);
        model.append(part.repeated(100'000));
        model.append("the end");
        model.finish();
        QVERIFY2(model.rowCount() < 25'000, qPrintable(QString::number(model.rowCount())));
        const QString last = model.index(model.rowCount() - 1).data(BlockModel::ContentRole).toString();
        QVERIFY2(last.endsWith("the end"), qPrintable(last.right(50)));
    }

    void theBlocksBeyondAreAsTheyWereWritten()
    {
        BlockModel model;
        QCOMPARE(model.rowCount(), 0);  // from here on it is watched
        for (int i = 0; i < 10'100; ++i)
            model.append("***\n");
        QCOMPARE(model.rowCount(), 10'002);
        QVERIFY(model.index(10'000).data(BlockModel::ContentRole).toString().contains("too many parts"));
        QCOMPARE(model.codeText(10'001), QString("***\n").repeated(100).chopped(1));
    }

    void aLongPlainTextWithoutLinesTakesItsLengthInTime()
    {
        const auto seconds = [](qsizetype size) {
            BlockModel model(BlockModel::Format::Plain);
            model.append(QString(size, 'x'));
            model.finish();
            const std::clock_t start = std::clock();
            if (model.rowCount() != size / 8000)
                qFatal("%lld rows", qlonglong(model.rowCount()));
            return double(std::clock() - start) / CLOCKS_PER_SEC;
        };
        const double some = std::min({seconds(400'000), seconds(400'000), seconds(400'000)});
        const double many = std::min(seconds(8'000'000), seconds(8'000'000));
        qInfo("%g s and %g s", some, many);
        QVERIFY(many < 100 * std::max(some, 1e-4));  // 20 times the text; its square would be 400 times the time
    }

    void noCharacterEndsAParagraphOrStandsForAFormula()
    {
        const QString text = QStringLiteral("$x$ `\uFDD0` and `\uFDD00\uFDD1`\n\n```\n\uFDD0\n```");
        BlockModel markdown;
        markdown.append(text);
        markdown.finish();
        BlockModel plain(BlockModel::Format::Plain);
        plain.append(text);
        plain.finish();
        for (const BlockModel* model : {&markdown, &plain}) {
            QCOMPARE(all(*model).count("⟨U+FDD0⟩"), 3);
            QVERIFY(all(*model).contains("⟨U+FDD0⟩0⟨U+FDD1⟩"));
        }
    }

    void whatHidesIsSeen()
    {
        BlockModel model;
        model.append(QStringLiteral("a\u202Eb `c\u200Bd` [e](https://f.g/\u202Eh)\n\n```\n\u2066\n```"));
        model.finish();
        QVERIFY(all(model).contains("a⟨U+202E⟩b c⟨U+200B⟩d"));
        QVERIFY(all(model).contains("⟨U+2066⟩"));
        QVERIFY(!all(model).contains(QChar(0x202E)));
    }
};

SPILLWAY_TEST(QCoreApplication, TestBlockModel)
#include "tst_block_model.moc"
