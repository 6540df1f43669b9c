// Tests that the engine's errors are said in the user's language, and that nothing of them is lost.
#include "app/fetching/failure_sentence.h"
#include "app/text/known_sentence.h"
#include "app/translation.h"
#include "app/worker/error_sentence.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <QXmlStreamReader>

using Code = engine::Error::Code;

class TestErrorSentence : public QObject
{
    Q_OBJECT

private:
    static QString contents(const QString& path)
    {
        QFile file(path);
        return file.open(QFile::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }

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
        row("'/My 2000 GB/a' cannot be written", "„/My 2000 GB/a“ lässt sich nicht schreiben.");
        row("Windows' Credential Manager refuses it, error 1312",
            "Die Anmeldeinformationsverwaltung von Windows lehnt es ab, Fehler 1312.");
        row("the prompt needs 131072 tokens and the context holds 4096",
            "Die Nachricht braucht 131.072 Token, und der Kontext fasst 4.096.");
        row("'/a' cannot be written", "„/a“ lässt sich nicht schreiben.");
        row("the folder '/a' cannot be made", "Der Ordner '/a' lässt sich nicht anlegen.");
        row("the disk is full", "Der Datenträger ist voll.");
        row("the NVIDIA driver does not start: unknown error (CUDA error 999)",
            "Der NVIDIA-Treiber startet nicht: unknown error (CUDA error 999).");
        row("h:80 refuses the connection; what had come of the answer is kept",
            "h:80 nimmt die Verbindung nicht an; was von der Antwort gekommen war, bleibt.");
        row("h has no time now, or is still starting (\"Loading model\")",
            "h hat gerade keine Zeit oder startet noch („Loading model“).");
        row("none of the 2 servers named 'n' can answer now; the last of them: h does not accept the key (\"No.\")",
            "Keiner der 2 Server namens „n“ kann gerade antworten; beim letzten: h nimmt den Schlüssel nicht an "
            "(„No.“).");
        row("there is not enough room in '/a': it takes 0.33 GB and 0.05 GB are free",
            "In '/a' ist nicht genug Platz: nötig sind 330\u00a0MB, frei sind 50,0\u00a0MB.");
    }
    void whatIsKnownIsSaidWhole()
    {
        QFETCH(QString, what);
        const Translation translation("de");
        QTEST(errorSentence({Code::CannotWrite, what.toStdString()}), "said");
        QTEST(failureSentence({net::Failure::Kind::CannotWrite, what.toStdString()}), "said");
    }

    void whatStandsAroundASentenceMakesNoneKnown()
    {
        const Translation translation("de");
        QCOMPARE(knownSentence("some other words (\"of a server\")"), QString());
        QCOMPARE(knownSentence("some other words; what had come of the answer is kept"), QString());
    }

    // Whoever changes such a sentence where it is made changes it here, too.
    void whatIsKnownIsSaidSomewhere()
    {
        QString said;
        for (const char* room : {"app/net", "app/remote", "app/secrets", "app/fetching", "engine", "kernels"}) {
            QDirIterator files(QStringLiteral(SPILLWAY_SOURCE_DIR "/") + room, {"*.cpp", "*.h"}, QDir::Files,
                               QDirIterator::Subdirectories);
            while (files.hasNext())
                said += contents(files.next());
        }
        said.remove(QRegularExpression("\"\\s*\n\\s*\""));  // the pieces of one literal
        QXmlStreamReader xml(contents(SPILLWAY_SOURCE_DIR "/resources/translations/spillway_de.ts"));
        QString name;
        int sentences = 0;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement)
                continue;
            if (xml.name() == QLatin1String("name"))
                name = xml.readElementText();
            if (xml.name() != QLatin1String("source") || name != "KnownSentence")
                continue;
            const QString source = xml.readElementText();
            ++sentences;
            for (const QString& piece : source.split(QRegularExpression("'?%[123]'?|[\":,]"), Qt::SkipEmptyParts))
                QVERIFY2(said.contains(piece.trimmed()), qPrintable(source));
        }
        QVERIFY(!xml.hasError());
        QVERIFY(sentences > 90);
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
