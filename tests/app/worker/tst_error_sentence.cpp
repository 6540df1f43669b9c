// What went wrong in the engine is said in the user's language, and nothing of it is lost.
#include "app/fetching/failure_sentence.h"
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

    void whatIsKnownIsSaidWhole_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("said");
        const auto row = [](const char* what, const QString& said) { QTest::newRow(what) << what << said; };
        row("the key for host:80 is missing: the system's password store does not answer",
            "Der Schlüssel für host:80 fehlt: der Passwortspeicher des Systems antwortet nicht.");
        row("the token for host is missing: somebody else's words", "Das Token für host fehlt: somebody else's words.");
        row("none of the 2 servers named 'a b' can answer now; the last of them: the key for h is missing: x",
            "Keiner der 2 Server namens „a b“ kann gerade antworten; beim letzten: der Schlüssel für h fehlt: x.");
        row("'/a %2/b' cannot be written: No space left", "„/a %2/b“ lässt sich nicht schreiben: No space left.");
        row("'/a' cannot be written", "„/a“ lässt sich nicht schreiben.");
        row("the folder '/a' cannot be made", "Der Ordner '/a' lässt sich nicht anlegen.");
        row("the disk is full", "Der Datenträger ist voll.");
    }
    void whatIsKnownIsSaidWhole()
    {
        QFETCH(QString, what);
        const Translation translation("de");
        QTEST(errorSentence({Code::CannotWrite, what.toStdString()}), "said");
        QTEST(failureSentence({net::Failure::Kind::CannotWrite, what.toStdString()}), "said");
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
