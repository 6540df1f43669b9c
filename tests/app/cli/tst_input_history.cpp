// Tests that the newest lines that were typed in a chat are kept for the next one.
#include "app/cli/input_history.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <QFileInfo>
#include <QTemporaryDir>

using cli::InputHistory;

class TestInputHistory : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path file() const { return m_folder.filePath(QTest::currentTestFunction()).toStdString(); }

private Q_SLOTS:
    void theNewestLinesAreKept()
    {
        {
            InputHistory history(file());
            for (int i = 0; i < 1200; ++i)
                history.add(std::to_string(i) + "\n\\");
        }
        const InputHistory history(file());
        QCOMPARE(history.lines().size(), std::size_t(1000));
        QCOMPARE(history.lines().front(), std::string("200\n\\"));
        QCOMPARE(history.lines().back(), std::string("1199\n\\"));
        QCOMPARE(InputHistory(file()).lines().size(), std::size_t(1000));
    }

    /// Pasted logs and sources are long: a few hundred of them are more than is read.
    void theNewestLinesAreKeptOfAFileThatIsTooLarge()
    {
        const std::string pasted(60'000, 'x');
        {
            InputHistory history(file());
            for (int i = 0; i < 300; ++i)
                history.add(pasted + std::to_string(i));
            history.add("newest");
        }
        const QString path = QString::fromStdString(file().string());
        const qint64 before = QFileInfo(path).size();
        const InputHistory history(file());
        QCOMPARE(history.lines().back(), std::string("newest"));
        QCOMPARE(history.lines()[history.lines().size() - 2], pasted + "299");
        QCOMPARE(history.lines().front().size(), pasted.size() + 2);  // no part of a line
        QVERIFY(history.lines().size() > 250);
        QVERIFY(QFileInfo(path).size() < before);
        QCOMPARE(InputHistory(file()).lines(), history.lines());
    }
};

SPILLWAY_TEST(QCoreApplication, TestInputHistory)
#include "tst_input_history.moc"
