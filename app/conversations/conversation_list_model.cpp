#include "app/conversations/conversation_list_model.h"

#include "app/store/conversation_store.h"
#include "app/text/visible_text.h"

#include <QCollator>
#include <QLocale>

#include <algorithm>
#include <utility>

namespace {

/// Sorts as people sort names: 'a' beside 'A', 2 before 10; alike ones by their letters, so that each has its place.
bool nameBefore(const QString& a, const QString& b)
{
    static const QCollator collator = [] {
        const QLocale locale;  // the locale C would sort by code points
        QCollator made(locale.language() == QLocale::C ? QLocale(QLocale::English) : locale);
        made.setNumericMode(true);
        made.setCaseSensitivity(Qt::CaseInsensitive);
        return made;
    }();
    const int order = collator.compare(a, b);
    return order != 0 ? order < 0 : a < b;
}

}  // namespace

bool ConversationListModel::ByName::operator()(const QString& a, const QString& b) const
{
    return nameBefore(a, b);
}

bool ConversationListModel::before(const ConversationHeader& a, const ConversationHeader& b)
{
    if (a.folder != b.folder)
        return a.folder.isEmpty() || b.folder.isEmpty() ? b.folder.isEmpty() : nameBefore(a.folder, b.folder);
    if (a.id.isEmpty() != b.id.isEmpty())
        return a.id.isEmpty();  // the folder itself
    if (a.pinned != b.pinned)
        return a.pinned;
    return a.changedMs != b.changedMs ? a.changedMs > b.changedMs : a.id < b.id;
}

ConversationListModel::ConversationListModel(ConversationStore& store, Clock now, QObject* parent)
    : QAbstractListModel(parent)
    , m_now(std::move(now))
{
    const QList<ConversationHeader> conversations = store.conversations();
    for (const ConversationHeader& header : conversations) {
        m_all.insert(header.id, header);
        m_rows.append(made(header));
        if (!header.folder.isEmpty() && m_folders[header.folder].count++ == 0)
            m_rows.append(made({.folder = header.folder}));
    }
    std::stable_sort(m_rows.begin(), m_rows.end(),
                     [](const Row& a, const Row& b) { return before(a.header, b.header); });

    connect(&store, &ConversationStore::saved, this, &ConversationListModel::put);
    connect(&store, &ConversationStore::restored, this, [this](const ConversationHeader& header) {
        m_trashed.remove(header.id);
        put(header);
    });
    connect(&store, &ConversationStore::trashed, this, [this](const QString& id) {
        m_trashed.insert(id);
        forget(id);
    });
    m_midnight.setSingleShot(true);
    connect(&m_midnight, &QTimer::timeout, this, &ConversationListModel::lookAtTheDay);
    waitForMidnight();
}

int ConversationListModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
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
    case FolderRole:
        return row.header.folder;
    case FolderOpenRole:
        return folderOf(row).open;
    case FolderCountRole:
        return folderOf(row).count;
    case SectionRole:
        return row.section;
    case PinnedRole:
        return row.header.pinned;
    case CurrentRole:
        return !row.header.id.isEmpty() && row.header.id == m_current;
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
        {FolderRole, "folder"},
        {FolderOpenRole, "folderOpen"},
        {FolderCountRole, "folderCount"},
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
    return conversation.isEmpty() || found == m_rows.end() ? -1 : int(found - m_rows.begin());
}

int ConversationListModel::rowOfFolder(const QString& name) const
{
    return m_folders.contains(name) ? placeOf({.folder = name}) : -1;
}

QString ConversationListModel::idAt(int row) const
{
    return row >= 0 && row < m_rows.size() ? m_rows[row].header.id : QString();
}

QString ConversationListModel::folderAt(int row) const
{
    return row >= 0 && row < m_rows.size() ? m_rows[row].header.folder : QString();
}

bool ConversationListModel::isFolderOpen(const QString& name) const
{
    const auto folder = m_folders.find(name);
    return folder != m_folders.end() && folder->second.open;
}

const ConversationHeader* ConversationListModel::header(const QString& conversation) const
{
    const auto found = m_all.find(conversation);
    return found == m_all.end() ? nullptr : &*found;
}

QStringList ConversationListModel::idsWhere(const std::function<bool(const ConversationHeader&)>& wanted) const
{
    QList<const ConversationHeader*> found;
    for (const ConversationHeader& header : m_all)
        if (wanted(header))
            found.append(&header);
    std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return before(*a, *b); });
    QStringList ids;
    for (const ConversationHeader* header : std::as_const(found))
        ids << header->id;
    return ids;
}

QStringList ConversationListModel::ids() const
{
    return idsWhere([](const ConversationHeader&) { return true; });
}

QStringList ConversationListModel::idsIn(const QString& folder) const
{
    return idsWhere([&](const ConversationHeader& header) { return header.folder == folder; });
}

void ConversationListModel::setCurrent(const QString& conversation)
{
    if (m_current == conversation)
        return;
    const int from = rowOf(m_current);
    m_current = conversation;
    reveal(conversation);
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
    const auto known = m_all.constFind(header.id);
    const bool isNew = known == m_all.constEnd();
    const QString from = isNew ? QString() : known->folder;
    const bool moves = isNew || from != header.folder;
    m_all.insert(header.id, header);
    if (moves)
        enter(header.folder);
    const int row = rowOf(header.id);
    if (row < 0 && isShown(header))
        show(header);
    else if (row >= 0 && isShown(header))
        change(row, header);
    else if (row >= 0)
        hide(row);
    if (moves)
        leave(from);
    if (isNew)
        Q_EMIT countChanged();
    if (m_now().date() != m_day)
        regroup();
}

void ConversationListModel::forget(const QString& conversation)
{
    const auto known = m_all.constFind(conversation);
    if (known == m_all.constEnd())
        return;
    const QString folder = known->folder;
    if (const int row = rowOf(conversation); row >= 0)
        hide(row);
    m_all.erase(known);
    leave(folder);
    Q_EMIT countChanged();
}

bool ConversationListModel::isShown(const ConversationHeader& header) const
{
    const auto folder = m_folders.find(header.folder);
    return folder == m_folders.end() || folder->second.open;
}

/// Returns the row in which a conversation is, or would be inserted.
int ConversationListModel::placeOf(const ConversationHeader& header) const
{
    const auto place = std::lower_bound(m_rows.begin(), m_rows.end(), header,
                                        [](const Row& row, const auto& value) { return before(row.header, value); });
    return int(place - m_rows.begin());
}

void ConversationListModel::show(const ConversationHeader& header)
{
    const int row = placeOf(header);
    beginInsertRows({}, row, row);
    m_rows.insert(row, made(header));
    endInsertRows();
    Q_EMIT currentRowChanged();
}

void ConversationListModel::hide(int row)
{
    beginRemoveRows({}, row, row);
    m_rows.removeAt(row);
    endRemoveRows();
    Q_EMIT currentRowChanged();
}

void ConversationListModel::change(int row, const ConversationHeader& header)
{
    // Finds the row's new place among the other rows, which are in order without it.
    const auto others = [&](int i) { return i < row ? i : i + 1; };
    int to = 0;
    for (int end = int(m_rows.size()) - 1; to < end;) {
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
    if (old.header.folder != header.folder)
        roles << FolderRole;
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

// ---- folders ----

void ConversationListModel::enter(const QString& folder)
{
    if (folder.isEmpty())
        return;
    if (++m_folders[folder].count > 1) {
        changed(rowOfFolder(folder), {FolderCountRole});
        return;
    }
    show({.folder = folder});
    Q_EMIT foldersChanged();
}

/// Call it after a conversation has left the folder. An empty folder is removed.
void ConversationListModel::leave(const QString& folder)
{
    const auto left = m_folders.find(folder);
    if (left == m_folders.end())
        return;
    if (--left->second.count > 0) {
        changed(rowOfFolder(folder), {FolderCountRole});
        return;
    }
    hide(rowOfFolder(folder));
    const bool wasOpen = left->second.open;
    m_folders.erase(left);
    Q_EMIT foldersChanged();
    if (!wasOpen)
        Q_EMIT closedFoldersChanged();
}

QStringList ConversationListModel::folders() const
{
    QStringList names;
    for (const auto& [name, folder] : m_folders)
        names << name;
    return names;
}

QStringList ConversationListModel::closedFolders() const
{
    QStringList names;
    for (const auto& [name, folder] : m_folders)
        if (!folder.open)
            names << name;
    return names;
}

void ConversationListModel::setFolderOpen(const QString& name, bool open)
{
    const auto folder = m_folders.find(name);
    if (folder == m_folders.end() || folder->second.open == open)
        return;
    folder->second.open = open;
    const int head = rowOfFolder(name);
    const int first = head + 1;
    const int last = head + folder->second.count;
    if (open) {
        beginInsertRows({}, first, last);
        QList<Row> rows;
        for (const QStringList inIt = idsIn(name); const QString& id : inIt)
            rows.append(made(m_all.value(id)));
        m_rows = m_rows.first(first) + rows + m_rows.sliced(first);
        endInsertRows();
    } else {
        beginRemoveRows({}, first, last);
        m_rows.remove(first, folder->second.count);
        endRemoveRows();
    }
    changed(head, {FolderOpenRole});
    Q_EMIT currentRowChanged();
    Q_EMIT closedFoldersChanged();
}

void ConversationListModel::reveal(const QString& conversation)
{
    if (const ConversationHeader* known = header(conversation))
        setFolderOpen(QString(known->folder), true);
}

const ConversationListModel::Folder& ConversationListModel::folderOf(const Row& row) const
{
    static const Folder none;
    const auto found = m_folders.find(row.header.folder);
    return found == m_folders.end() ? none : found->second;
}

// ---- days ----

ConversationListModel::Row ConversationListModel::made(const ConversationHeader& header) const
{
    const QString& shown = header.id.isEmpty() ? header.folder : header.title;
    return {header, shownTitle(shown), section(header)};
}

QString ConversationListModel::shownTitle(const QString& title)
{
    return VisibleText::of(QStringView(title).left(kLongestTitle_chars)).simplified();
}

QString ConversationListModel::section(const ConversationHeader& header) const
{
    if (!header.folder.isEmpty())
        return {};
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
        Q_EMIT dataChanged(index(0), index(int(m_rows.size()) - 1), {SectionRole});
    waitForMidnight();
}

void ConversationListModel::lookAtTheDay()
{
    if (m_now().date() != m_day)
        regroup();
    else
        waitForMidnight();
}

void ConversationListModel::waitForMidnight()
{
    constexpr qint64 kLongestWait_ms = 600'000;  // a clock may be set, and a timer stands still while a computer sleeps
    const QDateTime now = m_now();
    m_day = now.date();
    m_midnight.start(int(std::clamp<qint64>(now.msecsTo(m_day.addDays(1).startOfDay()) + 500, 500, kLongestWait_ms)));
}

#include "moc_conversation_list_model.cpp"
