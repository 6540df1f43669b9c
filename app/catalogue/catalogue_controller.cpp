#include "app/catalogue/catalogue_controller.h"

#include "app/catalogue/describe.h"
#include "app/catalogue/tell_apart.h"
#include "app/system/background.h"
#include "app/system/remote_path.h"
#include "app/text/visible_text.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QDateTime>
#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QPointer>
#include <QUrl>

#include <algorithm>
#include <exception>
#include <utility>

namespace {

constexpr qsizetype kMostOpened = 32;  // files that are rows though they lie in no place that is searched

/// Returns the row that was found under exactly this path; -1: none was. It does not ask the disk.
int rowOfPath(const ModelListModel& models, const QString& path)
{
    for (int row = 0; row < models.rowCount(); ++row)
        if (models.entry(row).path == path)
            return row;
    return -1;
}

}  // namespace

CatalogueController::CatalogueController(ModelController& opener, World world, QObject* parent)
    : QObject(parent)
    , m_opener(opener)
    , m_world(std::move(world))
    , m_shown(m_models)
    , m_remover(m_models, m_opener, [this] { return m_folders; })
    , m_drafts(m_models, m_opener, m_world.mayDraft, m_world.draftsFile)
    , m_lastUsed(m_world.usedFile)
{
    m_pool.setMaxThreadCount(1);
    m_models.setLastUsed(m_lastUsed.msById());
    connect(&m_models, &QAbstractItemModel::rowsInserted, this, &CatalogueController::totalChanged);
    connect(&m_models, &QAbstractItemModel::rowsRemoved, this, &CatalogueController::totalChanged);
    connect(&m_opener, &ModelController::modelReady, this, &CatalogueController::onModelReady);
    connect(&m_opener, &ModelController::currentChanged, this, [this] {
        m_models.setOpen(knownId(m_opener.current().path));
        showRecent();
    });
    connect(&m_opener, &ModelController::errorChanged, this, &CatalogueController::onRefused);
    connect(&m_drafts, &DraftModels::chose, this, &CatalogueController::measure);
    connect(&m_experts, &ExpertsOnDevice::found, &m_models, &ModelListModel::setExpertsOnDevice);
    connect(&m_remover, &ModelRemover::refused, this, &CatalogueController::setError);
    connect(&m_remover, &ModelRemover::removed, this, &CatalogueController::onRemoved);
    showPlaces();
    showRecent();
    measure();
}

CatalogueController::~CatalogueController()
{
    m_stop.request_stop();
    m_pool.waitForDone();
}

double CatalogueController::availableBytes() const
{
    return m_memory.available_bytes ? double(*m_memory.available_bytes) : -1;
}

double CatalogueController::totalBytes() const
{
    return m_memory.total_bytes ? double(*m_memory.total_bytes) : -1;
}

void CatalogueController::setFolders(const QStringList& folders, const QString& fetchFolder)
{
    if (folders == m_folders && fetchFolder == m_fetchFolder)
        return;
    m_fetchFolder = fetchFolder;
    const QStringList before = std::exchange(m_folders, folders);
    setError({});  // it may be about a folder that is no longer searched
    showPlaces();
    if (!m_scanning && !m_scanned)
        return;
    for (const QString& folder : folders)
        if (!before.contains(folder) && !m_newFolders.contains(folder))
            m_newFolders.append(folder);
    rescan();
}

void CatalogueController::setLoadRequest(const engine::LoadRequest& request)
{
    m_request = request;
    m_experts.setLoadRequest(request);
    measure();
}

void CatalogueController::findExpertsOnDevice(const QString& id)
{
    const int row = m_models.rowOf(id);
    if (row >= 0 && m_models.entry(row).openable() && m_models.entry(row).info.experts > 0)
        m_experts.find(id, m_models.entry(row).path);
}

void CatalogueController::begin()
{
    if (!m_scanning && !m_scanned)
        rescan();
}

void CatalogueController::rescan()
{
    m_stop.request_stop();
    m_stop = std::stop_source();
    m_models.beginScan();
    measure();
    const quint64 job = ++m_job;
    const ScanRequest request = {.places = placesToLookInto(),
                                 .files = openedFiles(),
                                 .cacheFile = m_world.cacheFile,
                                 .limits = m_world.limits,
                                 .inspect = m_world.inspect};
    m_pool.start([request, job, stop = m_stop.get_token(), guard = QPointer(this)] {
        const auto onUiThread = [](auto&& work) {
            QMetaObject::invokeMethod(qApp, std::forward<decltype(work)>(work), Qt::QueuedConnection);
        };
        const auto onEntries = [&](const QList<ModelEntry>& entries) {
            onUiThread([guard, job, entries] {
                if (guard)
                    guard->onEntries(job, entries);
            });
        };
        ScanReport report;
        try {
            report = scanForModels(request, onEntries, stop);
        } catch (const std::exception&) {  // out of memory: what was found until then is shown
            report.cancelled = true;
        }
        onUiThread([guard, job, report] {
            if (guard)
                guard->onScanned(job, report);
        });
    });
    if (!std::exchange(m_scanning, true))
        Q_EMIT scanningChanged();
}

void CatalogueController::cancelScan()
{
    m_stop.request_stop();
}

void CatalogueController::measure()
{
    m_memory = m_world.memory();
    m_models.setMemory(m_request, m_memory);
    Q_EMIT memoryChanged();
}

void CatalogueController::dismissError()
{
    setError({});
}

QList<ModelEntry> CatalogueController::measurable() const
{
    QList<ModelEntry> entries;
    for (int row = 0; row < m_models.rowCount(); ++row) {
        const ModelEntry& entry = m_models.entry(row);
        if (entry.openable() && entry.store != Store::Server &&
            (entry.kind == ModelKind::Chat || entry.kind == ModelKind::Base))
            entries.append(entry);
    }
    std::sort(entries.begin(), entries.end(), [](const ModelEntry& a, const ModelEntry& b) {
        return QString::localeAwareCompare(a.title, b.title) < 0;
    });
    return entries;
}

bool CatalogueController::open(const QString& id)
{
    const int row = m_models.rowOf(id);
    if (row < 0)
        return false;
    const ModelEntry entry = m_models.entry(row);
    if (!entry.openable()) {
        setError(entry.obstacle);
        return false;
    }
    setError({});
    m_opener.openAndLoad(entry.path, entry.title);
    return true;
}

void CatalogueController::openFile(const QString& path, const QString& name)
{
    const int row = rowOfPath(m_models, path);
    m_opener.openAndLoad(path, row < 0 ? name : m_models.entry(row).title);
}

void CatalogueController::openRecent(const QString& path)
{
    const auto known = std::ranges::find(m_recent, path, &RecentModel::path);
    if (known != m_recent.end() && !known->isOpen)
        m_opener.openAndLoad(path, known->title);
}

void CatalogueController::setElsewhere(const QList<ModelEntry>& models)
{
    m_models.setElsewhere(models);
    showRecent();  // a server may have got another name
}

void CatalogueController::lookAtRecent()
{
    if (std::exchange(m_looksAtRecent, true))
        return;  // the look that runs may be waiting for a network share
    QStringList paths;
    for (const RecentModel& model : std::as_const(m_recent))
        paths.append(model.path);
    const auto look = [paths] {
        QSet<QString> missing;
        for (const QString& path : paths)
            if (!isElsewhere(path) && !QFileInfo(path).isFile())
                missing.insert(path);
        return missing;
    };
    const auto show = [this](const QSet<QString>& missing) {
        m_looksAtRecent = false;
        m_missing = missing;
        showRecent();
    };
    inBackground(this, look, show, [this] { m_looksAtRecent = false; });
}

void CatalogueController::showRecent()
{
    const QString open = m_opener.current().known() ? m_opener.current().path : QString();
    QList<RecentModel> recent;
    QList<NamedFile> files;
    for (const UsedModel& used : m_lastUsed.newest(kMostRecent)) {
        recent.append({.path = used.path,
                       .title = used.title,
                       .file = {},
                       .there = !m_missing.contains(used.path),
                       .isOpen = used.path == open});
        files.append({{}, used.path});  // all under one name, so that each is marked by its file
    }
    const QStringList marks = tellApart(files);
    for (qsizetype i = 0; i < recent.size(); ++i) {
        RecentModel& model = recent[i];
        const int row = m_models.rowOf(model.path);
        model.elsewhere = isElsewhere(model.path);
        if (model.elsewhere)
            model.file = row < 0 ? hostOf(model.path) : m_models.entry(row).facts.server;
        else
            model.file = recent.size() == 1 ? VisibleText::of(QFileInfo(model.path).fileName()) : marks[i];
    }
    if (recent == m_recent)
        return;
    m_recent = recent;
    Q_EMIT recentChanged();
}

QStringList CatalogueController::openedFiles() const
{
    QStringList files;
    for (const UsedModel& used : m_lastUsed.newest(kMostOpened))
        if (used.path != m_world.guide && !isElsewhere(used.path))
            files.append(used.path);
    return files;
}

void CatalogueController::reveal(const QString& id)
{
    const int row = m_models.rowOf(id);
    const QString folder = row < 0 ? QString() : QFileInfo(m_models.entry(row).path).absolutePath();
    if (folder.isEmpty() || !QDesktopServices::openUrl(QUrl::fromLocalFile(folder)))
        setError(tr("The folder could not be shown."));
}

void CatalogueController::copyPath(const QString& id)
{
    if (const int row = m_models.rowOf(id); row >= 0)
        QGuiApplication::clipboard()->setText(isElsewhere(id) ? idElsewhere(id)
                                                              : QDir::toNativeSeparators(m_models.entry(row).path));
}

QList<StoreFolder> CatalogueController::placesToLookInto() const
{
    QList<StoreFolder> places;
    for (const QString& folder : m_folders)
        places.append({Store::Folder, folder});
    if (!m_fetchFolder.isEmpty() && !m_folders.contains(m_fetchFolder))  // else what is fetched would not be found
        places.append({Store::Folder, m_fetchFolder});
    // The stores come first: what several places have is listed as the first has it, and a store knows more of a file
    // than a folder that contains the store.
    return m_world.otherPlaces() + places;
}

void CatalogueController::onEntries(quint64 job, const QList<ModelEntry>& entries)
{
    if (job == m_job)
        m_models.add(entries);
}

void CatalogueController::onScanned(quint64 job, const ScanReport& report)
{
    if (job != m_job)
        return;
    if (!report.cancelled) {
        m_models.finishScan();
        m_reports = report.places;
        showPlaces();
        sayWhatIsEmpty(report.places);
    }
    m_scanning = false;
    m_scanned = true;
    Q_EMIT scanningChanged();
}

void CatalogueController::onModelReady(const engine::ModelInfo& model)
{
    const QString path = QString::fromStdU16String(model.path.u16string());
    const bool listed = rowOfPath(m_models, path) >= 0 || isElsewhere(path);
    const QString id = listed ? knownId(path) : whereItLies(path);  // the disk is asked: the file has just been read
    if (id.isEmpty())
        return;
    m_lastUsed.note({id, path, m_opener.current().name, QDateTime::currentMSecsSinceEpoch()});
    m_models.setLastUsed(m_lastUsed.msById());
    if (m_models.rowOf(id) < 0 && path != m_world.guide && !isElsewhere(path)) {
        FoundFile file;
        file.store = Store::Opened;
        file.path = path;
        m_models.add({describeModel(file, model)});
    }
    m_models.setOpen(id);
    m_missing.remove(path);
    showRecent();
    measure();
}

/// Scans again if a row's file could not be opened because it is gone. Another thread looks whether it is: the file may
/// lie on a share that has stopped answering.
void CatalogueController::onRefused()
{
    const QString path = m_opener.path();
    if (m_opener.error().isEmpty() || rowOfPath(m_models, path) < 0 || isElsewhere(path))
        return;
    inBackground(
        this, [path] { return QFileInfo(path).isFile(); },
        [this](bool there) {
            if (!there)
                rescan();
        });
}

void CatalogueController::onRemoved(const ModelRemoval& removal, bool gone)
{
    if (gone) {
        m_models.remove(removal.id);
        m_lastUsed.forget(removal.id);
        showRecent();
    }
    rescan();  // other rows may have been links to the deleted file
}

/// Returns the id of the file at a path, as the scan or an earlier opening found it; empty: neither has. The disk is
/// not asked: a share may have stopped answering.
QString CatalogueController::knownId(const QString& path) const
{
    if (const int row = rowOfPath(m_models, path); row >= 0)
        return m_models.entry(row).id;
    return isElsewhere(path) ? path : m_lastUsed.idOf(path);
}

/// Lists the places. Whether one exists is known from the last scan; before the first, the user's folders are taken to
/// exist.
void CatalogueController::showPlaces()
{
    m_places.clear();
    for (const StoreFolder& place : placesToLookInto()) {
        ModelPlace shown;
        ModelEntry named;
        named.store = place.store;
        named.path = place.path;
        shown.name = named.storeName();
        shown.path = place.path;
        shown.shownPath = named.shownPath();
        shown.own = place.store == Store::Folder && m_folders.contains(place.path);
        shown.there = shown.own;
        QStringList notes;
        if (!shown.own && place.path == m_fetchFolder)
            notes.append(tr("what is fetched goes there"));
        for (const PlaceReport& report : m_reports) {
            if (report.place.path != place.path)
                continue;
            shown.there = report.there;
            shown.models = report.models;
            if (report.unfinished > 0)
                notes.append(tr("unfinished downloads: %1").arg(report.unfinished));
            if (report.unreadable > 0)
                notes.append(tr("not readable: %1").arg(report.unreadable));
            if (report.strange > 0)
                notes.append(tr("without a model: %1").arg(report.strange));
            if (report.cutShort)
                notes.append(tr("too large to look through completely"));
        }
        shown.note = notes.join(QStringLiteral(", "));
        m_places.append(shown);
    }
    Q_EMIT placesChanged();
}

/// Sets the error if a folder that was just added has no models: it would look as if it had not been added. Takes the
/// error back when there are some.
void CatalogueController::sayWhatIsEmpty(const QList<PlaceReport>& places)
{
    const auto isEmpty = [&](const QString& folder) {
        return std::ranges::any_of(places, [&](const PlaceReport& place) {
            return place.place.path == folder && place.place.store == Store::Folder && place.there && place.files == 0;
        });
    };
    if (!m_emptyFolder.isEmpty() && !isEmpty(m_emptyFolder))
        setError({});
    for (const QString& folder : std::exchange(m_newFolders, {})) {
        if (folder == m_fetchFolder || !isEmpty(folder))
            continue;
        ModelEntry named;
        named.path = folder;
        setError(
            tr("There is no model in “%1” or below it: models are files that end in .gguf.").arg(named.shownPath()));
        m_emptyFolder = folder;
    }
}

void CatalogueController::setError(const QString& sentence)
{
    m_emptyFolder.clear();
    if (m_error == sentence)
        return;
    m_error = sentence;
    Q_EMIT errorChanged();
}

#include "moc_catalogue_controller.cpp"
#include "moc_recent_model.cpp"
