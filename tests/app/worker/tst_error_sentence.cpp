// What went wrong in the engine is said in the user's language, and nothing of it is lost.
#include "app/translation.h"
#include "app/worker/error_sentence.h"
#include "tests/support/test_program.h"

#include <QSet>
#include <QTest>

using Code = engine::Error::Code;

class TestErrorSentence : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void englishIsTheEnginesOwn()
    {
        const Translation translation("en");
        QCOMPARE(errorSentence({Code::BadFile, "the file ends inside the GGUF header"}),
                 QStringLiteral("The file ends inside the GGUF header."));
        QCOMPARE(errorSentence({Code::Internal, ""}), QString());
    }

    void anotherLanguageSaysTheKindAndKeepsTheRest()
    {
        const Translation translation("de");
        QCOMPARE(errorSentence({Code::NotFound, "a.gguf: there is no such file"}),
                 QStringLiteral("Diese Datei gibt es nicht (a.gguf: there is no such file)."));
        QSet<QString> kinds;
        for (int code = 0; code <= int(Code::Internal); ++code) {
            const QString sentence = errorSentence({Code(code), "50 %1 of it"});
            QVERIFY2(sentence.endsWith(" (50 %1 of it)."), qPrintable(sentence));
            kinds.insert(sentence);
        }
        QCOMPARE(kinds.size(), int(Code::Internal) + 1);
    }

    void whatHidesIsSeen()
    {
        const Translation translation("de");
        const QString sentence = errorSentence({Code::BadFile, "\xe2\x80\xae.gguf: the file is empty"});
        QVERIFY(!sentence.contains(QChar(0x202e)));
        QVERIFY(sentence.contains("U+202E"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestErrorSentence)
#include "tst_error_sentence.moc"
