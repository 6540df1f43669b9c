// Tests that Markdown becomes the same blocks in whichever pieces the text comes, and that hostile text does no harm.
#include "app/text/block_builder.h"
#include "tests/app/text/described.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QTest>

class TestMarkdown : public QObject
{
    Q_OBJECT

private:
    static QList<Block> blocksOf(const QString& text)
    {
        BlockBuilder builder;
        builder.append(text);
        builder.finish();
        return builder.blocks();
    }

    static QList<Block> blocksOfPieces(const QString& text, qsizetype size)
    {
        BlockBuilder builder;
        for (qsizetype at = 0; at < text.size(); at += size)
            builder.append(QStringView(text).sliced(at, qMin(size, text.size() - at)));
        builder.finish();
        return builder.blocks();
    }

    static QString randomText(QRandomGenerator& random)
    {
        static const QStringList pieces = {"word ",
                                           "two words ",
                                           "\n",
                                           "\n",
                                           "\n\n",
                                           "**",
                                           "*",
                                           "_",
                                           "`",
                                           "```\n",
                                           "```py\n",
                                           "    ",
                                           "  ",
                                           "- ",
                                           "1. ",
                                           "2) ",
                                           "> ",
                                           ">",
                                           "# ",
                                           "## ",
                                           "---\n",
                                           "===\n",
                                           "| a | b |\n",
                                           "|---|:-:|\n",
                                           "| 1 | 2 |\n",
                                           "|",
                                           "\\",
                                           "$",
                                           "$$",
                                           "\\(",
                                           "\\)",
                                           "\\[\n",
                                           "\\]\n",
                                           "x^2",
                                           "[a](http://b.c)",
                                           "![i](file:///x)",
                                           "<b>",
                                           "&amp;",
                                           "&#x202e;",
                                           "&#10;",
                                           "\t",
                                           "- [x] ",
                                           "~~",
                                           "~~~\n",
                                           "https://a.b/c ",
                                           "[l]: http://d.e\n",
                                           "[m][l]",
                                           "[L]",
                                           "😀",
                                           "é",
                                           "\\alpha ",
                                           "{",
                                           "}",
                                           "* * *\n",
                                           "1) ",
                                           "   - ",
                                           "\n\n\n",
                                           "$5 ",
                                           "word\n",
                                           "text\nmore\n"};
        QString text;
        const int count = int(random.bounded(1, 60));
        for (int i = 0; i < count; ++i)
            text += pieces[random.bounded(int(pieces.size()))];
        return text;
    }

private Q_SLOTS:
    void forms_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("blocks");
        QTest::newRow("nothing") << ""
                                 << "";
        QTest::newRow("space") << "  \n\n "
                               << "";
        QTest::newRow("paragraphs") << "one\n\ntwo\nthree"
                                    << "one\ntwo/three";
        QTest::newRow("looks") << "a *b* **c** ~~d~~ `e` ***f***"
                               << "a i(b) b(c) s(d) c(e) i(b(f))";
        QTest::newRow("headings") << "# One\n### Three\ntext\nTwo\n---"
                                  << "h1 One\nh3 Three\nh2 text/Two";
        QTest::newRow("list") << "- a\n- b\n  - c\n\n  more\n- d"
                              << "1 [•] a\n1 [•] b\n2 [◦] c\n1 more\n1 [•] d";
        QTest::newRow("numbers") << "3. a\n3. b\n   1. c\n10. d"
                                 << "1 [3.] a\n1 [4.] b\n2 [1.] c\n1 [5.] d";
        QTest::newRow("numbers around a paragraph") << "1. a\n\npart\n\n2. b"
                                                    << "1 [1.] a\npart\n1 [2.] b";
        QTest::newRow("tasks") << "- [ ] a\n- [x] b"
                               << "1 [☐] a\n1 [☑] b";
        QTest::newRow("empty item") << "-\n- b"
                                    << "1 [•] \n1 [•] b";
        QTest::newRow("lazy item") << "- a\nb"
                                   << "1 [•] a/b";
        QTest::newRow("quote") << "> a\nb\n>\n> > c\n\nd"
                               << "| a/b\n| | c\nd";
        QTest::newRow("list in a quote") << "> - a\n>   - b"
                                         << "| 1 [•] a\n| 2 [◦] b";
        QTest::newRow("quote in a list") << "- a\n  > b"
                                         << "1 [•] a\n1> | b";
        QTest::newRow("rule") << "a\n\n---\nb\n***"
                              << "a\nrule\nb\nrule";
        QTest::newRow("fence") << "```python title=x\na\n\n  b\n```\nc"
                               << "code python: a//  b\nc";
        QTest::newRow("fence in fence") << "````\n```\na\n```\n````"
                                        << "code : ```/a/```";
        QTest::newRow("fence after text") << "a\n~~~c++\nb"
                                          << "a\ncode c++: b";
        QTest::newRow("open fence") << "```js\nlet a"
                                    << "code js: let a";
        QTest::newRow("empty fence") << "```js\n```"
                                     << "code js: ";
        QTest::newRow("indented") << "a\n\n    b\n\n      c\n\nd"
                                  << "a\ncode : b//  c\nd";
        QTest::newRow("fence in a list") << "1. a\n   ```sh\n   b\n     c\n   ```\n2. d"
                                         << "1 [1.] a\n1> code sh: b/  c\n1 [2.] d";
        QTest::newRow("table") << "| a | b |\n|:-:|--:|\n| *1* | x\\|y |\n| 2 |\n\nc"
                               << "row a | b\nrow i(1) | x|y\nrow 2\nc";
        QTest::newRow("table after text") << "see\na|b\n-|-\n1|2\nc"
                                          << "see\nrow a | b\nrow 1 | 2\nc";
        QTest::newRow("no table") << "a | b\n--- | --- | ---"
                                  << "a | b/--- | --- | ---";
        QTest::newRow("empty cells") << "|a||c|\n|-|-|-|\n|1||3|\n||2||"
                                     << "row a |  | c\nrow 1 |  | 3\nrow  | 2";
        QTest::newRow("empty cells in a quote and a list")
            << "> |a|b|c|\n> |---|---|---|\n> |1||3|\n\n- |a|b|\n  |---|---|\n  ||2|"
            << "| row a | b | c\n| row 1 |  | 3\n1 [•] \n1> row a | b\n1> row  | 2";
        QTest::newRow("two bars") << "a || b `c||d` [e](f||g)"
                                  << "a || b c(c||d) e (f||g)";
        QTest::newRow("link") << "[a *b*](https://c.d/e \"t\")"
                              << "a <https://c.d/e>i(b)<https://c.d/e>";
        QTest::newRow("bare link") << "see https://a.b/c, me@d.e"
                                   << "see https://a.b/c<https://a.b/c>, me@d.e<mailto:me@d.e>";
        QTest::newRow("image") << "![a cat](https://b.c/d.png)"
                               << "🖼 a cat<https://b.c/d.png>";
        QTest::newRow("references") << "[x y][1], [Two] and [none][9].\n\n[1]: https://b.c\n[two]: https://d.e \"t\""
                                    << "x y<https://b.c>, Two<https://d.e> and [none][9].\n"
                                       "[1]: https://b.c<https://b.c>/[two]: https://d.e<https://d.e> \"t\"";
        QTest::newRow("references everywhere")
            << "[k]: https://b.c\n# [h][k]\n- [i][K]\n\n> [q][ k ]\n\n[a][k] | b\n---|---\n[c][k] | d"
            << "[k]: https://b.c<https://b.c>\nh1 h<https://b.c>\n1 [•] i<https://b.c>\n| q<https://b.c>\n"
               "row a<https://b.c> | b\nrow c<https://b.c> | d";
        QTest::newRow("two of one name") << "[a]\n\n[a]: https://b.c\n\n[A]: https://d.e"
                                         << "a<https://b.c>\n[a]: https://b.c<https://b.c>\n"
                                            "[A]: https://d.e<https://d.e>";
        QTest::newRow("no reference within a paragraph") << "so\n[a]: https://b.c\n\n[a]"
                                                         << "so/[a]: https://b.c<https://b.c>\n[a]";
        QTest::newRow("definition") << "[a]: https://b.c"
                                    << "[a]: https://b.c<https://b.c>";
        QTest::newRow("definitions in items and quotes")
            << "- [a]: b\n- [x]: done\n  1. [^1]: c\n> - [Step 1]:\n>   Do it"
            << "1 [•] [a]: b\n1 [•] [x]: done\n2 [1.] [^1]: c\n| 1 [•] [Step 1]:/Do it";
        QTest::newRow("definitions after boxes") << "- [ ] [a]: b\n- [x] [c]: d"
                                                 << "1 [☐] [a]: b\n1 [☑] [c]: d";
        QTest::newRow("definitions with brackets in their names") << "[a\\]b]: c\n[d[e]: f"
                                                                  << "[a]b]: c/[d[e]: f";
        QTest::newRow("definitions in definitions") << "- [\n  [a]: b\n\n> [c\n> [d]: e"
                                                    << "1 [•] [/[a]: b\n| [c/[d]: e";
        QTest::newRow("definitions that code seems to hold") << "- `a\n  - [b]: c`"
                                                             << "1 [•] `a\n2 [◦] [b]: c`";
        QTest::newRow("no definition in code") << "- ~~~\n  [a]: b\n  ~~~\n  `[c]: d`"
                                               << "1 [•] \n1> code : [a]: b\n1 c([c]: d)";
        QTest::newRow("line break") << "a  \nb"
                                    << "a/b";
        QTest::newRow("spaces in entities") << "a&emsp;b&ensp;c&thinsp;d&nbsp;e"
                                            << "a\u2003b\u2002c\u2009d\u00A0e";
        QTest::newRow("line breaks in entities") << "a&#10;b&#x2028;c&#8233;d"
                                                 << "a/b/c/d";
        QTest::newRow("entity") << "&lt;a&gt; &eacute; &#65;"
                                << "<a> é A";
        QTest::newRow("formula") << "so $x^2$ and \\(\\alpha\\)"
                                 << "so m(x²) and m(α)";
        QTest::newRow("formula over several lines") << "so \\[\na\nb\\label{e}\n\\] on"
                                                    << "so m(a/b\\label{e}) on";
        QTest::newRow("money") << "from $5 to $10, or US$3"
                               << "from $5 to $10, or US$3";
        QTest::newRow("no formula in code") << "`$x^2$`\n\n```\n$y_1$\n```"
                                            << "c($x^2$)\ncode : $y_1$";
        QTest::newRow("display formula") << "a\n$$\nx_1\n$$\nb"
                                         << "a\nmaths x₁\nb";
        QTest::newRow("display formula that begins in a line") << "a $$\nx_1\n$$ b\nc\n\nd"
                                                               << "a m(x₁) b/c\nd";
        QTest::newRow("display formula below its marks in code") << "Use `$$` around:\n$$\nx_1\n$$\nb"
                                                                 << "Use c($$) around:\nmaths x₁\nb";
        QTest::newRow("display in brackets") << "\\[ x \\neq y \\]"
                                             << "maths x ≠ y";
        QTest::newRow("display in a list") << "- a\n\n  $$x^2$$"
                                           << "1 [•] a\n1> maths x²";
        QTest::newRow("display without marks") << "So\n\\begin{aligned}\n a &= b \\\\\n c &= d\n\\end{aligned}\nand on"
                                               << "So\nmaths a = b/c = d\nand on";
        QTest::newRow("environments in each other")
            << "\\begin{cases} a \\\\\n\\begin{cases} b \\end{cases}\n\\end{cases}"
            << "maths \\begin{cases} a \\\\\n\\begin{cases} b \\end{cases}\n\\end{cases}";
        QTest::newRow("an environment in a list") << "- a\n\n  \\begin{align*}x^2\\end{align*}"
                                                  << "1 [•] a\n1> maths x²";
        QTest::newRow("no formula") << "\\begin{itemize} \\item a \\end{itemize}"
                                    << "\\begin{itemize} \\item a \\end{itemize}";
        QTest::newRow("abandoned environment") << "\\begin{aligned}\na\n\nb"
                                               << "\\begin{aligned}/a\nb";
        QTest::newRow("abandoned formula") << "$$\na\n\nb"
                                           << "$$/a\nb";
        QTest::newRow("formula in a table") << "|a|b|\n|-|-|\n|$|x|$|2|"
                                            << "row a | b\nrow m(|x|) | 2";
        QTest::newRow("underscores in a formula") << "$a_1 b_1$ and *c*"
                                                  << "m(a₁ b₁) and i(c)";
    }

    void forms()
    {
        QFETCH(QString, text);
        QTEST(described(blocksOf(text)), "blocks");
    }

    void hostile_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("blocks");
        QTest::newRow("HTML block") << "<script>alert(1)</script>"
                                    << "<script>alert(1)</script>";
        QTest::newRow("HTML inline") << "a <b onclick=x>c</b>"
                                     << "a <b onclick=x>c</b>";
        QTest::newRow("HTML comment") << "<!-- hidden -->"
                                      << "<!-- hidden -->";
        QTest::newRow("javascript") << "[a](javascript:alert(1))"
                                    << "a (javascript:alert(1))";
        QTest::newRow("javascript, named elsewhere") << "[a][b]\n\n[b]: javascript:c"
                                                     << "a (javascript:c)\n[b]: javascript:c";
        QTest::newRow("javascript, in an entity") << "[a](java&#115;cript:b)"
                                                  << "a (javascript:b)";
        QTest::newRow("data") << "[a](data:text/html;base64,x)"
                              << "a (data:text/html;base64,x)";
        QTest::newRow("file") << "[a](file:///etc/passwd)"
                              << "a (file:///etc/passwd)";
        QTest::newRow("file image") << "![a](file:///etc/passwd)"
                                    << "🖼 a (file:///etc/passwd)";
        QTest::newRow("relative") << "[a](../b)"
                                  << "a (../b)";
        QTest::newRow("autolink of a scheme") << "<ftp://a.b/c>"
                                              << "ftp://a.b/c (ftp://a.b/c)";
        QTest::newRow("image in a link") << "[![a](file:///b)](https://c.d)"
                                         << "🖼 a (file:///b)<https://c.d>";
        QTest::newRow("link in a link") << "[a [b](https://c.d) e](https://f.g)"
                                        << "[a b<https://c.d> e](https://f.g<https://f.g>)";
        QTest::newRow("override in an entity") << "a&#x202e;b&rlm;c"
                                               << "a⟨U+202E⟩b⟨U+200F⟩c";
        QTest::newRow("name of another letter") << "[a](https://раypal.com/)"
                                                << "a<https://xn--ypal-43d9g.com/>";
        QTest::newRow("no letter at all") << "&#0; &#xD800; &#x110000; \uFDD0"
                                             "1\uFDD1"
                                          << "\uFFFD \uFFFD \uFFFD \uFFFD1\uFFFD";
        QTest::newRow("no host") << "[a](https:///b)"
                                 << "a (https:///b)";
    }

    void hostile()
    {
        QFETCH(QString, text);
        QTEST(described(blocksOf(text)), "blocks");
    }

    void piecesMakeTheSameBlocksAsTheWhole()
    {
        const uint seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        for (int round = 0; round < 1500; ++round) {
            const QString text = randomText(random);
            const QList<Block> whole = blocksOf(text);
            BlockBuilder builder;
            for (qsizetype at = 0; at < text.size();) {
                const qsizetype size = random.bounded(1, random.bounded(2) ? 3 : 25);
                builder.append(QStringView(text).sliced(at, qMin(size, text.size() - at)));
                at += size;
            }
            builder.finish();
            if (builder.blocks() != whole)
                qWarning().noquote() << "text:" << text;
            QCOMPARE(described(builder.blocks()), described(whole));
            QCOMPARE(builder.blocks(), whole);
            for (const Block& block : whole)
                for (const Paragraph& paragraph : block.paragraphs)
                    for (const Span& span : paragraph.spans)
                        QVERIFY2(!span.text.contains('\n'), qPrintable(text));  // would be a paragraph of its own
        }
    }

    /// Text of every size costs in proportion to it. Limits are generous: this must find the quadratic, not the slow.
    void huge_data()
    {
        QTest::addColumn<QString>("unit");
        QTest::addColumn<int>("count");
        QTest::newRow("quotes in quotes") << ">" << 10'000;
        QTest::newRow("quotes in quotes, with text") << "> " << 10'000;
        QTest::newRow("a long line") << "word " << 200'000;
        QTest::newRow("a long line without spaces") << "x" << 1'000'000;
        QTest::newRow("stars") << "*" << 100'000;
        QTest::newRow("stars and letters") << "*a **b " << 50'000;
        QTest::newRow("brackets") << "[" << 100'000;
        QTest::newRow("links that are none") << "[a](" << 50'000;
        QTest::newRow("lists in lists") << "- " << 20'000;
        QTest::newRow("backticks") << "`a``b" << 50'000;
        QTest::newRow("dollars") << "$a $$ " << 50'000;
        QTest::newRow("open formulas") << "\\( \\[ " << 50'000;
        QTest::newRow("open environments") << "\\begin{align} " << 50'000;
        QTest::newRow("nameless environments") << "\\begin{" << 100'000;
        QTest::newRow("environments in lines") << "\\begin{align}\n" << 50'000;
        QTest::newRow("entities") << "&eacute;" << 20'000;
        QTest::newRow("lines") << "line\n" << 100'000;
        QTest::newRow("fences") << "```\n" << 100'001;
        QTest::newRow("items") << "- item\n" << 50'000;
        QTest::newRow("nested items") << "- item\n  - nested\n    - deep\n" << 20'000;
        QTest::newRow("bars") << "|" << 200'000;
        QTest::newRow("superscripts") << "$x^{^{^{a" << 20'000;
    }

    void huge()
    {
        QFETCH(QString, unit);
        QFETCH(int, count);
        QElapsedTimer timer;
        timer.start();
        const QList<Block> blocks = blocksOf(unit.repeated(count));
        qInfo("%d blocks", int(blocks.size()));
        QVERIFY2(timer.elapsed() < 8000, qPrintable(QString::number(timer.elapsed())));
    }

    void aHugeTableComesInParts()
    {
        QString text = "|a|b|\n|-|-|\n";
        constexpr int kRows = BlockLines::kMostCells / 2 - 1;
        for (int i = 0; i < kRows; ++i)
            text += QStringLiteral("|%1|x|\n").arg(i);
        BlockBuilder builder;
        for (qsizetype at = 0; at < text.size(); at += 400)
            builder.append(QStringView(text).sliced(at, qMin(qsizetype(400), text.size() - at)));
        builder.finish();
        qsizetype rows = 0;
        for (const Block& block : builder.blocks()) {
            QCOMPARE(block.kind, Block::Kind::Table);
            QVERIFY(block.table.rows.size() <= 130);
            rows += block.table.rows.size() - 1;
        }
        QCOMPARE(rows, kRows);
        QVERIFY(!builder.blocks()[0].continues && builder.blocks()[1].continues);
    }

    void rowsThatLackCellsCostNoMoreThanTheyHold_data()
    {
        QTest::addColumn<QString>("before");
        QTest::newRow("a table") << "";
        QTest::newRow("in a list") << "  ";
        QTest::newRow("in quotes") << "> ";
    }
    void rowsThatLackCellsCostNoMoreThanTheyHold()
    {
        QFETCH(QString, before);
        constexpr int kRows = 150'000;
        QString text = before.isEmpty() || before[0] == '>' ? "" : "- item\n";
        text += before + "|" + QString("a|").repeated(64) + "\n" + before + "|" + QString("-|").repeated(64) + "\n";
        for (int i = 0; i < kRows; ++i)
            text += before + "|y|\n";
        qsizetype drawn = 0, held = 0, rows = 0;
        for (const Block& block : blocksOf(text)) {
            drawn += block.table.rows.size() * block.table.columns.size();
            for (const QList<Spans>& row : block.table.rows) {
                QVERIFY(row.size() == 1 || row.size() == 64);
                held += row.size();
                rows += row.size() == 1;
            }
            for (const Paragraph& paragraph : block.paragraphs)
                rows += plainText(paragraph.spans).count("y");
            rows += block.text.count("y");
        }
        // The head is there once in each part, which has some four rows.
        QVERIFY2(drawn <= BlockLines::kMostCells * 3 / 2, qPrintable(QString::number(drawn)));
        QVERIFY2(held <= BlockLines::kMostCells / 2, qPrintable(QString::number(held)));
        QVERIFY2(rows >= kRows && rows <= kRows + 2,
                 qPrintable(QString::number(rows)));  // none is lost; the note has letters, too
    }

    void theRestOfATableThatIsTooLargeIsText()
    {
        QString text = "|a|b|\n|-|-|\n";
        for (int i = 0; i < BlockLines::kMostCells; ++i)
            text += QStringLiteral("|%1|x|\n").arg(i);
        const QList<Block> blocks = blocksOf(text + "\nThe end\n\n|c|d|\n|-|-|\n");
        qsizetype at = 0;
        while (blocks[at].kind == Block::Kind::Table)
            ++at;
        QVERIFY(at > 10);
        QVERIFY(described(blocks[at]).join(u' ').contains("too large to be drawn"));
        QCOMPARE(blocks[at + 1].kind, Block::Kind::Code);
        QVERIFY(blocks[at + 1].text.startsWith(QStringLiteral("|%1|x|\n").arg(BlockLines::kMostCells / 2 - 1)));
        QCOMPARE(described(blocks.last()).join('\n'), "The end\n|c|d|/|-|-|");
    }

    void aTableOfTooManyColumnsIsText()
    {
        const QList<Block> blocks =
            blocksOf("|" + QString("a|").repeated(500) + "\n|" + QString("-|").repeated(500) + "\n|x|");
        QCOMPARE(blocks[0].kind, Block::Kind::Text);
    }

    void hugeCodeComesInPartsThatMakeTheWhole()
    {
        QString code;
        for (int i = 0; i < 5000; ++i)
            code += i == 2500 ? QString(30'000, 'x') + "\n/*\n" : QStringLiteral("int a%1;\n").arg(i);
        BlockBuilder builder;
        const QString text = "```cpp\n" + code + "```";
        for (qsizetype at = 0; at < text.size(); at += 333)
            builder.append(QStringView(text).sliced(at, qMin(qsizetype(333), text.size() - at)));
        builder.finish();
        QString joined;
        for (const Block& block : builder.blocks()) {
            QCOMPARE(block.kind, Block::Kind::Code);
            QVERIFY(block.text.size() < 13'000);
            joined += block.text + (block.lineOpen ? "" : "\n");
        }
        QCOMPARE(joined, code);
        QVERIFY(builder.blocks().size() > 20);
        QVERIFY(builder.blocks().last().state != 0);  // the comment is open still
    }

    void aLongLineOfCodeInAListOrQuoteStaysInIt_data()
    {
        QTest::addColumn<QString>("text");  // %1: the line
        QTest::addColumn<QString>("blocks");
        QTest::newRow("list") << "1. Run:\n   ```sh\n   %1\n     b\n   ```\n   So\n2. Next"
                              << "1 [1.] Run:\n1> code sh: %1/  b\n1 So\n1 [2.] Next";
        QTest::newRow("list in a list") << "- a\n  1. ```\n     %1\n     ```\n  2. b\n- c"
                                        << "1 [•] a\n2 [1.] \n2> code : %1\n2 [2.] b\n1 [•] c";
        QTest::newRow("not closed") << "- ```\n  %1\n- b"
                                    << "1 [•] \n1> code : %1\n1 [•] b";
        QTest::newRow("quote") << "> ```sh\n> %1\n>   b\n>\n> ```\n> 2. Next"
                               << "| code sh: %1/  b/\n| 1 [2.] Next";
        QTest::newRow("quote that ends") << "> ```\n> %1\nb"
                                         << "| code : %1\nb";
        QTest::newRow("quote in a list") << "- > ```\n  > %1\n  > b\n  > ```\n- c"
                                         << "1> | [•] \n1> | code : %1/b\n1 [•] c";
    }
    void aLongLineOfCodeInAListOrQuoteStaysInIt()
    {
        QFETCH(QString, text);
        QFETCH(QString, blocks);
        for (const int size : {10, 5000}) {
            const QString line = QStringLiteral("curl ") + QString(size, u'x');
            QCOMPARE(described(blocksOf(text.arg(line))), blocks.arg(line));
            QCOMPARE(blocksOfPieces(text.arg(line), 77), blocksOf(text.arg(line)));
        }
    }

    void muchCodeInAListStaysInIt()
    {
        const QString code = QStringLiteral("int a;\n").repeated(12'000);
        const QList<Block> blocks =
            blocksOf("1. Run:\n   ```c\n   " + QString(code).replace("\n", "\n   ") + "```\n2. Next");
        QString joined;
        for (const Block& block : blocks.sliced(1).first(blocks.size() - 2)) {
            QCOMPARE(block.kind, Block::Kind::Code);
            joined += block.text + '\n';
        }
        QCOMPARE(joined, code);
        QCOMPARE(described(blocks.last()).join('\n'), "1 [2.] Next");
    }

    void aLongItemGoesOnAsOne()
    {
        const QString inner = QStringLiteral("    - word word word\n").repeated(500) + "      1. c\n";
        const QString text = "1. a\n" + inner + "\n    ~~~\n    d\n    ~~~\n    e\n1. b\n\n    f\n\ng\n\n    h";
        QCOMPARE(blocksOfPieces(text, 333), blocksOf(text));
        const QStringList lines = described(blocksOf(text)).split('\n');
        QStringList expected{"1 [1.] a"};
        for (int i = 0; i < 500; ++i)
            expected += "2 [◦] word word word";
        expected += {"3 [1.] c", "1> code : d", "1 e", "1 [2.] b", "1 f", "g", "code : h"};
        for (qsizetype i = 0; i < expected.size(); ++i)
            QCOMPARE(lines.value(i).remove('+'), expected[i]);
        QCOMPARE(lines.size(), expected.size());
    }

    void aPieceChangesOnlyTheEnd()
    {
        QString text;
        for (int i = 0; i < 40; ++i)
            text += QStringLiteral("Paragraph %1 with *words*.\n\n- item\n- item\n\n```c\nint a;\n```\n\n").arg(i);
        BlockBuilder builder;
        for (const QChar c : text) {
            const qsizetype before = builder.blocks().size();
            builder.append(QStringView(&c, 1));
            QVERIFY(builder.takeFirstChanged() >= before - 2);
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestMarkdown)
#include "tst_markdown.moc"
