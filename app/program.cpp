#include "app/program.h"

#include "app/experiments/experiment_files.h"
#include "app/log/log.h"
#include "app/log/placement_log.h"
#include "app/system/background.h"
#include "app/system/log_lines.h"
#include "app/system/remote_path.h"
#include "app/system/start.h"

#include <QFileInfo>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QIcon>
#include <QQuickStyle>
#include <QQuickWindow>
#include <QSGRendererInterface>
#include <QUrl>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace {

QString firstLanguage(SettingsController& settings, const CommandLine& commandLine)
{
    const Setting* const language = settings.language();
    return language->names()[commandLine.language.value_or(language->value())];
}

EngineFactory hereOrThere(const std::shared_ptr<RemoteDoor>& door, const EngineFactory& here)
{
    if (!door)
        return here;
    return [door, here] { return door->engine(here()); };
}

/// Returns what reads a model's header, here or on a server. `mayAsk` says whether the password store may ask the user
/// to unlock it for the next model of a server. It holds for that one only: the user opens the later ones.
ModelInspector hereOrThere(const std::shared_ptr<RemoteDoor>& door, const ModelInspector& here,
                           const std::shared_ptr<std::atomic<secrets::MayAsk>>& mayAsk)
{
    if (!door)
        return here;
    return [door, here, mayAsk](const std::filesystem::path& path, const std::stop_token& stop) {
        return isElsewhere(QString::fromStdU16String(path.u16string()))
                   ? door->inspect(path, mayAsk->exchange(secrets::MayAsk::Yes), stop)
                   : here(path, stop);
    };
}

/// Why no GPU is used is for whoever has a card that could be one.
DeviceController::Found devicesHere()
{
    return {engine::devices(), engine::has_nvidia_card() ? engine::why_no_gpu() : std::string()};
}

/// Says whether a model is of this computer. Other programs ask a server elsewhere by themselves, so its models are not
/// offered to them.
bool isOfThisComputer(const engine::ModelInfo& model)
{
    return !isElsewhere(QString::fromStdU16String(model.path.u16string()));
}

}  // namespace

Program::Program(const CommandLine& commandLine, const ProfileFolders& folders, std::shared_ptr<LogFeed> logFeed,
                 const EngineFactory& makeEngine, const ModelInspector& inspect)
    : m_namedModel(commandLine.modelFile)
    , m_measuresStart(commandLine.measuresStart)
    , m_guide(guideModel())
    , m_settings(folders.config + QStringLiteral("/spillway.ini"))
    , m_translation(firstLanguage(m_settings, commandLine))
    , m_program(folders, m_guide)
    , m_log(std::move(logFeed))
    , m_shownLog(m_log)
    , m_remoteDoor(remoteDoor(secrets::system_secret_store()))
    , m_mayAsk(std::make_shared<std::atomic<secrets::MayAsk>>(secrets::MayAsk::Yes))
    , m_inspect(hereOrThere(m_remoteDoor, inspect, m_mayAsk))
    , m_loadMarker(folders.state)
    , m_store(folders.data)
    , m_shared(hereOrThere(m_remoteDoor, makeEngine)(), isOfThisComputer)
    , m_engine([this] { return m_shared.owner(); }, {.giveUp = [this] { leave(); }})
    , m_speed(m_engine, folders.data, MachineSpeed::measureModel)
    , m_open(m_store)
    , m_turns(m_engine, m_store, m_open, commandLine.options)
    , m_chat(m_engine, m_store, m_open, m_turns)
    , m_conversations(m_store)
    , m_savedKv(m_engine, m_store, m_conversations, *m_settings.savedKvGib())
    , m_composer(m_chat, m_turns, m_engine, m_store.attachmentsFolder())
    , m_conversationSettings(m_chat, m_store, commandLine.options)
    , m_models(m_engine, m_inspect, {})
    , m_catalogue(m_models, CatalogueController::World::ofThisComputer(inspect, folders, m_guide))
    , m_pressure(m_engine, m_models)
    , m_devices(m_settings, *m_pressure.placement(), commandLine.placement, devicesHere)
    , m_experiments(m_turns, m_models, experimentsWorld(folders))
    , m_fetching(fetchingWorld(folders))
    , m_servers(m_remoteDoor, folders.data + QStringLiteral("/servers.json"))
    , m_serverLoad(m_remoteDoor)
    , m_server(m_shared, *m_settings.serverPort(), *m_settings.serverAsksKey(),
               folders.data + QStringLiteral("/server-key"))
{
    overrideSettings(commandLine);
    connectSettings();
    connectModels();
    connectFetching();
    connectServers();
    connectServer();
    connectConversations();
    m_pressure.follow(m_chat, m_turns, m_store);
    m_pressure.offerDevices(&m_devices);
    m_pressure.offerDrafts(m_catalogue, *m_settings.draft());
}

/// Begins to end the engine, which goes on while the pages are destroyed. Writes what is to be kept before anything
/// else is waited for: the process is ended at a fixed time after its window.
Program::~Program()
{
    m_engine.shutDown();
    m_store.flush();
}

void Program::connectConversations()
{
    const auto tell = [this](const QString& sentence) {
        m_program.say(sentence);
        if (!sentence.isEmpty())
            logWarning(QStringLiteral("conversations: ") + sentence);
    };
    m_composer.attachments()->alsoLookIn(m_store.olderAttachmentsFolder());
    QObject::connect(&m_store, &ConversationStore::failed, &m_program, tell);
    tell(m_store.notice());

    QObject::connect(&m_conversations, &ConversationsController::openRequested, &m_chat, &ChatController::open);
    QObject::connect(&m_conversations, &ConversationsController::newRequested, &m_chat,
                     &ChatController::newConversation);
    // Connected after the chat, so that the chat has left the conversation by then. If the conversation is brought
    // back, its files are those that were kept with its draft.
    QObject::connect(&m_store, &ConversationStore::trashed, m_composer.attachments(), &AttachmentModel::forget);
    QObject::connect(&m_chat, &ChatController::opened, &m_conversations, &ConversationsController::onOpened);
    QObject::connect(&m_turns, &TurnRunner::activityChanged, &m_conversations, &ConversationsController::onActivity);
    ConversationListModel* const list = m_conversations.list();
    for (const QStringList closed = m_settings.closedFolders(); const QString& folder : closed)
        list->setFolderOpen(folder, false);
    QObject::connect(list, &ConversationListModel::closedFoldersChanged, &m_settings,
                     [this, list] { m_settings.setClosedFolders(list->closedFolders()); });
    m_chat.open(m_settings.lastConversation());  // with its draft
    m_conversations.onOpened(m_chat.conversationId());
    QObject::connect(&m_chat, &ChatController::opened, &m_settings, &SettingsController::setLastConversation);
    QObject::connect(&m_store, &ConversationStore::saved, &m_settings, [this](const ConversationHeader& header) {
        if (header.id == m_chat.conversationId())  // the next start opens it again; before, it is not in the store
            m_settings.setLastConversation(header.id);
    });
}

void Program::connectSettings()
{
    applyLoadSettings();
    for (Setting* setting : {m_settings.contextTokens(), m_settings.threads(), m_settings.kvType(), m_settings.device(),
                             m_settings.emulatedMib(), m_settings.linkGb(), m_settings.gpuMib()})
        QObject::connect(setting, &Setting::changed, &m_models, [this] { applyLoadSettings(); });

    Setting* const draft = m_settings.draft();
    const auto applyDraft = [this, draft] {
        m_turns.setMostDrafted(draft->value() == SettingsController::NoDraft ? 0 : engine::kMostRowsTogether - 1);
    };
    applyDraft();
    QObject::connect(draft, &Setting::changed, &m_turns, applyDraft);

    m_program.say(m_settings.trouble());
    QObject::connect(&m_settings, &SettingsController::troubleChanged, &m_program,
                     [this] { m_program.say(m_settings.trouble()); });

    const auto applyLogLevel = [this] { setLogLevel(m_settings.logLevel()->value()); };
    applyLogLevel();
    QObject::connect(m_settings.logLevel(), &Setting::changed, &m_log, applyLogLevel);

    Setting* const language = m_settings.language();
    const auto applyLanguage = [this, language] { m_translation.use(language->names()[language->value()]); };
    QObject::connect(&m_translation, &Translation::changed, &m_qml, [this](const QString& locale) {
        m_qml.setUiLanguage(locale);
        m_qml.retranslate();
        m_pressure.retranslate();
        m_conversationSettings.retranslate();
        m_conversations.list()->regroup();
    });
    applyLanguage();
    QObject::connect(language, &Setting::changed, &m_translation, applyLanguage);
}

void Program::connectModels()
{
    const auto folders = [this] { m_catalogue.setFolders(m_settings.modelFolders(), m_settings.fetchFolder()); };
    for (const auto changed : {&SettingsController::modelFoldersChanged, &SettingsController::fetchFolderChanged})
        QObject::connect(&m_settings, changed, &m_catalogue, folders);
    folders();
    QObject::connect(&m_models, &ModelController::loadStarted, &m_turns, &TurnRunner::onLoadStarted);
    QObject::connect(&m_models, &ModelController::modelReady, &m_turns, &TurnRunner::onModelReady);
    QObject::connect(&m_models, &ModelController::modelGone, &m_turns, &TurnRunner::onModelGone);
    QObject::connect(&m_models, &ModelController::modelReady, &m_conversationSettings,
                     &ConversationSettingsController::onModelReady);
    QObject::connect(&m_models, &ModelController::modelGone, &m_conversationSettings,
                     &ConversationSettingsController::onModelGone);
    QObject::connect(m_engine.worker(), &EngineWorker::eventHappened, &m_program, logPlacement);
    QObject::connect(&m_models, &ModelController::setAside, &m_turns, &TurnRunner::onModelAside);
    QObject::connect(&m_models, &ModelController::modelGone, &m_speed, &MachineSpeed::onModelGone);
    QObject::connect(&m_turns, &TurnRunner::modelLost, &m_models, &ModelController::onModelLost);
    QObject::connect(m_chat.context(), &ChatContext::reloadRequested, &m_models, [this](int contextTokens) {
        if (!m_models.reloadWithContext(contextTokens))
            m_chat.turn()->goOnAfterLoad({});  // what was cut shall not go on with the next model
    });

    QObject::connect(&m_models, &ModelController::modelReady, &m_speed, [this](const engine::ModelInfo& model) {
        if (!m_models.current().server.isEmpty())
            return;  // a server's speed says nothing of this machine
        engine::LoadRequest request = loadRequest();
        request.model = model.path;
        request.context_tokens = model.context_in_use;
        m_speed.onModelReady(request);
    });
    QObject::connect(&m_models, &ModelController::loadStarted, &m_speed, &MachineSpeed::onModelGone);
    QObject::connect(&m_models, &ModelController::modelReady, &m_devices, [this] {
        if (m_models.current().server.isEmpty())
            m_devices.onModelReady(m_models.chosenRequest());
    });
    for (const auto answered : {&PlacementController::deviceAccepted, &PlacementController::deviceRefused,
                                &PlacementController::deviceTakenBack})
        QObject::connect(m_pressure.placement(), answered, &m_models,
                         [this] { m_models.onPlacement(m_devices.placement()); });
    QObject::connect(m_pressure.placement(), &PlacementController::kvTypeChanged, &m_speed,
                     [this] { onKvTypeChanged(); });
    QObject::connect(m_engine.worker(), &EngineWorker::finished, &m_speed,
                     [this](quint64, const engine::Turn& turn, bool alone) {
                         if (alone && m_pressure.placement()->forecast()->outran(turn.telemetry))
                             m_speed.onOutrun(presentRequest());
                     });
    QObject::connect(&m_speed, &MachineSpeed::changed, &m_models, [this] { applyLoadSettings(); });
    const auto predict = [this] { m_pressure.setRates(m_speed.rates(m_settings.threads()->value())); };
    QObject::connect(&m_speed, &MachineSpeed::changed, &m_pressure, predict);
    QObject::connect(m_settings.threads(), &Setting::changed, &m_pressure, predict);
    predict();
    QObject::connect(m_pressure.doctor(), &DoctorController::threadsRequested, &m_settings,
                     [this](int threads) { m_settings.threads()->follow(threads); });

    QObject::connect(&m_models, &ModelController::loadStarted, &m_program, [this] {
        if (!isElsewhere(m_models.path()))  // a model of a server cannot make the program crash
            m_loadMarker.begin(m_models.path());
    });
    QObject::connect(&m_models, &ModelController::modelGone, &m_program, [this] { m_loadMarker.end(); });
    EngineWorker* const worker = m_engine.worker();
    QObject::connect(worker, &EngineWorker::promptCounted, &m_program, [this] { m_loadMarker.prompted(); });
    QObject::connect(worker, &EngineWorker::promptReady, &m_program, [this] { m_loadMarker.prompted(); });
    QObject::connect(worker, &EngineWorker::failed, &m_program, [this] { m_loadMarker.prompted(); });
    QObject::connect(&m_models, &ModelController::modelReady, &m_program, [this] {
        m_loadMarker.loaded();
        m_settings.setLastModel(m_models.path() == m_guide ? QString() : m_models.path());
        logInfo(QStringLiteral("loaded ") + m_models.path());
    });
    QObject::connect(&m_models, &ModelController::errorChanged, &m_program, [this] {
        if (!m_models.error().isEmpty())
            logWarning(QStringLiteral("models: ") + m_models.error());
    });
    QObject::connect(&m_program, &ProgramController::guideRequested, &m_models,
                     [this](const QString& file) { m_models.openAndLoad(file); });
}

void Program::overrideSettings(const CommandLine& commandLine)
{
    const auto override = [](Setting* setting, const auto& value) {
        if (value)
            setting->override(int(*value));
    };
    override(m_settings.contextTokens(), commandLine.contextTokens);
    override(m_settings.threads(), commandLine.threads);
    override(m_settings.kvType(), commandLine.kvType);
    override(m_settings.device(), commandLine.device);
    override(m_settings.theme(), commandLine.theme);
    override(m_settings.language(), commandLine.language);
}

engine::LoadRequest Program::loadRequest()
{
    engine::LoadRequest request;
    request.context_tokens = m_settings.contextTokens()->value();
    request.threads = m_settings.threads()->value();
    request.k_type = request.v_type = engine::kKvTypes[std::size_t(m_settings.kvType()->value())].type;
    request.placement = m_devices.placement();
    request.placement.rates = m_speed.rates(request.threads);
    return request;
}

/// Makes the open model's new types of KV the setting, too: KV that is saved in them can be read at the next start only
/// if the model is loaded with the same types.
void Program::onKvTypeChanged()
{
    const engine::LoadRequest request = presentRequest();
    m_models.onKvTypes(request.k_type, request.v_type);
    if (m_pressure.placement()->kvType() >= 0)
        m_settings.kvType()->follow(m_pressure.placement()->kvType());
    m_speed.onModelReady(request);
}

/// Returns the request that would load the open model again, with what was changed since it was loaded.
engine::LoadRequest Program::presentRequest()
{
    engine::LoadRequest request = m_pressure.placement()->request();
    request.threads = m_settings.threads()->value();
    return request;
}

ExperimentsController::World Program::experimentsWorld(const ProfileFolders& folders)
{
    return {.program = ExperimentRunner::findProgram(),
            .folder = folders.data + QStringLiteral("/experiments"),
            .files =
                [this] {
                    return experimentFiles(m_models.current(), m_catalogue.openId(), m_guide, m_catalogue.measurable());
                },
            .devices = engine::devices,
            .choices = [this] { return loadRequest(); }};
}

Fetching::World Program::fetchingWorld(const ProfileFolders& folders)
{
    return {.source = hubSource(std::filesystem::path(folders.data.toStdU16String()), secrets::system_secret_store()),
            .permission = m_settings.findModels(),
            .megabytesPerS = m_settings.fetchMegabytesPerS(),
            .folder = [this] { return m_settings.fetchFolder(); },
            .listFile = folders.data + QStringLiteral("/fetches.json"),
            .request =
                [this] {
                    engine::LoadRequest request = loadRequest();
                    // The open model would be closed for the other one: then only other programs hold memory.
                    const PlacementController& open = *m_pressure.placement();
                    const engine::PlacementOptions& on = open.request().placement;
                    if (open.available() && on.device == request.placement.device &&
                        on.cuda_ordinal == request.placement.cuda_ordinal)
                        request.placement.other_programs_bytes = std::int64_t(open.otherProgramsBytes());
                    return request;
                },
            .memory = engine::machine_memory,
            .machine = {.rates = [this](int threads) { return m_speed.rates(threads); },
                        .measure = MachineSpeed::measureFor,
                        .keep = [this](const engine::MachineRates& rates) { m_speed.keep(rates); },
                        .busy =
                            [this] {
                                const bool loads = m_models.phase() == ModelController::Loading ||
                                                   m_models.phase() == ModelController::Cancelling;
                                return m_turns.busy() || m_shared.guest_turns() > 0 || loads || m_speed.measuring() ||
                                       m_experiments.busy();
                            },
                        .program = ExperimentRunner::findProgram(),
                        .folder = folders.cache}};
}

void Program::connectFetching()
{
    ModelPage* const page = m_fetching.page();
    const auto yield = [page] {
        page->outlook()->yield();
        page->trial()->stop();
    };
    const auto refresh = [page] { page->outlook()->refresh(); };
    EngineWorker* const worker = m_engine.worker();
    QObject::connect(worker, &EngineWorker::promptReady, page, yield);
    QObject::connect(&m_models, &ModelController::loadStarted, page, yield);
    QObject::connect(&m_models, &ModelController::modelReady, page, refresh);
    m_speed.setOthers([this, page] { return m_shared.guest_turns() > 0 || page->outlook()->measuring(); });
    m_shared.set_on_guest_turn([this, yield] {
        // Posted to the server's controller, since that is destroyed before all else that is used here.
        QMetaObject::invokeMethod(
            &m_server,
            [this, yield] {
                yield();
                m_speed.onOthers();
            },
            Qt::QueuedConnection);
    });
    QObject::connect(&m_server, &ServerController::trafficChanged, page, [this, refresh, answered = false]() mutable {
        if (std::exchange(answered, m_server.answers()) && !m_server.answers())
            refresh();
    });
    QObject::connect(&m_experiments, &ExperimentsController::stateChanged, page, [this, yield] {
        if (m_experiments.busy())
            yield();
    });
    QObject::connect(worker, &EngineWorker::rested, page, refresh);
    QObject::connect(&m_speed, &MachineSpeed::changed, page, refresh);
    for (const auto signal : {&FetchQueue::fetched, &FetchQueue::removed})
        QObject::connect(m_fetching.queue(), signal, &m_catalogue, &CatalogueController::rescan);
    QObject::connect(&m_fetching, &Fetching::openRequested, &m_catalogue, &CatalogueController::openFile);
    ModelRemover* const remover = m_catalogue.remover();
    remover->setInUse([this](const QStringList& files) {
        if (m_experiments.busy())
            return ModelRemover::tr("An experiment is measuring models. Wait for its end, or cancel it.");
        return m_fetching.queue()->needs(files)
                   ? ModelRemover::tr("It is being fetched. Take it off the list of what is fetched first.")
                   : QString();
    });
    QObject::connect(remover, &ModelRemover::removed, m_fetching.queue(),
                     [this](const ModelRemoval& removal, bool gone) {
                         m_fetching.onDeleted();
                         if (gone && m_settings.lastModel() == removal.path)
                             m_settings.setLastModel({});  // the next start shall not look for it
                     });
}

void Program::connectServers()
{
    const auto list = [this] {
        m_catalogue.setElsewhere(m_servers.models());
        m_models.setServerOf([this](const QString& path) { return m_servers.serverOf(path); });
    };
    QObject::connect(&m_servers, &Servers::modelsChanged, &m_catalogue, list);
    list();
    QObject::connect(&m_models, &ModelController::modelReady, &m_servers, [this] {
        QStringList keys;
        for (const SamplingControl& control : samplingControls())
            keys.append(QLatin1String(control.key));
        m_conversationSettings.sampling()->setUnknown(m_servers.unknown(m_models.current().path, keys));
    });
    QObject::connect(&m_models, &ModelController::modelGone, &m_servers,
                     [this] { m_conversationSettings.sampling()->setUnknown({}); });
    QObject::connect(&m_models, &ModelController::currentChanged, &m_serverLoad,
                     [this] { m_serverLoad.onModel(m_models.current().path, m_models.current().server); });
    QObject::connect(&m_turns, &TurnRunner::turnBegan, &m_serverLoad, &ServerLoad::onTurn);
    QObject::connect(m_engine.worker(), &EngineWorker::telemetryReady, &m_serverLoad, &ServerLoad::onFrame);
    QObject::connect(
        m_engine.worker(), &EngineWorker::finished, &m_serverLoad,
        [this](quint64 number, const engine::Turn& turn) { m_serverLoad.onAnswer(number, turn.telemetry.ttft_ms); });
    QObject::connect(m_engine.worker(), &EngineWorker::failed, &m_serverLoad, &ServerLoad::onFailed);
    QObject::connect(&m_chat, &ChatController::opened, &m_serverLoad, &ServerLoad::onConversation);
    m_serverLoad.onConversation(m_chat.conversationId());
    m_fetching.contacts()->addSource([this] { return m_servers.connections(); });
}

void Program::connectServer()
{
    QObject::connect(&m_models, &ModelController::modelReady, &m_server, [this](const engine::ModelInfo& model) {
        m_server.onModel(QString::fromStdU16String(model.path.u16string()));
    });
    QObject::connect(&m_models, &ModelController::modelGone, &m_server, [this] { m_server.onModel({}); });
    QObject::connect(&m_models, &ModelController::loadStarted, &m_server, [this] { m_server.onModel({}); });
}

void Program::applyLoadSettings()
{
    m_models.setDefaults(loadRequest());
    m_catalogue.setLoadRequest(loadRequest());
}

void Program::prepare()
{
    if (!graphicsDriverDraws()) {
        logInfo(QStringLiteral("no graphics driver: the processor draws"));
        QQuickWindow::setGraphicsApi(QSGRendererInterface::Software);
    }
    QQuickStyle::setStyle(QStringLiteral("Basic"));  // the plainest style, on which ours is built
    for (const char* weight : {"Regular", "Medium", "SemiBold"})
        QFontDatabase::addApplicationFont(QStringLiteral(":/fonts/Inter-%1.otf").arg(QLatin1String(weight)));
    // Theme's names of these families are known to fontconfig only, so other systems need names of their own.
    QFont::insertSubstitutions(QStringLiteral("monospace"),
                               {QStringLiteral("Consolas"), QStringLiteral("Courier New")});
    QFont::insertSubstitutions(QStringLiteral("serif"), {QStringLiteral("Cambria"), QStringLiteral("Times New Roman")});
    QFont font(QStringLiteral("Inter"));
    font.setPixelSize(15);
    QGuiApplication::setFont(font);
    QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/spillway.svg")));
}

/// Ends the process because the engine does not stop. What people wrote is put on disk first; the KV that the engine
/// would have saved is computed again later.
void Program::leave()
{
    m_store.flush();
    logWarning(QStringLiteral("the engine does not stop; the program ends without it"));
    flushLog();
    std::_Exit(0);
}

bool Program::open()
{
    logInfo(QStringLiteral("Spillway " SPILLWAY_VERSION " on Qt ") + QLatin1String(qVersion()));
    m_qml.addImportPath(QStringLiteral("qrc:/qt/qml"));  // Qt 6.5 and later look there by themselves
    m_qml.setInitialProperties({
        {QStringLiteral("chat"), QVariant::fromValue(&m_chat)},
        {QStringLiteral("conversations"), QVariant::fromValue(&m_conversations)},
        {QStringLiteral("composer"), QVariant::fromValue(&m_composer)},
        {QStringLiteral("conversationSettings"), QVariant::fromValue(&m_conversationSettings)},
        {QStringLiteral("models"), QVariant::fromValue(&m_models)},
        {QStringLiteral("catalogue"), QVariant::fromValue(&m_catalogue)},
        {QStringLiteral("settings"), QVariant::fromValue(&m_settings)},
        {QStringLiteral("program"), QVariant::fromValue(&m_program)},
        {QStringLiteral("log"), QVariant::fromValue(&m_shownLog)},
        {QStringLiteral("pressure"), QVariant::fromValue(&m_pressure)},
        {QStringLiteral("experiments"), QVariant::fromValue(&m_experiments)},
        {QStringLiteral("fetching"), QVariant::fromValue(&m_fetching)},
        {QStringLiteral("servers"), QVariant::fromValue(&m_servers)},
        {QStringLiteral("serverLoad"), QVariant::fromValue(&m_serverLoad)},
        {QStringLiteral("server"), QVariant::fromValue(&m_server)},
    });
    m_qml.load(QUrl(QStringLiteral("qrc:/qt/qml/Spillway/Ui/Main.qml")));
    if (m_qml.rootObjects().isEmpty())
        return false;
    drawFirst();
    auto* const window = qobject_cast<QQuickWindow*>(m_qml.rootObjects().constFirst());
    // Where Qt draws on a thread of its own, drawFirst() is called on that thread, too.
    QObject::connect(window, &QQuickWindow::beforeSynchronizing, window, &drawFirst,
                     Qt::ConnectionType(Qt::DirectConnection | Qt::SingleShotConnection));
    measureStart();
    openFirstModel();
    return true;
}

void Program::openFirstModel()
{
    const auto wish = SettingsController::StartWith(m_settings.startWith()->value());
    StartModel::Given given{.named = m_namedModel,
                            .last = m_settings.lastModel(),
                            .diedOf = m_loadMarker.diedOf(),
                            .guide = m_guide,
                            .wish = wish};
    if (!m_loadMarker.diedOf().isEmpty())
        m_settings.setLastModel({});  // the start after this one shall not open it either
    if (!given.goesByLast())
        return openFirst(StartModel::choose(given));
    inBackground(
        &m_program, [last = given.last] { return QFileInfo(last).isFile(); },
        [this, given](bool there) mutable {
            if (m_models.phase() != ModelController::Idle || m_models.current().known())
                return;  // the user has opened a model meanwhile
            given.lastIsThere = there;
            openFirst(StartModel::choose(given));
        });
}

void Program::openFirst(const StartModel& start)
{
    m_program.say(start.sentence);
    if (isElsewhere(start.file) && m_namedModel.isEmpty())
        *m_mayAsk = secrets::MayAsk::No;  // nobody is asked to unlock its key unless the user tries again
    if (!start.file.isEmpty())
        m_models.openAndLoad(start.file);
}

void Program::measureStart()
{
    auto* const window = qobject_cast<QQuickWindow*>(m_qml.rootObjects().constFirst());
    if (!window)
        return;
    const auto note = [this](const char* what) {
        const auto age = processAge();
        if (!age)
            return;
        logInfo(QStringLiteral("%1 %2 ms after the start of the process").arg(QLatin1String(what)).arg(age->count()));
        if (m_measuresStart) {
            std::printf("%s %lld\n", what, static_cast<long long>(age->count()));
            std::fflush(stdout);
        }
    };
    QObject::connect(
        window, &QQuickWindow::frameSwapped, &m_program, [note] { note("window"); }, Qt::SingleShotConnection);
    QObject::connect(
        &m_models, &ModelController::modelReady, &m_program, [note] { note("model"); }, Qt::SingleShotConnection);
}

void Program::onStartedAgain(const QString& file)
{
    Q_EMIT m_program.raiseRequested();
    if (!file.isEmpty())
        m_models.open(QUrl::fromLocalFile(file));
}
