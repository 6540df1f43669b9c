#include "app/log/log_model.h"

#include "app/text/visible_text.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>

#include <utility>

LogModel::LogModel(std::shared_ptr<LogFeed> feed, QObject* parent)
    : QAbstractListModel(parent)
    , m_feed(std::move(feed))
{
    m_feed->setListener([this] { QMetaObject::invokeMethod(this, &LogModel::takeLines, Qt::QueuedConnection); });
}

LogModel::~LogModel()
{
    m_feed->setListener({});
}

void LogModel::takeLines()
{
    QList<LogLine> lines = m_feed->take();
    if (lines.isEmpty())
        return;
    if (const auto tooMany = m_rows.size() + lines.size() - LogFeed::kMostLines; tooMany > 0) {
        beginRemoveRows({}, 0, int(tooMany) - 1);
        m_rows.remove(0, tooMany);  // never more than there are: the feed holds kMostLines at most
        endRemoveRows();
    }
    beginInsertRows({}, int(m_rows.size()), int(m_rows.size() + lines.size()) - 1);
    for (LogLine& line : lines) {
        line.text = VisibleText::of(line.text);
        m_rows.append({std::move(line), false});
    }
    endInsertRows();
}

int LogModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

QVariant LogModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = m_rows[index.row()];
    switch (role) {
    case TimeRole:
        return QDateTime::fromMSecsSinceEpoch(row.line.ms);
    case LevelRole:
        return row.line.level;
    case Qt::DisplayRole:
    case TextRole:
        return row.line.text;
    case SelectedRole:
        return row.selected;
    default:
        return {};
    }
}

bool LogModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != SelectedRole || !checkIndex(index, CheckIndexOption::IndexIsValid))
        return false;
    Row& row = m_rows[index.row()];
    if (row.selected != value.toBool()) {
        row.selected = value.toBool();
        Q_EMIT dataChanged(index, index, {SelectedRole});
    }
    return true;
}

QHash<int, QByteArray> LogModel::roleNames() const
{
    return {{TimeRole, "time"}, {LevelRole, "level"}, {TextRole, "text"}, {SelectedRole, "selected"}};
}

QString LogModel::written(int row) const
{
    const char* const names[] = {"debug", "info", "warning", "error"};
    const LogLine& line = m_rows[row].line;
    return QDateTime::fromMSecsSinceEpoch(line.ms).toString(Qt::ISODateWithMs) + QLatin1Char(' ') +
           QLatin1String(names[line.level]) + QLatin1Char(' ') + line.text;
}

ShownLog::ShownLog(LogModel& log, QObject* parent)
    : QSortFilterProxyModel(parent)
    , m_log(log)
{
    setSourceModel(&log);
    for (auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(this, signal, this, &ShownLog::countChanged);
    connect(this, &QAbstractItemModel::rowsRemoved, this, &ShownLog::selectionChanged);
    connect(this, &QAbstractItemModel::modelReset, this, &ShownLog::countChanged);
}

void ShownLog::setLowestLevel(int level)
{
    level = qBound(0, level, 3);
    if (level == m_lowestLevel)
        return;
    m_lowestLevel = level;
    clearSelection();
    invalidateFilter();
    Q_EMIT lowestLevelChanged();
    Q_EMIT countChanged();
}

bool ShownLog::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    return m_log.index(row, 0, parent).data(LogModel::LevelRole).toInt() >= m_lowestLevel;
}

int ShownLog::selectedCount() const
{
    int count = 0;
    for (int row = 0; row < rowCount(); ++row)
        count += index(row, 0).data(LogModel::SelectedRole).toBool() ? 1 : 0;
    return count;
}

void ShownLog::select(int row, bool extend)
{
    if (row < 0 || row >= rowCount())
        return;
    if (!extend || !m_anchor.isValid())
        m_anchor = index(row, 0);
    const int first = qMin(m_anchor.row(), row), last = qMax(m_anchor.row(), row);
    for (int i = 0; i < rowCount(); ++i)
        setData(index(i, 0), i >= first && i <= last, LogModel::SelectedRole);
    Q_EMIT selectionChanged();
}

void ShownLog::clearSelection()
{
    m_anchor = QPersistentModelIndex();
    for (int row = 0; row < m_log.rowCount(); ++row)
        m_log.setData(m_log.index(row), false, LogModel::SelectedRole);
    Q_EMIT selectionChanged();
}

QString ShownLog::text() const
{
    const bool all = selectedCount() == 0;
    QString text;
    for (int row = 0; row < rowCount(); ++row) {
        const QModelIndex shown = index(row, 0);
        if (all || shown.data(LogModel::SelectedRole).toBool())
            text += m_log.written(mapToSource(shown).row()) + QLatin1Char('\n');
    }
    return text;
}

void ShownLog::copy() const
{
    QGuiApplication::clipboard()->setText(text());
}

#include "moc_log_model.cpp"
