// TemplateArgumentModel lists a conversation's template arguments as rows of a panel.
#pragma once

#include "app/tuning/template_argument.h"

#include <QAbstractListModel>
#include <QJsonObject>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// Each row is an argument of the open model's template. Values that a conversation has for other models' arguments are
/// kept, but not shown. Lives on the UI thread; owned by ConversationSettingsController.
class TemplateArgumentModel : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role {
        KeyRole = Qt::UserRole + 1,
        LabelRole,
        ExplanationRole,
        ChoicesRole,  // labels, the first for the template's own choice; empty: it is a text
        CurrentRole,  // the current one of these
        TextRole,
        ChangedRole,
    };
    Q_ENUM(Role)

    explicit TemplateArgumentModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    int count() const { return int(m_arguments.size()); }

    void setArguments(const QList<TemplateArgument>& arguments);
    void show(const QJsonObject& values);
    QJsonObject values() const { return m_values; }
    int changedCount() const;

    Q_INVOKABLE void choose(int row, int choice);  // 0: the template chooses
    Q_INVOKABLE void setText(int row, const QString& text);

Q_SIGNALS:
    void countChanged();
    void edited();

private:
    void set(int row, const QJsonValue& value);

    QList<TemplateArgument> m_arguments;
    QJsonObject m_values;
};
