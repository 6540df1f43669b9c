// Everything the window is made of.
#pragma once

#include "app/command_line.h"
#include "app/controllers/chat_controller.h"
#include "app/controllers/model_controller.h"
#include "app/controllers/settings_controller.h"
#include "app/profile_folders.h"
#include "app/worker/engine_thread.h"

#include <QQmlApplicationEngine>

/// Makes the engine's thread, the controllers and the window, and connects them; takes them down in the opposite order.
/// One per process, on the UI thread, owned by main().
class Program
{
public:
    Program(const CommandLine& commandLine, const ProfileFolders& folders, const EngineFactory& makeEngine,
            const ModelInspector& inspect);

    /// What the whole process needs before its first window: style, fonts, names.
    static void prepare();

    /// False when the window could not be made; the log says why.
    bool open();

    ModelController& models() { return m_models; }

private:
    void overrideSettings(const CommandLine& commandLine);
    void applyLoadSettings();

    QString m_modelFile;
    ProfileFolders m_folders;
    SettingsController m_settings;
    EngineThread m_engine;
    ChatController m_chat;
    ModelController m_models;
    QQmlApplicationEngine m_qml;
};
