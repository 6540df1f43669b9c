#include "app/models/conversation_list_model.h"

#include "app/store/conversation_store.h"
#include "app/text/visible_text.h"

#include <QLocale>

#include <algorithm>
#include <utility>

namespace {

constexpr int kLongestTitle_chars = 200;  // nobody sees more of it

bool before(const ConversationHeader& a, const ConversationHeader& b)
{
    if (a.pinned != b.pinned)
        return a.pinned;
    return a.changedMs != b.changedMs ? a.changedMs > b.changedMs : a.id < b.id;
}

}  // namespace

ConversationListModel::ConversationListModel(ConversationStore& store, Clock now, QObject* parent)
    : QAbstractListModel(parent)
    , m_now(std::move(now))
{
    for (const ConversationHeader& header : store.conversations())
        m_rows.append(made(header));
    std::stable_sort(m_rows.begin(), m_rows.end(),
                     [](const Row& a, const Row& b) { return before(a.header, b.header); });

    connect(&store, &ConversationStore::saved, this, &ConversationListModel::put);
    connect(&store, &ConversationStore::restored, this, [this](const ConversationHeader& header) {
        m_trashed.remove(header.id);
        put(header);
    });
    connect(&store, &ConversationStore::trashed, this, [this](const QString& id) {
        m_trashed.insert(id);
        remove(id);
    });
    m_midnight.setSingleShot(true);
    connect(&m_midnight, &QTimer::timeout, this, &ConversationListModel::regroup);
    waitForMidnight();
}

int ConversationListModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant ConversationListModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = m_rows[index.row()];
    switch (role) {
    case ConversationIdRole:
        return row.header.id;
    case Qt::DisplayRole:
    case TitleRole:
        return row.title;
    case SectionRole:
        return row.section;
    case PinnedRole:
        return row.header.pinned;
    case CurrentRole:
        return row.header.id == m_current;
    case ActivityRole:
        return m_activities.value(row.header.id, ConversationActivity::Idle);
    default:
        return {};
    }
}

QHash<int, QByteArray> ConversationListModel::roleNames() const
{
    return {
        {ConversationIdRole, "conversationId"},
        {TitleRole, "title"},
        {SectionRole, "section"},
        {PinnedRole, "pinned"},
        {CurrentRole, "current"},
        {ActivityRole, "activity"},
    };
}

int ConversationListModel::rowOf(const QString& conversation) const
{
    const auto found =
        std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& row) { return row.header.id == conversation; });
    return found == m_rows.end() ? -1 : int(found - m_rows.begin());
}

QString ConversationListModel::idAt(int row) const
{
    return row >= 0 && row < count() ? m_rows[row].header.id : QString();
}

const ConversationHeader* ConversationListModel::header(const QString& conversation) const
{
    const int row = rowOf(conversation);
    return row < 0 ? nullptr : &m_rows[row].header;
}

void ConversationListModel::setCurrent(const QString& conversation)
{
    if (m_current == conversation)
        return;
    const int from = rowOf(m_current);
    m_current = conversation;
    changed(from, {CurrentRole});
    changed(currentRow(), {CurrentRole});
    Q_EMIT currentRowChanged();
}

void ConversationListModel::setActivity(const QString& conversation, ConversationActivity::Value activity)
{
    if (m_activities.value(conversation, ConversationActivity::Idle) == activity)
        return;
    if (activity == ConversationActivity::Idle)
        m_activities.remove(conversation);
    else
        m_activities.insert(conversation, activity);
    changed(rowOf(conversation), {ActivityRole});
}

// ---- following the store ----

void ConversationListModel::put(const ConversationHeader& header)
{
    if (m_trashed.contains(header.id))
        return;
    if (const int row = rowOf(header.id); row >= 0) {
        change(row, header);
        return;
    }
    const auto place = std::lower_bound(m_rows.begin(), m_rows.end(), header,
                                        [](const Row& row, const auto& value) { return before(row.header, value); });
    const int row = int(place - m_rows.begin());
    beginInsertRows({}, row, row);
    m_rows.insert(row, made(header));
    endInsertRows();
    Q_EMIT countChanged();
    Q_EMIT currentRowChanged();
}

void ConversationListModel::remove(const QString& conversation)
{
    const int row = rowOf(conversation);
    if (row < 0)
        return;
    beginRemoveRows({}, row, row);
    m_rows.removeAt(row);
    endRemoveRows();
    Q_EMIT countChanged();
    Q_EMIT currentRowChanged();
}

void ConversationListModel::change(int row, const ConversationHeader& header)
{
    // Where it belongs among the others, which are in order without it.
    const auto others = [&](int i) { return i < row ? i : i + 1; };
    int to = 0;
    for (int end = count() - 1; to < end;) {
        const int middle = (to + end) / 2;
        if (before(m_rows[others(middle)].header, header))
            to = middle + 1;
        else
            end = middle;
    }
    if (to != row) {
        beginMoveRows({}, row, row, {}, to > row ? to + 1 : to);
        m_rows.move(row, to);
        endMoveRows();
        Q_EMIT currentRowChanged();
    }
    const Row old = std::exchange(m_rows[to], made(header));
    QList<int> roles;
    if (old.title != m_rows[to].title)
        roles << TitleRole << Qt::DisplayRole;
    if (old.section != m_rows[to].section)
        roles << SectionRole;
    if (old.header.pinned != header.pinned)
        roles << PinnedRole;
    if (!roles.isEmpty())
        changed(to, roles);
}

void ConversationListModel::changed(int row, const QList<int>& roles)
{
    if (row >= 0)
        Q_EMIT dataChanged(index(row), index(row), roles);
}

// ---- days ----

ConversationListModel::Row ConversationListModel::made(const ConversationHeader& header) const
{
    return {header, VisibleText::of(QStringView(header.title).left(kLongestTitle_chars)).simplified(), section(header)};
}

QString ConversationListModel::section(const ConversationHeader& header) const
{
    if (header.pinned)
        return tr("Pinned");
    const QDate today = m_now().date();
    const QDate day = QDateTime::fromMSecsSinceEpoch(header.changedMs).date();
    const qint64 days = day.daysTo(today);
    if (days <= 0)
        return tr("Today");
    if (days == 1)
        return tr("Yesterday");
    if (days <= 7)
        return tr("Previous 7 days");
    const QString month = QLocale().standaloneMonthName(day.month());
    return day.year() == today.year() ? month : tr("%1 %2", "month and year").arg(month).arg(day.year());
}

void ConversationListModel::regroup()
{
    for (Row& row : m_rows)
        row.section = section(row.header);
    if (!m_rows.isEmpty())
        Q_EMIT dataChanged(index(0), index(count() - 1), {SectionRole});
    waitForMidnight();
}

void ConversationListModel::waitForMidnight()
{
    const QDateTime now = m_now();
    m_midnight.start(
        int(std::clamp<qint64>(now.msecsTo(now.date().addDays(1).startOfDay()) + 500, 500, 25 * 3600 * 1000)));
}
