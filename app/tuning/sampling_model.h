// SamplingModel lists a conversation's sampling options as rows of a panel.
#pragma once

#include "app/chat/sampling_control.h"

#include <QAbstractListModel>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// Each row is an option: its value, its default, and whether these differ. A number is checked here before it becomes
/// a setting. Lives on the UI thread; owned by ConversationSettingsController.
class SamplingModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")

public:
    enum Role {
        KeyRole = Qt::UserRole + 1,
        LabelRole,
        ExplanationRole,
        ValueRole,        // as the engine gets it; undefined: no limit, a random seed
        TextRole,         // the value as it is typed; empty where it is undefined
        DefaultTextRole,  // the program's own value, in words
        ChangedRole,      // differs from the program's own value
        FromRole,
        SliderToRole,  // equal to `from`: there is no slider
        StepRole,
        KnownRole,  // the open model knows the option; else the value is not sent
    };
    Q_ENUM(Role)

    /// `defaults`: the values that count where a conversation sets none.
    explicit SamplingModel(engine::Request defaults, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    void show(const QJsonObject& sampling);
    QJsonObject sampling() const { return m_sampling; }
    int changedCount() const;
    /// Sets the keys of the options that the open model's server does not know.
    void setUnknown(const QStringList& keys);

    /// Sets a value from a slider, rounded to its step.
    Q_INVOKABLE void setValue(int row, double value);
    /// Sets a value from the text of a field; empty means the program's own value. Returns one sentence, and changes
    /// nothing, where the text cannot be used.
    Q_INVOKABLE QString setText(int row, const QString& text);
    Q_INVOKABLE void reset(int row);

Q_SIGNALS:
    void edited();  // the user has changed an option

private:
    std::optional<double> value(const SamplingControl& control) const;
    void set(int row, const QJsonValue& value);

    engine::Request m_defaults;
    QJsonObject m_sampling;
    QStringList m_unknown;
};
