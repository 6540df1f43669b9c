#include "app/blocks/formula_character.h"

#include <QAbstractTextDocumentLayout>
#include <QFontMetricsF>
#include <QTextBlock>
#include <QTextFragment>
#include <QTextLayout>

#include <algorithm>
#include <cmath>

Q_DECLARE_METATYPE(FormulaPicture)

namespace {

constexpr int kFormulaObject = QTextFormat::UserObject + 1;
constexpr int kSource = QTextFormat::UserProperty + 1;   // the formula as it was written
constexpr int kPicture = QTextFormat::UserProperty + 2;  // a FormulaPicture
constexpr int kHeight = QTextFormat::UserProperty + 3;   // of the room that the line keeps for it, in pixels

FormulaPicture pictureOf(const QTextFormat& format)
{
    return format.property(kPicture).value<FormulaPicture>();
}

/// Pixels that a line has above its baseline and below.
struct Room {
    double above;
    double below;
};

/// Returns the room of a formula: a line of formulas alone is as high as one of letters, and there is never less above
/// the baseline than below it.
Room roomFor(const FormulaPicture& picture, const QFont& text)
{
    const QFontMetricsF letters(text);
    const double below = std::max(picture.depth, letters.descent());
    return {std::max({picture.size.height() - picture.depth, letters.ascent(), below}), below};
}

/// Returns the font with which an object gets this room: QTextDocumentLayout puts the middle of an object with
/// AlignMiddle a quarter of its font's x-height above the baseline.
QFont fontOfRoom(QFont font, const Room& room)
{
    font.setPixelSize(100);
    const double xHeight = 2 * (room.above - room.below);
    font.setPixelSize(std::max(1, int(std::lround(xHeight * 100 / std::max(1.0, QFontMetricsF(font).xHeight())))));
    return font;
}

}  // namespace

void FormulaRoom::makeIn(QTextDocument& document)
{
    document.documentLayout()->registerHandler(kFormulaObject, this);
}

QSizeF FormulaRoom::intrinsicSize(QTextDocument*, int, const QTextFormat& format)
{
    return {double(pictureOf(format).size.width()), format.doubleProperty(kHeight)};
}

void insertFormulaCharacter(QTextCursor& cursor, const FormulaPicture& picture, const QString& latex, bool display,
                            const QTextCharFormat& base)
{
    QTextCharFormat format = base;
    format.setObjectType(kFormulaObject);
    format.setVerticalAlignment(QTextCharFormat::AlignMiddle);
    const QFont text = base.font().resolve(cursor.document()->defaultFont());
    const Room room = roomFor(picture, text);
    format.setFont(fontOfRoom(text, room));
    format.setProperty(kHeight, room.above + room.below);
    const QLatin1String mark(display ? "$$" : "$");
    format.setProperty(kSource, QString(mark + latex + mark));
    format.setProperty(kPicture, QVariant::fromValue(picture));
    cursor.insertText(QString(QChar::ObjectReplacementCharacter), format);
}

QList<PlacedFormula> formulasIn(const QTextDocument& document)
{
    QList<PlacedFormula> found;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        const QTextLayout& layout = *block.layout();
        for (auto at = block.begin(); !at.atEnd(); ++at) {
            const QTextFragment fragment = at.fragment();
            if (fragment.charFormat().objectType() != kFormulaObject)
                continue;
            const FormulaPicture picture = pictureOf(fragment.charFormat());
            const QPointF corner = document.documentLayout()->blockBoundingRect(block).topLeft();
            for (int i = 0; i < fragment.length(); ++i) {  // equal formulas in a row are one fragment
                const int inBlock = fragment.position() + i - block.position();
                const QTextLine line = layout.lineForTextPosition(inBlock);
                if (!line.isValid())
                    continue;
                const double baseline = corner.y() + line.y() + line.ascent();
                const double left =
                    std::min(line.cursorToX(inBlock), line.cursorToX(inBlock + 1));  // in either direction
                found.append({{corner.x() + left, baseline + picture.depth - picture.size.height()}, picture});
            }
        }
    }
    return found;
}

QString textWithFormulas(const QTextDocument& document, int start, int end)
{
    QString text;
    for (QTextBlock block = document.findBlock(start); block.isValid() && block.position() < end;
         block = block.next()) {
        if (block.position() > start)
            text += u'\n';
        for (auto at = block.begin(); !at.atEnd(); ++at) {
            const QTextFragment fragment = at.fragment();
            const int from = std::max(start, fragment.position()) - fragment.position();
            const int to = std::min(end, fragment.position() + fragment.length()) - fragment.position();
            if (to <= from)
                continue;
            const QString source = fragment.charFormat().stringProperty(kSource);
            text += source.isEmpty() ? fragment.text().mid(from, to - from) : source.repeated(to - from);
        }
    }
    return text.replace(QChar::LineSeparator, u'\n').replace(QChar::Nbsp, u' ');
}

#include "moc_formula_character.cpp"
