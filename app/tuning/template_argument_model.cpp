#include "app/tuning/template_argument_model.h"

#include <QJsonDocument>

TemplateArgumentModel::TemplateArgumentModel(QObject* parent)
    : QAbstractListModel(parent)
{
}

int TemplateArgumentModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant TemplateArgumentModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const TemplateArgument& argument = m_arguments[index.row()];
    const QJsonValue value = m_values.value(argument.key);
    switch (role) {
    case KeyRole:
        return argument.key;
    case LabelRole:
    case Qt::DisplayRole:
        return argument.label;
    case ExplanationRole:
        return argument.explanation;
    case ChoicesRole: {
        QStringList labels;
        for (const TemplateArgument::Choice& choice : argument.choices)
            labels << choice.label;
        if (!labels.isEmpty())
            labels.prepend(tr("Default"));
        return labels;
    }
    case CurrentRole:
        for (qsizetype i = 0; i < argument.choices.size(); ++i)
            if (argument.choices[i].value == value)
                return int(i) + 1;
        return 0;
    case TextRole:
        return value.isString() || value.isUndefined() ? value.toString() : value.toVariant().toString();
    case ChangedRole:
        return !value.isUndefined();
    default:
        return {};
    }
}

QHash<int, QByteArray> TemplateArgumentModel::roleNames() const
{
    return {
        {KeyRole, "key"},         {LabelRole, "label"}, {ExplanationRole, "explanation"}, {ChoicesRole, "choices"},
        {CurrentRole, "current"}, {TextRole, "text"},   {ChangedRole, "changed"},
    };
}

void TemplateArgumentModel::setArguments(const QList<TemplateArgument>& arguments)
{
    beginResetModel();
    m_arguments = arguments;
    endResetModel();
    Q_EMIT countChanged();
}

void TemplateArgumentModel::show(const QJsonObject& values)
{
    if (m_values == values)
        return;
    m_values = values;
    if (!m_arguments.isEmpty())
        Q_EMIT dataChanged(index(0), index(count() - 1));
}

int TemplateArgumentModel::changedCount() const
{
    int changed = 0;
    for (const TemplateArgument& argument : m_arguments)
        changed += m_values.contains(argument.key);
    return changed;
}

void TemplateArgumentModel::choose(int row, int choice)
{
    if (row < 0 || row >= count() || choice < 0 || choice > m_arguments[row].choices.size())
        return;
    set(row, choice == 0 ? QJsonValue(QJsonValue::Undefined) : m_arguments[row].choices[choice - 1].value);
}

void TemplateArgumentModel::setText(int row, const QString& text)
{
    if (row >= 0 && row < count())
        set(row, text.trimmed().isEmpty() ? QJsonValue(QJsonValue::Undefined) : argumentValue(text.trimmed()));
}

void TemplateArgumentModel::set(int row, const QJsonValue& value)
{
    const QString key = m_arguments[row].key;
    if (m_values.value(key) == value)
        return;
    m_values.insert(key, value);
    Q_EMIT dataChanged(index(row), index(row));
    Q_EMIT edited();
}

#include "moc_template_argument_model.cpp"
