// The options of the window.
#include "app/command_line.h"

#include <QTest>

class TestCommandLine : public QObject
{
    Q_OBJECT

private:
    static CommandLine parse(const QStringList& arguments)
    {
        return CommandLine::parse(QStringList{"spillway"} + arguments);
    }

private Q_SLOTS:
    void nothing()
    {
        const CommandLine line = parse({});
        QVERIFY(line.usageError.isEmpty());
        QVERIFY(line.modelFile.isEmpty());
        QVERIFY(!line.theme);
        QCOMPARE(line.options.max_tokens, -1);
    }

    void everything()
    {
        const CommandLine line = parse({"m.gguf", "-c", "4096", "-n", "64", "-t", "3", "--temp", "0", "-s",
                                        "18446744073709551615", "--theme", "dark"});
        QVERIFY2(line.usageError.isEmpty(), qPrintable(line.usageError));
        QCOMPARE(line.modelFile, "m.gguf");
        QCOMPARE(line.load.context_tokens, 4096);
        QCOMPARE(line.load.threads, 3);
        QCOMPARE(line.options.max_tokens, 64);
        QCOMPARE(line.options.sampling.temperature, 0.0f);
        QCOMPARE(*line.options.sampling.seed, ~std::uint64_t(0));
        QCOMPARE(*line.theme, SettingsController::Dark);
        QCOMPARE(parse({"-m", "n.gguf"}).modelFile, "n.gguf");
    }

    void wrongUsageIsSaid_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("no number") << QStringList{"-c", "many"};
        QTest::newRow("negative context") << QStringList{"-c", "-1"};
        QTest::newRow("negative temperature") << QStringList{"--temp", "-0.5"};
        QTest::newRow("two models") << QStringList{"a.gguf", "b.gguf"};
        QTest::newRow("no such theme") << QStringList{"--theme", "pink"};
    }

    void wrongUsageIsSaid()
    {
        QFETCH(QStringList, arguments);
        QVERIFY(!parse(arguments).usageError.isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestCommandLine)
#include "tst_command_line.moc"
