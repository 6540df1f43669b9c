// Tests that the highlighter colours a sample of every language, keeps its state across lines, and bears any text.
#include "app/text/highlighter.h"
#include "app/text/languages.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QTest>

class TestHighlighter : public QObject
{
    Q_OBJECT

private:
    /// "k:if s:"a"": a letter for the word's kind and the text, for all runs of all lines.
    static QString runs(const QString& language, const QString& code)
    {
        static const char letters[] = "csnktf+-";
        QStringList out;
        int state = 0;
        for (const QString& line : code.split('\n')) {
            const HighlightedLine read = highlightLine(language, line, state);
            for (const CodeRun& run : read.runs)
                out += QString(letters[int(run.word)]) + ":" + line.mid(run.start, run.size);
            state = read.state;
        }
        return out.join(' ');
    }

private Q_SLOTS:
    void samples_data()
    {
        QTest::addColumn<QString>("language");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* language, const char* code, const char* expected) {
            QTest::addRow("%s: %s", language, code) << language << code << expected;
        };
        row("python", "def f(x): return x + 1 # s", "k:def f:f k:return n:1 c:# s");
        row("py", "a = \"\"\"b\nc\"\"\" + 'd\\'e'", "s:\"\"\"b s:c\"\"\" s:'d\\'e'");
        row("Python", "@cache\nclass A(Base): pass", "t:@cache k:class t:A t:Base k:pass");
        row("js", "const a = `b\n${c}`; // d", "k:const s:`b s:${c}` c:// d");
        row("typescript", "let a: number = 0x1F;", "k:let t:number n:0x1F");
        row("java", "@Override public String f() { return 'a'; }", "t:@Override k:public t:String f:f k:return s:'a'");
        row("c", "#include <a.h>\nint main(void) { /* b\nc */ return 0; }",
            "k:#include t:int f:main t:void c:/* b c:c */ k:return n:0");
        row("c++", "auto s = R\"(a\nb)\"; char c = '\\'';", "k:auto s:R\"(a s:b)\" t:char s:'\\''");
        row("cs", "var a = @\"b\"; string c;", "k:var s:@\"b\" t:string");
        row("go", "func f(a int) { b := `c\nd` }", "k:func f:f t:int s:`c s:d`");
        row("rust", "fn f<'a>(x: &'a str) -> char { 'b' }", "k:fn t:str t:char s:'b'");
        row("php", "$a = foo('b'); # c", "t:$a f:foo s:'b' c:# c");
        row("ruby", "def f; @a = \"b\" end", "k:def t:@a s:\"b\" k:end");
        row("swift", "let a: Int = 1_000", "k:let t:Int n:1_000");
        row("kotlin", "fun f(): Int = 1", "k:fun f:f t:Int n:1");
        row("sql", "SELECT a FROM b -- c\nWHERE d = 'e'", "k:SELECT k:FROM c:-- c k:WHERE s:'e'");
        row("bash", "if [ \"$a\" ]; then echo ${b} # c", "k:if s:\"$a\" k:then k:echo t:$ c:# c");
        row("powershell", "ForEach ($a in Get-Item) { } <# b\n#>", "k:ForEach t:$a k:in f:Get-Item c:<# b c:#>");
        row("html", "<a href=\"b\">if c</a><!-- d\ne -->", "k:<a f:href s:\"b\" k:> k:</a k:> c:<!-- d c:e -->");
        row("css", ".a { color: #fff; } /* b */", "t:.a f:color n:#fff c:/* b */");
        row("json", "{\"a\": [1, true, \"b\"]}", "f:\"a\" n:1 k:true s:\"b\"");
        row("yaml", "a-b: \"c\" # d\ne: true", "f:a-b s:\"c\" c:# d f:e k:true");
        row("toml", "[a]\nb = 'c'", "t:[a] f:b s:'c'");
        row("diff", "@@ 1 @@\n+a\n-b\n c", "t:@@ 1 @@ +:+a -:-b");
        row("lua", "local a --[[ b\nc ]] = 1", "k:local c:--[[ b c:c ]] n:1");
        row("cmake", "add_library(a b) # c", "f:add_library c:# c");
        row("brainfuck", "+++", "");
        row("", "a", "");
    }

    void samples()
    {
        QFETCH(QString, language);
        QFETCH(QString, code);
        QTEST(runs(language, code), "expected");
    }

    void anyTextInAnyLanguage()
    {
        const uint seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        const QString letters = "ab1\"'`/*#<>-![](){}\\@$:=+|&% \t.😀";
        for (const Language& language : languages()) {
            const QString name = language.names.toString().section(' ', 0, 0);
            for (int round = 0; round < 300; ++round) {
                QString line;
                for (int i = 0; i < 30; ++i)
                    line += letters[random.bounded(int(letters.size()))];
                const HighlightedLine read = highlightLine(name, line, int(random.bounded(12)));
                qsizetype end = 0;
                for (const CodeRun& run : read.runs) {
                    QVERIFY(run.start >= end && run.size > 0);
                    end = run.start + run.size;
                }
                QVERIFY(end <= line.size());
            }
        }
    }

    void aLongLineIsRead()
    {
        QElapsedTimer timer;
        timer.start();
        for (const Language& language : languages())
            highlightLine(language.names.toString().section(' ', 0, 0), QString("'\"/*<a ").repeated(100'000), 0);
        QVERIFY(timer.elapsed() < 5000);
    }

    void titles()
    {
        QCOMPARE(languageTitle("cpp"), "C++");
        QCOMPARE(languageTitle("SH"), "Shell");
        QCOMPARE(languageTitle("xml"), "XML");
        QCOMPARE(languageTitle("zig"), "zig");
    }
};

SPILLWAY_TEST(QCoreApplication, TestHighlighter)
#include "tst_highlighter.moc"
