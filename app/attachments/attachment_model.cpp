#include "app/attachments/attachment_model.h"

#include "app/attachments/prompt_text.h"
#include "app/text/visible_text.h"

#include <QDir>
#include <QFileInfo>
#include <QUuid>

#include <algorithm>
#include <numeric>
#include <utility>

namespace {

QString nameOf(const QUrl& file)
{
    const QFileInfo info(file.toLocalFile());
    return info.fileName().isEmpty() ? info.dir().dirName() : info.fileName();  // of "…/folder/" the folder's name
}

QString newJob()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

}  // namespace

AttachmentModel::AttachmentModel(TokenCounter& counter, const QString& folder, const ReadLimits& limits,
                                 QObject* parent)
    : QAbstractListModel(parent)
    , m_counter(counter)
    , m_reader(folder, limits)
{
    connect(&m_reader, &AttachmentReader::done, this, &AttachmentModel::onRead);
}

int AttachmentModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant AttachmentModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = m_rows[size_t(index.row())];
    switch (role) {
    case NameRole:
    case Qt::DisplayRole:
        return VisibleText::of(row.attachment.name).simplified();
    case KindRole:
        return row.attachment.kind;
    case BytesRole:
        return double(row.attachment.bytes);
    case TokensRole:
        return row.attachment.tokens ? QVariant(*row.attachment.tokens) : QVariant();
    case CountingRole:
        return row.counting;
    case StateRole:
        return row.state;
    case SentenceRole:
        return row.sentence;
    default:
        return {};
    }
}

QHash<int, QByteArray> AttachmentModel::roleNames() const
{
    return {
        {NameRole, "name"},         {KindRole, "kind"},       {BytesRole, "bytes"},       {TokensRole, "tokens"},
        {CountingRole, "counting"}, {StateRole, "fileState"}, {SentenceRole, "sentence"},
    };
}

int AttachmentModel::failed() const
{
    return int(std::count_if(m_rows.begin(), m_rows.end(), [](const Row& row) { return row.state == Failed; }));
}

bool AttachmentModel::sendable() const
{
    return std::any_of(m_rows.begin(), m_rows.end(), [](const Row& row) { return row.state != Failed; });
}

bool AttachmentModel::counting() const
{
    return std::any_of(m_rows.begin(), m_rows.end(), [](const Row& row) { return row.counting; });
}

int AttachmentModel::tokens() const
{
    return std::accumulate(m_rows.begin(), m_rows.end(), 0,
                           [](int sum, const Row& row) { return sum + row.attachment.tokens.value_or(0); });
}

void AttachmentModel::add(const QList<QUrl>& files)
{
    setNotice({});
    for (const QUrl& file : files) {
        if (!file.isLocalFile()) {
            setNotice(tr("Only files of this computer can be attached."));
            continue;
        }
        const QString job = append(nameOf(file));
        if (job.isEmpty())
            return;
        m_reader.read(job, file.toLocalFile());
    }
}

QString AttachmentModel::addText(const QString& name, const QString& text)
{
    setNotice({});
    QString job = append(name);
    if (!job.isEmpty())
        m_reader.read(job, name, text);
    return job;
}

void AttachmentModel::remove(int row)
{
    if (row < 0 || row >= count())
        return;
    drop(m_rows[size_t(row)]);
    erase({m_conversation, &m_rows, row});
}

void AttachmentModel::removeFailed()
{
    for (int row = count() - 1; row >= 0; --row)
        if (m_rows[size_t(row)].state == Failed)
            remove(row);
}

AttachmentFacts AttachmentModel::facts(int row) const
{
    return row >= 0 && row < count() ? AttachmentFacts(m_rows[size_t(row)].attachment) : AttachmentFacts();
}

QString AttachmentModel::text(int row) const
{
    return row >= 0 && row < count() ? m_rows[size_t(row)].attachment.text : QString();
}

int AttachmentModel::rowOf(const QString& added) const
{
    const auto row = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& r) { return r.job == added; });
    return row == m_rows.end() ? -1 : int(row - m_rows.begin());
}

void AttachmentModel::showConversation(const QString& id, const QList<DraftFile>& kept)
{
    if (id == m_conversation)
        return;
    const QString left = m_conversation;
    const bool leftFailed = failed() > 0 && failed() == count();
    beginResetModel();
    if (!m_rows.empty())
        m_others.insert(left, std::exchange(m_rows, {}));
    m_conversation = id;
    const bool shownBefore = m_others.contains(id);
    m_rows = m_others.take(id);
    if (!shownBefore)
        for (const DraftFile& file : kept.first(std::min<qsizetype>(kept.size(), kMostFiles)))
            m_rows.push_back({.job = newJob(), .attachment = {.name = file.name, .sha256 = file.sha256}});
    endResetModel();
    if (!shownBefore)
        for (const Row& row : m_rows)
            m_reader.read(row.job, DraftFile{row.attachment.name, row.attachment.sha256});
    setNotice({});
    Q_EMIT changed();
    if (leftFailed)
        Q_EMIT readElsewhere(left, keptOf(m_others[left]), 0);
}

void AttachmentModel::forget(const QString& conversation)
{
    std::vector<Row> rows = m_others.take(conversation);
    for (Row& row : rows)
        drop(row);
}

QList<Attachment> AttachmentModel::ready() const
{
    QList<Attachment> attachments;
    for (const Row& row : m_rows)
        if (row.state == Ready)
            attachments.append(row.attachment);
    return attachments;
}

QList<DraftFile> AttachmentModel::keptOf(const std::vector<Row>& rows)
{
    QList<DraftFile> files;
    for (const Row& row : rows)
        if (!row.attachment.sha256.isEmpty())
            files.append({row.attachment.name, row.attachment.sha256});
    return files;
}

int AttachmentModel::readingOf(const std::vector<Row>& rows)
{
    return int(std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.state == Reading; }));
}

void AttachmentModel::clear()
{
    setNotice({});
    if (m_rows.empty())
        return;
    for (Row& row : m_rows)
        drop(row);
    beginResetModel();
    m_rows.clear();
    endResetModel();
    Q_EMIT changed();
}

void AttachmentModel::recount()
{
    for (Row* const row : everyRow())
        if (row->state == Ready)
            count(*row);
    if (!m_rows.empty())
        Q_EMIT dataChanged(index(0), index(count() - 1), {TokensRole, CountingRole});
    Q_EMIT changed();
}

void AttachmentModel::setMayCount(bool may)
{
    if (std::exchange(m_mayCount, may) == may)
        return;
    for (Row* const row : everyRow())
        if (!may)
            row->countStop.request_stop();
        else if (row->counting)
            askForCount(*row);
}

/// Returns the rows of all conversations.
std::vector<AttachmentModel::Row*> AttachmentModel::everyRow()
{
    std::vector<Row*> every;
    const auto add = [&](std::vector<Row>& rows) {
        for (Row& row : rows)
            every.push_back(&row);
    };
    add(m_rows);
    for (std::vector<Row>& rows : m_others)
        add(rows);
    return every;
}

AttachmentModel::Place AttachmentModel::find(const QString& job)
{
    const auto within = [&](const QString& conversation, std::vector<Row>& rows) -> Place {
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.job == job; });
        return row == rows.end() ? Place{{}, nullptr, 0} : Place{conversation, &rows, int(row - rows.begin())};
    };
    Place place = within(m_conversation, m_rows);
    for (auto others = m_others.begin(); !place.rows && others != m_others.end(); ++others)
        place = within(others.key(), *others);
    return place;
}

QString AttachmentModel::append(const QString& name)
{
    if (count() >= kMostFiles) {
        setNotice(tr("A message takes %n files at most.", nullptr, kMostFiles));
        return {};
    }
    Row row{.job = newJob()};
    row.attachment.name = name;
    beginInsertRows({}, count(), count());
    m_rows.push_back(row);
    endInsertRows();
    Q_EMIT changed();
    return row.job;
}

/// Stops what is done for a row that nobody needs any more.
void AttachmentModel::drop(Row& row)
{
    m_reader.cancel(row.job);
    row.countStop.request_stop();
}

void AttachmentModel::erase(const Place& place)
{
    const bool shown = place.rows == &m_rows;
    if (shown)
        beginRemoveRows({}, place.row, place.row);
    place.rows->erase(place.rows->begin() + place.row);
    if (shown) {
        endRemoveRows();
        Q_EMIT changed();
    }
}

void AttachmentModel::onRead(const QString& job, const ReadFile& result)
{
    const Place place = find(job);
    if (!place.rows)
        return;
    Row& row = (*place.rows)[size_t(place.row)];
    if (!result.attachment) {
        row.state = Failed;
        row.sentence = result.sentence;
        tell(place);
        return tellElsewhere(place);
    }
    const auto same = std::find_if(place.rows->begin(), place.rows->end(), [&](const Row& other) {
        return other.state == Ready && other.attachment.sha256 == result.attachment->sha256;
    });
    if (same != place.rows->end()) {
        if (place.rows == &m_rows)
            setNotice(tr("“%1” is attached already.").arg(VisibleText::of(same->attachment.name).simplified()));
        erase(place);
        return tellElsewhere(place);
    }
    row.state = Ready;
    row.attachment = *result.attachment;
    count(row);
    tell(place);
    tellElsewhere(place);
}

void AttachmentModel::count(Row& row)
{
    row.counting = true;
    row.attachment.tokens.reset();
    row.countStop.request_stop();
    if (m_mayCount)
        askForCount(row);
}

void AttachmentModel::askForCount(Row& row)
{
    row.countStop = std::stop_source();
    const std::stop_token stop = row.countStop.get_token();
    const auto take = [this, job = row.job, stop](std::optional<int> tokens) {
        const Place place = find(job);
        if (!place.rows || stop.stop_requested())
            return;  // it has gone, or is counted anew
        Row& counted = (*place.rows)[size_t(place.row)];
        counted.counting = false;
        counted.attachment.tokens = tokens;
        tell(place);
    };
    m_counter.count(promptText(row.attachment), this, take, stop);
}

void AttachmentModel::tell(const Place& place)
{
    if (place.rows != &m_rows)
        return;
    Q_EMIT dataChanged(index(place.row), index(place.row));
    Q_EMIT changed();
}

/// Must be called last: whoever receives the signal may forget the conversation, which makes `place` invalid.
void AttachmentModel::tellElsewhere(const Place& place)
{
    if (place.rows != &m_rows)
        Q_EMIT readElsewhere(place.conversation, keptOf(*place.rows), readingOf(*place.rows));
}

void AttachmentModel::setNotice(const QString& notice)
{
    if (m_notice == notice)
        return;
    m_notice = notice;
    Q_EMIT noticeChanged();
}

#include "moc_attachment_model.cpp"
