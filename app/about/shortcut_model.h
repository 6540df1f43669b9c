// ShortcutModel lists the keyboard shortcuts of the window and what each of them does.
#pragma once

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

/// The one table of the window's shortcuts: the window makes its shortcuts of it, and the sheet of shortcuts shows it.
/// The window acts on the rows with OfWindowRole; the others are the work of the control that has the keyboard, and are
/// only shown. Lives on the UI thread; made by the page that shows it.
class ShortcutModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT

public:
    enum Role {
        ActionRole = Qt::UserRole + 1,  // what the window does: "newConversation"
        SequencesRole,                  // the keys, as Shortcut.sequences wants them
        KeysRole,                       // the same to read, in the user's language, one string for each
        TitleRole,
        GroupRole,
        OfWindowRole,      // bool: the window acts on it, not a control
        InAllWindowsRole,  // bool: also while the pressure panel has a window of its own
    };
    Q_ENUM(Role)

    explicit ShortcutModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Returns the first key sequence of an action as text, for tool tips.
    Q_INVOKABLE QString keysOf(const QString& action) const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};
