#include "tests/ui/accessible_tree.h"

#include <QAccessible>
#include <QMetaEnum>

namespace {

bool isControl(QAccessible::Role role)
{
    switch (role) {
    case QAccessible::Button:
    case QAccessible::EditableText:
    case QAccessible::ProgressBar:
    case QAccessible::CheckBox:
    case QAccessible::ComboBox:
    case QAccessible::Slider:
    case QAccessible::SpinBox:
    case QAccessible::List:
        return true;
    default:
        return false;
    }
}

void collect(QAccessibleInterface* interface, Naming naming, QStringList& found)
{
    if (!interface || interface->state().invisible)
        return;
    const QString name = interface->text(QAccessible::Name);
    if (isControl(interface->role()) && (naming == Naming::All || name.isEmpty())) {
        const auto roles = QMetaEnum::fromType<QAccessible::Role>();
        found += QStringLiteral("%1: %2").arg(QLatin1String(roles.valueToKey(int(interface->role()))), name);
    }
    for (int i = 0; i < interface->childCount(); ++i)
        collect(interface->child(i), naming, found);
}

}  // namespace

QStringList accessibleControls(QQuickItem* root, Naming naming)
{
    QStringList found;
    // An item that says nothing of itself has no interface; its children may.
    if (QAccessibleInterface* const interface = QAccessible::queryAccessibleInterface(root)) {
        collect(interface, naming, found);
        return found;
    }
    for (QQuickItem* child : root->childItems())
        if (child->isVisible())
            found += accessibleControls(child, naming);
    return found;
}

QList<QQuickItem*> tabStops(QQuickItem* root)
{
    QList<QQuickItem*> found;
    if (!root->isVisible() || !root->isEnabled())
        return found;
    if (root->activeFocusOnTab() && root->width() > 0 && root->height() > 0)
        found += root;
    for (QQuickItem* child : root->childItems())
        found += tabStops(child);
    return found;
}

QStringList unspokenStops(QQuickItem* root)
{
    QStringList found;
    for (QQuickItem* item : tabStops(root)) {
        QAccessibleInterface* const interface = QAccessible::queryAccessibleInterface(item);
        const bool spoken = interface && interface->role() != QAccessible::NoRole &&
                            interface->role() != QAccessible::Client && !interface->text(QAccessible::Name).isEmpty();
        if (!spoken)
            found += QStringLiteral("%1 “%2”").arg(QLatin1String(item->metaObject()->className()), item->objectName());
    }
    return found;
}
