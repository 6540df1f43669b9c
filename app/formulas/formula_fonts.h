// FormulaFonts gives the shapes and widths of symbols, from KaTeX's fonts.
#pragma once

#include <QHash>
#include <QPainterPath>
#include <QRawFont>
#include <QString>

#include <utility>

/// Names one of KaTeX's typefaces, as its style sheet does.
struct FormulaFace {
    QString family = QStringLiteral("Main");
    bool bold = false;
    bool italic = false;
};

/// Gives shapes of texts at a size of 1 em. Symbols that a face lacks are taken from the program's own font. UI thread.
class FormulaFonts
{
public:
    struct Shape {
        QPainterPath path = {};  // from the origin of the first symbol, on the baseline; y grows downwards
        double width = 0;        // em
    };

    const Shape& shape(const FormulaFace& face, const QString& text);

private:
    const QString& file(const FormulaFace& face);
    const QRawFont& font(const QString& file);
    Shape made(const QRawFont& font, const QString& text) const;

    QHash<std::pair<QString, int>, QString> m_files;   // by family and look
    QHash<QString, QRawFont> m_fonts;                  // by file
    QHash<std::pair<QString, QString>, Shape> m_made;  // by file and text
};
