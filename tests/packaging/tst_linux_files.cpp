// Tests that what a Linux desktop and `man` are told about the programs is true.
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QStandardPaths>
#include <QTemporaryFile>
#include <QTest>
#include <QXmlStreamReader>

namespace {

const QString kFolder = QStringLiteral(SPILLWAY_SOURCE_DIR "/packaging/linux/");

QString textOf(const QString& file)
{
    QFile opened(file);
    return opened.open(QFile::ReadOnly) ? QString::fromUtf8(opened.readAll()) : QString();
}

/// Returns what a program prints, or nothing where it fails.
QString said(const QString& program, const QStringList& arguments)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(program, arguments);
    if (!process.waitForFinished() || process.exitCode() != 0)
        return {};
    return QString::fromUtf8(process.readAll());
}

/// Returns what a checking program finds wrong; a program such as man warns, and yet ends with 0.
QByteArray complaintOf(QStringList command)
{
    QProcess process;
    process.start(command.takeFirst(), command);
    if (!process.waitForFinished())
        return "it does not end";
    const QByteArray printed = process.readAllStandardOutput(), warned = process.readAllStandardError();
    if (process.exitCode() != 0)
        return printed + warned + "\nit ended with " + QByteArray::number(process.exitCode());
    return warned.contains("warning") ? warned : QByteArray();
}

QSet<QString> optionsIn(const QString& help)
{
    static const QRegularExpression option("--[a-z][a-z0-9-]+");
    QSet<QString> options;
    for (auto at = option.globalMatch(help); at.hasNext();)
        options.insert(at.next().captured());
    return options;
}

/// The texts of all elements of one name, or attributes where there is an attribute.
QStringList inXml(const QString& file, const QString& element, const QString& attribute = {})
{
    QFile opened(file);
    if (!opened.open(QFile::ReadOnly))
        return {};
    QXmlStreamReader xml(&opened);
    QStringList found;
    while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::StartElement && xml.name() == element)
            found.append(attribute.isEmpty() ? xml.readElementText(QXmlStreamReader::IncludeChildElements)
                                             : xml.attributes().value(attribute).toString());
    return xml.hasError() ? QStringList() : found;
}

}  // namespace

class TestLinuxFiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theWindowTellsAboutItselfWithoutADisplay_data()
    {
        QTest::addColumn<QString>("option");
        QTest::addColumn<QString>("word");
        QTest::newRow("help") << "--help"
                              << "--kv-policy";
        QTest::newRow("h") << "-h"
                           << "--kv-policy";
        QTest::newRow("version") << "--version"
                                 << "spillway " SPILLWAY_VERSION;
    }
    void theWindowTellsAboutItselfWithoutADisplay()
    {
        QFETCH(QString, option);
        QFETCH(QString, word);
        QProcess process;
        QProcessEnvironment bare = QProcessEnvironment::systemEnvironment();
        for (const char* const name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            bare.remove(QLatin1String(name));
        process.setProcessEnvironment(bare);
        process.start(SPILLWAY_WINDOW, {option});
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 0);
        const QString said = QString::fromUtf8(process.readAllStandardOutput());
        QVERIFY2(said.contains(word), qPrintable(said));
    }

    void manualsNameEveryOption_data()
    {
        QTest::addColumn<QString>("page");
        QTest::addColumn<QString>("program");
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("spillway") << "spillway.1" << SPILLWAY_WINDOW << QStringList{"--help"};
        for (const char* const verb : {"run", "serve", "bench", "inspect"})
            QTest::addRow("spillway-cli %s", verb) << "spillway-cli.1" << SPILLWAY_CLI << QStringList{verb, "--help"};
    }
    void manualsNameEveryOption()
    {
        QFETCH(QString, page);
        QFETCH(QString, program);
        QFETCH(QStringList, arguments);
        const QString manual = textOf(kFolder + page).replace("\\-", "-");
        const QSet<QString> options = optionsIn(said(program, arguments));
        QVERIFY(options.size() > 5);
        const QSet<QString> named = optionsIn(manual);
        for (const QString& option : options)
            QVERIFY2(named.contains(option), qPrintable(option));
    }

    void anOptionIsExplainedWhereItsVerbIs_data()
    {
        QTest::addColumn<QString>("section");
        QTest::addColumn<QString>("verb");
        QTest::newRow("common") << "VERBS THAT LOAD A MODEL"
                                << "inspect";
        for (const char* const verb : {"run", "serve", "bench"})
            QTest::newRow(verb) << QString(verb).toUpper() << QString(verb);
    }
    void anOptionIsExplainedWhereItsVerbIs()
    {
        QFETCH(QString, section);
        QFETCH(QString, verb);
        const QString manual = textOf(kFolder + "spillway-cli.1").replace("\\-", "-");
        const QString text = manual.section(".SH OPTIONS OF " + section + '\n', 1, 1).section(".SH ", 0, 0);
        const QSet<QString> explained = optionsIn(text), known = optionsIn(said(SPILLWAY_CLI, {verb, "--help"}));
        QVERIFY(explained.size() > 4);
        for (const QString& option : explained)
            QVERIFY2(known.contains(option), qPrintable(option));
    }

    void theManualNamesEveryVerb()
    {
        const QString manual = textOf(kFolder + "spillway-cli.1");
        const QString help = said(SPILLWAY_CLI, {"--help"});
        static const QRegularExpression verb("^  ([a-z]+) {3,}", QRegularExpression::MultilineOption);
        int verbs = 0;
        for (auto at = verb.globalMatch(help.mid(help.indexOf("Subcommands:"))); at.hasNext(); ++verbs) {
            const QString name = at.next().captured(1);
            QVERIFY2(manual.contains(".B " + name + '\n'), qPrintable(name));
        }
        QVERIFY(verbs > 5);
    }

    void theDesktopFindsTheProgram()
    {
        const QStringList lines = textOf(kFolder + "spillway.desktop").split('\n');
        QVERIFY(lines.contains("Exec=spillway %f"));
        const QStringList types = inXml(kFolder + "spillway-mime.xml", "mime-type", "type");
        QCOMPARE(types.size(), 1);
        QVERIFY(lines.contains("MimeType=" + types.front() + ';'));
        QCOMPARE(inXml(SPILLWAY_METAINFO, "launchable"), QStringList{"spillway.desktop"});
        QCOMPARE(inXml(SPILLWAY_METAINFO, "mediatype"), types);
    }

    void theNewestReleaseIsThisVersion()
    {
        const QStringList versions = inXml(SPILLWAY_METAINFO, "release", "version");
        QVERIFY(!versions.isEmpty());
        QCOMPARE(versions.front(), QStringLiteral(SPILLWAY_VERSION));
    }

    // By the tools of their makers, where they are installed.
    void theirToolsFindNothingWrong_data()
    {
        QTest::addColumn<QStringList>("command");
        QTest::newRow("desktop file") << QStringList{"desktop-file-validate", kFolder + "spillway.desktop"};
        QTest::newRow("metainfo") << QStringList{"appstreamcli", "validate", "--no-net", SPILLWAY_METAINFO};
        for (const char* const page : {"spillway.1", "spillway-cli.1"})
            QTest::newRow(page) << QStringList{"man", "--warnings", "-l", kFolder + page};
    }
    void theirToolsFindNothingWrong()
    {
        QFETCH(QStringList, command);
        if (QStandardPaths::findExecutable(command.front()).isEmpty())
            QSKIP(qPrintable(command.front() + " is not installed"));
        const QByteArray complaint = complaintOf(command);
        QVERIFY2(complaint.isEmpty(), complaint.constData());
    }

    void whatIsWrongWithAManualIsFound()
    {
        if (QStandardPaths::findExecutable("man").isEmpty())
            QSKIP("man is not installed");
        QTemporaryFile page;
        QVERIFY(page.open());
        page.write(textOf(kFolder + "spillway.1").toUtf8() + ".nosuchmacro\n");
        page.close();
        QVERIFY(complaintOf({"man", "--warnings", "-l", page.fileName()}).contains("nosuchmacro"));
    }
};

QTEST_GUILESS_MAIN(TestLinuxFiles)
#include "tst_linux_files.moc"
