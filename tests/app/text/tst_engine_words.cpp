// Tests that numbers in the engine's sentences are written as the user's language has them, and that names stay as they
// are.
#include "app/text/engine_words.h"
#include "tests/support/test_program.h"

#include <QLocale>
#include <QTest>

class TestEngineWords : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }
    void cleanupTestCase() { QLocale::setDefault(QLocale::c()); }

    void numbersAreForPeople_data()
    {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("shown");
        const auto row = [](const char* name, const char* words, const char* shown) {
            QTest::newRow(name) << QString::fromUtf8(words) << QString::fromUtf8(shown).replace(u'~', QChar::Nbsp);
        };
        row("tokens", "the prompt needs 131072 tokens and the context holds 4096",
            "the prompt needs 131,072 tokens and the context holds 4,096");
        row("small ones", "912 of 999 tokens, 3 layers", "912 of 999 tokens, 3 layers");
        row("memory in MiB", "needs 2048 MiB for its KV cache, and 512 MiB are free",
            "needs 2.15~GB for its KV cache, and 537~MB are free");
        row("memory in GiB", "of 1 GiB", "of 1.07~GB");
        row("room on a disk", "it takes 12.50 GB and 0.05 GB are free", "it takes 12.5~GB and 50.0~MB are free");
        row("bytes", "the emulated device has no 123456789 bytes left", "the emulated device has no 123~MB left");
        row("an alignment", "does not lie on a multiple of 4096 bytes", "does not lie on a multiple of 4,096 bytes");
        row("in brackets, at ends", "12345 (of 67890), 1000; 2000: 3000.", "12,345 (of 67,890), 1,000; 2,000: 3,000.");
        row("parts of names", "blk.10000.ffn has no v20261126, x-4096, 127.0.0.1:11434 or 10000.gguf",
            "blk.10000.ffn has no v20261126, x-4096, 127.0.0.1:11434 or 10000.gguf");
        row("versions and fractions", "version 12345.6", "version 12345.6");
        row("a path", "/home/me/My 2024 models/a 4096: rows of 4096, which",
            "/home/me/My 2024 models/a 4096: rows of 4,096, which");
        row("a path of Windows", "C:\\My 2024 models\\a.gguf: 4096 rows", "C:\\My 2024 models\\a.gguf: 4,096 rows");
        row("between quotes", "'/media/me/My 2000 GB disk/2048 MiB' cannot be written: 4096 bytes ('4096' of 4096)",
            "'/media/me/My 2000 GB disk/2048 MiB' cannot be written: 4,096 bytes ('4096' of 4,096)");
        row("an apostrophe between quotes", "the model's 'o'brien 2024 b', of 4096 rows",
            "the model's 'o'brien 2024 b', of 4,096 rows");
        row("an error", "Windows' Credential Manager refuses it, error 1312",
            "Windows' Credential Manager refuses it, error 1312");
        row("more digits than a number has", "12345678901234567890 tokens", "12345678901234567890 tokens");
        row("hidden characters",
            "\xe2\x80\xae"
            "12345 tokens",
            "⟨U+202E⟩12345 tokens");
        row("nothing", "", "");
    }

    void numbersAreForPeople()
    {
        QFETCH(QString, words);
        QFETCH(QString, shown);
        QCOMPARE(engineWords(words), shown);
    }

    void numbersFollowTheLanguage()
    {
        QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
        QCOMPARE(engineWords(u"needs 131072 tokens and 2048 MiB"),
                 QStringLiteral("needs 131.072 tokens and 2,15\u00a0GB"));
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    }

    void sentences()
    {
        QCOMPARE(asSentence("the file ends early"), "The file ends early.");
        QCOMPARE(asSentence("a context of 131072 tokens"), "A context of 131,072 tokens.");
        QCOMPARE(asSentence("Is it?"), "Is it?");
        QCOMPARE(asSentence(""), "");
    }
};

SPILLWAY_TEST(QCoreApplication, TestEngineWords)
#include "tst_engine_words.moc"
