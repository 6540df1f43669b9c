#include "app/blocks/block_document.h"

// KaTeX's digits are 0.644 of its font's size high, Inter's 0.727: a formula this much larger looks as large as the
// text.
static constexpr double kFormulaSize = 0.727 / 0.644;

BlockDocument::BlockDocument(QObject* parent)
    : QObject(parent)
{
    connect(this, &BlockDocument::looksChanged, this, &BlockDocument::rewrite);
}

void BlockDocument::setDocument(QQuickTextDocument* document)
{
    if (m_document == document)
        return;
    m_document = document;
    if (text()) {
        text()->setUndoRedoEnabled(false);
        m_formulaRoom.makeIn(*text());
    }
    Q_EMIT documentChanged();
    rewrite();
}

void BlockDocument::setFormulas(Formulas* formulas)
{
    if (m_formulas == formulas)
        return;
    if (m_formulas)
        disconnect(m_formulas, nullptr, this, nullptr);
    m_formulas = formulas;
    if (m_formulas)
        connect(m_formulas, &Formulas::someSettled, this, &BlockDocument::takeSettled);
    Q_EMIT looksChanged();
}

void BlockDocument::componentComplete()
{
    m_complete = true;
    rewrite();
}

void BlockDocument::rewrite()
{
    if (!ready())
        return;
    m_awaited.clear();
    forget();
    write();
}

/// Writes the block anew if formulas that were shown in characters have been set since. Pictures that `Formulas` has
/// dropped are not asked for again meanwhile: with more formulas than it keeps, that would go on for ever.
void BlockDocument::takeSettled()
{
    const auto settled = [this](const auto& formula) { return m_formulas->settled(formula.first, formula.second); };
    if (!ready() || m_awaited.removeIf(settled) == 0)
        return;
    m_taking = true;
    forget();
    write();
    m_taking = false;
}

bool BlockDocument::insertFormula(QTextCursor& cursor, const QString& latex, bool display, const QTextCharFormat& base)
{
    if (!m_formulas || latex.isEmpty())
        return false;
    if (m_taking && !m_formulas->settled(latex, display))
        return false;
    const int pixels = base.intProperty(QTextFormat::FontPixelSize);
    const double size = pixels > 0 ? pixels : m_bodySize;
    const Formulas::Look look{size * kFormulaSize, {m_formulaColor, m_errorColor}, m_pixelRatio};
    if (const auto picture = m_formulas->picture(latex, display, look)) {
        insertFormulaCharacter(cursor, *picture, latex, display, base);
        return true;
    }
    if (!m_formulas->settled(latex, display))
        m_awaited.insert({latex, display});
    return false;
}

void BlockDocument::insert(QTextCursor& cursor, const Spans& spans, const QTextCharFormat& base)
{
    for (const Span& span : spans) {
        QTextCharFormat format = base;
        if (span.looks & Span::Bold)
            format.setFontWeight(QFont::DemiBold);
        if (span.looks & Span::Italic)
            format.setFontItalic(true);
        if (span.looks & Span::Struck)
            format.setFontStrikeOut(true);
        if (span.looks & Span::Code) {
            format.setFontFamilies({m_monospace});
            format.setProperty(QTextFormat::FontPixelSize, base.intProperty(QTextFormat::FontPixelSize) - 1);
            format.setBackground(m_codeGround);
        }
        if (span.looks & Span::Maths) {
            if (insertFormula(cursor, span.formula, false, format))
                continue;
            format.setFontFamilies({m_serif});
            format.setFontItalic(true);
        }
        if (!span.link.isEmpty()) {
            format.setAnchor(true);
            format.setAnchorHref(span.link);
            format.setForeground(m_linkColor);
            format.setFontUnderline(true);
        }
        cursor.insertText(span.text, format);
    }
}

#include "moc_block_document.cpp"
