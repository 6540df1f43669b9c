#include "app/catalogue/shown_models.h"

#include <algorithm>

ShownModels::ShownModels(ModelListModel& models, QObject* parent)
    : QSortFilterProxyModel(parent)
    , m_models(models)
{
    setSourceModel(&models);
    setDynamicSortFilter(true);
    sort(0);
    connect(this, &QAbstractItemModel::rowsInserted, this, &ShownModels::countChanged);
    connect(this, &QAbstractItemModel::rowsRemoved, this, &ShownModels::countChanged);
    connect(this, &QAbstractItemModel::modelReset, this, &ShownModels::countChanged);
}

void ShownModels::setOrder(Order order)
{
    if (order == m_order)
        return;
    m_order = order;
    invalidate();
    Q_EMIT orderChanged();
}

void ShownModels::setText(const QString& text)
{
    if (text == m_text)
        return;
    m_text = text;
    m_words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateRowsFilter();
    Q_EMIT textChanged();
}

bool ShownModels::filterAcceptsRow(int row, const QModelIndex&) const
{
    const ModelEntry& entry = m_models.entry(row);
    const QString all = QStringList{entry.title,
                                    entry.facts.fileName,
                                    entry.origin,
                                    entry.facts.architecture,
                                    entry.facts.quantization,
                                    entry.storeName(),
                                    entry.alsoNamed.join(u' ')}
                            .join(u' ');
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

bool ShownModels::lessThan(const QModelIndex& left, const QModelIndex& right) const
{
    const ModelEntry& a = m_models.entry(left.row());
    const ModelEntry& b = m_models.entry(right.row());
    if (a.openable() != b.openable())
        return a.openable();
    if (m_order == ByLastUse && m_models.lastUsed(left.row()) != m_models.lastUsed(right.row()))
        return m_models.lastUsed(left.row()) > m_models.lastUsed(right.row());
    if (m_order == BySize && a.bytes != b.bytes)
        return a.bytes > b.bytes;
    if (const int names = QString::localeAwareCompare(a.title, b.title); names != 0)
        return names < 0;
    return a.id < b.id;
}

#include "moc_shown_models.cpp"
