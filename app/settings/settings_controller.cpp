#include "app/settings/settings_controller.h"

#include "app/settings/kv_type_names.h"
#include "app/system/chosen_path.h"
#include "app/system/log_lines.h"
#include "app/system/profile_folders.h"
#include "app/system/remote_path.h"
#include "app/text/visible_text.h"

#include <QDir>
#include <QEvent>
#include <QFileInfo>
#include <QGuiApplication>
#include <QPalette>
#include <QSettings>

#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
#include <QStyleHints>
#endif

#include <algorithm>

namespace {

constexpr qint64 kMostBytes = 1 << 20;  // of a settings file, which any program may have written
constexpr int kLongestPath = 4096;
static_assert(engine::kKvTypes[SettingsController::F16].type == engine::KvType::F16 &&
              engine::kKvTypes[SettingsController::Q8_0].type == engine::KvType::Q8_0 &&
              engine::kKvTypes[SettingsController::F32].type == engine::KvType::F32);
constexpr QLatin1String kFoldersKey("models/folders");
constexpr std::array kFolderOfKeys = {QLatin1String("models/dialog_folder"),
                                      QLatin1String("attachments/dialog_folder")};
constexpr QLatin1String kFetchFolderKey("network/fetch_folder");
constexpr QLatin1String kLastModelKey("models/last");
constexpr QLatin1String kLastConversationKey("conversations/last");
constexpr QLatin1String kClosedFoldersKey("conversations/closed_folders");

bool desktopIsDark()
{
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    if (const auto scheme = QGuiApplication::styleHints()->colorScheme(); scheme != Qt::ColorScheme::Unknown)
        return scheme == Qt::ColorScheme::Dark;
#endif
    const QPalette palette = QGuiApplication::palette();
    return palette.color(QPalette::Window).lightnessF() < palette.color(QPalette::WindowText).lightnessF();
}

bool isPath(const QString& text)
{
    return text.size() <= kLongestPath && !text.contains(QChar::Null) && QDir::isAbsolutePath(text);
}

/// Says whether a text is a file's path, or a server's model in the place of one.
bool isModel(const QString& text)
{
    return isPath(text) || (text.size() <= kLongestPath && !text.contains(QChar::Null) && isElsewhere(text));
}

}  // namespace

SettingsController::SettingsController(const QString& file, QObject* parent)
    : QObject(parent)
    , m_file(file)
    , m_theme(QStringLiteral("window/theme"), Setting::Choice{{"system", "light", "dark"}, System}, this)
    , m_fontPercent(QStringLiteral("window/font_percent"), Setting::Number{100, 80, 200}, this)
    , m_language(QStringLiteral("window/language"), Setting::Choice{{"system", "en", "de"}, 0}, this)
    , m_wrapCode(QStringLiteral("window/long_code_lines"), Setting::Choice{{"scroll", "wrap"}, 0}, this)
    , m_contextTokens(QStringLiteral("load/context_tokens"), Setting::Number{0, 0, 1 << 24}, this)
    , m_threads(QStringLiteral("load/threads"), Setting::Number{0, 0, 1024}, this)
    , m_kvType(QStringLiteral("load/kv_type"), Setting::Choice{kvTypeNames(), F16}, this)
    , m_device(
          QStringLiteral("load/device"),
          Setting::Choice{
              {"cpu", "emulated", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5", "cuda:6", "cuda:7"}, 0},
          this)
    , m_emulatedMib(QStringLiteral("load/emulated_mib"), Setting::Number{0, 0, 1 << 20}, this)
    , m_linkGb(QStringLiteral("load/link_gb"), Setting::Number{16, 1, 1000}, this)
    , m_gpuMib(QStringLiteral("load/gpu_mib"), Setting::Number{0, 0, 1 << 22}, this)
    , m_deviceOffer(QStringLiteral("window/device_offer"), Setting::Number{1, 0, 1}, this)
    , m_savedKvGib(QStringLiteral("conversations/saved_kv_gib"), Setting::Number{8, 0, 4096}, this)
    , m_draft(QStringLiteral("answers/draft"), Setting::Choice{{"ngram", "off"}, Ngram}, this)
    , m_startWith(QStringLiteral("models/start_with"), Setting::Choice{{"last", "guide", "nothing"}, LastModel}, this)
    , m_findModels(QStringLiteral("network/find_models"), Setting::Number{0, 0, 1}, this)
    , m_fetchMegabytesPerS(QStringLiteral("network/fetch_megabytes_per_s"), Setting::Number{0, 0, 10'000}, this)
    , m_serverPort(QStringLiteral("server/port"), Setting::Number{8080, 1024, 65535}, this)
    , m_serverAsksKey(QStringLiteral("server/asks_for_key"), Setting::Number{1, 0, 1}, this)
    , m_logLevel(QStringLiteral("log/level"), Setting::Choice{{"debug", "info", "warning", "error"}, Info}, this)
    , m_sidebarShown(QStringLiteral("window/sidebar_shown"), Setting::Number{1, 0, 1}, this)
    , m_panelShown(QStringLiteral("window/panel_shown"), Setting::Number{1, 0, 2}, this)
    , m_windowWidth(QStringLiteral("window/width"), Setting::Number{1400, 640, 16384}, this)
    , m_windowHeight(QStringLiteral("window/height"), Setting::Number{840, 480, 16384}, this)
{
    m_all = {&m_theme,
             &m_fontPercent,
             &m_language,
             &m_wrapCode,
             &m_contextTokens,
             &m_threads,
             &m_kvType,
             &m_device,
             &m_emulatedMib,
             &m_linkGb,
             &m_gpuMib,
             &m_deviceOffer,
             &m_savedKvGib,
             &m_draft,
             &m_startWith,
             &m_findModels,
             &m_fetchMegabytesPerS,
             &m_serverPort,
             &m_serverAsksKey,
             &m_logLevel,
             &m_sidebarShown,
             &m_panelShown,
             &m_windowWidth,
             &m_windowHeight};
    read();
    m_known.lookAt(likelyFolders(Models) + likelyFolders(Attachments));
    for (Setting* setting : m_all)
        connect(setting, &Setting::chosen, this, [this, setting] { keep(setting->key(), setting->written()); });
    connect(&m_theme, &Setting::changed, this, &SettingsController::darkChanged);
    qApp->installEventFilter(this);
}

void SettingsController::read()
{
    const QFileInfo file(m_file);
    if (m_file.isEmpty() || !file.exists())
        return;
    if (!file.isFile() || !file.isReadable() || file.size() > kMostBytes) {
        setTrouble(tr("The settings in %1 cannot be read, so the default settings are used.")
                       .arg(VisibleText::of(QDir::toNativeSeparators(m_file))));
        return;
    }
    const QSettings ini(m_file, QSettings::IniFormat);
    for (Setting* setting : m_all)
        if (ini.contains(setting->key()))
            setting->readFrom(ini.value(setting->key()).toString());
    for (const QString& folder : ini.value(kFoldersKey).toStringList())
        if (m_modelFolders.size() < kMostFolders && isPath(folder) && !m_modelFolders.contains(QDir::cleanPath(folder)))
            m_modelFolders += QDir::cleanPath(folder);
    if (const QString folder = ini.value(kFetchFolderKey).toString(); isPath(folder))
        m_fetchFolder = QDir::cleanPath(folder);
    for (std::size_t files = 0; files < m_folders.size(); ++files)
        if (const QString last = ini.value(kFolderOfKeys[files]).toString(); isPath(last))
            m_folders[files] = last;
    if (const QString last = ini.value(kLastModelKey).toString(); isModel(last))
        m_lastModel = last;
    m_lastConversation = ini.value(kLastConversationKey).toString();
    m_closedFolders = ini.value(kClosedFoldersKey).toStringList();
    if (ini.status() == QSettings::FormatError)
        setTrouble(tr("Parts of the settings in %1 make no sense and are not used.")
                       .arg(VisibleText::of(QDir::toNativeSeparators(m_file))));
}

void SettingsController::keep(const QString& key, const QVariant& value)
{
    if (m_file.isEmpty())
        return;
    ProfileFolders::make(QFileInfo(m_file).absolutePath());
    QSettings ini(m_file, QSettings::IniFormat);
    ini.setValue(key, value);
    ini.sync();
    if (ini.status() == QSettings::AccessError)
        setTrouble(tr("%1 cannot be written: what you choose holds until Spillway is closed.")
                       .arg(VisibleText::of(QDir::toNativeSeparators(m_file))));
    else
        setTrouble({});
}

bool SettingsController::dark() const
{
    return m_theme.value() == Dark || (m_theme.value() == System && desktopIsDark());
}

bool SettingsController::addModelFolder(const QUrl& folder)
{
    const QString path = QDir::cleanPath(chosenPath(folder));
    if (!folder.isLocalFile() || !isPath(path) || !QFileInfo(path).isDir() || m_modelFolders.contains(path) ||
        m_modelFolders.size() >= kMostFolders)
        return false;
    m_modelFolders += path;
    m_known.note(path);
    keep(kFoldersKey, m_modelFolders);
    Q_EMIT modelFoldersChanged();
    return true;
}

void SettingsController::removeModelFolder(const QString& folder)
{
    if (m_modelFolders.removeAll(folder) == 0)
        return;
    keep(kFoldersKey, m_modelFolders);
    Q_EMIT modelFoldersChanged();
}

void SettingsController::setFetchFolder(const QUrl& folder)
{
    const QString path = folder.isEmpty() ? QString() : QDir::cleanPath(chosenPath(folder));
    if (path == m_fetchFolder ||
        (!path.isEmpty() && (!folder.isLocalFile() || !isPath(path) || !QFileInfo(path).isDir())))
        return;
    m_fetchFolder = path;
    keep(kFetchFolderKey, path);
    Q_EMIT fetchFolderChanged();
    if (!path.isEmpty())
        addModelFolder(folder);  // so that it is still searched when another one is chosen later
}

QStringList SettingsController::likelyFolders(FilesOf files) const
{
    QStringList likely{m_folders.at(std::size_t(files))};
    if (files == Models) {
        // The model was opened in another way, for example from the list. In Ollama's folder nobody finds a model by
        // its name.
        if (const QFileInfo last(m_lastModel); last.suffix().compare(QLatin1String("gguf"), Qt::CaseInsensitive) == 0)
            likely += last.absolutePath();
        likely += m_modelFolders;
    }
    likely.removeAll(QString());
    return likely;
}

QUrl SettingsController::folderOf(FilesOf files)
{
    const QStringList likely = likelyFolders(files);
    const QString there = m_known.firstOf(likely);
    m_known.lookAt(likely);  // for the next time
    return QUrl::fromLocalFile(there.isEmpty() ? QDir::homePath() : there);
}

void SettingsController::rememberFolderOf(FilesOf files, const QUrl& chosen)
{
    const QString path = chosenPath(chosen);
    const QString folder = QFileInfo(path).absolutePath();
    QString& last = m_folders.at(std::size_t(files));
    if (path.isEmpty() || !isPath(folder) || folder == last)
        return;
    last = folder;
    m_known.note(folder);  // it exists: the file was just chosen in it
    keep(kFolderOfKeys.at(std::size_t(files)), folder);
}

void SettingsController::setLastModel(const QString& path)
{
    if (m_lastModel == path)
        return;
    m_lastModel = path;
    m_known.lookAt(likelyFolders(Models));
    keep(kLastModelKey, path);
}

void SettingsController::setLastConversation(const QString& id)
{
    if (m_lastConversation == id)
        return;
    m_lastConversation = id;
    keep(kLastConversationKey, id);
}

void SettingsController::setClosedFolders(const QStringList& names)
{
    if (m_closedFolders == names)
        return;
    m_closedFolders = names;
    keep(kClosedFoldersKey, names);
}

void SettingsController::dismissTrouble()
{
    setTrouble({});
}

void SettingsController::setTrouble(const QString& sentence)
{
    if (m_trouble == sentence)
        return;
    m_trouble = sentence;
    if (!sentence.isEmpty())
        logWarning(QStringLiteral("settings: ") + sentence);
    Q_EMIT troubleChanged();
}

bool SettingsController::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == qApp && event->type() == QEvent::ApplicationPaletteChange)
        Q_EMIT darkChanged();
    return QObject::eventFilter(watched, event);
}

#include "moc_settings_controller.cpp"
