#include "app/program.h"

#include <QFontDatabase>
#include <QGuiApplication>
#include <QIcon>
#include <QQuickStyle>

Program::Program(const CommandLine& commandLine, const ProfileFolders& folders, const EngineFactory& makeEngine,
                 const ModelInspector& inspect)
    : m_modelFile(commandLine.modelFile)
    , m_folders(folders)
    , m_settings(folders.config + QStringLiteral("/spillway.ini"))
    , m_engine(makeEngine)
    , m_chat(m_engine, commandLine.options)
    , m_models(m_engine, inspect, {})
{
    overrideSettings(commandLine);
    applyLoadSettings();
    for (Setting* setting : {m_settings.contextTokens(), m_settings.threads(), m_settings.kvType()})
        QObject::connect(setting, &Setting::changed, &m_models, [this] { applyLoadSettings(); });
    QObject::connect(&m_models, &ModelController::loadStarted, &m_chat, &ChatController::onLoadStarted);
    QObject::connect(&m_models, &ModelController::modelReady, &m_chat, &ChatController::onModelReady);
    QObject::connect(&m_models, &ModelController::modelGone, &m_chat, &ChatController::onModelGone);
    QObject::connect(&m_chat, &ChatController::modelLost, &m_models, &ModelController::onModelLost);
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
    override(m_settings.theme(), commandLine.theme);
    override(m_settings.language(), commandLine.language);
}

void Program::applyLoadSettings()
{
    constexpr engine::KvType types[] = {engine::KvType::F16, engine::KvType::Q8_0, engine::KvType::F32};
    engine::LoadRequest request;
    request.context_tokens = m_settings.contextTokens()->value();
    request.threads = m_settings.threads()->value();
    request.k_type = request.v_type = types[m_settings.kvType()->value()];
    m_models.setDefaults(request);
}

void Program::prepare()
{
    QQuickStyle::setStyle(QStringLiteral("Basic"));  // our own look stands on the plainest one
    for (const char* weight : {"Regular", "Medium", "SemiBold"})
        QFontDatabase::addApplicationFont(QStringLiteral(":/fonts/Inter-%1.otf").arg(QLatin1String(weight)));
    QFont font(QStringLiteral("Inter"));
    font.setPixelSize(15);
    QGuiApplication::setFont(font);
    QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/spillway.svg")));
}

bool Program::open()
{
    m_qml.addImportPath(QStringLiteral("qrc:/qt/qml"));  // there by itself from Qt 6.5 on
    m_qml.setInitialProperties({
        {QStringLiteral("chat"), QVariant::fromValue(&m_chat)},
        {QStringLiteral("models"), QVariant::fromValue(&m_models)},
        {QStringLiteral("settings"), QVariant::fromValue(&m_settings)},
    });
    m_qml.load(QUrl(QStringLiteral("qrc:/qt/qml/Spillway/Ui/Main.qml")));
    if (m_qml.rootObjects().isEmpty())
        return false;
    if (!m_modelFile.isEmpty())
        m_models.openAndLoad(m_modelFile);
    return true;
}
