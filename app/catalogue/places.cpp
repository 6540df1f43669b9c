#include "app/catalogue/places.h"

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>

#include <optional>

namespace {

constexpr qint64 kLongestPointer = 256 << 10;  // bytes of a file that names a folder, perhaps among other settings

/// Collects places. Paths from the environment and from other programs may be any text: only absolute ones are taken.
class Places
{
public:
    explicit Places(const Surroundings& here)
        : m_here(here)
    {
    }

    /// Returns the folder that a variable names, with `below` under it; nothing where it is not set or not absolute.
    std::optional<QString> named(const char* variable, const QString& below = {}) const
    {
        return absolute(m_here.variable(variable), below);
    }
    std::optional<QString> absolute(QString path, const QString& below = {}) const
    {
        path = path.trimmed();
        if (m_here.system == Surroundings::System::Windows)
            path.replace(QLatin1Char('\\'), QLatin1Char('/'));
        if (path == QLatin1String("~") || path.startsWith(QLatin1String("~/")))
            path.replace(0, 1, m_here.home);
        const bool drive = path.size() > 2 && path[1] == QLatin1Char(':') && path[2] == QLatin1Char('/');
        if (!path.startsWith(QLatin1Char('/')) && !drive)
            return {};
        return QDir::cleanPath(path + QLatin1Char('/') + below);
    }
    QString atHome(const char* path) const { return m_here.home + QLatin1Char('/') + QLatin1String(path); }
    /// Returns the folder that a variable such as $XDG_CACHE_HOME names, else its default in the home folder.
    QString base(const char* variable, const char* otherwise) const
    {
        return named(variable).value_or(atHome(otherwise));
    }

    void add(Store store, const std::optional<QString>& path)
    {
        if (!path)
            return;
        for (const StoreFolder& place : m_places)
            if (place.path == *path)
                return;
        m_places.append({store, *path});
    }
    QList<StoreFolder> take() { return std::move(m_places); }

private:
    const Surroundings& m_here;
    QList<StoreFolder> m_places;
};

std::optional<QString> firstOf(std::initializer_list<std::optional<QString>> candidates)
{
    for (const auto& candidate : candidates)
        if (candidate)
            return candidate;
    return {};
}

/// `settings`: the folder in which earlier versions keep what the user has chosen; newer ones do so in LM Studio's
/// home.
void addLmStudio(Places& places, const Surroundings& here, const QString& settings)
{
    const QString usual = places.atHome(".lmstudio");
    const auto home = places.absolute(here.shortFileText(places.atHome(".lmstudio-home-pointer")));
    for (const QString& folder : {home.value_or(usual), settings}) {
        const QString text = here.shortFileText(folder + QStringLiteral("/settings.json"));
        const QJsonObject chosen = QJsonDocument::fromJson(text.toUtf8()).object();
        places.add(Store::LmStudio, places.absolute(chosen[QLatin1String("downloadsFolder")].toString()));
    }
    places.add(Store::LmStudio, home.value_or(usual) + QStringLiteral("/models"));
    places.add(Store::LmStudio, usual + QStringLiteral("/models"));
    places.add(Store::LmStudio, places.atHome(".cache/lm-studio/models"));
}

QList<StoreFolder> onLinux(const Surroundings& here)
{
    Places places(here);
    const QString cache = places.base("XDG_CACHE_HOME", ".cache");
    const QString data = places.base("XDG_DATA_HOME", ".local/share");
    places.add(Store::Ollama, firstOf({places.named("OLLAMA_MODELS"), places.atHome(".ollama/models")}));
    places.add(Store::Ollama, QStringLiteral("/usr/share/ollama/.ollama/models"));  // of the system's service
    places.add(Store::HuggingFace, firstOf({places.named("HF_HUB_CACHE"), places.named("HF_HOME", "hub"),
                                            cache + QStringLiteral("/huggingface/hub")}));
    addLmStudio(places, here, places.base("XDG_CONFIG_HOME", ".config") + QStringLiteral("/LM Studio"));
    places.add(Store::Jan, data + QStringLiteral("/Jan/data/llamacpp/models"));
    places.add(Store::Jan, data + QStringLiteral("/Jan/data/models"));
    places.add(Store::Gpt4All, data + QStringLiteral("/nomic.ai/GPT4All"));
    places.add(Store::LlamaCpp, firstOf({places.named("LLAMA_CACHE"), cache + QStringLiteral("/llama.cpp")}));
    return places.take();
}

QList<StoreFolder> onWindows(const Surroundings& here)
{
    Places places(here);
    const QString local = places.base("LOCALAPPDATA", "AppData/Local");
    const QString roaming = places.base("APPDATA", "AppData/Roaming");
    places.add(Store::Ollama, firstOf({places.named("OLLAMA_MODELS"), places.atHome(".ollama/models")}));
    places.add(Store::HuggingFace,
               firstOf({places.named("HF_HUB_CACHE"), places.named("HF_HOME", "hub"),
                        places.named("XDG_CACHE_HOME", "huggingface/hub"), places.atHome(".cache/huggingface/hub")}));
    addLmStudio(places, here, roaming + QStringLiteral("/LM Studio"));
    places.add(Store::Jan, roaming + QStringLiteral("/Jan/data/llamacpp/models"));
    places.add(Store::Jan, roaming + QStringLiteral("/Jan/data/models"));
    places.add(Store::Gpt4All, local + QStringLiteral("/nomic.ai/GPT4All"));
    places.add(Store::LlamaCpp, firstOf({places.named("LLAMA_CACHE"), local + QStringLiteral("/llama.cpp")}));
    return places.take();
}

}  // namespace

Surroundings Surroundings::ofThisComputer()
{
#ifdef Q_OS_WIN
    constexpr System system = System::Windows;
#else
    constexpr System system = System::Linux;
#endif
    return {system, QDir::homePath(), [](const char* name) { return qEnvironmentVariable(name); },
            [](const QString& name) {
                QFile file(name);
                return file.open(QFile::ReadOnly) ? QString::fromUtf8(file.read(kLongestPointer)) : QString();
            }};
}

QList<StoreFolder> placesOfOtherPrograms(const Surroundings& here)
{
    return here.system == Surroundings::System::Windows ? onWindows(here) : onLinux(here);
}
