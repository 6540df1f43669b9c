#include "app/blocks/pass_shortcuts.h"

#include "app/blocks/formula_character.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QQuickTextDocument>

namespace {

/// Says whether a read-only text uses the key itself.
bool belongsToText(QKeyEvent& key)
{
    switch (key.key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Home:
    case Qt::Key_End:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        return !(key.modifiers() & Qt::AltModifier);
    default:
        return key.matches(QKeySequence::Copy) || key.matches(QKeySequence::SelectAll);
    }
}

/// Copies what is selected, with formulas as LaTeX. False: nothing is selected.
bool copySelection(const QQuickItem& text)
{
    const auto* const document = text.property("textDocument").value<QQuickTextDocument*>();
    const int start = text.property("selectionStart").toInt(), end = text.property("selectionEnd").toInt();
    if (!document || start >= end)
        return false;
    QGuiApplication::clipboard()->setText(textWithFormulas(*document->textDocument(), start, end));
    return true;
}

}  // namespace

void PassShortcuts::setText(QQuickItem* text)
{
    if (text == m_text)
        return;
    if (m_text)
        m_text->removeEventFilter(this);
    m_text = text;
    if (m_text)
        m_text->installEventFilter(this);
    Q_EMIT textChanged();
}

bool PassShortcuts::eventFilter(QObject*, QEvent* event)
{
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent&>(*event).matches(QKeySequence::Copy))
        return copySelection(*m_text);
    if (event->type() != QEvent::ShortcutOverride || belongsToText(static_cast<QKeyEvent&>(*event)))
        return false;
    event->ignore();
    return true;
}

#include "moc_pass_shortcuts.cpp"
