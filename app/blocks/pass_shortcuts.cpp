#include "app/blocks/pass_shortcuts.h"

#include <QKeyEvent>

namespace {

/// What a text that is read does with keys itself.
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
    if (event->type() != QEvent::ShortcutOverride || belongsToText(static_cast<QKeyEvent&>(*event)))
        return false;
    event->ignore();
    return true;
}
