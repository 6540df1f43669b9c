#include "app/catalogue/model_controller.h"

#include "app/system/background.h"
#include "app/system/chosen_path.h"
#include "app/text/visible_text.h"
#include "app/worker/error_sentence.h"

#include <QFileInfo>

#include <tuple>
#include <utility>

/// Holds what was found in a file, the machine's memory at that time, the draft model that was chosen for it, and the
/// same again if its file exists.
struct ModelController::Inspected {
    engine::Result<engine::ModelInfo> info;
    engine::MachineMemory memory;
    QString askedDraft, draft;
};

/// Returns the path if there is such a file, else an empty one. The disk may take its time to answer.
static QString ifThere(const QString& file)
{
    return QFileInfo(file).isFile() ? file : QString();
}

ModelController::ModelController(EngineThread& engine, ModelInspector inspect, engine::LoadRequest defaults,
                                 QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_inspect(std::move(inspect))
    , m_request(std::move(defaults))
{
    const EngineWorker* worker = engine.worker();
    connect(worker, &EngineWorker::loadAdvanced, this, &ModelController::onLoadAdvanced);
    connect(worker, &EngineWorker::loaded, this, &ModelController::onLoaded);
    connect(worker, &EngineWorker::loadFailed, this, &ModelController::onLoadFailed);
    connect(worker, &EngineWorker::unloaded, this, &ModelController::onUnloaded);
}

ModelController::~ModelController()
{
    m_inspectStop.request_stop();
    m_loadStop.request_stop();
}

QStringList ModelController::pathsInUse() const
{
    QStringList paths;
    if (m_current.known())
        paths.append(m_current.path);
    if (m_phase != Idle)
        paths.append(m_path);
    if (m_madeRoom.known())
        paths.append(m_madeRoom.path);
    return paths;
}

void ModelController::open(const QUrl& file)
{
    if (!file.isLocalFile()) {
        setError(tr("Only files on this computer can be opened."));
        return;
    }
    inspect(chosenPath(file), AfterInspection::Offer);
}

void ModelController::openDropped(const QList<QUrl>& files)
{
    if (files.size() != 1) {
        setError(tr("Drop one model file at a time. For a model in several parts, the first part is enough."));
        return;
    }
    const QString name = files.first().fileName();
    if (!name.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive)) {
        setError(tr("“%1” is not a model: Spillway opens GGUF files.").arg(VisibleText::of(name)));
        return;
    }
    open(files.first());
}

void ModelController::openAndLoad(const QString& path, const QString& name)
{
    inspect(isElsewhere(path) ? path : QFileInfo(path).absoluteFilePath(), AfterInspection::Load, name);
}

void ModelController::load()
{
    if (m_phase == Offered && m_offer.runnable)
        inspect(m_path, AfterInspection::Load, m_name);  // again: the open model is closed only if the file exists
}

/// Loads what was offered, with its draft model if that file exists. If it does not, it stays chosen all the same.
void ModelController::loadOffer(const Inspected& found)
{
    const QString draft = m_draftOf(m_offer.path);
    const auto loadWith = [this, draft, job = m_job](const QString& there) {
        if (job != m_job)
            return;
        m_request.draft_model = there.toStdU16String();
        m_chosen = m_request;
        m_chosen.draft_model = draft.toStdU16String();
        load(m_request);
    };
    // Choices are kept by a model's first file, and another of its files may have been looked into.
    if (draft == found.askedDraft)
        loadWith(found.draft);
    else
        inBackground(
            this, [draft] { return ifThere(draft); }, loadWith);
}

void ModelController::load(const engine::LoadRequest& request)
{
    m_loadStop = std::stop_source();
    m_bytesDone = 0;
    m_bytesTotal = 0;
    Q_EMIT progressChanged();
    setError({});
    setPhase(Loading);
    Q_EMIT loadStarted();
    m_current = {};
    Q_EMIT currentChanged();
    m_loaded = request;
    m_engine.load(++m_job, request, m_loadStop.get_token());
}

void ModelController::cancel()
{
    switch (m_phase) {
    case Inspecting:
    case Offered:
        ++m_job;  // so that what the inspection finds is dropped
        m_inspectStop.request_stop();
        setPhase(Idle);
        break;
    case Loading:
        m_loadStop.request_stop();
        setPhase(Cancelling);
        break;
    case Idle:
    case Cancelling:
        break;
    }
}

void ModelController::retry()
{
    // A file is offered once more before it is loaded. A model of a server takes no memory here: it is loaded at once.
    if (canRetry())
        inspect(m_path, isElsewhere(m_path) ? AfterInspection::Load : AfterInspection::Offer, m_name);
}

void ModelController::reload()
{
    if (m_current.known())
        inspect(QString::fromStdU16String(m_loaded.model.u16string()), AfterInspection::Load, m_current.name);
}

bool ModelController::reloadWithContext(int contextTokens)
{
    if (m_phase != Idle || !m_current.known())
        return false;
    m_loaded.placement = m_changed(m_loaded.placement);
    engine::LoadRequest request = m_loaded;
    request.context_tokens = contextTokens;
    m_path = QString::fromStdU16String(request.model.u16string());
    m_name = m_current.name;
    m_offer = m_current;
    m_offer.contextToLoad = contextTokens;
    Q_EMIT offerChanged();
    load(request);
    return true;
}

bool ModelController::makeRoom()
{
    m_aside = true;
    if (m_phase != Idle || !m_current.known())
        return false;
    m_loaded.placement = m_changed(m_loaded.placement);
    m_madeRoom = std::exchange(m_current, {});
    Q_EMIT currentChanged();
    Q_EMIT reloadNeededChanged();
    m_engine.unload(++m_job);
    return true;
}

void ModelController::onUnloaded(quint64 job)
{
    if (job != m_job)
        return;
    Q_EMIT modelGone();
    Q_EMIT setAside();
}

void ModelController::giveRoomBack()
{
    m_aside = false;
    const ModelFacts model = std::exchange(m_madeRoom, {});
    if (!model.known())
        return;
    m_path = QString::fromStdU16String(m_loaded.model.u16string());
    m_name = model.name;
    m_offer = model;
    Q_EMIT offerChanged();
    load(engine::LoadRequest(m_loaded));
}

void ModelController::setDefaults(const engine::LoadRequest& defaults)
{
    const auto model = m_request.model;
    m_request = defaults;
    m_request.model = model;
    if (m_phase == Offered) {
        m_offer.plan(m_offered.info, m_request, m_offered.memory);
        Q_EMIT offerChanged();
    }
    Q_EMIT reloadNeededChanged();
}

void ModelController::onKvTypes(engine::KvType keys, engine::KvType values)
{
    for (engine::LoadRequest* request : {&m_chosen, &m_loaded}) {
        request->k_type = keys;
        request->v_type = values;
    }
    Q_EMIT reloadNeededChanged();
}

void ModelController::onPlacement(const engine::PlacementOptions& placement)
{
    m_chosen.placement = m_loaded.placement = placement;
}

void ModelController::onDevice(const QString& device)
{
    if (!m_current.known() || m_current.device == device)
        return;
    m_current.device = device;
    Q_EMIT currentChanged();
}

bool ModelController::reloadNeeded() const
{
    const auto choices = [](const engine::LoadRequest& r) {
        return std::tuple(r.context_tokens, r.threads, r.k_type, r.v_type);
    };
    return m_current.known() && m_current.server.isEmpty() && choices(m_chosen) != choices(m_request);
}

bool ModelController::draftChanged() const
{
    return m_chosen.draft_model != std::filesystem::path(m_draftOf(m_current.path).toStdU16String());
}

void ModelController::dismissError()
{
    setError({});
}

void ModelController::onModelLost()
{
    if (!m_current.known())
        return;
    setError(tr("“%1” had to be closed.").arg(m_current.name));
    m_current = {};
    Q_EMIT currentChanged();
    Q_EMIT reloadNeededChanged();
    Q_EMIT modelGone();
}

void ModelController::inspect(const QString& path, AfterInspection after, const QString& name)
{
    if (m_phase == Loading || m_phase == Cancelling) {
        setError(tr("Another model is being loaded. Cancel that first."));
        return;
    }
    if (m_aside) {
        setError(tr("An experiment has the memory of this machine. Wait for its end, or cancel it."));
        return;
    }
    m_path = path;
    m_name = name;
    setError({});
    setPhase(Inspecting);

    // A pool thread looks, so that a slow disk or a busy engine does not hold up the window.
    const quint64 job = ++m_job;
    const std::filesystem::path file(path.toStdU16String());
    m_inspectStop.request_stop();
    m_inspectStop = std::stop_source();
    const QString draft = after == AfterInspection::Load ? m_draftOf(path) : QString();
    const auto look = [inspect = m_inspect, file, draft, stop = m_inspectStop.get_token()] {
        auto info = inspect(file, stop);
        return Inspected{std::move(info), engine::machine_memory(), draft, ifThere(draft)};
    };
    inBackground(
        this, look, [this, job, after](const Inspected& found) { onInspected(job, after, found); },
        [this, job, after] {
            onInspected(
                job, after,
                {engine::fail(engine::Error::Code::NoMemory, "there is not enough memory to look into this file"),
                 {},
                 {},
                 {}});
        });
}

void ModelController::onInspected(quint64 job, AfterInspection after, const Inspected& found)
{
    if (job != m_job)
        return;
    if (!found.info) {
        setPhase(Idle);
        setError(errorSentence(found.info.error()));
        return;
    }
    m_request.model = found.info->path;
    m_offered = {*found.info, found.memory};
    m_offer = facts(m_offered.info);
    m_offer.plan(m_offered.info, m_request, m_offered.memory);
    Q_EMIT offerChanged();
    if (after == AfterInspection::Load && m_offer.runnable)
        loadOffer(found);
    else
        setPhase(Offered);
}

void ModelController::onLoadAdvanced(quint64 job, qint64 bytesDone, qint64 bytesTotal)
{
    if (job != m_job)
        return;
    m_bytesDone = double(bytesDone);
    m_bytesTotal = double(bytesTotal);
    Q_EMIT progressChanged();
}

void ModelController::onLoaded(quint64 job, const engine::ModelInfo& model)
{
    if (job != m_job)
        return;
    m_current = facts(model);
    engine::LoadRequest inUse = m_loaded;
    inUse.context_tokens = model.context_in_use;
    m_current.plan(model, inUse, m_offered.memory);
    Q_EMIT currentChanged();
    Q_EMIT reloadNeededChanged();
    setPhase(Idle);
    Q_EMIT modelReady(model);
}

void ModelController::onLoadFailed(quint64 job, const engine::Error& error)
{
    if (job != m_job)
        return;
    setPhase(Idle);
    if (error.code != engine::Error::Code::Cancelled)
        setError(errorSentence(error));
    Q_EMIT modelGone();
}

ModelFacts ModelController::facts(const engine::ModelInfo& info) const
{
    ModelFacts known(info);
    if (!m_name.isEmpty())
        known.name = m_name;
    if (!known.server.isEmpty())
        known.server = m_serverOf(known.path);
    return known;
}

void ModelController::setServerOf(TextOfPath serverOf)
{
    m_serverOf = std::move(serverOf);
    if (m_current.server.isEmpty() || m_current.server == m_serverOf(m_current.path))
        return;
    m_current.server = m_serverOf(m_current.path);
    Q_EMIT currentChanged();
}

void ModelController::setPhase(Phase phase)
{
    if (m_phase == phase)
        return;
    m_phase = phase;
    Q_EMIT phaseChanged();
}

void ModelController::setError(const QString& sentence)
{
    if (m_error == sentence)
        return;
    m_error = sentence;
    Q_EMIT errorChanged();
}

#include "moc_model_controller.cpp"
