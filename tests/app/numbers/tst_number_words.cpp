// Tests that numbers are written with their units, in the language of the window.
#include "app/numbers/number_words.h"
#include "tests/support/test_program.h"

class TestNumberWords : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aNumberIsWrittenWithItsUnit_data()
    {
        QTest::addColumn<QString>("written");
        QTest::addColumn<QString>("expected");
        NumberWords words;
        const auto row = [](const char* name, const QString& written, const char* expected) {
            QTest::newRow(name) << written << QString::fromUtf8(expected).replace(u' ', QChar(0x00a0));
        };
        row("three digits", words.three(3.14159, "en"), "3.14");
        row("no zeros at the end", words.three(2, "en"), "2");
        row("no digits behind the point where they are zeros", words.three(9.996, "en"), "10");
        row("rounded to a whole number", words.three(99.96, "en"), "100");
        row("a short context", words.context(512, "en"), "512");
        row("a context in powers of two", words.context(131072, "en"), "128K");
        row("a context that is none", words.context(5000, "en"), "5,000");
        row("microseconds", words.microseconds(120, "en"), "120 µs");
        row("microseconds that are milliseconds", words.microseconds(12000, "en"), "12 ms");
        row("seconds of an axis", words.seconds(90, "en"), "90 s");
        row("minutes of an axis", words.seconds(180, "en"), "3 min");
        row("the shortest wait", words.duration(20, "en"), "0.1 s");
        row("seconds that become a minute", words.duration(59600, "en"), "1 min 0 s");
        row("minutes that become an hour", words.duration(3599600, "en"), "1 h 0 min");
        row("ratio", words.ratio(0.27, "en"), "0.27×");
    }

    void aNumberIsWrittenWithItsUnit()
    {
        QFETCH(QString, written);
        QFETCH(QString, expected);
        QCOMPARE(written, expected);
    }

    void eachCallHasItsLanguage()
    {
        NumberWords words;
        QCOMPARE(words.number(1234.5, 1, "de"), QStringLiteral("1.234,5"));
        QCOMPARE(words.number(1234.5, 1, "en"), QStringLiteral("1,234.5"));
        QCOMPARE(words.bytes(1500, "de"), QStringLiteral("1,5\u00a0kB"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestNumberWords)
#include "tst_number_words.moc"
