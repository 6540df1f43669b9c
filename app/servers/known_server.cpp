#include "app/servers/known_server.h"

#include "app/secrets/secret_store.h"
#include "app/system/profile_folders.h"
#include "app/system/remote_path.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

#include <algorithm>

namespace {

constexpr qint64 kLargestServersFile = 8 << 20;
constexpr qsizetype kMostServers = 100;
constexpr qsizetype kLongestKeptName = 40;
constexpr qsizetype kMostServerModels = 1000;

constexpr const char* kKindNames[] = {"unknown", "spillway", "llama-server", "vllm",
                                      "sglang",  "tgi",      "ollama",       "lm-studio"};

remote::Kind kindNamed(const QString& name)
{
    const auto found = std::ranges::find_if(kKindNames, [&](const char* kind) { return name == QLatin1String(kind); });
    return found == std::end(kKindNames) ? remote::Kind::Unknown : remote::Kind(found - std::begin(kKindNames));
}

KnownServer serverFrom(const QJsonObject& object)
{
    KnownServer known;
    known.name = object[QLatin1String("name")].toString().left(kLongestKeptName);
    known.server.url = object[QLatin1String("url")].toString().toStdString();
    known.server.key = object[QLatin1String("key")].toString().toStdString();
    if (const std::string id = object[QLatin1String("keyId")].toString().toStdString(); secrets::is_id(id))
        known.server.key_id = id;
    known.facts.kind = kindNamed(object[QLatin1String("kind")].toString());
    known.facts.version = object[QLatin1String("version")].toString().toStdString();
    for (const QJsonValue value : object[QLatin1String("models")].toArray()) {
        const QJsonObject model = value.toObject();
        const QString id = model[QLatin1String("id")].toString();
        if (!id.isEmpty() && qsizetype(known.facts.models.size()) < kMostServerModels)
            known.facts.models.push_back({id.toStdString(), std::max(0, model[QLatin1String("context")].toInt())});
    }
    return known;
}

QJsonObject objectOf(const KnownServer& known)
{
    QJsonArray models;
    for (const remote::ServedModel& model : known.facts.models)
        models.append(QJsonObject{{QStringLiteral("id"), QString::fromStdString(model.id)},
                                  {QStringLiteral("context"), model.context_tokens}});
    return {{QStringLiteral("name"), known.name},
            {QStringLiteral("url"), QString::fromStdString(known.server.url)},
            {QStringLiteral("key"), QString::fromStdString(known.server.key)},
            {QStringLiteral("keyId"), QString::fromStdString(known.server.key_id)},
            {QStringLiteral("kind"), QLatin1String(kKindNames[int(known.facts.kind)])},
            {QStringLiteral("version"), QString::fromStdString(known.facts.version)},
            {QStringLiteral("models"), models}};
}

}  // namespace

ServersFile::Content ServersFile::read() const
{
    Content content;
    QList<KnownServer>& servers = content.servers;
    QFile file(m_file);
    if (m_file.isEmpty())
        return content;
    if (!file.open(QFile::ReadOnly)) {
        content.lost = file.exists();
        return content;
    }
    const QJsonDocument document =
        file.size() <= kLargestServersFile ? QJsonDocument::fromJson(file.readAll()) : QJsonDocument();
    if (document.isNull()) {  // the file may have keys in it, which the next write() would lose
        const QString bad = m_file + QStringLiteral(".bad");
        content.aside = bad;
        for (int n = 2; QFile::exists(content.aside); ++n)  // an earlier one is kept, since it may have keys in it, too
            content.aside = bad + QString::number(n);
        content.lost = !QFile::rename(m_file, content.aside);
        return content;
    }
    for (const QJsonValue value : document.object()[QLatin1String("servers")].toArray()) {
        KnownServer known = serverFrom(value.toObject());
        const bool twice = std::ranges::any_of(
            servers, [&](const KnownServer& other) { return other.server.url == known.server.url; });
        if (!hostOf(QString::fromStdString(known.server.url)).isEmpty() && !twice && servers.size() < kMostServers)
            servers.append(std::move(known));
    }
    for (const QJsonValue value : document.object()[QLatin1String("unneededKeys")].toArray())
        if (const QString id = value.toString(); secrets::is_id(id.toStdString()))
            content.unneededKeys.append(id);
    return content;
}

bool ServersFile::write(const Content& content) const
{
    if (m_file.isEmpty())
        return true;
    QJsonArray all;
    for (const KnownServer& known : content.servers)
        all.append(objectOf(known));
    const QJsonObject object{{QStringLiteral("servers"), all},
                             {QStringLiteral("unneededKeys"), QJsonArray::fromStringList(content.unneededKeys)}};
    const QByteArray json = QJsonDocument(object).toJson(QJsonDocument::Compact);
    if (json.size() > kLargestServersFile)
        return false;
    ProfileFolders::make(QFileInfo(m_file).path());
    QSaveFile file(m_file);
    // The new file is closed to other users before anything is written into it.
    return file.open(QFile::WriteOnly) && file.setPermissions(QFile::ReadOwner | QFile::WriteOwner) &&
           file.write(json) >= 0 && file.commit();
}
