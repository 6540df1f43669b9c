// Tests that formulas are found in running text, and written in characters where these say exactly the same.
#include "app/text/maths.h"
#include "app/text/shown_formula.h"
#include "tests/support/test_program.h"

#include <QTest>

class TestMaths : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void found_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("formula");  // empty: none
        QTest::newRow("dollars") << "$x$"
                                 << "x";
        QTest::newRow("two dollars") << "$$ x $$"
                                     << "x";
        QTest::newRow("round") << "\\(x\\)"
                               << "x";
        QTest::newRow("square") << "\\[x\\]"
                                << "x";
        QTest::newRow("environment") << "\\begin{align}x\\end{align} y"
                                     << "\\begin{align}x\\end{align}";
        QTest::newRow("matrix") << "\\begin{pmatrix}x\\end{pmatrix}"
                                << "\\begin{pmatrix}x\\end{pmatrix}";
        QTest::newRow("open environment") << "\\begin{align}x"
                                          << "";
        QTest::newRow("another environment") << "\\begin{document}x\\end{document}"
                                             << "";
        QTest::newRow("price") << "$5 and $10"
                               << "";
        QTest::newRow("range") << "$5-$10"
                               << "";
        QTest::newRow("prices in words") << "$5 (about 4 euros) or A$"
                                         << "";
        QTest::newRow("space after") << "$ x$"
                                     << "";
        QTest::newRow("a number") << "$100$"
                                  << "100";
        QTest::newRow("sum of numbers") << "$3 + 4$"
                                        << "3 + 4";
        QTest::newRow("escaped dollar inside") << "$\\$5 + x$"
                                               << "\\$5 + x";
        QTest::newRow("open") << "$x"
                              << "";
        QTest::newRow("blank line") << "$$x\n\ny$$"
                                    << "";
        QTest::newRow("nothing in it") << "$$ $$"
                                       << "";
        QTest::newRow("three dollars") << "$$$"
                                       << "";
    }

    void found()
    {
        QFETCH(QString, text);
        const auto found = mathsAt(text, 0);
        QTEST(found ? found->formula.toString() : QString(), "formula");
    }

    void shown_data()
    {
        QTest::addColumn<QString>("formula");
        QTest::addColumn<QString>("shown");
        const auto row = [](const char* formula, const char* shown) { QTest::newRow(formula) << formula << shown; };
        row("x^2 + y_i", "x² + yᵢ");
        row("\\alpha \\times \\beta \\leq 10", "α × β ≤ 10");
        row("\\frac{1}{2}", "1/2");
        row("\\frac{a+b}{c}", "(a+b)/c");
        row("\\sqrt{x+1}", "√(x+1)");
        row("e^{-i\\theta}", "e⁻ⁱᶿ");
        row("\\sin x", "sin x");
        row("\\text{if } x \\in \\mathbb{R}", "if x ∈ ℝ");
        row("\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}", "a = b\u2028c = d");
        row("1.5^{3/2}", "1.5^(3/2)");
        row("x_q", "x_q");
        row("5\\%", "5%");
        row("f'(x)", "f′(x)");
        row("\\left. x \\right|", "x |");
        row("\\left.\\right(1.5", "(1.5");
        row("\\begin{aligned} a &= b \\& c \\\\& d \\end{aligned}", "a = b & c\u2028d");
        row("\\frac{1}{2}x", "(1/2)x");
        row("\\frac{1}{2} \\pi + {\\frac{a}{b}}c", "(1/2) π + (a/b)c");
        row("2\\frac{1}{2}", "2(1/2)");
        row("\\frac{1}{2}^2 = \\frac{1}{4}", "(1/2)² = 1/4");
        row("3/\\frac{1}{2} - \\frac{x}{2}", "3/(1/2) − x/2");
        row("\\sqrt{2}x", "(√2)x");
        row("2\\sqrt{2} + \\sqrt{\\frac{1}{2}y}", "2√2 + √((1/2)y)");
        row("\\frac{1}{2}[a+b]", "(1/2)[a+b]");
        // not exact: as typed
        row("x^{}", "x^{}");
        row("\\mathcal{L}", "\\mathcal{L}");
        row("\\unknown{x}", "\\unknown{x}");
        row("{x", "{x");
        row("x}", "x}");
        row("^2", "^2");
        row("\\frac{1}", "\\frac{1}");
        row("a \\\\[4pt] b", "a \\\\[4pt] b");
        row("\\begin{pmatrix} a & b \\end{pmatrix}", "\\begin{pmatrix} a & b \\end{pmatrix}");
    }

    void shown()
    {
        QFETCH(QString, formula);
        QTEST(shownFormula(formula), "shown");
    }

    void deepBracesEnd()
    {
        const QString deep = QString("{").repeated(100'000);
        QCOMPARE(shownFormula(deep), deep);
        const QString fractions = QString("\\frac").repeated(100'000);
        QCOMPARE(shownFormula(fractions), fractions);
    }
};

SPILLWAY_TEST(QCoreApplication, TestMaths)
#include "tst_maths.moc"
