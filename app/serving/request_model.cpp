#include "app/serving/request_model.h"

#include "app/text/visible_text.h"

#include <algorithm>
#include <chrono>
#include <iterator>

int RequestModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_requests.size());
}

QVariant RequestModel::data(const QModelIndex& index, int role) const
{
    if (index.row() < 0 || index.row() >= rowCount())
        return {};
    const server::LoggedRequest& request = m_requests[std::size_t(index.row())];
    switch (role) {
    case TimeRole:
        return double(std::chrono::duration_cast<std::chrono::milliseconds>(request.time.time_since_epoch()).count());
    case Qt::DisplayRole:
    case RouteRole:
        return VisibleText::of(QString::fromStdString(request.route));
    case ModelRole:
        return VisibleText::of(QString::fromStdString(request.model));
    case PromptRole:
        return request.prompt_tokens;
    case AnswerRole:
        return request.answer_tokens;
    case DurationRole:
        return double(request.milliseconds);
    case StatusRole:
        return request.status;
    default:
        return {};
    }
}

QHash<int, QByteArray> RequestModel::roleNames() const
{
    return {{TimeRole, "time"},           {RouteRole, "route"},         {ModelRole, "model"},
            {PromptRole, "promptTokens"}, {AnswerRole, "answerTokens"}, {DurationRole, "duration"},
            {StatusRole, "status"}};
}

void RequestModel::show(std::vector<server::LoggedRequest> requests)
{
    const int before = rowCount();
    const std::uint64_t newest = m_requests.empty() ? 0 : m_requests.front().number;
    const auto known = std::ranges::find_if(requests, [&](const auto& request) { return request.number <= newest; });
    const int fresh = int(std::distance(requests.begin(), known));
    if (fresh > 0) {
        beginInsertRows({}, 0, fresh - 1);
        m_requests.insert(m_requests.begin(), requests.begin(), known);
        endInsertRows();
    }
    if (m_requests.size() > requests.size()) {
        beginRemoveRows({}, int(requests.size()), rowCount() - 1);
        m_requests.resize(requests.size());
        endRemoveRows();
    }
    if (rowCount() != before)
        Q_EMIT countChanged();
}

#include "moc_request_model.cpp"
