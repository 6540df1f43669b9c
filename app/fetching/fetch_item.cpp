#include "app/fetching/fetch_item.h"

#include "app/catalogue/split_name.h"
#include "app/system/profile_folders.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

#include <algorithm>

namespace {

constexpr qint64 kLargestList = 1 << 20;  // bytes
constexpr qsizetype kMostItems = 200;
constexpr QLatin1String kPaused("paused");

QStringList textsIn(const QJsonValue& array)
{
    QStringList texts;
    for (const QJsonValue text : array.toArray())
        texts.append(text.toString());
    return texts;
}

QString lastNameOf(const QString& path)
{
    return path.section(QLatin1Char('/'), -1);
}

/// Says whether a file that the list names as fetched may have been: it is deleted when the fetch is cancelled, and any
/// program can have written the list.
bool mayHaveCome(const FetchItem& item, const QString& file)
{
    // In a folder of the user's choice, which may hold other files, only *.gguf can have been fetched.
    return QDir::cleanPath(file) == QDir::fromNativeSeparators(file) && mayBeOf(item, QDir::cleanPath(file)) &&
           (item.folder.isEmpty() || file.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive));
}

FetchItem itemOf(const QJsonObject& object)
{
    FetchItem item;
    item.repository = object[QLatin1String("repository")].toString();
    item.file = object[QLatin1String("file")].toString();
    item.quant = object[QLatin1String("quantization")].toString();
    item.companions = textsIn(object[QLatin1String("companions")]);
    item.folder = object[QLatin1String("folder")].toString();
    item.totalBytes = std::max(0.0, object[QLatin1String("bytes")].toDouble());
    item.doneBytes = std::clamp(object[QLatin1String("done")].toDouble(), 0.0, item.totalBytes);
    if (object[QLatin1String("state")].toString() == kPaused)
        item.state = Fetch::Paused;
    item.places = textsIn(object[QLatin1String("places")]);
    item.came = textsIn(object[QLatin1String("came")]);
    item.came.removeIf([&](const QString& file) { return !mayHaveCome(item, file); });
    return item;
}

}  // namespace

bool mayBeOf(const FetchItem& item, const QString& file)
{
    if (item.folder.isEmpty()) {  // a cache holds each repository in a folder of its own
        const QString repository = QString(item.repository).replace(QLatin1Char('/'), QLatin1String("--"));
        return file.contains(QLatin1String("/models--") + repository + QLatin1Char('/'));
    }
    const QFileInfo there(file);
    if (QFileInfo(there.path()).canonicalFilePath() != QFileInfo(item.folder).canonicalFilePath())
        return false;
    const auto split = splitName(item.file), other = splitName(there.fileName());
    const auto hasName = [&](const QString& wanted) { return lastNameOf(wanted) == there.fileName(); };
    return hasName(item.file) || std::ranges::any_of(item.companions, hasName) ||
           (split && other && lastNameOf(split->stem) == other->stem && split->count == other->count);
}

QStringList mayBeCompanionsOf(const FetchItem& item, const QStringList& files)
{
    QStringList found;
    for (qsizetype i = 0; i < files.size(); ++i) {
        QString named = QDir::cleanPath(files[i]);
        // In a cache a file is called by the hash of its bytes; the link to it, which follows, has its name.
        if (item.folder.isEmpty() && named.contains(QLatin1String("/blobs/")) && i + 1 < files.size())
            named = QDir::cleanPath(files[i + 1]);
        const auto isIt = [&](const QString& companion) {
            return named.endsWith(QLatin1Char('/') + (item.folder.isEmpty() ? companion : lastNameOf(companion)));
        };
        if (mayBeOf(item, named) && std::ranges::any_of(item.companions, isIt))
            found.append(files[i]);
    }
    return found;
}

QList<FetchItem> FetchList::read()
{
    QFile kept(m_file);
    const bool opened = !m_file.isEmpty() && kept.open(QFile::ReadOnly);
    m_lost = !opened && !m_file.isEmpty() && kept.exists();
    if (!opened || kept.size() > kLargestList)
        return {};
    QList<FetchItem> items;
    for (const QJsonValue value : QJsonDocument::fromJson(kept.readAll()).array()) {
        const FetchItem item = itemOf(value.toObject());
        if (!item.repository.isEmpty() && !item.file.isEmpty() && items.size() < kMostItems)
            items.append(item);
    }
    return items;
}

bool FetchList::write(const QList<FetchItem>& items) const
{
    if (m_file.isEmpty() || m_lost)
        return !m_lost;
    QJsonArray array;
    for (const FetchItem& item : items) {
        if (item.state == Fetch::Done)
            continue;
        const bool goesOn = item.state == Fetch::Waiting || item.state == Fetch::Fetching || item.mayPass;
        array.append(QJsonObject{{QStringLiteral("repository"), item.repository},
                                 {QStringLiteral("file"), item.file},
                                 {QStringLiteral("quantization"), item.quant},
                                 {QStringLiteral("companions"), QJsonArray::fromStringList(item.companions)},
                                 {QStringLiteral("folder"), item.folder},
                                 {QStringLiteral("state"), goesOn ? QStringLiteral("wanted") : QString(kPaused)},
                                 {QStringLiteral("bytes"), item.totalBytes},
                                 {QStringLiteral("done"), item.doneBytes},
                                 {QStringLiteral("places"), QJsonArray::fromStringList(item.places)},
                                 {QStringLiteral("came"), QJsonArray::fromStringList(item.came)}});
    }
    if (array.isEmpty() && !QFile::exists(m_file))
        return true;
    ProfileFolders::make(QFileInfo(m_file).absolutePath());
    QSaveFile file(m_file);
    return file.open(QFile::WriteOnly) && file.write(QJsonDocument(array).toJson()) >= 0 && file.commit();
}

#include "moc_fetch_item.cpp"
