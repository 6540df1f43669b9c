#include "app/fetching/fetched_hashes.h"

#include "app/system/profile_folders.h"

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

namespace {

constexpr qint64 kLargestHashList = 4 << 20;  // bytes
constexpr qsizetype kMostHashes = 4096;

QString textOf(const std::filesystem::path& path)
{
    return QString::fromStdU16String(path.u16string());
}

}  // namespace

FetchedHashes::FetchedHashes(const std::filesystem::path& file)
    : m_file(textOf(file))
{
    QFile kept(m_file);
    if (m_file.isEmpty() || !kept.open(QFile::ReadOnly) || kept.size() > kLargestHashList)
        return;
    for (const QJsonValue value : QJsonDocument::fromJson(kept.readAll()).array()) {
        const QJsonObject object = value.toObject();
        const QString path = object[QLatin1String("path")].toString();
        if (!path.isEmpty() && m_noted.size() < kMostHashes)
            m_noted.insert(path, {qint64(object[QLatin1String("bytes")].toDouble()),
                                  qint64(object[QLatin1String("changed_ms")].toDouble()),
                                  object[QLatin1String("sha256")].toString()});
    }
}

void FetchedHashes::note(const std::filesystem::path& path, const std::string& sha256)
{
    const QString text = textOf(path);
    Noted now = stateOf(text);
    now.sha256 = QString::fromStdString(sha256);
    const std::lock_guard lock(m_mutex);
    if (m_noted.size() >= kMostHashes)  // files that are gone make room
        m_noted.removeIf([](const auto& noted) { return !QFileInfo::exists(noted.key()); });
    m_noted.insert(text, now);
    keep();
}

bool FetchedHashes::mayBe(const std::filesystem::path& path, const std::string& sha256) const
{
    const QString text = textOf(path);
    const std::lock_guard lock(m_mutex);
    const auto noted = m_noted.constFind(text);
    if (noted == m_noted.constEnd() || sha256.empty() || noted->sha256 == QString::fromStdString(sha256))
        return true;
    const Noted now = stateOf(text);
    return noted->bytes != now.bytes || noted->changed_ms != now.changed_ms;
}

FetchedHashes::Noted FetchedHashes::stateOf(const QString& path)
{
    const QFileInfo file(path);
    return {file.size(), file.lastModified().toMSecsSinceEpoch(), {}};
}

/// Writes the hashes. If that fails, files are recognised by name and size alone, as if nothing had been noted.
void FetchedHashes::keep() const
{
    if (m_file.isEmpty())
        return;
    QJsonArray array;
    for (auto noted = m_noted.constBegin(); noted != m_noted.constEnd(); ++noted)
        array.append(QJsonObject{{QStringLiteral("path"), noted.key()},
                                 {QStringLiteral("bytes"), double(noted->bytes)},
                                 {QStringLiteral("changed_ms"), double(noted->changed_ms)},
                                 {QStringLiteral("sha256"), noted->sha256}});
    ProfileFolders::make(QFileInfo(m_file).absolutePath());
    QSaveFile file(m_file);
    if (file.open(QFile::WriteOnly) && file.write(QJsonDocument(array).toJson(QJsonDocument::Compact)) >= 0)
        file.commit();
}
