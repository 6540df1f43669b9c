// Tests that LaTeX formulas are laid out as wide as in a browser, with each part where it belongs, and that hostile
// ones stay within bounds.
#include "app/formulas/formula_layout.h"
#include "app/formulas/formula_picture.h"
#include "app/formulas/katex.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

#include <optional>
#include <thread>

namespace {

QByteArray readData(const char* name)
{
    QFile file(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/formulas/") + QLatin1String(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QRectF boundsOf(const FormulaLayout& layout)
{
    QRectF bounds;
    for (const auto& shape : layout.shapes)
        bounds |= shape.path.boundingRect();
    for (const auto& rule : layout.rules)
        bounds |= rule.rect;
    for (const auto& curve : layout.curves)
        bounds |= curve.target;
    return bounds;
}

}  // namespace

class TestFormulaLayout : public QObject
{
    Q_OBJECT

    Katex m_katex;
    FormulaFonts m_fonts;

    std::optional<FormulaLayout> laidOut(const QString& latex, bool display = true)
    {
        const auto boxes = readFormulaBoxes(m_katex.boxes(latex, display));
        return boxes ? std::optional(layOut(*boxes, m_fonts)) : std::nullopt;
    }
    /// Bounds of the symbol number `i` in the order in which they were laid out.
    static QRectF symbol(const FormulaLayout& layout, int i) { return layout.shapes[i].path.boundingRect(); }

private Q_SLOTS:
    void initTestCase()
    {
        if (!Katex::available())
            QSKIP("built without KaTeX");
    }

    void isAsWideAsInABrowser()
    {
        const QJsonArray rows = QJsonDocument::fromJson(readData("widths.json")).array();
        QVERIFY(rows.size() >= 200);
        for (const QJsonValue& row : rows) {
            const QString formula = row[0].toString();
            const bool display = !formula.startsWith(u'~');
            auto layout = laidOut(display ? formula : formula.mid(1), display);
            QVERIFY2(layout, qPrintable(formula));
            // The browser's sum leaves the number of an equation out, and lines are beside one another in it.
            if (formula.contains(QLatin1String("\\tag")) || formula == QLatin1String("a = b \\\\ c = d + e"))
                continue;
            // A browser's list is 2 pixels of 200 wider where its rows end (.vlist-s), once a level.
            QVERIFY2(
                std::abs(layout->width - row[1].toDouble()) < 0.03,
                qPrintable(
                    QStringLiteral("%1: %2, %3 in a browser").arg(formula).arg(layout->width).arg(row[1].toDouble())));
        }
    }

    void staysInItsBox()
    {
        for (const QString& line : QString::fromUtf8(readData("formulas.txt")).split(u'\n', Qt::SkipEmptyParts)) {
            if (line.startsWith(u'#'))
                continue;
            const bool display = !line.startsWith(u'~');
            const auto layout = laidOut(display ? line : line.mid(1), display);
            QVERIFY2(layout, qPrintable(line));
            const QRectF bounds = boundsOf(*layout);
            const double slack = 0.13;  // what symbols lean out
            QVERIFY2(bounds.left() > -slack && bounds.right() < layout->width + slack, qPrintable(line));
            QVERIFY2(-bounds.top() < layout->height + slack && bounds.bottom() < layout->depth + slack,
                     qPrintable(line));
        }
    }

    void aPictureIsNeverOfManyPixels()
    {
        const FormulaInk ink{Qt::black, Qt::red};
        QVERIFY(paintFormula({.width = 900, .height = 450, .depth = 450}, 17, ink, 1).image.isNull());
        QVERIFY(!paintFormula({.width = 900, .height = 1, .depth = 1}, 17, ink, 1).image.isNull());
    }

    void aFractionHasItsPartsAboveAndBelowItsLine()
    {
        const auto layout = laidOut(QStringLiteral("\\frac{a}{b+c}"));
        QCOMPARE(layout->shapes.size(), 4);
        QCOMPARE(layout->rules.size(), 1);
        const QRectF line = layout->rules[0].rect;
        int above = 0, below = 0;
        for (int i = 0; i < 4; ++i) {
            above += symbol(*layout, i).bottom() < line.top();
            below += symbol(*layout, i).top() > line.bottom();
        }
        QCOMPARE(above, 1);
        QCOMPARE(below, 3);
        QVERIFY(std::abs(line.center().x() - layout->width / 2) < 0.01);
    }

    void limitsStandOverAndUnderTheSum()
    {
        const auto layout = laidOut(QStringLiteral("\\sum_{i}^{n}"));
        QCOMPARE(layout->shapes.size(), 3);
        QList<QRectF> parts{symbol(*layout, 0), symbol(*layout, 1), symbol(*layout, 2)};
        std::ranges::sort(parts, {}, [](const QRectF& rect) { return rect.top(); });
        QVERIFY(parts[0].bottom() < parts[1].top() && parts[1].bottom() < parts[2].top());
        QVERIFY(std::abs(parts[0].center().x() - parts[1].center().x()) < 0.1);
        QVERIFY(std::abs(parts[2].center().x() - parts[1].center().x()) < 0.1);
        // In running text they stand beside it.
        const auto beside = laidOut(QStringLiteral("\\sum_{i}^{n}"), false);
        QVERIFY(beside->width > layout->width - 0.5 && beside->height < layout->height);
    }

    void aRootCoversWhatIsInIt()
    {
        const auto layout = laidOut(QStringLiteral("\\sqrt{x+y}"));
        QCOMPARE(layout->curves.size(), 1);
        const QRectF root = layout->curves[0].target;
        for (const auto& shape : layout->shapes)
            QVERIFY(root.contains(shape.path.boundingRect().center()));
        QVERIFY(std::abs(root.right() - layout->width) < 0.01);
    }

    void alignedEquationsMeetAtTheirSigns()
    {
        const auto layout = laidOut(QStringLiteral("\\begin{aligned} abc &= d \\\\ e &= f \\end{aligned}"));
        QList<double> signs;  // the shapes as wide as "="
        for (const auto& shape : layout->shapes)
            if (const QRectF rect = shape.path.boundingRect(); rect.width() > 0.6 && rect.height() < 0.3)
                signs.append(rect.left());
        QCOMPARE(signs.size(), 2);
        QVERIFY(std::abs(signs[0] - signs[1]) < 0.001);
    }

    void accentsSitOverTheirLetters()
    {
        for (const char* latex : {"\\hat{x}", "\\vec{x}", "\\bar{x}", "\\tilde{x}"}) {
            const auto layout = laidOut(QLatin1String(latex));
            const QRectF letter = symbol(*layout, 0);
            const QRectF accent = layout->curves.isEmpty() ? symbol(*layout, 1) : layout->curves[0].target;
            QVERIFY2(std::abs(accent.center().x() - letter.center().x()) < 0.2, latex);
            QVERIFY2(accent.top() < letter.top() - 0.05, latex);
        }
    }

    void colorsAreKept()
    {
        const auto layout = laidOut(QStringLiteral("{\\color{red} a} b"));
        QCOMPARE(layout->shapes[0].color, QColor(Qt::red));
        QVERIFY(!layout->shapes[1].color.isValid());
        const FormulaPicture picture = paintFormula(*layout, 20, {Qt::blue, Qt::red}, 2);
        QCOMPARE(picture.image.width(), picture.size.width() * 2);
        bool red = false, blue = false;
        for (int y = 0; y < picture.image.height(); ++y)
            for (int x = 0; x < picture.image.width(); ++x) {
                red |= picture.image.pixelColor(x, y) == QColor(Qt::red);
                blue |= picture.image.pixelColor(x, y) == QColor(Qt::blue);
            }
        QVERIFY(red && blue);
    }

    /// Links and pictures have no place in a formula. They are shown as written, in a colour that can be read.
    void errorsAreInTheirInk()
    {
        const auto layout = laidOut(QStringLiteral("\\href{https://example.org}{a}"));
        QVERIFY(layout && !layout->shapes.isEmpty());
        const QColor error("#ff8877");
        const FormulaPicture picture = paintFormula(*layout, 40, {Qt::white, error}, 1);
        int inInk = 0;
        for (int y = 0; y < picture.image.height(); ++y)
            for (int x = 0; x < picture.image.width(); ++x)
                inInk += picture.image.pixelColor(x, y) == error ? 1 : 0;
        QVERIFY(inInk > 20);
    }

    void whatIsNoFormulaIsRefused_data()
    {
        QTest::addColumn<QString>("latex");
        QTest::newRow("open brace") << "\\frac{a}{b";
        QTest::newRow("unknown") << "\\nosuchcommand{x}";
        QTest::newRow("deep") << QString(u'{').repeated(1400) + u'x' + QString(u'}').repeated(1400);
        QTest::newRow("deep roots") << QStringLiteral("\\sqrt{").repeated(400) + u'x' + QString(u'}').repeated(400);
        QTest::newRow("endless macro") << "\\def\\a{\\a\\a}\\a";
        QTest::newRow("growing macros")
            << "\\def\\a{xxxxxxxxxx}\\def\\b{\\a\\a\\a\\a\\a\\a\\a\\a\\a\\a}\\def\\c{\\b\\b\\b\\b\\b\\b\\b\\b\\b\\b}"
               "\\def\\d{\\c\\c\\c\\c\\c\\c\\c\\c\\c\\c}\\d\\d\\d\\d\\d\\d\\d\\d\\d\\d";
        QTest::newRow("too many") << QStringLiteral("\\frac{1}{2}").repeated(1000);
    }

    void whatIsNoFormulaIsRefused()
    {
        QFETCH(QString, latex);
        QVERIFY(m_katex.boxes(latex, true).isEmpty());
        QVERIFY(laidOut(QStringLiteral("x")));  // and the next one is set
    }

    void nothingIsReachedOrHuge()
    {
        for (const char* latex : {"\\href{javascript:alert(1)}{x}", "\\includegraphics{file:///etc/passwd}",
                                  "\\url{http://example.org}", "\\htmlData{a=b}{x}"}) {
            const QByteArray boxes = m_katex.boxes(QLatin1String(latex), true);
            QVERIFY2(!boxes.contains("javascript:") && !boxes.contains("file:"), latex);
        }
        const auto rule = laidOut(QStringLiteral("\\rule{100000em}{100000em}x"));
        QVERIFY(!rule || (rule->width < 100 && rule->height < 100));
        const auto space = laidOut(QStringLiteral("a\\hspace{1000000em}b"));
        QVERIFY(!space || space->width < 100);
    }

    void anInterruptedFormulaIsGivenUp()
    {
        // A loop in KaTeX's engine takes the place of a formula that would not end.
        std::thread later;
        QVERIFY(!m_katex.boxes(QStringLiteral("x"), true).isEmpty());
        const QString slow = QStringLiteral("\\def\\a{") + QStringLiteral("\\frac{1}{2}").repeated(50) +
                             QStringLiteral("}") + QStringLiteral("\\a").repeated(20);
        QElapsedTimer timer;
        timer.start();
        std::atomic<bool> done = false;
        later = std::thread([&] {
            while (!done)
                m_katex.interrupt();
        });
        const QByteArray boxes = m_katex.boxes(slow, true);
        done = true;
        later.join();
        QVERIFY(boxes.isEmpty());
        QVERIFY(!m_katex.boxes(QStringLiteral("x"), true).isEmpty());
    }
};

QTEST_MAIN(TestFormulaLayout)
#include "tst_formula_layout.moc"
