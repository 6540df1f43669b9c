// Tests that formulas stand in the documents of messages as letters do, and are copied as LaTeX.
#include "app/blocks/formula_character.h"
#include "app/blocks/paragraph_document.h"
#include "app/formulas/formulas.h"
#include "app/formulas/katex.h"
#include "tests/support/test_program.h"

#include <QGuiApplication>
#include <QQmlComponent>
#include <QQmlEngine>
#include <QSignalSpy>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>

#include <cmath>
#include <memory>

class TestFormulasInText : public QObject
{
    Q_OBJECT

    const Formulas::Look m_look{15, {Qt::black, Qt::red}, 1};

private Q_SLOTS:
    void aDocumentOfMoreThanAreKeptAsksForEachOnce()
    {
        if (!Katex::available())
            QSKIP("built without KaTeX");
        QQmlEngine engine;
        QQmlComponent component(&engine);
        component.setData("import QtQuick\nTextEdit {}", {});
        const std::unique_ptr<QObject> edit(component.create());
        QVERIFY2(edit, qPrintable(component.errorString()));
        constexpr int kKept = 5, kAll = 12;
        Formulas formulas(nullptr, kKept);
        const QSignalSpy wanted(&formulas, &Formulas::wanted);
        ParagraphDocument document;
        document.setFormulas(&formulas);
        document.setDocument(edit->property("textDocument").value<QQuickTextDocument*>());
        document.componentComplete();
        Paragraph paragraph;
        for (int i = 0; i < kAll; ++i)
            paragraph.spans.append({"x", Span::Maths, {}, QStringLiteral("x_{%1}").arg(i)});
        document.setParagraphs(QVariant::fromValue(QList<Paragraph>{paragraph}));
        QCOMPARE(wanted.size(), kAll);
        for (const auto& last : {QStringLiteral("y"), QStringLiteral("z")}) {  // set after all that were asked for
            bool told = false;
            const QObject context;
            connect(&formulas, &Formulas::someSettled, &context, [&] { told = told || formulas.settled(last, false); });
            formulas.picture(last, false, m_look);
            QTRY_VERIFY_WITH_TIMEOUT(told, 60'000);
        }
        QCOMPARE(wanted.size(), kAll + 2);
    }

    void aFormulaStandsOnTheBaselineOfItsLine()
    {
        for (const double depth : {2.0, 8.0, 14.0}) {
            FormulaPicture picture;
            picture.image = QImage(30, 20, QImage::Format_ARGB32_Premultiplied);
            picture.size = {30, 20};
            picture.depth = depth;
            QTextDocument document;
            FormulaRoom room;
            room.makeIn(document);
            QTextCursor cursor(&document);
            QTextCharFormat format;
            format.setProperty(QTextFormat::FontPixelSize, 15);
            cursor.insertText(QStringLiteral("so "), format);
            insertFormulaCharacter(cursor, picture, QStringLiteral("x"), false, format);
            document.setTextWidth(400);
            const double height = document.size().height();  // lays out
            const QTextLine line = document.firstBlock().layout()->lineAt(0);
            const double top = document.documentMargin();
            const auto formulas = formulasIn(document);
            QCOMPARE(formulas.size(), 1);
            QCOMPARE(formulas[0].topLeft.y() + 20 - depth, top + line.y() + line.ascent());
            QVERIFY(formulas[0].topLeft.x() > top + 10);
            // The line has room for it above and below.
            QVERIFY(formulas[0].topLeft.y() > top - 2);
            QVERIFY(formulas[0].topLeft.y() + 20 < height - top + 2);
        }
    }

    // As in the cells of a table, one with words and one with a formula: their baselines are on one line.
    void aLineOfAFormulaIsAsHighAsOneOfLetters()
    {
        FormulaPicture low;
        low.image = QImage(8, 6, QImage::Format_ARGB32_Premultiplied);
        low.size = {8, 6};
        low.depth = 1;
        QTextDocument document;
        FormulaRoom room;
        room.makeIn(document);
        QTextCursor cursor(&document);
        QTextCharFormat format;
        format.setProperty(QTextFormat::FontPixelSize, 15);
        cursor.insertText(QStringLiteral("letters"), format);
        cursor.insertBlock({}, format);
        insertFormulaCharacter(cursor, low, QStringLiteral("x"), false, format);
        document.setTextWidth(400);
        QVERIFY(document.size().height() > 0);  // lays out
        const QTextLine letters = document.firstBlock().layout()->lineAt(0);
        const QTextLine formula = document.lastBlock().layout()->lineAt(0);
        QVERIFY2(std::abs(formula.ascent() - letters.ascent()) < 0.5, qPrintable(QString::number(formula.ascent())));
        QVERIFY2(std::abs(formula.descent() - letters.descent()) < 0.5, qPrintable(QString::number(formula.descent())));
    }

    void aFormulaIsCopiedAsLatex()
    {
        FormulaPicture picture;
        picture.image = QImage(20, 20, QImage::Format_ARGB32_Premultiplied);
        picture.size = {20, 20};
        picture.depth = 5;
        QTextDocument document;
        QTextCursor cursor(&document);
        cursor.insertText(QStringLiteral("so "));
        insertFormulaCharacter(cursor, picture, QStringLiteral("x^2"), false, {});
        cursor.insertText(QStringLiteral(" and"), {});
        cursor.insertBlock();
        insertFormulaCharacter(cursor, picture, QStringLiteral("\\frac{a}{b}"), true, {});
        insertFormulaCharacter(cursor, picture, QStringLiteral("\\frac{a}{b}"), true, {});
        const int end = document.characterCount() - 1;
        QCOMPARE(textWithFormulas(document, 0, end), QStringLiteral("so $x^2$ and\n$$\\frac{a}{b}$$$$\\frac{a}{b}$$"));
        QCOMPARE(textWithFormulas(document, 1, 4), QStringLiteral("o $x^2$"));
        QCOMPARE(textWithFormulas(document, 4, 8), QStringLiteral(" and"));
    }
};

SPILLWAY_TEST(QGuiApplication, TestFormulasInText)
#include "tst_formulas_in_text.moc"
