// Tests that models' cards become blocks with the HTML that real ones have, and that hostile HTML does no harm.
#include "app/text/card_blocks.h"
#include "app/text/html_reader.h"
#include "tests/app/text/described.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QTest>

class TestCardBlocks : public QObject
{
    Q_OBJECT

private:
    static QString random(QRandomGenerator& random, const QStringList& pieces, int most)
    {
        QString text;
        for (int i = int(random.bounded(1, most)); i > 0; --i)
            text += pieces[random.bounded(int(pieces.size()))];
        return text;
    }

    static QString allText(const QList<Block>& blocks)
    {
        QString text;
        for (const Block& block : blocks)
            text += plainText(block) + u'\n';
        return text;
    }

private Q_SLOTS:
    void cards_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("blocks");
        QTest::newRow("a head of links and pictures")
            << "<div>\n<p style=\"margin-bottom: 0; margin-top: 0;\">\n  <strong>See <a href=\"https://h.co/c\">our "
               "collection</a> for all versions, 4-bit & 16-bit.</strong>\n</p>\n  <p style=\"margin-bottom: 0;\">\n   "
               " "
               "<em>Read our <a href=\"https://d.ai/\">Guide</a>.</em>\n  </p>\n<div style=\"display: flex; \">\n  "
               "<a href=\"https://g.com/u/\">\n    <img src=\"https://g.com/l.png\" width=\"133\">\n  </a>\n  <a "
               "href=\"https://d.gg/u\">\n    <img src=\"https://g.com/d.png\" alt=\"Discord\" width=\"173\">\n  "
               "</a>\n</div>\n<h1 style=\"margin-top: 0rem;\">✨ Run & tune it!</h1>\n</div>\n\n# Model\n\nText."
            << "b(See) b(our collection)<https://h.co/c> b(for all versions, 4-bit & 16-bit.)\n"
               "i(Read our) i(Guide)<https://d.ai/>i(.)\n"
               "Discord<https://d.gg/u>\n"
               "h1 ✨ Run & tune it!\nh1 Model\nText.";
        QTest::newRow("links in a paragraph")
            << "Using <a href=\"https://g.com/l/\">llama.cpp</a> release <a href=\"https://g.com/b1\">b1</a> for it."
            << "Using llama.cpp<https://g.com/l/> release b1<https://g.com/b1> for it.";
        QTest::newRow("line breaks") << "**Creator:** [Q](https://h.co/q)<br>\n**By:** `b1`<br>\nLast<br/>line <br> end"
                                     << "b(Creator:) Q<https://h.co/q>/b(By:) c(b1)/Last/line /end";
        QTest::newRow("comments around a centred picture")
            << "<!-- markdownlint-disable html -->\n<div align=\"center\">\n  <img src=\"a.svg\" width=\"60%\" "
               "alt=\"DeepSeek-V3\" />\n</div>\n<hr>\n<p align=\"center\">\n  <a href=\"https://p.org\"><b>Paper "
               "Link</b>👁️</a>\n</p>"
            << "DeepSeek-V3\nrule\nb(Paper Link)<https://p.org>👁️<https://p.org>";
        QTest::newRow("Markdown in a division")
            << "<div align=\"center\">\n\n| **Model** | Size |\n|---|---|\n| a | 1<br>2 |\n\n</div>\n\n## Next"
            << "row b(Model) | Size\nrow a | 1/2\nh2 Next";
        QTest::newRow("details") << "<details>\n  <summary>Click <i>here</i></summary>\n\n- one\n- two\n\n</details>"
                                 << "b(Click) i(b(here))\n1 [•] one\n1 [•] two";
        QTest::newRow("deep indents are looks only")
            << "<div>\n    <div style=\"x\">\n        <p><a href=\"https://d.gg/t\">Chat & support</a></p>\n    "
               "</div>\n</div>"
            << "Chat & support<https://d.gg/t>";
        QTest::newRow("a picture that is a link of Markdown")
            << "[<img src=\"a.png\" alt=\"Made *here*\"/>](https://g.com/u)"
            << "Made *here*<https://g.com/u>";
        QTest::newRow("a picture without words") << "[<img src=\"a.png\" width=\"200\"/>](https://g.com/u)\n\nText"
                                                 << "Text";
        QTest::newRow("pictures") << "<img alt=\"a\" src=x> <img alt='b &amp; &lt;i&gt;'>\n<img>"
                                  << "a b & <i>";
        QTest::newRow("several in a row")
            << "<p><a href=\"https://a.b\">A</a>&nbsp;|&nbsp;<a href='https://c.d'>C</a></p>"
            << "A<https://a.b>\u00A0|\u00A0C<https://c.d>";
        QTest::newRow("headings") << "<h2>One</h2><h3 id=x>Two <code>c</code></h3>text"
                                  << "h2 One\nh3 Two c(c)\ntext";
        QTest::newRow("lists") << "<ul>\n<li>a</li>\n<li><p>b</p><ol start=\"3\"><li>c<li>d</ol></li>\n</ul>after"
                               << "1 [•] a\n1 [•] b\n2 [3.] c\n2 [4.] d\nafter";
        QTest::newRow("a list with Markdown in it") << "<ul>\n<li>\n\n**a**\n\n</li>\n</ul>\n\nb"
                                                    << "1 [•] b(a)\nb";
        QTest::newRow("quotes") << "<blockquote>\n<p>a</p>\n\n*b*\n\n</blockquote>\n\nc"
                                << "| a\n| i(b)\nc";
        QTest::newRow("code") << "<pre><code class=\"language-py\">a &lt; b\n  <span>c</span> * 2\n\nd</code></pre>"
                              << "code : a < b/  c * 2//d";
        QTest::newRow("code in text") << "so <code>x &lt; y</code> and <kbd>k</kbd>"
                                      << "so c(x < y) and k";
        QTest::newRow("raised and lowered") << "10<sup>5</sup> H<sub>2</sub>O"
                                            << "10^5 H2O";
        QTest::newRow("marks side by side") << "<b>a:</b>b<i>\"c\"</i>d<b> e </b>f"
                                            << "b(a:)bi(\"c\")db( e )f";
        QTest::newRow("marks that nothing ends") << "a <b>b\n\nc\n\n- <i>d\n- e"
                                                 << "a b(b)\nc\n1 [•] i(d)\n1 [•] e";
        QTest::newRow("links named elsewhere") << "[a][r]\n\n[r]: https://b.c"
                                               << "a<https://b.c>\n[r]: https://b.c<https://b.c>";
    }
    void cards()
    {
        QFETCH(QString, text);
        QTEST(described(cardBlocks(text)), "blocks");
    }

    void tables_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("blocks");
        QTest::newRow("a table") << "<table>\n<thead><tr><th>Model</th><th style=\"x\"><b>Size</b></th></tr></thead>\n"
                                    "<tbody>\n<tr>\n  <td>a | b</td>\n  <td>1<br>GB</td>\n</tr>\n\n<tr><td>c<td>2\n"
                                    "</tbody></table>\n\nend"
                                 << "row Model | b(Size)\nrow a | b | 1/GB\nrow c | 2\nend";
        QTest::newRow("cells over several") << "<table><tr><td>a<td>b<td>c<tr><td colspan=2>d<td>e"
                                               "<tr><td rowspan=\"2\">f<td>g<td>h<tr><td>i<td>j<tr><td>k</table>"
                                            << "row a | b | c\nrow d |  | e\nrow f | g | h\nrow  | i | j\nrow k";
        QTest::newRow("a caption") << "<table><caption>Cap</caption><tr><th>a<th>b<tr><td>c<td>d</table>"
                                   << "Cap\nrow a | b\nrow c | d";
        QTest::newRow("for the looks") << "<table><tr><td><img alt=\"A\"></td><td><img></td><td>*B*</td></tr></table>"
                                       << "A\n*B*";
        QTest::newRow("a table in a table")
            << "<table><tr><td>a<td><table><tr><td>b<td>c</table><tr><td>d<td>e</table>f"
            << "row a | b/c\nrow d | e\nf";
        QTest::newRow("blocks in a cell") << "<table><tr><td>a<td>b<tr><td>c<td>d<tr><td>e<td>f\n\n```\n<b>\n```\n\n</"
                                             "td></tr><tr><td>g</td></tr></table>\n\nh"
                                          << "row a | b\nrow c | d\nrow e\nf\ncode : <b>\ng\nh";
        QTest::newRow("paragraphs in a cell") << "<table><tr><td>a<td>\n\n**b**\n\nc\n\n<tr><td>d<td>e</table>"
                                              << "row a | b(b)/c\nrow d | e";
        QTest::newRow("text between the rows")
            << "<table><tr><td>a<td>b</tr><tr><td>c<td>d</tr>x<tr><td>e<td>f</tr></table>"
            << "row a | b\nrow c | d\nx\ne\nf";
        QTest::newRow("no table around") << "<tr><td>a</td><td>b</td></tr>"
                                         << "a\nb";
        QTest::newRow("not ended") << "<table><tr><td>a<td>b<tr><td>c<td>d\n\n# e"
                                   << "row a | b\nrow c\nd\nh1 e";
        QTest::newRow("in an item") << "- x\n\n  <table><tr><td>a<td>b<tr><td>c<td>d</table>"
                                    << "1 [•] x\n1> row a | b\n1> row c | d";
        QTest::newRow("too wide") << "<table><tr><td>a<td colspan=65>b<tr><td>c</table>"
                                  << "a\nb\nc";
    }
    void tables()
    {
        QFETCH(QString, text);
        QTEST(described(cardBlocks(text)), "blocks");
    }

    void noHtml_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("blocks");
        QTest::newRow("less than") << "a < b <3 and x<y, <- <= <"
                                   << "a < b <3 and x<y, <- <= <";
        QTest::newRow("tokens") << "<|im_start|>user <s>[INST] </s> <think> <tool_call> <function=f>"
                                << "<|im_start|>user <s>[INST] </s> <think> <tool_call> <function=f>";
        QTest::newRow("tokens in a line of their own") << "<think>\n\n*a*\n\n</think>"
                                                       << "<think>\ni(a)\n</think>";
        QTest::newRow("types") << "List<int> and map<string, int> are <T>"
                               << "List<int> and map<string, int> are <T>";
        QTest::newRow("types in HTML") << "<div>List<int> a < b &lt;b&gt;</div>"
                                       << "List<int> a < b <b>";
        QTest::newRow("fences") << "```html\n<b>a</b> &lt;\n```\n\n~~~\n<br>\n~~~"
                                << "code html: <b>a</b> &lt;\ncode : <br>";
        QTest::newRow("a fence in an item") << "1. a\n   ```\n   <b>\n   ```"
                                            << "1 [1.] a\n1> code : <b>";
        QTest::newRow("indented code") << "a\n\n    <b>c</b>"
                                       << "a\ncode : <b>c</b>";
        QTest::newRow("code spans") << "`<b>` and ``<a href=\"`x\">`` <b>`</b>`"
                                    << "c(<b>) and c(<a href=\"`x\">) c(b(</b>))";
        QTest::newRow("escaped") << "\\<b> &lt;b&gt; &amp;lt;"
                                 << "<b> <b> &lt;";
        QTest::newRow("addresses") << "<https://a.b/c> <me@d.e>"
                                   << "https://a.b/c<https://a.b/c> me@d.e<mailto:me@d.e>";
        QTest::newRow("tags that do not end") << "a <b and\n\n<div\n\nx <a href=\"y"
                                              << "a <b and\n<div\nx <a href=\"y";
    }
    void noHtml()
    {
        QFETCH(QString, text);
        QTEST(described(cardBlocks(text)), "blocks");
    }

    void hostile_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("blocks");
        QTest::newRow("script") << "<script>\nalert(1)\n\n**x**\n</script>\n\n<style>p { }</style>\na"
                                << "a";
        QTest::newRow("script in a paragraph") << "a <script>alert(1)</script><style>b</style> c"
                                               << "a  c";
        QTest::newRow("script that does not end") << "a <script>b\n\n<script>c"
                                                  << "a b\nc";
        QTest::newRow("comments") << "a <!-- b --> c\n\n<!--\n\n<b>d</b>\n\n-->\n\ne"
                                  << "a  c\ne";
        QTest::newRow("unknown tags") << "<x-y z=\"1\">a</x-y> <font color=red>b</font> <span>c</span>"
                                      << "a b c";
        QTest::newRow("javascript") << "<a href=\"javascript:a()\">b</a> <a href='java&#115;cript:c'>d</a>"
                                    << "b d";
        QTest::newRow("other schemes") << "<a href=\"data:text/html,x\">a</a> <a href=\"file:///e\">b</a> <a "
                                          "href=\"../c\">c</a> <a href=\"ftp://d.e\">d</a> <a href=mailto:e@f.g>e</a>"
                                       << "a b c d e<mailto:e@f.g>";
        QTest::newRow("a link in a link") << "<a href=\"https://a.b\">c [d](https://e.f) [g](javascript:h)</a>"
                                          << "c <https://a.b>d<https://e.f> g (javascript:h)<https://a.b>";
        QTest::newRow("a link that does not end") << "<a href=\"https://a.b\">c\n\nd"
                                                  << "c<https://a.b>\nd";
        QTest::newRow("Markdown in HTML is text") << "<div>\n**a** [b](https://c.d) `e` | f\n# g\n- h\n1. i $x^2$</div>"
                                                  << "**a** [b](https://c.d) `e` | f # g - h 1. i $x^2$";
        QTest::newRow("Markdown in words for pictures") << "<img alt=\"**a** [b](https://c.d) `e`\">"
                                                        << "**a** [b](https://c.d) `e`";
        QTest::newRow("HTML in words for pictures") << "<img alt=\"<b>a</b> &amp;lt;\">"
                                                    << "<b>a</b> &lt;";
        QTest::newRow("override in an entity") << "<p>a&#x202e;b</p>"
                                               << "a⟨U+202E⟩b";
        QTest::newRow("ends of what has not begun")
            << "</div></b></a></ul></li></td></tr></table></pre></script>a\n\n- b</ul></li>"
            << "a\n1 [•] b";
        QTest::newRow("ends that cross")
            << "<ul><li><blockquote>a</ul>b</blockquote>c\n\n- <blockquote>d\n- e</blockquote>f"
            << "1> | [•] a\nb\nc\n1> | [•] d\n1 [•] e\n1 f";
        QTest::newRow("tags over lines") << "<a\n  href=\"https://a.b\"\n  title='c\n'>d</a> e"
                                         << "d<https://a.b> e";
    }
    void hostile()
    {
        QFETCH(QString, text);
        QTEST(described(cardBlocks(text)), "blocks");
    }

    void noTextIsLost()
    {
        const uint seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        const QStringList pieces = {"<div>",
                                    "</div>",
                                    "<p align=\"center\">",
                                    "</p>",
                                    "<b>",
                                    "</b>",
                                    "<em>",
                                    "</em>",
                                    "<a href=\"https://a.b/c\">",
                                    "</a>",
                                    "<a href='x:y'>",
                                    "<br>",
                                    "<hr/>",
                                    "<h2>",
                                    "</h2>",
                                    "<ul>",
                                    "<li>",
                                    "</li>",
                                    "</ul>",
                                    "<ol>",
                                    "</ol>",
                                    "<blockquote>",
                                    "</blockquote>",
                                    "<table>",
                                    "<tr>",
                                    "<td>",
                                    "<td rowspan=3>",
                                    "<th colspan=2>",
                                    "</td>",
                                    "</tr>",
                                    "</table>",
                                    "<details>",
                                    "<summary>",
                                    "</summary>",
                                    "<code>",
                                    "</code>",
                                    "<pre>",
                                    "</pre>",
                                    "<script>",
                                    "<img src=x>",
                                    "<sup>",
                                    "</sup>",
                                    "<int>",
                                    "<!-- c -->",
                                    "<",
                                    ">",
                                    "&lt;",
                                    "\n",
                                    "\n",
                                    "\n\n",
                                    "\n\n",
                                    "    ",
                                    "- ",
                                    "1. ",
                                    "> ",
                                    "# ",
                                    "**",
                                    "*",
                                    " ` ",
                                    "\n```\n",
                                    "| ",
                                    "\n|-|-|\n",
                                    "$",
                                    "\\",
                                    " ~~ ",
                                    "[",
                                    "]: ",
                                    "[x] ",
                                    "||"};
        for (int round = 0; round < 3000; ++round) {
            QString text;
            int words = 0;
            for (int i = int(random.bounded(1, 60)); i > 0; --i) {
                text += pieces[random.bounded(int(pieces.size()))];
                if (random.bounded(2))
                    text += QStringLiteral("w%1w").arg(words++);
            }
            const QString all = allText(cardBlocks(text));
            qsizetype at = 0;
            for (int word = 0; word < words; ++word) {
                at = all.indexOf(QStringLiteral("w%1w").arg(word), at);
                QVERIFY2(at >= 0, qPrintable(QStringLiteral("w%1w\n%2\n---\n%3").arg(word).arg(text, all)));
            }
        }
    }

    void tablesOfMarkdownThatTagsEndOrWiden()
    {
        const QString wide = QStringLiteral("|") + QStringLiteral(" h |").repeated(100);
        const QString rule = QStringLiteral("\n|") + QStringLiteral("---|").repeated(100);
        QVERIFY(allText(cardBlocks(wide + rule)).contains(QStringLiteral("h")));
        const QString ended = allText(cardBlocks(QStringLiteral("| a </table> | b |\n|---|---|\n| c | d |")));
        for (const char* const word : {"a", "b", "c", "d"})
            QVERIFY2(ended.contains(QLatin1String(word)), word);
        const QList<Block> widened = cardBlocks(QStringLiteral("| h | i |\n|---|---|\n| a <td> b | c |"));
        QCOMPARE(widened.size(), 1);
        for (const QList<Spans>& row : widened.first().table.rows)
            QVERIFY(row.size() <= widened.first().table.columns.size());
        QVERIFY(allText(widened).contains(QStringLiteral("c")));
    }

    void aSpaceAloneInALinkIsNoSpan()
    {
        const QString text =
            QStringLiteral("Join us:\n<a href=\"https://d.gg/x\"> <img alt=\"Discord\" src=\"y\"></a>");
        const QList<Block> blocks = cardBlocks(text);
        QCOMPARE(allText(blocks).simplified(), QStringLiteral("Join us: Discord"));
        for (const Block& block : blocks)
            for (const Paragraph& paragraph : block.paragraphs)
                for (const Span& span : paragraph.spans)
                    QVERIFY(!span.text.isEmpty());
    }

    void anythingMayCome()
    {
        const uint seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        const QStringList pieces = {"<",  ">",     "/",  "!--",    "-->", "a",        "href", "=",    "\"",
                                    "'",  "table", "tr", "td",     "ul",  "li",       "pre",  "b",    " ",
                                    "\n", "\n\n",  "&",  "script", "</",  "&#x202e;", "- ",   "> ",   "`",
                                    "|",  "😀",     "\t", "[",      "](",  ")",        "<td>", "<ul>", "<li>"};
        for (int round = 0; round < 3000; ++round)
            for (const Block& block : cardBlocks(this->random(random, pieces, 120)))
                for (const Paragraph& paragraph : block.paragraphs)
                    for (const Span& span : paragraph.spans)
                        QVERIFY(span.link.isEmpty());  // none of them makes an address
    }

    /// Every character is looked at a few times at most, whatever it is.
    void costsInProportion_data()
    {
        QTest::addColumn<QString>("unit");
        for (const char* unit : {"<",
                                 "<a",
                                 "<a ",
                                 "</",
                                 "<!--",
                                 "<!-- ",
                                 "<a href=\"",
                                 "<a href='",
                                 "<a b=c",
                                 "<a b c ",
                                 "<a x=\" y=\"",
                                 "<a x=' k=\" z=' y=\"",
                                 "<a\n",
                                 "<div>",
                                 "<div",
                                 "<b>",
                                 "<b><i>",
                                 "</b>",
                                 "<ul>",
                                 "<ul><li>",
                                 "</ul>",
                                 "<blockquote>",
                                 "<li>",
                                 "<table>",
                                 "<table><tr><td>",
                                 "<td>",
                                 "<tr>",
                                 "<td rowspan=1000 colspan=60>",
                                 "<pre>",
                                 "<script>",
                                 "<script></x>",
                                 "<pre><",
                                 "<code>",
                                 "</script",
                                 "<x y=1>",
                                 "</x>",
                                 "&lt;",
                                 "&eacute;",
                                 "<p>",
                                 "<br>",
                                 "<h1>",
                                 "<img alt=\"a\">",
                                 "word ",
                                 "x",
                                 " ",
                                 "<a href=\"https://a.b\">c",
                                 "<details><summary>"})
            QTest::newRow(unit) << unit;
    }
    void costsInProportion()
    {
        QFETCH(QString, unit);
        const QString text = "<p>" + unit.repeated(100'000 / unit.size());
        BlockMaker maker(BlockMaker::From::Html);
        HtmlReader reader(maker);
        reader.beginContainer();
        reader.read(text);
        reader.endContainer();
        maker.endTable();
        QVERIFY2(reader.looked() <= 40 * text.size(), qPrintable(QString::number(reader.looked())));
        qsizetype made = 0;
        for (const Block& block : std::as_const(maker.blocks)) {
            made += plainText(block).size() + block.table.rows.size() * block.table.columns.size();
            made += block.paragraphs.size();
        }
        QVERIFY2(made <= 4 * text.size(), qPrintable(QString::number(made)));
    }

    /// What looks like the end that is sought, but for one letter.
    void ofEndsThatAreNoneToo()
    {
        for (const QString name : {"pre", "svg", "script"}) {
            const QString text = QStringLiteral("<%1>").arg(name).repeated(20'000) + QStringLiteral("</%1x>").arg(name);
            BlockMaker maker(BlockMaker::From::Html);
            HtmlReader reader(maker);
            reader.beginContainer();
            reader.read(text);
            reader.endContainer();
            QVERIFY2(reader.looked() <= 40 * text.size(), qPrintable(QString::number(reader.looked())));
        }
    }

    /// Does the same for all that reads a card. Limits are generous: this must find the quadratic, not the slow.
    void huge_data()
    {
        costsInProportion_data();
        for (const char* unit : {"[", "[\n", "`a``b", "\n<div>\n\n", "<b>a\n\n", "- <ul>\n", "> <p>", "|", "a|", "|-",
                                 "*a **b ", "$a $$ ", "[a](", "[a]: b\n\n", "- ", ">", "\n\n", "<b>*", "line\n"})
            QTest::newRow(unit) << unit;
    }
    void huge()
    {
        QFETCH(QString, unit);
        QElapsedTimer timer;
        timer.start();
        const QList<Block> blocks = cardBlocks(unit.repeated(128'000 / unit.size()));
        qInfo("%d blocks, %lld ms", int(blocks.size()), timer.elapsed());
        QVERIFY2(timer.elapsed() < 8000, qPrintable(QString::number(timer.elapsed())));
    }

    void whatIsTooDeepIsShownAsWritten()
    {
        const QString text = QString("> ").repeated(100) + "<b>a</b>";
        QVERIFY(allText(cardBlocks(text)).contains("<b>a</b>"));
    }

    void aLongTableComesInParts()
    {
        QString text = "<table><tr><th>a<th>b";
        for (int i = 0; i < 1000; ++i)
            text += QStringLiteral("<tr><td>%1<td>x").arg(i);
        qsizetype rows = 0;
        for (const Block& block : cardBlocks(text + "</table>")) {
            QCOMPARE(block.kind, Block::Kind::Table);
            QVERIFY(block.table.rows.size() <= 130);
            rows += block.table.rows.size() - 1;
        }
        QCOMPARE(rows, 1000);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCardBlocks)
#include "tst_card_blocks.moc"
