// PresetModel lists named sets of settings.
#pragma once

#include "app/store/conversation_store.h"

#include <QAbstractListModel>
#include <QtQml/qqmlregistration.h>

/// Lists the built-in presets first, each with its reason, then the user's own by name, which are kept in the store.
/// Lives on the UI thread; owned by ConversationSettingsController.
class PresetModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role {
        NameRole = Qt::UserRole + 1,  // as it is shown, in the user's language
        BuiltInRole,
        ExplanationRole,
    };
    Q_ENUM(Role)

    explicit PresetModel(ConversationStore& store, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    int count() const { return int(m_presets.size()); }

    Q_INVOKABLE int indexOf(const QString& preset) const;  // `preset`: the untranslated name; -1: there is none

    const Preset* at(int row) const { return row >= 0 && row < count() ? &m_presets[row] : nullptr; }
    bool isBuiltIn(int row) const { return row < m_builtIn; }

    // Return one sentence, and change nothing, where that is not possible; else an empty text.
    QString save(const QString& name, const ConversationSettings& settings);
    QString rename(int row, const QString& name);
    void remove(int row);

Q_SIGNALS:
    void countChanged();

private:
    QString whyNot(const QString& name) const;
    void readAgain();

    ConversationStore& m_store;
    QList<Preset> m_presets;
    int m_builtIn = 0;
};
