// Tests that the window's options are read from the command line, and wrong ones refused with a sentence.
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
        QVERIFY(!line.theme && !line.contextTokens && !line.threads && !line.kvType && !line.language);
        QCOMPARE(line.options.max_tokens, -1);
    }

    void everything()
    {
        const CommandLine line =
            parse({"m.gguf", "-c", "4096", "-n", "64", "-t", "3", "--temp", "0", "-s", "18446744073709551615",
                   "--theme", "dark", "--language", "de", "-ctk", "q8_0", "--profile", "/tmp/p"});
        QVERIFY2(line.usageError.isEmpty(), qPrintable(line.usageError));
        QCOMPARE(line.modelFile, "m.gguf");
        QCOMPARE(*line.contextTokens, 4096);
        QCOMPARE(*line.threads, 3);
        QCOMPARE(line.options.max_tokens, 64);
        QCOMPARE(line.options.sampling.temperature, 0.0f);
        QCOMPARE(*line.options.sampling.seed, ~std::uint64_t(0));
        QCOMPARE(*line.theme, SettingsController::Dark);
        QCOMPARE(*line.language, 2);
        QCOMPARE(*line.kvType, SettingsController::Q8_0);
        QCOMPARE(line.profile, "/tmp/p");
        QCOMPARE(parse({"-m", "n.gguf"}).modelFile, "n.gguf");
    }

    void wrongUsageIsSaid_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("no number") << QStringList{"-c", "many"};
        QTest::newRow("negative context") << QStringList{"-c", "-1"};
        QTest::newRow("negative temperature") << QStringList{"--temp", "-0.5"};
        QTest::newRow("two models") << QStringList{"a.gguf", "b.gguf"};
        QTest::newRow("no such type") << QStringList{"-ctk", "q4_0"};
        QTest::newRow("no folder") << QStringList{"--profile", ""};
        QTest::newRow("no such option") << QStringList{"--sing"};
        QTest::newRow("an option without its value") << QStringList{"-c"};
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
