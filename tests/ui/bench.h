// Bench gives the QML tests the program's controllers on a fake engine.
#pragma once

#include "app/about/program_controller.h"
#include "app/catalogue/catalogue_controller.h"
#include "app/catalogue/model_controller.h"
#include "app/chat/chat_controller.h"
#include "app/chat/composer_controller.h"
#include "app/conversations/conversations_controller.h"
#include "app/experiments/experiments_controller.h"
#include "app/fetching/fetching.h"
#include "app/log/log_model.h"
#include "app/pressure/pressure.h"
#include "app/servers/server_load.h"
#include "app/servers/servers.h"
#include "app/serving/server_controller.h"
#include "app/settings/settings_controller.h"
#include "app/tuning/conversation_settings_controller.h"
#include "app/worker/engine_thread.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/served_hub.h"
#include "tests/ui/served_model.h"

#include <QObject>
#include <QQuickItem>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QUrl>
#include <QVariantMap>

#include <memory>

/// One set of controllers at a time, new for each test, and the script of the engine behind them. UI thread; a
/// singleton of the module Spillway.Tests.
class Bench : public QObject
{
    Q_OBJECT
    Q_PROPERTY(ChatController* chat READ chat NOTIFY changed)
    Q_PROPERTY(ConversationsController* conversations READ conversations NOTIFY changed)
    Q_PROPERTY(ComposerController* composer READ composer NOTIFY changed)
    Q_PROPERTY(ConversationSettingsController* conversationSettings READ conversationSettings NOTIFY changed)
    Q_PROPERTY(ModelController* models READ models NOTIFY changed)
    Q_PROPERTY(CatalogueController* catalogue READ catalogue NOTIFY changed)
    Q_PROPERTY(SettingsController* settings READ settings NOTIFY changed)
    Q_PROPERTY(ProgramController* program READ program NOTIFY changed)
    Q_PROPERTY(ShownLog* log READ log NOTIFY changed)
    Q_PROPERTY(Pressure* pressure READ pressure NOTIFY changed)
    Q_PROPERTY(ExperimentsController* experiments READ experiments NOTIFY changed)
    Q_PROPERTY(Fetching* fetching READ fetching NOTIFY changed)
    Q_PROPERTY(Servers* servers READ servers NOTIFY changed)
    Q_PROPERTY(ServerLoad* serverLoad READ serverLoad NOTIFY changed)
    Q_PROPERTY(ServerController* server READ server NOTIFY changed)

public:
    Bench();
    ~Bench() override;

    ChatController* chat() const { return m_chat.get(); }
    ConversationsController* conversations() const { return m_conversations.get(); }
    ComposerController* composer() const { return m_composer.get(); }
    ConversationSettingsController* conversationSettings() const { return m_conversationSettings.get(); }
    ModelController* models() const { return m_models.get(); }
    CatalogueController* catalogue() const { return m_catalogue.get(); }
    SettingsController* settings() const { return m_settings.get(); }
    ProgramController* program() const { return m_program.get(); }
    ShownLog* log() const { return m_shownLog.get(); }
    Pressure* pressure() const { return m_pressure.get(); }
    ExperimentsController* experiments() const { return m_experiments.get(); }
    Fetching* fetching() const { return m_fetching.get(); }
    Servers* servers() const { return m_servers.get(); }
    ServerLoad* serverLoad() const { return m_serverLoad.get(); }
    ServerController* server() const { return m_localServer.get(); }

    /// Makes new controllers. Keys: gpus (their names), noGpu (why there is none), deviceError (why none is opened),
    /// panel (it is shown), device (layers, wanted, hostExperts, copied, total, weights, kv, copies in bytes),
    /// kvColumns, expertMap, tokens, tokenMs, prefillMs, loadMs, context, modelContext, error, errorAfter,
    /// experimentFiles, loadError, warning, template, arguments (of the chat template), runnable, drafted, byBlock (the
    /// drafted ones), guessed (bytes, from and to by turns), text (in one piece), stream (in pieces); maxTokens (of an
    /// answer); atOnce (this many answers); real (the program's own engine, to which context, maxTokens and atOnce
    /// apply); hub (there is one to find models on); server (one has a model).
    Q_INVOKABLE void reset(const QVariantMap& script = {});
    /// Ends what reset() made; the page that shows it has to be gone.
    Q_INVOKABLE void clear();
    /// Asks the local server, as another program would; returns the status and the body that came, in one text.
    Q_INVOKABLE QString ask(const QString& path, const QString& key = {}, const QString& body = {}) const;
    /// Lets another program listen on a port from now on; returns the port.
    Q_INVOKABLE int takePort();
    /// Returns a port that nobody listens on.
    Q_INVOKABLE int freePort() const;
    Q_INVOKABLE QString guide() const;
    /// The server with a model: where it is; what it answers from now on, a text that breaks off where `whole` is
    /// false; and its page of numbers.
    Q_INVOKABLE QString serverUrl() const { return m_server ? m_server->url() : QString(); }
    Q_INVOKABLE void serverSays(const QString& text, bool whole = true) { m_server->says(text, whole); }
    Q_INVOKABLE void serverCounts(const QString& page) { m_server->counts(page); }
    /// Sets how the hub answers from now on: its status, and how long each answer and each piece of a file takes.
    Q_INVOKABLE void hub(int status, int answerMs = 0, int pieceMs = 0);
    Q_INVOKABLE int hubRequests() const { return m_hub ? m_hub->requests() : 0; }
    /// Quits and starts what finds and fetches models.
    Q_INVOKABLE void restartFetching();
    /// Does the same for what measures.
    Q_INVOKABLE void restartExperiments();
    /// Changes the script of the engine that runs.
    Q_INVOKABLE void script(const QVariantMap& changes);
    /// Makes files that the catalogue finds from the next scan on, by their paths below an LM Studio's store. One whose
    /// name holds "broken" is no model. `availableBytes` of memory are free.
    Q_INVOKABLE void putModels(const QStringList& files, double availableBytes = 8e9);
    /// Adds a small model with experts to them, "mixture", and has models loaded on a device that has room for all of
    /// it but the experts of this many layers.
    Q_INVOKABLE void putMixture(int layersWithoutExperts);
    /// Returns a folder below that store.
    Q_INVOKABLE QUrl modelFolder(const QString& below) const;
    Q_INVOKABLE void openAtOnce(const QString& path);
    Q_INVOKABLE int requestCount() const;
    Q_INVOKABLE QString lastPrompt() const;
    Q_INVOKABLE QString lastDraftModel() const;  // that a model was loaded with; empty: none
    /// The placement commands the engine was given, in words: "layers 3".
    Q_INVOKABLE QStringList commands() const;
    /// Lets the panel hear of something that moved, as if the engine had said so.
    Q_INVOKABLE void move(int firstToken, int lastToken);

    /// Lets the settings of loading reach the models, as the program does.
    Q_INVOKABLE void followSettings();
    Q_INVOKABLE void overrideThreads(int threads) { m_settings->threads()->override(threads); }
    /// Has the program say a sentence.
    Q_INVOKABLE void say(const QString& sentence) { m_program->say(sentence); }
    /// Puts a line into the log.
    Q_INVOKABLE void logLine(int level, const QString& text);
    /// Returns what the engine was asked with last: system, temperature, topK, maxTokens, seed, arguments.
    Q_INVOKABLE QVariantMap lastRequest() const;
    /// Writes a file to attach.
    Q_INVOKABLE QUrl file(const QString& name, const QString& text) const;
    Q_INVOKABLE bool remove(const QString& file) const;
    /// Returns what is in a file, byte for byte as Latin 1.
    Q_INVOKABLE QString textOf(const QUrl& file) const;
    Q_INVOKABLE void copy(const QString& text, const QList<QUrl>& files = {});
    Q_INVOKABLE void copyPicture();
    /// Drops files on the middle of an item, as a file manager does that would rather move them; returns the action
    /// that was accepted. `actions`: all that the file manager can do.
    Q_INVOKABLE int dropToMove(QQuickItem* item, const QList<QUrl>& files, int actions) const;

    /// Holds a key in the item's window until it has been repeated a few times.
    Q_INVOKABLE void holdKey(QQuickItem* item, int key) const;
    /// Waits until the item's window has drawn once more: whatever had to be put in its place before is there then.
    Q_INVOKABLE void nextFrame(QQuickItem* item) const;
    /// Finds what Qt Test's findChild() finds. That one walks the tree in JavaScript, item by item, which took most of
    /// the time of some tests.
    Q_INVOKABLE QObject* child(QObject* parent, const QString& name) const;
    /// Returns what is below the item, a popup or made by a Repeater as well; the item itself where it is called so.
    Q_INVOKABLE QQuickItem* seen(QQuickItem* item, const QString& name) const;
    Q_INVOKABLE QString clipboard() const;
    /// Lists the controls that a screen reader finds, as "Button: Send"; hidden ones are not among them.
    Q_INVOKABLE QStringList controls(QQuickItem* root) const;
    /// Lists the controls that have no name.
    Q_INVOKABLE QStringList namelessControls(QQuickItem* root) const;
    /// Lists the items that Tab stops at and that have no name or role.
    Q_INVOKABLE QStringList unspokenStops(QQuickItem* root) const;
    /// Lists the items that Tab never comes to, or not again, from where the keyboard is; it is back there afterwards.
    Q_INVOKABLE QStringList unreachable(QQuickItem* root) const;
    /// Returns the object name of the item that has the keyboard; where it has none, that of the nearest parent with
    /// one.
    Q_INVOKABLE QString focusName(QQuickItem* root) const;

Q_SIGNALS:
    void changed();

private:
    std::shared_ptr<FakeScript> m_script;
    std::unique_ptr<SettingsController> m_settings;
    std::unique_ptr<ProgramController> m_program;
    std::shared_ptr<LogFeed> m_feed;
    std::unique_ptr<LogModel> m_log;
    std::unique_ptr<ShownLog> m_shownLog;
    std::unique_ptr<server::SharedEngine> m_shared;
    std::unique_ptr<EngineThread> m_thread;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ConversationStore> m_store;
    std::unique_ptr<OpenConversations> m_open;
    std::unique_ptr<TurnRunner> m_turns;
    std::unique_ptr<ChatController> m_chat;
    std::unique_ptr<ConversationsController> m_conversations;
    std::unique_ptr<ComposerController> m_composer;
    std::unique_ptr<ConversationSettingsController> m_conversationSettings;
    std::unique_ptr<ModelController> m_models;
    std::unique_ptr<CatalogueController> m_catalogue;
    std::unique_ptr<Pressure> m_pressure;
    std::unique_ptr<DeviceController> m_devices;
    QStringList m_experimentFiles;
    std::unique_ptr<ExperimentsController> m_experiments;
    std::unique_ptr<QTemporaryDir> m_modelFolder;
    std::unique_ptr<ServedHub> m_hub;
    std::unique_ptr<Fetching> m_fetching;
    std::shared_ptr<RemoteDoor> m_door;
    std::unique_ptr<ServedModel> m_server;
    std::unique_ptr<Servers> m_servers;
    std::unique_ptr<ServerLoad> m_serverLoad;
    std::unique_ptr<ServerController> m_localServer;
    std::unique_ptr<QTcpServer> m_squatter;
    double m_availableBytes = 8e9;
};
