#include "app/fetching/found_model_list.h"

#include "app/text/visible_text.h"

#include <algorithm>

int FoundModelList::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

QVariant FoundModelList::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const net::FoundModel& model = m_rows[index.row()];
    switch (role) {
    case Qt::DisplayRole:
    case IdRole:
        return VisibleText::of(QString::fromStdString(model.id));
    case DownloadsRole:
        return double(model.downloads);
    case LikesRole:
        return double(model.likes);
    case GatedRole:
        return model.gated;
    default:
        return {};
    }
}

QHash<int, QByteArray> FoundModelList::roleNames() const
{
    return {{IdRole, "modelId"}, {DownloadsRole, "downloads"}, {LikesRole, "likes"}, {GatedRole, "gated"}};
}

void FoundModelList::clear()
{
    if (m_rows.isEmpty())
        return;
    beginResetModel();
    m_rows.clear();
    endResetModel();
}

void FoundModelList::add(const std::vector<net::FoundModel>& models)
{
    QList<net::FoundModel> fresh;
    for (const net::FoundModel& model : models)
        if (!std::ranges::count(m_rows, model.id, &net::FoundModel::id))
            fresh.append(model);
    if (fresh.isEmpty())
        return;
    beginInsertRows({}, int(m_rows.size()), int(m_rows.size() + fresh.size()) - 1);
    m_rows.append(fresh);
    endInsertRows();
}

#include "moc_found_model_list.cpp"
