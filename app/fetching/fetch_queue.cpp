#include "app/fetching/fetch_queue.h"

#include "app/catalogue/split_name.h"
#include "app/fetching/failure_sentence.h"
#include "app/system/log_lines.h"
#include "app/text/engine_words.h"
#include "app/text/visible_text.h"

#include <QFileInfo>
#include <QPointer>

#include <algorithm>
#include <cmath>
#include <utility>

namespace {

using secrets::MayAsk;

constexpr qint64 kSpeedOver_ms = 1500;
constexpr qint64 kQuiet_ms = 4000;  // shorter pauses are not shown

/// Returns a file's name without folder and ending, and without "-00001-of-00003" of a split model.
QString nameOf(const QString& file)
{
    const auto split = splitName(file);
    return split ? split->stem.section(QLatin1Char('/'), -1) : QFileInfo(file).completeBaseName();
}

std::vector<std::filesystem::path> asPaths(const QStringList& places)
{
    std::vector<std::filesystem::path> paths;
    for (const QString& place : places)
        paths.emplace_back(place.toStdU16String());
    return paths;
}

QStringList asTexts(const std::vector<std::filesystem::path>& paths)
{
    QStringList texts;
    for (const auto& path : paths)
        texts.append(QString::fromStdU16String(path.u16string()));
    return texts;
}

QString notRemembered()
{
    return FetchQueue::tr("What is being fetched cannot be remembered for the next start.");
}

}  // namespace

FetchQueue::FetchQueue(ModelSource* source, const FetchingWorld& world, const QString& file, QObject* parent)
    : QAbstractListModel(parent)
    , m_source(source)
    , m_world(world)
    , m_list(file)
    , m_items(m_list.read())
{
    m_look.setInterval(1000);
    connect(&m_look, &QTimer::timeout, this, &FetchQueue::lookForBytes);
    if (m_list.lost())
        m_error = notRemembered();
    sumUp();
    connect(this, &FetchQueue::statesChanged, this, &FetchQueue::sumUp);
    connect(this, &FetchQueue::dataChanged, this, &FetchQueue::sumUp);
    startNext();
}

FetchQueue::~FetchQueue()
{
    m_thread.stop();
    keep();
}

int FetchQueue::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : count();
}

QVariant FetchQueue::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const FetchItem& item = m_items[index.row()];
    switch (role) {
    case Qt::DisplayRole:
    case NameRole:
        return VisibleText::of(nameOf(item.file));
    case RepositoryRole:
        return VisibleText::of(item.repository);
    case QuantRole:
        return VisibleText::of(item.quant);
    case StateRole:
        return int(item.state);
    case DoneBytesRole:
        return item.doneBytes;
    case TotalBytesRole:
        return item.totalBytes;
    case BytesPerSRole:
        return item.bytesPerS;
    case CheckingRole:
        return item.checking;
    case NoteRole:
        return item.note;
    case WantsTokenRole:
        return item.wantsToken;
    case AgainSRole:
        return item.againS;
    case QuietSRole:
        return item.quietS;
    case CheckedRole:
        return item.checked;
    default:
        return {};
    }
}

QHash<int, QByteArray> FetchQueue::roleNames() const
{
    return {{NameRole, "name"},           {RepositoryRole, "repository"},
            {QuantRole, "quant"},         {StateRole, "fetchState"},
            {DoneBytesRole, "doneBytes"}, {TotalBytesRole, "totalBytes"},
            {BytesPerSRole, "bytesPerS"}, {CheckingRole, "checking"},
            {NoteRole, "note"},           {WantsTokenRole, "wantsToken"},
            {AgainSRole, "againS"},       {QuietSRole, "quietS"},
            {CheckedRole, "checked"}};
}

int FetchQueue::unfinished() const
{
    return int(std::ranges::count_if(m_items, [](const FetchItem& item) { return item.state != Fetch::Done; }));
}

int FetchQueue::rowOf(const QString& repository, const QString& file) const
{
    for (int row = 0; row < count(); ++row)
        if (m_items[row].repository == repository && m_items[row].file == file)
            return row;
    return -1;
}

void FetchQueue::add(const QString& repository, const QString& file, const QString& quant, double bytes,
                     const QStringList& companions)
{
    if (!m_source || !m_world.allowed())
        return;
    if (const int row = rowOf(repository, file); row >= 0) {
        if (m_items[row].state != Fetch::Done) {
            addCompanions(row, companions, bytes);
            resume(row);
            return;
        }
        cancel(row);  // begins anew: its file may be gone, or wanted elsewhere; right files stay
    }
    FetchItem item;
    item.repository = repository;
    item.file = file;
    item.quant = quant;
    item.companions = companions;
    item.totalBytes = bytes;
    item.folder = m_world.folder ? m_world.folder() : QString();
    beginInsertRows({}, count(), count());
    m_items.append(item);
    endInsertRows();
    Q_EMIT countChanged();
    startNext(MayAsk::Yes);
    Q_EMIT statesChanged();
    keep();
}

/// Adds companions to a fetch. Files that have come stay; a fetch that runs is begun anew with the longer list.
void FetchQueue::addCompanions(int row, const QStringList& companions, double bytes)
{
    FetchItem& item = m_items[row];
    const qsizetype before = item.companions.size();
    for (const QString& companion : companions)
        if (!item.companions.contains(companion))
            item.companions.append(companion);
    if (item.companions.size() == before)
        return;
    item.totalBytes = std::max(item.totalBytes, bytes);
    if (row == m_running)
        stopRunning();
    setState(row, Fetch::Waiting);
    startNext(MayAsk::Yes);
}

void FetchQueue::pause(int row)
{
    if (row < 0 || row >= count() || (m_items[row].state != Fetch::Fetching && m_items[row].state != Fetch::Waiting))
        return;
    if (row == m_running)
        stopRunning();
    setState(row, Fetch::Paused);
    startNext();
}

void FetchQueue::resume(int row)
{
    if (row < 0 || row >= count() || (m_items[row].state != Fetch::Paused && m_items[row].state != Fetch::Failed))
        return;
    setState(row, Fetch::Waiting);
    startNext(MayAsk::Yes);
}

void FetchQueue::cancel(int row)
{
    if (row < 0 || row >= count())
        return;
    if (row == m_running)
        stopRunning();
    beginRemoveRows({}, row, row);
    const FetchItem gone = m_items.takeAt(row);
    endRemoveRows();
    if (m_running > row)
        --m_running;
    if (gone.state != Fetch::Done && m_source)
        discard(unwanted(gone.places), unwanted(gone.came));
    Q_EMIT countChanged();
    Q_EMIT statesChanged();
    keep();
    startNext();
}

/// Returns those of `files` that no row but `row` has; -1: that no row has.
QStringList FetchQueue::onlyOf(int row, QStringList files) const
{
    for (int other = 0; other < count(); ++other)
        if (other != row)
            files.removeIf([&](const QString& file) { return m_items[other].places.contains(file); });
    return files;
}

/// Returns those of `files`, places of a row that is gone, that no other row wants. A row that has not run since it got
/// its companions does not know their places yet.
QStringList FetchQueue::unwanted(const QStringList& files) const
{
    QStringList rest = onlyOf(-1, files);
    for (const FetchItem& item : m_items)
        if (item.state != Fetch::Done)
            for (const QString& companion : mayBeCompanionsOf(item, files))
                rest.removeAll(companion);
    return rest;
}

/// Deletes files on the thread that fetches, after the fetch that ran there has ended and closed them.
void FetchQueue::discard(const QStringList& places, const QStringList& whole)
{
    const auto tell = [guard = QPointer(this)] {
        if (guard)
            Q_EMIT guard->removed();
    };
    m_thread.after([source = m_source, places = asPaths(places), whole = asPaths(whole), tell] {
        source->discard(places, whole);
        if (!whole.empty())
            QMetaObject::invokeMethod(qApp, tell, Qt::QueuedConnection);
    });
}

QHash<QString, Fetch::State> FetchQueue::states(const QString& repository, const QStringList& companions) const
{
    QHash<QString, Fetch::State> states;
    for (const FetchItem& item : m_items)
        if (item.repository == repository && std::ranges::all_of(companions, [&](const QString& companion) {
                return item.companions.contains(companion);
            }))
            states.insert(item.file, item.state);
    return states;
}

bool FetchQueue::needs(const QStringList& files) const
{
    return std::ranges::any_of(m_items, [&](const FetchItem& item) {
        if (item.state != Fetch::Done && item.places.isEmpty())
            return std::ranges::any_of(files, [&](const QString& file) { return mayBeOf(item, file); });
        return item.state != Fetch::Done && std::ranges::any_of(item.places, [&](const QString& place) {
                   // Folders of the path may be links; the file itself need not exist yet.
                   const QFileInfo file(place);
                   return files.contains(place) || files.contains(QFileInfo(file.path()).canonicalFilePath() +
                                                                  QLatin1Char('/') + file.fileName());
               });
    });
}

void FetchQueue::forgetDeleted()
{
    for (int row = count() - 1; row >= 0; --row)
        if (m_items[row].state == Fetch::Done && !QFileInfo(m_items[row].path).isFile())
            cancel(row);
}

void FetchQueue::open(int row)
{
    if (row >= 0 && row < count() && m_items[row].state == Fetch::Done)
        Q_EMIT openRequested(m_items[row].path, data(index(row), NameRole).toString());
}

void FetchQueue::onAllowedChanged()
{
    if (m_world.allowed()) {
        startNext();
    } else if (m_running >= 0) {
        const int row = m_running;
        stopRunning();
        setState(row, Fetch::Waiting);
    }
}

void FetchQueue::startNext(MayAsk may)
{
    if (!m_source || !m_world.allowed() || m_running >= 0)
        return;
    const auto next = std::ranges::find(m_items, Fetch::Waiting, &FetchItem::state);
    if (next == m_items.end())
        return;
    m_running = int(next - m_items.begin());
    next->state = Fetch::Fetching;
    next->note.clear();
    next->againS = 0;
    m_clock.invalidate();
    m_sinceBytes.start();
    m_look.start();
    tell(m_running);
    Q_EMIT statesChanged();
    const auto onUiThread = [guard = QPointer(this), job = m_thread.next()](auto work) {
        const auto comeBack = [guard, job, work = std::move(work)] {
            if (guard && guard->m_thread.isNewest(job))
                work(*guard);
        };
        QMetaObject::invokeMethod(qApp, comeBack, Qt::QueuedConnection);
    };
    const auto places = [onUiThread](const std::vector<std::filesystem::path>& paths) {
        onUiThread([texts = asTexts(paths)](FetchQueue& queue) { queue.onPlaces(texts); });
    };
    const auto whole = [guard = QPointer(this), repository = next->repository,
                        file = next->file](const std::vector<std::filesystem::path>& came,
                                           const std::vector<std::filesystem::path>& model) {
        const auto note = [guard, repository, file, came = asTexts(came), model = asTexts(model)] {
            if (guard)  // also if the fetch was stopped meanwhile: the file is complete
                guard->onWhole(repository, file, came, model);
        };
        QMetaObject::invokeMethod(qApp, note, Qt::QueuedConnection);
    };
    const auto progress = [onUiThread](const FetchedSoFar& now) {
        onUiThread([now](FetchQueue& queue) { queue.onProgress(now); });
    };
    WantedModel wanted{next->repository.toStdString(), next->file.toStdString()};
    wanted.to = std::filesystem::path(next->folder.toStdU16String());
    wanted.may_ask = may;
    wanted.places = asPaths(next->places);
    wanted.came = asPaths(onlyOf(m_running, next->came));
    wanted.most_bytes_per_s = [limit = m_mostBytesPerS] { return limit->load(); };
    for (const QString& companion : std::as_const(next->companions))
        wanted.companions.push_back(companion.toStdString());
    m_thread.ask([source = m_source, wanted, places, whole, progress](
                     const std::stop_token& stop) { return source->fetch(wanted, places, whole, progress, stop); },
                 [this](const net::Result<FetchedModel>& model) { onDone(model); });
}

void FetchQueue::stopRunning()
{
    m_thread.stop();
    endRunning();
}

void FetchQueue::endRunning()
{
    FetchItem& item = m_items[std::exchange(m_running, -1)];
    item.bytesPerS = 0;
    item.quietS = 0;
    item.checking = false;
    m_look.stop();
}

void FetchQueue::onPlaces(const QStringList& places)
{
    FetchItem& item = m_items[m_running];
    item.places = places;
    const auto ofEarlierVersion = [&](const QString& file) { return !places.contains(file); };
    const bool gone = item.came.removeIf(ofEarlierVersion) > 0;
    keep();
    if (gone)
        Q_EMIT removed();
}

void FetchQueue::onWhole(const QString& repository, const QString& file, const QStringList& came,
                         const QStringList& model)
{
    if (const int row = rowOf(repository, file); row < 0) {  // it was cancelled just before
        discard({}, unwanted(came));
    } else {
        m_items[row].came += came;
        m_items[row].came.removeIf([&](const QString& name) { return model.contains(name); });
        keep();
    }
}

void FetchQueue::onProgress(const FetchedSoFar& now)
{
    FetchItem& item = m_items[m_running];
    const bool awaited = !now.checking && now.again.count() <= 0;
    if (!awaited || item.doneBytes != double(now.done_bytes)) {
        m_sinceBytes.start();
        item.quietS = 0;
    }
    item.doneBytes = double(now.done_bytes);
    item.totalBytes = double(now.total_bytes);
    item.checking = now.checking;
    item.againS = double(now.again.count());
    item.note = now.note.empty() ? QString() : asSentence(QString::fromStdString(now.note));
    if (!m_clock.isValid() || m_clock.elapsed() >= kSpeedOver_ms) {
        if (m_clock.isValid())
            item.bytesPerS = 1000 * std::max(0.0, item.doneBytes - m_measuredBytes) / double(m_clock.elapsed());
        m_clock.start();
        m_measuredBytes = item.doneBytes;
    }
    tell(m_running);
}

/// Finds out for how long no bytes have come. A timer calls it, since no progress is reported before the server
/// answers.
void FetchQueue::lookForBytes()
{
    FetchItem& item = m_items[m_running];
    const qint64 quiet_ms = m_sinceBytes.elapsed();
    const bool awaited = !item.checking && item.againS <= 0;
    item.quietS = awaited && quiet_ms >= kQuiet_ms ? std::floor(double(quiet_ms) / 1000) : 0;
    if (item.quietS > 0)
        tell(m_running);
}

void FetchQueue::onDone(const net::Result<FetchedModel>& model)
{
    const int row = m_running;
    endRunning();
    FetchItem& item = m_items[row];
    if (model) {
        item.path = QString::fromStdU16String(model->path.u16string());
        item.doneBytes = item.totalBytes;
        item.checked = model->checked;
        item.came.clear();
        setState(row, Fetch::Done);
        Q_EMIT fetched();
    } else if (model.error().kind == net::Failure::Kind::KeyMissing && !model.error().token_helps) {
        setState(row, Fetch::Paused, failureSentence(model.error()) + u' ' + tr("Going on may ask you to unlock it."));
        item.mayPass = true;  // the password store may be unlocked at the next start
        keep();
    } else {
        logWarning(QStringLiteral("fetching %1: %2").arg(item.repository, QString::fromStdString(model.error().what)));
        if (model.error().kind == net::Failure::Kind::WrongHash)
            item.doneBytes = 0;  // the damaged file was deleted
        setState(row, Fetch::Failed, failureSentence(model.error()));
        item.wantsToken = model.error().token_helps;
        item.mayPass = net::may_pass(model.error().kind);
        tell(row);
        keep();
    }
    Q_EMIT countChanged();
    startNext();
}

void FetchQueue::setState(int row, Fetch::State state, const QString& note)
{
    m_items[row].state = state;
    m_items[row].note = note;
    m_items[row].againS = 0;
    m_items[row].wantsToken = m_items[row].mayPass = false;
    tell(row);
    Q_EMIT statesChanged();
    keep();
}

void FetchQueue::sumUp()
{
    FetchSummary summary;
    for (const Fetch::State state : {Fetch::Fetching, Fetch::Failed, Fetch::Paused, Fetch::Waiting}) {
        const auto first = std::ranges::find(m_items, state, &FetchItem::state);
        if (first == m_items.end())
            continue;
        summary.state = state;
        summary.name = data(index(int(first - m_items.begin())), NameRole).toString();
        if (first->totalBytes > 0)
            summary.share = std::floor(100 * first->doneBytes / first->totalBytes) / 100;
        summary.others = unfinished() - 1;
        break;
    }
    if (summary == m_summary)
        return;
    m_summary = summary;
    Q_EMIT summaryChanged();
}

void FetchQueue::tell(int row)
{
    Q_EMIT dataChanged(index(row), index(row));
}

void FetchQueue::keep()
{
    const QString error = m_list.write(m_items) ? QString() : notRemembered();
    if (error == m_error)
        return;
    m_error = error;
    Q_EMIT errorChanged();
}

#include "moc_fetch_queue.cpp"
