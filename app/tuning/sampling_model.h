// SamplingModel lists a conversation's sampling options as rows of a panel.
#pragma once

#include "app/chat/sampling_control.h"

#include <QAbstractListModel>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// One row an option: what is set, what counts when nothing is, and whether that differs. A row's number is checked
/// here before it is anybody's setting. Lives on the UI thread; owned by ConversationSettingsController.
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
        ValueRole,        // what the engine is given; undefined: no limit, a random seed
        TextRole,         // the same, as it is typed; empty where it is undefined
        DefaultTextRole,  // of the program's own value, in words
        ChangedRole,      // from that
        FromRole,
        SliderToRole,  // equal to `from`: a slider would make no sense
        StepRole,
        KnownRole,  // to the open model; else it is not given the value
    };
    Q_ENUM(Role)

    /// `defaults` is what counts where a conversation sets nothing.
    explicit SamplingModel(engine::Request defaults, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    void show(const QJsonObject& sampling);
    QJsonObject sampling() const { return m_sampling; }
    int changedCount() const;
    /// Takes the keys of what the open model's server does not know.
    void setUnknown(const QStringList& keys);

    /// Takes a value from a slider, and brings it to its step.
    Q_INVOKABLE void setValue(int row, double value);
    /// Takes a text from a field: empty means the program's own. Answers with one sentence when it cannot be used, and
    /// changes nothing then.
    Q_INVOKABLE QString setText(int row, const QString& text);
    Q_INVOKABLE void reset(int row);

Q_SIGNALS:
    void edited();  // by the user

private:
    std::optional<double> value(const SamplingControl& control) const;
    void set(int row, const QJsonValue& value);

    engine::Request m_defaults;
    QJsonObject m_sampling;
    QStringList m_unknown;
};
