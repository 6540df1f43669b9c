// Tests that every text of the window is there in every language that it speaks.
#include "app/translation.h"

#include <QDir>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

class TestTranslations : public QObject
{
    Q_OBJECT

private:
    static QByteArray contents(const QString& path)
    {
        QFile file(path);
        return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
    }

private Q_SLOTS:
    void nothingIsUnfinished_data()
    {
        QTest::addColumn<QString>("language");
        QTest::newRow("de") << "de";
        QTest::newRow("en") << "en";
    }

    void nothingIsUnfinished()
    {
        QFETCH(QString, language);
        const QString path = QStringLiteral(SPILLWAY_SOURCE_DIR "/resources/translations/spillway_%1.ts").arg(language);
        QXmlStreamReader xml(contents(path));
        QString source;
        int texts = 0;
        QStringList unfinished;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement)
                continue;
            if (xml.name() == QLatin1String("source"))
                source = xml.readElementText();
            if (xml.name() == QLatin1String("translation")) {
                ++texts;
                const bool open = xml.attributes().value(QLatin1String("type")) == QLatin1String("unfinished");
                const QString text = xml.readElementText(QXmlStreamReader::IncludeChildElements);
                if (open || text.trimmed().isEmpty())
                    unfinished += source;
                // What is put in must be put in there too.
                for (const char* place : {"%1", "%2", "%3", "%4", "%n"})
                    if (!text.trimmed().isEmpty() && source.contains(QLatin1String(place)) &&
                        !text.contains(QLatin1String(place)))
                        unfinished += source + QStringLiteral(" lacks ") + QLatin1String(place);
            }
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QVERIFY(texts > (language == "de" ? 100 : 0));
        QVERIFY2(unfinished.isEmpty(), qPrintable(unfinished.join('\n')));
    }

    // What has one name in English has one in German, wherever it is read.
    void oneThingHasOneGermanName()
    {
        const QStringList lines =
            QString::fromUtf8(contents(SPILLWAY_SOURCE_DIR "/resources/translations/spillway_de.ts")).split('\n');
        QVERIFY(lines.size() > 100);
        for (const QString& line : lines) {
            if (line.contains("<source>"))
                continue;
            for (const char* other :
                 {"System-Prompt", "Chat-Vorlage", "das KV", "alles KV", "eigenes KV", "ihr KV", "„resident“"})
                QVERIFY2(!line.contains(QString::fromUtf8(other)), qPrintable(line));
        }
    }

    // "Sie" inside a sentence speaks to the reader; at its beginning it may be the pronoun of things.
    void theGermanSpeaksToNobody()
    {
        static const QRegularExpression address(
            QStringLiteral("[a-z\u00e4\u00f6\u00fc\u00df,;] (Sie|Ihnen|Ihre?[mnrs]?)\\b"),
            QRegularExpression::UseUnicodePropertiesOption);
        QVERIFY(address.match("bitte w\u00e4hlen Sie").hasMatch());
        const QString path = QStringLiteral(SPILLWAY_SOURCE_DIR "/resources/translations/spillway_de.ts");
        for (const QString& line : QString::fromUtf8(contents(path)).split('\n'))
            QVERIFY2(line.contains("<source>") || !address.match(line).hasMatch(), qPrintable(line));
    }

    // A text that came into the source and was not extracted would stay English for ever.
    void everyTextIsExtracted()
    {
        const QString lupdate = QStringLiteral(LUPDATE);
        if (!QFile::exists(lupdate))
            QSKIP("lupdate is not installed");
        QTemporaryDir folder;
        const QString ts = QStringLiteral(SPILLWAY_SOURCE_DIR "/resources/translations/spillway_de.ts");
        const QString copy = folder.filePath("spillway_de.ts");
        QVERIFY(QFile::copy(ts, copy));
        QProcess process;
        process.setWorkingDirectory(SPILLWAY_SOURCE_DIR);
        process.start(lupdate, {"-locations", "none", "-no-obsolete", "-I", ".", "app", "ui", "-ts", copy});
        QVERIFY(process.waitForFinished(120000));
        QCOMPARE(process.exitCode(), 0);
        const QByteArray said = process.readAllStandardError();
        QVERIFY2(!said.contains("without context"), said.constData());
        const QList<QByteArray> before = contents(ts).split('\n'), after = contents(copy).split('\n');
        for (const QByteArray& line : after)
            QVERIFY2(before.contains(line), line.constData());
    }

    void theLanguageIsSwitched()
    {
        Translation translation("de");
        QCOMPARE(QCoreApplication::translate("SettingsPage", "Settings"), QStringLiteral("Einstellungen"));
        QCOMPARE(QLocale().language(), QLocale::German);
        QCOMPARE(QCoreApplication::translate("FileDialog", "File name"), QStringLiteral("Dateiname"));  // Qt's own
        QCOMPARE(QCoreApplication::translate("ModelBadge", "emulated"), QStringLiteral("emuliert"));
        QCOMPARE(QCoreApplication::translate("ModelRow", "Loaded", "a model that is"), QStringLiteral("Geladen"));
        translation.use("en");
        QCOMPARE(QCoreApplication::translate("SettingsPage", "Settings"), "Settings");
        translation.use("tlh");
        QCOMPARE(QCoreApplication::translate("SettingsPage", "Settings"), "Settings");
    }
};

QTEST_GUILESS_MAIN(TestTranslations)
#include "tst_translations.moc"
