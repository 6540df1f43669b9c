// Tests that no class of kernels, engine and app has a body of more than 120 lines of its header, or functions in
// several .cpp files: it wants to be two classes. It also tests that the first line of every header, test and QML file
// says what the file does, that no comment with three slashes begins with a word for something unseen, and that what
// moc makes of a header is compiled with the sources beside it, which read the same headers.
#include <QDir>
#include <QDirIterator>
#include <QHash>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

namespace {

constexpr qsizetype kLongestBody_lines = 120;

using Files = QHash<QString, QString>;  // path to text

QString folderOf(const QString& path)
{
    return path.section('/', 0, -2);
}

// The classes that a header defines outside of others, as "folder/Name", each with the lines of its body.
QHash<QString, qsizetype> bodies(const QString& path, const QString& text)
{
    static const QRegularExpression head(
        "^(?:class|struct) (?:\\[\\[\\w+\\]\\] )?(\\w+)(?: final)?(?: : [^;]*| \\{)?$");
    const QStringList lines = text.split('\n');
    QHash<QString, qsizetype> found;
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const auto match = head.match(lines[i]);
        const qsizetype end = match.hasMatch() ? lines.indexOf("};", i) : -1;
        if (end > i)
            found.insert(folderOf(path) + '/' + match.captured(1), end - i - 1);
    }
    return found;
}

// The files beside a class's header that define functions of it. A twin for one system counts with its neighbour.
QSet<QString> sources(const QString& name, const Files& files)
{
    static const QRegularExpression twin("_(linux|windows)\\.cpp$");
    const QRegularExpression definition("^[A-Za-z][^(\\n]*\\b" + name.section('/', -1) +
                                            "::(~?\\w+|operator[^(]+)\\(|^" + name.section('/', -1) + "::~?\\w+\\(",
                                        QRegularExpression::MultilineOption);
    QSet<QString> found;
    for (auto file = files.begin(); file != files.end(); ++file)
        if (file.key().endsWith(".cpp") && !twin.match(file.key()).hasMatch() &&
            folderOf(file.key()) == folderOf(name) && file.value().contains(definition))
            found.insert(file.key());
    return found;
}

QStringList longClasses(const Files& files)
{
    QStringList found;
    for (auto file = files.begin(); file != files.end(); ++file) {
        if (!file.key().endsWith(".h"))
            continue;
        const QHash<QString, qsizetype> classes = bodies(file.key(), file.value());
        for (auto one = classes.begin(); one != classes.end(); ++one)
            if (one.value() > kLongestBody_lines)
                found << one.key();
    }
    return found;
}

QStringList spreadClasses(const Files& files)
{
    QStringList found;
    for (auto file = files.begin(); file != files.end(); ++file)
        if (file.key().endsWith(".h"))
            for (const QString& name : bodies(file.key(), file.value()).keys())
                if (sources(name, files).size() > 1)
                    found << name;
    return found;
}

/// "// Name does ..." or "// Does ...".
bool saysWhatItDoes(const QString& header)
{
    static const QRegularExpression does(
        "^// (?!(What|Where|How|Which|When|Whether|Why|The|A|An|Of|This|These)\\b)(\\S+[^s.,:] )?[A-Za-z]+s\\b");
    return header.contains(does);
}

bool isHeader(const QString& path)
{
    return path.endsWith(".h") || path.endsWith(".cuh");
}

/// Says whether the first line of a file of tests or ui says what the file does. A source beside its header needs none.
bool says(const QString& path, const QString& text)
{
    if (path.section('/', -1).startsWith("tst_"))
        return text.startsWith("// Tests ");
    return saysWhatItDoes(text) || (path.endsWith(".cpp") && text.startsWith("#include "));
}

/// Finds comments that begin with a word for something that their reader has not seen.
QStringList riddles(const Files& files)
{
    static const QRegularExpression begins("^///<? ?(It|Of|They|Those) ");
    QStringList found;
    for (auto file = files.begin(); file != files.end(); ++file) {
        QString before;
        for (const QString& line : file.value().split('\n')) {
            const QString comment = line.trimmed();
            if (!before.startsWith("///") && comment.contains(begins))
                found << file.key() + ": " + comment;
            before = comment;
        }
    }
    return found;
}

Files filesOf(const QStringList& rooms, const QStringList& names)
{
    const QDir root(SPILLWAY_SOURCE_DIR);
    Files files;
    for (const QString& room : rooms) {
        QDirIterator paths(root.filePath(room), names, QDir::Files, QDirIterator::Subdirectories);
        while (paths.hasNext()) {
            QFile file(paths.next());
            if (file.open(QIODevice::ReadOnly))
                files.insert(root.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()));
        }
    }
    return files;
}

Files house()
{
    return filesOf({"kernels", "engine", "app"}, {"*.h", "*.cpp", "*.cu", "*.cuh"});
}

// The headers with macros of moc whose meta code no source file beside them includes.
QStringList loneMetaCode(const Files& files)
{
    static const QRegularExpression macro("^\\s*Q_(OBJECT|GADGET|NAMESPACE)$", QRegularExpression::MultilineOption);
    QStringList found;
    for (auto file = files.begin(); file != files.end(); ++file) {
        if (!file.key().endsWith(".h") || !file.value().contains(macro))
            continue;
        const QString line = "\n#include \"moc_" + file.key().section('/', -1).chopped(2) + ".cpp\"\n";
        bool included = false;
        for (auto source = files.begin(); source != files.end() && !included; ++source)
            included = source.key().endsWith(".cpp") && folderOf(source.key()) == folderOf(file.key()) &&
                       source.value().contains(line);
        if (!included)
            found << file.key();
    }
    return found;
}

}  // namespace

class ClassesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void seesALongClass();
    void seesASpreadClass();
    void knowsWhatALineSays();
    void knowsWhatATestSays();
    void knowsARiddle();
    void knowsLoneMetaCode();
    void noClassIsLong();
    void noClassIsSpread();
    void everyHeaderSaysWhatItDoes();
    void everyFileOfTestsAndUiSaysWhatItDoes();
    void noCommentIsARiddle();
    void noMetaCodeIsAlone();
};

void ClassesTest::seesALongClass()
{
    const QString fits =
        "class [[nodiscard]] Fits final : public Base {\n" + QString("    int a;\n").repeated(120) + "};\n";
    const QString wide = "class Wide\n{\n" + QString("    int a;\n").repeated(120) + "};\n";
    const QString declared = "class Later;\n" + QString("int a();\n").repeated(130) + "};\n";
    QCOMPARE(longClasses({{"app/chat/a.h", fits + declared}}), QStringList());
    QCOMPARE(longClasses({{"app/chat/a.h", fits + wide}}), QStringList("app/chat/Wide"));
}

void ClassesTest::seesASpreadClass()
{
    const QString header = "class Engine\n{\n    void run();\n    int b();\n};\n";
    const Files one = {{"app/x/engine.h", header},
                       {"app/x/engine.cpp", "Engine::Engine()\n{\n}\nvoid Engine::run()\n{\n}\n"},
                       {"app/x/user.cpp", "void use()\n{\n    Engine::run();\n}\n"},
                       {"app/y/engine.cpp", "void Engine::run()\n{\n}\n"},
                       {"app/x/engine_linux.cpp", "std::vector<int> Engine::b(int c)\n{\n}\n"}};
    QCOMPARE(spreadClasses(one), QStringList());
    for (const char* more : {"std::vector<int> Engine::b(int c)\n{\n}\n", "Engine::~Engine()\n{\n}\n",
                             "bool Engine::operator==(const Engine& other)\n{\n}\n"}) {
        Files two = one;
        two.insert("app/x/engine_more.cpp", more);
        QCOMPARE(spreadClasses(two), QStringList("app/x/Engine"));
    }
}

void ClassesTest::knowsWhatALineSays()
{
    for (const char* line : {"// Page holds tokens.", "// Reads a file.", "// `Page` is a list of tokens."})
        QVERIFY2(saysWhatItDoes(line), line);
    for (const char* line : {"// What pages hold.", "// The pages.", "// One page.", "#pragma once", "// Ctrl+C."})
        QVERIFY2(!saysWhatItDoes(line), line);
}

void ClassesTest::knowsWhatATestSays()
{
    QVERIFY(says("tests/app/tst_pages.cpp", "// Tests that pages hold tokens.\n"));
    QVERIFY(!says("tests/app/tst_pages.cpp", "// Models that have pages.\n"));
    QVERIFY(!says("tests/app/tst_pages.cpp", "#include <QTest>\n"));
    QVERIFY(says("tests/support/pages.cpp", "#include \"tests/support/pages.h\"\n"));
    QVERIFY(!says("tests/support/pages.cpp", "// The pages.\n"));
    QVERIFY(says("ui/Pages.qml", "// Shows the pages.\n"));
    QVERIFY(!says("ui/Pages.qml", "// The pages.\n"));
    QVERIFY(!says("ui/Pages.qml", "import QtQuick\n"));
}

void ClassesTest::knowsARiddle()
{
    for (const char* line : {"/// Of the answer.", "    /// They stay.", "/// Those that run.", "///< It has ended."})
        QCOMPARE(riddles({{"app/x/a.h", QString("#pragma once\n") + line + "\nint a();\n"}}).size(), 1);
    for (const char* line :
         {"/// Says what it is.\n/// It stays.", "/// Its own.", "// Of the answer.", "/// Offers it."})
        QCOMPARE(riddles({{"app/x/a.h", QString("#pragma once\n") + line + "\nint a();\n"}}), QStringList());
}

void ClassesTest::knowsLoneMetaCode()
{
    const QString object = "class A : public QObject\n{\n    Q_OBJECT\n};\n";
    const QString line = "\n#include \"moc_a.cpp\"\n";
    QCOMPARE(loneMetaCode({{"app/x/a.h", object}, {"app/x/a.cpp", line}}), QStringList());
    QCOMPARE(loneMetaCode({{"app/x/a.h", object}, {"app/x/b.cpp", line}}), QStringList());
    QCOMPARE(loneMetaCode({{"app/x/a.h", object}, {"app/y/a.cpp", line}}), QStringList("app/x/a.h"));
    QCOMPARE(loneMetaCode({{"app/x/a.h", "class A\n{\n};\n"}}), QStringList());
}

void ClassesTest::noClassIsLong()
{
    const Files files = house();
    QVERIFY(files.size() > 500);
    QCOMPARE(longClasses(files), QStringList());
}

void ClassesTest::noClassIsSpread()
{
    QCOMPARE(spreadClasses(house()), QStringList());
}

void ClassesTest::everyHeaderSaysWhatItDoes()
{
    const Files files = house();
    QStringList silent;
    for (auto file = files.begin(); file != files.end(); ++file)
        if (isHeader(file.key()) && !saysWhatItDoes(file.value()))
            silent << file.key() + ": " + file.value().section('\n', 0, 0);
    QVERIFY2(silent.isEmpty(), qPrintable(silent.join('\n')));
}

void ClassesTest::everyFileOfTestsAndUiSaysWhatItDoes()
{
    const Files files = filesOf({"tests", "ui"}, {"*.h", "*.cpp", "*.qml"});
    QVERIFY(files.size() > 500);
    QStringList silent;
    for (auto file = files.begin(); file != files.end(); ++file)
        if (!says(file.key(), file.value()))
            silent << file.key() + ": " + file.value().section('\n', 0, 0);
    QVERIFY2(silent.isEmpty(), qPrintable(silent.join('\n')));
}

void ClassesTest::noCommentIsARiddle()
{
    const QStringList found = riddles(house());
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

void ClassesTest::noMetaCodeIsAlone()
{
    const QStringList found = loneMetaCode(house());
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

QTEST_GUILESS_MAIN(ClassesTest)
#include "tst_classes.moc"
