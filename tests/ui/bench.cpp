#include "tests/ui/bench.h"

#include "app/chat/sampling_control.h"
#include "app/experiments/experiment_files.h"
#include "app/system/remote_path.h"
#include "tests/support/models.h"
#include "tests/ui/accessible_tree.h"
#include "tests/ui/memory_folder.h"
#include "tests/ui/script_words.h"

#include <QClipboard>
#include <QDir>
#include <QDropEvent>
#include <QEventLoop>
#include <QFile>
#include <QGuiApplication>
#include <QImage>
#include <QMimeData>
#include <QQmlEngine>
#include <QQuickWindow>
#include <QSet>
#include <QTcpSocket>
#include <QTest>
#include <QTimer>

namespace {

constexpr const char* kMixture = "mixture";  // the one model whose file is real; the others are empty

/// Finds the item of that object name which is nearest: among the children, then below each of them in turn.
QQuickItem* visualChild(const QQuickItem* parent, const QString& name)
{
    const QList<QQuickItem*> children = parent->childItems();
    for (QQuickItem* const child : children)
        if (child->objectName() == name)
            return child;
    for (const QQuickItem* const child : children)
        if (QQuickItem* const found = visualChild(child, name))
            return found;
    return nullptr;
}

/// Keeps QML from owning the object. QML takes an object without a parent that a function returns for its own, and
/// deletes it when no JavaScript refers to it any more.
template <class Object>
Object* kept(Object* object)
{
    if (object && QQmlEngine::objectOwnership(object) == QQmlEngine::CppOwnership)
        QQmlEngine::setObjectOwnership(object, QQmlEngine::CppOwnership);
    return object;
}

}  // namespace

Bench::Bench()
    : m_script(std::make_shared<FakeScript>())
{
}

Bench::~Bench() = default;

void Bench::reset(const QVariantMap& changes)
{
    clear();
    m_script = std::make_shared<FakeScript>();
    script(changes);
    m_settings = std::make_unique<SettingsController>();
    m_settings->panelShown()->setValue(changes.value(QStringLiteral("panel")).toBool() ? 1 : 0);
    m_program = std::make_unique<ProgramController>(ProfileFolders::of(QStringLiteral("/nowhere")),
                                                    QStringLiteral("/models/guide.gguf"));
    m_feed = std::make_shared<LogFeed>();
    m_log = std::make_unique<LogModel>(m_feed);
    m_shownLog = std::make_unique<ShownLog>(*m_log);
    const bool real = changes.value(QStringLiteral("real")).toBool();
    m_door = remoteDoor(nullptr);
    std::unique_ptr<engine::Engine> here = real ? engine::make_engine() : std::make_unique<FakeEngine>(m_script);
    m_shared = std::make_unique<server::SharedEngine>(m_door ? m_door->engine(std::move(here)) : std::move(here));
    m_thread = std::make_unique<EngineThread>([this] { return m_shared->owner(); });
    engine::Request request;
    request.max_tokens = changes.value(QStringLiteral("maxTokens"), -1).toInt();
    engine::LoadRequest load;
    load.context_tokens = real ? changes.value(QStringLiteral("context")).toInt() : 0;
    m_folder = memoryFolder();
    m_store = std::make_unique<ConversationStore>(m_folder->path());
    m_open = std::make_unique<OpenConversations>(*m_store);
    m_turns = std::make_unique<TurnRunner>(*m_thread, *m_store, *m_open, request);
    m_turns->setMostAtOnce(changes.value(QStringLiteral("atOnce"), kMostAnswersAtOnce).toInt());
    m_chat = std::make_unique<ChatController>(*m_thread, *m_store, *m_open, *m_turns);
    m_conversations = std::make_unique<ConversationsController>(*m_store);
    connect(m_conversations.get(), &ConversationsController::openRequested, m_chat.get(), &ChatController::open);
    connect(m_conversations.get(), &ConversationsController::newRequested, m_chat.get(),
            &ChatController::newConversation);
    connect(m_chat.get(), &ChatController::opened, m_conversations.get(), &ConversationsController::onOpened);
    connect(m_turns.get(), &TurnRunner::activityChanged, m_conversations.get(), &ConversationsController::onActivity);
    m_composer = std::make_unique<ComposerController>(*m_chat, *m_turns, *m_thread, m_store->attachmentsFolder());
    m_conversationSettings = std::make_unique<ConversationSettingsController>(*m_chat, *m_store, request);
    m_models = std::make_unique<ModelController>(
        *m_thread,
        [script = m_script, door = m_door, real](const auto& path, const auto& stop) {
            if (isElsewhere(QString::fromStdU16String(path.u16string())))
                return door->inspect(path, secrets::MayAsk::Yes, stop);
            return real ? engine::inspect_model(path, stop) : inspect_fake(*script, path);
        },
        load);
    m_pressure = std::make_unique<Pressure>(*m_thread, *m_models);
    m_pressure->follow(*m_chat, *m_turns, *m_store);
    m_devices = std::make_unique<DeviceController>(*m_settings, *m_pressure->placement(), load.placement,
                                                   [names = changes.value(QStringLiteral("gpus")).toStringList(),
                                                    why = changes.value(QStringLiteral("noGpu")).toString()] {
                                                       DeviceController::Found machine;
                                                       machine.devices.emplace_back().id = "cpu";
                                                       for (const QString& name : names) {
                                                           const std::size_t place = machine.devices.size() - 1;
                                                           engine::DeviceInfo& gpu = machine.devices.emplace_back();
                                                           gpu.id = "cuda:" + std::to_string(place);
                                                           gpu.description = name.toStdString();
                                                           gpu.memory_total_bytes = std::int64_t(8) << 30;
                                                       }
                                                       machine.whyNoGpu = why.toStdString();
                                                       return machine;
                                                   });
    m_pressure->offerDevices(m_devices.get());
    connect(m_models.get(), &ModelController::modelReady, m_devices.get(),
            [this] { m_devices->onModelReady(m_models->loadedRequest()); });
    m_modelFolder = std::make_unique<QTemporaryDir>();
    CatalogueController::World world;
    world.inspect = [script = m_script](const auto& path, const auto&) {
        return path.stem() == kMixture ? engine::inspect_model(path) : inspect_fake(*script, path);
    };
    world.otherPlaces = [at = m_modelFolder->path()] { return QList<StoreFolder>{{Store::LmStudio, at}}; };
    world.memory = [this] { return engine::MachineMemory{std::int64_t(16e9), std::int64_t(m_availableBytes)}; };
    world.mayDraft = [](const auto&, const std::filesystem::path& draft) {
        return draft.stem().string().find("other") == std::string::npos;
    };
    m_catalogue = std::make_unique<CatalogueController>(*m_models, world);
    m_pressure->offerDrafts(*m_catalogue, *m_settings->draft());
    for (const auto changed : {&SettingsController::modelFoldersChanged, &SettingsController::fetchFolderChanged})
        connect(m_settings.get(), changed, m_catalogue.get(),
                [this] { m_catalogue->setFolders(m_settings->modelFolders(), m_settings->fetchFolder()); });
    connect(m_models.get(), &ModelController::loadStarted, m_turns.get(), &TurnRunner::onLoadStarted);
    connect(m_models.get(), &ModelController::modelReady, m_turns.get(), &TurnRunner::onModelReady);
    connect(m_models.get(), &ModelController::modelGone, m_turns.get(), &TurnRunner::onModelGone);
    connect(m_models.get(), &ModelController::modelReady, m_conversationSettings.get(),
            &ConversationSettingsController::onModelReady);
    connect(m_models.get(), &ModelController::modelGone, m_conversationSettings.get(),
            &ConversationSettingsController::onModelGone);
    connect(m_turns.get(), &TurnRunner::modelLost, m_models.get(), &ModelController::onModelLost);
    connect(m_chat->context(), &ChatContext::reloadRequested, m_models.get(), &ModelController::reloadWithContext);
    connect(m_models.get(), &ModelController::setAside, m_turns.get(), &TurnRunner::onModelAside);
    m_experimentFiles = changes.value(QStringLiteral("experimentFiles")).toStringList();
    restartExperiments();
    connect(m_program.get(), &ProgramController::guideRequested, m_models.get(),
            [this](const QString& file) { m_models->openAndLoad(file); });
    if (changes.value(QStringLiteral("hub")).toBool())
        m_hub = serveHub(m_modelFolder->path());
    restartFetching();
    if (changes.value(QStringLiteral("server")).toBool())
        m_server = serveModel();
    m_servers = std::make_unique<Servers>(m_door, m_folder->filePath(QStringLiteral("servers.json")));
    connect(m_servers.get(), &Servers::modelsChanged, m_catalogue.get(), [this] {
        m_catalogue->setElsewhere(m_servers->models());
        m_models->setServerOf([this](const QString& path) { return m_servers->serverOf(path); });
    });
    connect(m_models.get(), &ModelController::modelReady, m_servers.get(), [this] {
        QStringList keys;
        for (const SamplingControl& control : samplingControls())
            keys.append(QLatin1String(control.key));
        m_conversationSettings->sampling()->setUnknown(m_servers->unknown(m_models->current().path, keys));
    });
    m_serverLoad = std::make_unique<ServerLoad>(m_door, 100);
    connect(m_models.get(), &ModelController::currentChanged, m_serverLoad.get(),
            [this] { m_serverLoad->onModel(m_models->current().path, m_models->current().server); });
    m_fetching->contacts()->addSource([this] { return m_servers->connections(); });
    m_settings->serverPort()->setValue(freePort());
    m_localServer =
        std::make_unique<ServerController>(*m_shared, *m_settings->serverPort(), *m_settings->serverAsksKey(),
                                           m_folder->filePath(QStringLiteral("server-key")));
    connect(m_models.get(), &ModelController::modelReady, m_localServer.get(), [this](const engine::ModelInfo& model) {
        m_localServer->onModel(QString::fromStdU16String(model.path.u16string()));
    });
    connect(m_models.get(), &ModelController::modelGone, m_localServer.get(), [this] { m_localServer->onModel({}); });
    Q_EMIT changed();
}

void Bench::restartExperiments()
{
    m_experiments.reset();
    ExperimentsController::World lab;
    lab.program = QStringLiteral(FAKE_BENCH);
    lab.folder = m_folder->filePath(QStringLiteral("experiments"));
    lab.files = [this] {
        auto files = experimentFiles(m_models->current(), m_catalogue->openId(), {}, m_catalogue->measurable());
        for (const QString& name : std::as_const(m_experimentFiles))
            files.append(ExperimentDraft::Candidate{
                {name, m_folder->filePath(name), {}, name.contains(QLatin1String("experts"))}, {}});
        return files;
    };
    lab.devices = [] { return std::vector<engine::DeviceInfo>(); };
    lab.choices = [] { return engine::LoadRequest(); };
    m_experiments = std::make_unique<ExperimentsController>(*m_turns, *m_models, lab);
}

void Bench::restartFetching()
{
    m_fetching.reset();
    Fetching::World world;
    if (m_hub)
        world.source = hubSource(std::filesystem::path(m_folder->path().toStdU16String()), nullptr);
    world.permission = m_settings->findModels();
    world.listFile = m_folder->filePath(QStringLiteral("fetches.json"));
    world.request = [] { return engine::LoadRequest(); };
    world.memory = [this] { return engine::MachineMemory{std::int64_t(16e9), std::int64_t(m_availableBytes)}; };
    world.machine.program = QStringLiteral(FAKE_BENCH);
    world.machine.folder = m_folder->filePath(QStringLiteral("made"));
    m_fetching = std::make_unique<Fetching>(std::move(world));
    for (const auto signal : {&FetchQueue::fetched, &FetchQueue::removed})
        connect(m_fetching->queue(), signal, m_catalogue.get(), &CatalogueController::rescan);
    connect(m_fetching.get(), &Fetching::openRequested, m_catalogue.get(), &CatalogueController::openFile);
}

QString Bench::ask(const QString& path, const QString& key, const QString& body) const
{
    QTcpSocket socket;
    socket.connectToHost(QStringLiteral("127.0.0.1"), quint16(m_settings->serverPort()->value()));
    if (!socket.waitForConnected(5000))
        return {};
    const QByteArray text = body.toUtf8();
    QByteArray head =
        (body.isEmpty() ? "GET " : "POST ") + path.toUtf8() + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    if (!key.isEmpty())
        head += "Authorization: Bearer " + key.toUtf8() + "\r\n";
    if (!body.isEmpty())
        head += "Content-Length: " + QByteArray::number(text.size()) + "\r\n";
    socket.write(head + "\r\n" + text);
    QByteArray heard;
    while (socket.state() == QAbstractSocket::ConnectedState && socket.waitForReadyRead(60'000))
        heard += socket.readAll();
    heard += socket.readAll();
    return QString::fromUtf8(heard.mid(9, 4) + heard.mid(heard.indexOf("\r\n\r\n") + 4));
}

int Bench::takePort()
{
    m_squatter = std::make_unique<QTcpServer>();
    m_squatter->listen(QHostAddress::LocalHost);
    return m_squatter->serverPort();
}

int Bench::freePort() const
{
    QTcpServer probe;
    probe.listen(QHostAddress::LocalHost);
    return probe.serverPort();
}

QString Bench::guide() const
{
    return QStringLiteral(SPILLWAY_SOURCE_DIR) + QStringLiteral("/resources/guide-model/guide.gguf");
}

void Bench::hub(int status, int answerMs, int pieceMs)
{
    m_hub->answerWith(status);
    m_hub->slowDown(answerMs, pieceMs);
}

void Bench::clear()
{
    m_localServer.reset();
    m_squatter.reset();
    m_serverLoad.reset();
    m_servers.reset();
    m_server.reset();
    m_fetching.reset();
    m_hub.reset();
    m_experiments.reset();
    m_devices.reset();
    m_pressure.reset();
    m_catalogue.reset();
    m_models.reset();
    m_conversations.reset();
    m_conversationSettings.reset();
    m_composer.reset();
    m_chat.reset();
    m_turns.reset();
    m_open.reset();
    m_store.reset();
    m_folder.reset();
    m_thread.reset();
    m_shared.reset();
    m_shownLog.reset();
    m_log.reset();
    m_program.reset();
    m_settings.reset();
}

void Bench::followSettings()
{
    const auto apply = [this] {
        engine::LoadRequest request;
        request.context_tokens = m_settings->contextTokens()->value();
        m_models->setDefaults(request);
    };
    apply();
    connect(m_settings->contextTokens(), &Setting::changed, m_models.get(), apply);
}

QObject* Bench::child(QObject* parent, const QString& name) const
{
    auto* const item = qobject_cast<QQuickItem*>(parent);
    QObject* const visual = item ? visualChild(item, name) : nullptr;
    return kept(visual || !parent ? visual : parent->findChild<QObject*>(name));
}

QQuickItem* Bench::seen(QQuickItem* item, const QString& name) const
{
    if (item->objectName() == name)
        return kept(item);
    for (QQuickItem* const child : item->childItems())
        if (QQuickItem* const found = seen(child, name))
            return found;
    return nullptr;
}

void Bench::holdKey(QQuickItem* item, int key) const
{
    constexpr int kRepeats = 5;
    for (int i = 0; i <= kRepeats; ++i)
        QTest::simulateEvent(item->window(), true, key, {}, {}, i > 0);
    QTest::simulateEvent(item->window(), false, key, {}, {}, false);
}

void Bench::nextFrame(QQuickItem* item) const
{
    QQuickWindow* const window = item->window();
    if (!window)
        return;
    QEventLoop loop;
    connect(window, &QQuickWindow::frameSwapped, &loop, &QEventLoop::quit);
    QTimer::singleShot(1000, &loop, &QEventLoop::quit);  // a window that is hidden draws none
    window->update();
    loop.exec();
}

void Bench::logLine(int level, const QString& text)
{
    m_feed->add({0, level, text});
}

void Bench::script(const QVariantMap& changes)
{
    m_script->change([&](FakeScript::Settings& settings) { changeScript(settings, changes); });
}

void Bench::putModels(const QStringList& files, double availableBytes)
{
    m_availableBytes = availableBytes;
    for (const QString& name : files) {
        QFile file(m_modelFolder->filePath(name));
        QDir().mkpath(QFileInfo(file).path());
        if (!file.open(QFile::WriteOnly))
            qFatal("cannot write %s", qPrintable(name));
    }
}

void Bench::putMixture(int layersWithoutExperts)
{
    const QString path = m_modelFolder->filePath(QStringLiteral("%1.gguf").arg(QLatin1String(kMixture)));
    if (!QFile::exists(path) && !QFile::copy(test_support::own_models_folder() + "/gpt-oss.gguf", path))
        qFatal("cannot write %s", qPrintable(path));
    engine::LoadRequest request;
    request.context_tokens = 512;
    request.prefill_chunk_tokens = 32;
    request.placement.device = engine::PlacementOptions::Device::Emulated;
    request.placement.emulated.fit_tokens = 256;
    request.placement.host_expert_layers = layersWithoutExperts;
    m_catalogue->setLoadRequest(request);
}

QUrl Bench::modelFolder(const QString& below) const
{
    return QUrl::fromLocalFile(m_modelFolder->filePath(below));
}

void Bench::openAtOnce(const QString& path)
{
    m_models->openAndLoad(path);
}

int Bench::requestCount() const
{
    return int(m_script->requests().size());
}

QString Bench::lastDraftModel() const
{
    const auto loads = m_script->loads();
    return loads.empty() ? QString() : QString::fromStdU16String(loads.back().draft_model.u16string());
}

QString Bench::lastPrompt() const
{
    const auto requests = m_script->requests();
    if (requests.empty())
        return {};
    const engine::Request& last = requests.back();
    return QString::fromStdString(last.messages.empty() ? last.raw_prompt : last.messages.back().text);
}

QStringList Bench::commands() const
{
    return inWords(m_script->commands());
}

void Bench::move(int firstToken, int lastToken)
{
    Q_EMIT m_thread->worker()->eventHappened({.kind = engine::Event::Kind::Offload,
                                              .cause = engine::Event::Cause::Watermark,
                                              .bytes = 4096,
                                              .blocks = 16,
                                              .tokens = {firstToken, lastToken + 1},
                                              .duration_us = 12,
                                              .sentence = {}});
}

bool Bench::remove(const QString& file) const
{
    return QFile::remove(file);
}

QString Bench::textOf(const QUrl& file) const
{
    QFile opened(file.toLocalFile());
    return opened.open(QIODevice::ReadOnly) ? QString::fromLatin1(opened.readAll()) : QString();
}

QUrl Bench::file(const QString& name, const QString& text) const
{
    QFile file(m_folder->filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text.toUtf8()) < 0)
        qFatal("cannot write a test's file");
    return QUrl::fromLocalFile(file.fileName());
}

void Bench::copy(const QString& text, const QList<QUrl>& files)
{
    auto held = std::make_unique<QMimeData>();
    if (!text.isEmpty())
        held->setText(text);
    if (!files.isEmpty())
        held->setUrls(files);
    QGuiApplication::clipboard()->setMimeData(held.release());
}

void Bench::copyPicture()
{
    QImage picture(2, 2, QImage::Format_RGB32);
    picture.fill(Qt::red);
    QGuiApplication::clipboard()->setImage(picture);
}

int Bench::dropToMove(QQuickItem* item, const QList<QUrl>& files, int actions) const
{
    QMimeData held;
    held.setUrls(files);
    const QPointF middle = item->mapToScene({item->width() / 2, item->height() / 2});
    const Qt::DropActions possible(actions);
    const auto shift = Qt::ShiftModifier;  // with which moving is what is proposed
    QDragEnterEvent enter(middle.toPoint(), possible, &held, Qt::LeftButton, shift);
    QCoreApplication::sendEvent(item->window(), &enter);
    QDragMoveEvent move(middle.toPoint(), possible, &held, Qt::LeftButton, shift);
    QCoreApplication::sendEvent(item->window(), &move);
    QDropEvent drop(middle, possible, &held, Qt::LeftButton, shift);
    if (drop.proposedAction() != Qt::MoveAction)
        qFatal("nothing proposes to move");
    QCoreApplication::sendEvent(item->window(), &drop);
    return drop.isAccepted() ? drop.dropAction() : Qt::IgnoreAction;
}

QVariantMap Bench::lastRequest() const
{
    const auto requests = m_script->requests();
    if (requests.empty())
        return {};
    const engine::Request& last = requests.back();
    return {
        {"system", last.messages.empty() || last.messages[0].role != "system"
                       ? QString()
                       : QString::fromStdString(last.messages[0].text)},
        {"temperature", last.sampling.temperature},
        {"topK", last.sampling.top_k},
        {"maxTokens", last.max_tokens},
        {"seed", last.sampling.seed ? QVariant(double(*last.sampling.seed)) : QVariant()},
        {"arguments", QString::fromStdString(last.template_arguments_json)},
    };
}

QString Bench::clipboard() const
{
    return QGuiApplication::clipboard()->text();
}

QStringList Bench::controls(QQuickItem* root) const
{
    return accessibleControls(root, Naming::All);
}

QStringList Bench::namelessControls(QQuickItem* root) const
{
    return accessibleControls(root, Naming::Nameless);
}

QStringList Bench::unspokenStops(QQuickItem* root) const
{
    return ::unspokenStops(root);
}

QStringList Bench::unreachable(QQuickItem* root) const
{
    const QList<QQuickItem*> wanted = tabStops(root);
    QQuickItem* const start = root->window()->activeFocusItem();
    const auto walk = [&] {
        QSet<const QQuickItem*> seen;
        for (qsizetype i = 0; i < 2 * wanted.size() + 10; ++i) {
            QTest::keyClick(root->window(), Qt::Key_Tab);
            // A control may hand the keyboard on to a part of it.
            for (const QQuickItem* item = root->window()->activeFocusItem(); item; item = item->parentItem())
                seen.insert(item);
        }
        return seen;
    };
    QStringList missed;
    for (const char* round : {"", " in the second round"}) {
        const QSet<const QQuickItem*> seen = walk();
        for (const QQuickItem* item : wanted)
            if (!seen.contains(item))
                missed +=
                    QStringLiteral("%1 “%2”%3")
                        .arg(QLatin1String(item->metaObject()->className()), item->objectName(), QLatin1String(round));
    }
    if (start)
        start->forceActiveFocus();
    return missed;
}

QString Bench::focusName(QQuickItem* root) const
{
    const QQuickItem* item = root->window()->activeFocusItem();
    while (item && item->objectName().isEmpty())
        item = item->parentItem();
    return item ? item->objectName() : QString();
}

#include "moc_bench.cpp"
