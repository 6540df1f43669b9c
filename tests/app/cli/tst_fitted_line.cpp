// Tests that a line of progress keeps to the width of the terminal, and what it leaves out first.
#include "app/cli/fitted_line.h"
#include "tests/support/test_program.h"

#include <QTest>

class TestFittedLine : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void keepsToTheWidth_data()
    {
        QTest::addColumn<int>("columns");
        QTest::addColumn<QByteArray>("line");
        QTest::newRow("wide") << 200 << QByteArray("[##..] Größe-Q4_K.gguf  1 MB, 50 %");
        QTest::newRow("just wide enough") << 35 << QByteArray("[##..] Größe-Q4_K.gguf  1 MB, 50 %");
        QTest::newRow("without the bar") << 34 << QByteArray("Größe-Q4_K.gguf  1 MB, 50 %");
        QTest::newRow("just without the bar") << 28 << QByteArray("Größe-Q4_K.gguf  1 MB, 50 %");
        QTest::newRow("the end of the name") << 26 << QByteArray("…ße-Q4_K.gguf  1 MB, 50 %");
        QTest::newRow("little of the name") << 22 << QByteArray("…4_K.gguf  1 MB, 50 %");
        QTest::newRow("without the name") << 21 << QByteArray("  1 MB, 50 %");
        QTest::newRow("narrow") << 10 << QByteArray("  1 MB, 5");
        QTest::newRow("one column") << 1 << QByteArray("");
    }
    void keepsToTheWidth()
    {
        QFETCH(int, columns);
        QFETCH(QByteArray, line);
        const std::string made = cli::fitted_line("[##..] ", "Größe-Q4_K.gguf", "  1 MB, 50 %", std::size_t(columns));
        QCOMPARE(QByteArray::fromStdString(made), line);
        QVERIFY(QString::fromStdString(made).size() < columns);
    }
};

SPILLWAY_TEST(QCoreApplication, TestFittedLine)
#include "tst_fitted_line.moc"
