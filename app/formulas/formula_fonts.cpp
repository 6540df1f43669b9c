#include "app/formulas/formula_fonts.h"

#include <QFile>
#include <QFont>
#include <QFontMetricsF>
#include <QGuiApplication>
#include <QTransform>

namespace {

constexpr qsizetype kMostShapes = 4000;
constexpr double kSize = 1000;  // pixels at which shapes are taken, so that hinting and rounding do not matter

QString fileOf(const FormulaFace& face, bool bold, bool italic)
{
    const char* const look = bold && italic ? "BoldItalic" : bold ? "Bold" : italic ? "Italic" : "Regular";
    return QStringLiteral(":/katex/KaTeX_%1-%2.ttf").arg(face.family, QLatin1String(look));
}

/// Returns the file of the face, or of the most similar one that exists.
QString nearestFile(const FormulaFace& face)
{
    const QString files[] = {fileOf(face, face.bold, face.italic), fileOf(face, face.bold, false),
                             fileOf(face, false, false), fileOf(face, face.bold, true), fileOf(face, false, true)};
    for (const QString& file : files)
        if (QFile::exists(file))
            return file;
    return QStringLiteral(":/katex/KaTeX_Main-Regular.ttf");
}

}  // namespace

const QString& FormulaFonts::file(const FormulaFace& face)
{
    const std::pair key(face.family, (face.bold ? 2 : 0) + (face.italic ? 1 : 0));
    auto at = m_files.find(key);
    if (at == m_files.end())
        at = m_files.insert(key, nearestFile(face));
    return *at;
}

const QRawFont& FormulaFonts::font(const QString& file)
{
    auto at = m_fonts.find(file);
    if (at == m_fonts.end())
        at = m_fonts.insert(file, QRawFont(file, kSize, QFont::PreferNoHinting));
    return *at;
}

const FormulaFonts::Shape& FormulaFonts::shape(const FormulaFace& face, const QString& text)
{
    if (m_made.size() > kMostShapes)
        m_made.clear();
    const std::pair key(file(face), text);
    auto at = m_made.find(key);
    if (at == m_made.end())
        at = m_made.insert(key, made(font(key.first), text));
    return *at;
}

FormulaFonts::Shape FormulaFonts::made(const QRawFont& font, const QString& text) const
{
    Shape shape;
    double x = 0;
    for (const char32_t code : text.toUcs4()) {
        const QString symbol = QString::fromUcs4(&code, 1);
        if (font.isValid() && font.supportsCharacter(code)) {
            const QList<quint32> glyphs = font.glyphIndexesForString(symbol);
            const QList<QPointF> advances = font.advancesForGlyphIndexes(glyphs);
            for (qsizetype i = 0; i < glyphs.size() && i < advances.size(); ++i) {
                shape.path.addPath(font.pathForGlyph(glyphs[i]).translated(x, 0));
                x += advances[i].x();
            }
        } else if (code == U'\u00A0') {
            x += kSize / 4;
        } else if (code != U'\u200B') {
            QFont body = QGuiApplication::font();
            body.setPixelSize(int(kSize));
            shape.path.addText(x, 0, body, symbol);
            x += QFontMetricsF(body).horizontalAdvance(symbol);
        }
    }
    shape.path = QTransform::fromScale(1 / kSize, 1 / kSize).map(shape.path);
    shape.path.setFillRule(Qt::WindingFill);
    shape.width = x / kSize;
    return shape;
}
