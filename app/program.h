// Program makes and connects everything that the window is made of.
#pragma once

#include "app/about/program_controller.h"
#include "app/catalogue/catalogue_controller.h"
#include "app/catalogue/model_controller.h"
#include "app/catalogue/start_model.h"
#include "app/chat/chat_controller.h"
#include "app/chat/composer_controller.h"
#include "app/command_line.h"
#include "app/conversations/conversations_controller.h"
#include "app/conversations/saved_kv.h"
#include "app/experiments/experiments_controller.h"
#include "app/fetching/fetching.h"
#include "app/log/log_feed.h"
#include "app/log/log_model.h"
#include "app/pressure/device_controller.h"
#include "app/pressure/machine_speed.h"
#include "app/pressure/pressure.h"
#include "app/server/shared_engine.h"
#include "app/servers/server_load.h"
#include "app/servers/servers.h"
#include "app/serving/server_controller.h"
#include "app/settings/settings_controller.h"
#include "app/store/conversation_store.h"
#include "app/system/profile_folders.h"
#include "app/translation.h"
#include "app/tuning/conversation_settings_controller.h"
#include "app/worker/engine_thread.h"

#include <QQmlApplicationEngine>

#include <atomic>
#include <memory>

/// Makes the engine's thread, the controllers and the window, and connects them; takes them down in the opposite order.
/// One per process, on the UI thread, owned by main().
class Program
{
public:
    Program(const CommandLine& commandLine, const ProfileFolders& folders, std::shared_ptr<LogFeed> logFeed,
            const EngineFactory& makeEngine, const ModelInspector& inspect);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// Sets what the whole process needs before its first window: how it is drawn, style, fonts, icon.
    static void prepare();

    /// Makes the window and opens the first model. False: the window could not be made; the log says why.
    bool open();

    /// Brings the window to the front when the user has started the program once more, and opens the model file that
    /// was named there, if any.
    void onStartedAgain(const QString& file);

    ChatController& chat() { return m_chat; }

private:
    void overrideSettings(const CommandLine& commandLine);
    void connectSettings();
    void connectModels();
    void connectConversations();
    engine::LoadRequest loadRequest();
    engine::LoadRequest presentRequest();
    void onKvTypeChanged();
    ExperimentsController::World experimentsWorld(const ProfileFolders& folders);
    Fetching::World fetchingWorld(const ProfileFolders& folders);
    void connectFetching();
    void connectServers();
    void connectServer();
    void applyLoadSettings();
    void openFirstModel();
    void openFirst(const StartModel& start);
    void measureStart();
    [[noreturn]] void leave();

    QString m_namedModel;  // on the command line
    bool m_measuresStart;
    QString m_guide;
    SettingsController m_settings;
    Translation m_translation;  // made before all that has texts
    ProgramController m_program;
    LogModel m_log;
    ShownLog m_shownLog;
    std::shared_ptr<RemoteDoor> m_remoteDoor;
    std::shared_ptr<std::atomic<secrets::MayAsk>> m_mayAsk;  // for the next header read from a server
    ModelInspector m_inspect;
    LoadMarker m_loadMarker;
    ConversationStore m_store;
    server::SharedEngine m_shared;
    EngineThread m_engine;
    MachineSpeed m_speed;
    OpenConversations m_open;
    TurnRunner m_turns;
    ChatController m_chat;
    ConversationsController m_conversations;
    SavedKv m_savedKv;
    ComposerController m_composer;
    ConversationSettingsController m_conversationSettings;
    ModelController m_models;
    CatalogueController m_catalogue;
    Pressure m_pressure;
    DeviceController m_devices;
    ExperimentsController m_experiments;
    Fetching m_fetching;
    Servers m_servers;
    ServerLoad m_serverLoad;
    ServerController m_server;
    QQmlApplicationEngine m_qml;
};
