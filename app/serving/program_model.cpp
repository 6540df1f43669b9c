#include "app/serving/program_model.h"

#include "app/text/visible_text.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace {

/// Says whether two rows are the same connection: an address may come again, as another program's.
bool isSame(const server::ConnectedClient& a, const server::ConnectedClient& b)
{
    return a.client == b.client && a.since == b.since;
}

}  // namespace

int ProgramModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_clients.size());
}

QVariant ProgramModel::data(const QModelIndex& index, int role) const
{
    if (index.row() < 0 || index.row() >= rowCount())
        return {};
    const server::ConnectedClient& client = m_clients[std::size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case ClientRole:
        return VisibleText::of(QString::fromStdString(client.client));
    case SinceRole:
        return double(std::chrono::duration_cast<std::chrono::milliseconds>(client.since.time_since_epoch()).count());
    case RequestsRole:
        return client.requests;
    case AnsweredRole:
        return client.answered;
    default:
        return {};
    }
}

QHash<int, QByteArray> ProgramModel::roleNames() const
{
    return {{ClientRole, "client"}, {SinceRole, "since"}, {RequestsRole, "requests"}, {AnsweredRole, "answered"}};
}

void ProgramModel::show(std::vector<server::ConnectedClient> clients)
{
    const int before = rowCount();
    int row = 0;
    for (server::ConnectedClient& client : clients) {
        while (row < rowCount() && !isSame(m_clients[std::size_t(row)], client)) {
            beginRemoveRows({}, row, row);
            m_clients.erase(m_clients.begin() + row);
            endRemoveRows();
        }
        if (row == rowCount()) {
            beginInsertRows({}, row, row);
            m_clients.push_back(std::move(client));
            endInsertRows();
        } else if (server::ConnectedClient& known = m_clients[std::size_t(row)];
                   known.requests != client.requests || known.answered != client.answered) {
            known = std::move(client);
            Q_EMIT dataChanged(index(row), index(row), {RequestsRole, AnsweredRole});
        }
        ++row;
    }
    if (row < rowCount()) {
        beginRemoveRows({}, row, rowCount() - 1);
        m_clients.resize(std::size_t(row));
        endRemoveRows();
    }
    if (rowCount() != before)
        Q_EMIT countChanged();
}

bool ProgramModel::anyAnswered() const
{
    return std::ranges::any_of(m_clients, &server::ConnectedClient::answered);
}

#include "moc_program_model.cpp"
