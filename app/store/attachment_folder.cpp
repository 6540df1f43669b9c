#include "app/store/attachment_folder.h"

#include "app/store/database.h"

#include <QDateTime>
#include <QDir>
#include <QDirIterator>
#include <QRegularExpression>
#include <QSaveFile>
#include <QStorageInfo>

#include <algorithm>
#include <optional>

namespace {

constexpr qint64 kLongestText_bytes = 256 * 1024 * 1024;

/// Says whether the disk that the folder is on, or would be on, has room for this many bytes, and for at least a block.
bool hasRoom(QString folder, qint64 bytes)
{
    while (!QFileInfo::exists(folder) && folder != QFileInfo(folder).path())
        folder = QFileInfo(folder).path();
    const QStorageInfo disk(folder);
    return !disk.isValid() || disk.bytesAvailable() >= std::max<qint64>(bytes, disk.blockSize());
}

/// Writes a file, all or nothing, and makes its folder. Returns the error, or none.
QSqlError putFile(const QString& name, const QByteArray& bytes)
{
    const QString folder = QFileInfo(name).path();
    QDir().mkpath(folder);
    QSaveFile file(name);
    if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit())
        return {};
    return hasRoom(folder, bytes.size()) ? cannotWrite(name) : diskFull();  // Qt reports both as failed writes
}

QString hashOf(const QFileInfo& file)
{
    return file.fileName().section(QLatin1Char('.'), 0, 0);
}

template <class Act>
void forEachFile(const QString& folder, const Act& act)
{
    QDirIterator files(folder, QDir::Files | QDir::NoSymLinks, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        files.next();
        act(files.fileInfo());
    }
}

QByteArray linesOf(const QSet<QString>& names)
{
    return names.values().join(QLatin1Char('\n')).toUtf8();
}

/// Returns the lines of a file; none where there is no file. Empty: the file cannot be read.
std::optional<QSet<QString>> namesIn(const QString& file)
{
    QFile names(file);
    if (!names.exists())
        return QSet<QString>();
    if (!names.open(QIODevice::ReadOnly))
        return {};
    const QStringList lines = QString::fromUtf8(names.readAll()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    return names.error() == QFileDevice::NoError ? std::optional(QSet<QString>(lines.begin(), lines.end()))
                                                 : std::nullopt;
}

}  // namespace

// Returns the path of a file. A hash from a database or an import may be any text, and must not lead out of the folder.
QString AttachmentFolder::file(const QString& sha256) const
{
    static const QRegularExpression hash(QStringLiteral("^[0-9a-f]{64}$"));
    return hash.match(sha256).hasMatch() ? QStringLiteral("%1/%2/%3").arg(m_path, sha256.left(2), sha256) : QString();
}

QString AttachmentFolder::textFile(const Attachment& attachment) const
{
    static const QRegularExpression kind(QStringLiteral("^[a-z]{1,20}$"));
    const QString bytes = file(attachment.sha256);
    if (bytes.isEmpty() || !kind.match(attachment.kind).hasMatch())
        return {};
    return QStringLiteral("%1.%2.txt").arg(bytes, attachment.kind);
}

QSqlError AttachmentFolder::keepTexts(const QList<Attachment>& attachments) const
{
    for (const Attachment& attachment : attachments) {
        const QString name = textFile(attachment);
        if (name.isEmpty() || QFile::exists(name))
            continue;
        if (QSqlError why = putFile(name, attachment.text.toUtf8()); why.type() != QSqlError::NoError)
            return why;
    }
    return {};
}

QString AttachmentFolder::text(const Attachment& attachment) const
{
    const QString name = textFile(attachment);
    QFile file(name);
    if (name.isEmpty() || !file.open(QIODevice::ReadOnly))
        return {};
    return QString::fromUtf8(file.read(kLongestText_bytes));
}

QSqlError AttachmentFolder::keepAll() const
{
    const std::optional<QSet<QString>> before = namesIn(keptNames());
    if (!before)
        return cannotWrite(keptNames());
    QSet<QString> names = *before;
    forEachFile(m_path, [&](const QFileInfo& file) { names.insert(hashOf(file)); });
    return names == *before ? QSqlError() : putFile(keptNames(), linesOf(names));
}

void AttachmentFolder::removeUnused(const QSet<QString>& used) const
{
    const std::optional<QSet<QString>> kept = namesIn(keptNames());
    if (!kept)
        return;
    if (kept->intersects(used))
        putFile(keptNames(), linesOf(*kept - used));
    const QDateTime yesterday = QDateTime::currentDateTimeUtc().addDays(-1);
    forEachFile(m_path, [&](const QFileInfo& file) {
        if (!used.contains(hashOf(file)) && !kept->contains(hashOf(file)) && file.lastModified() < yesterday)
            QFile::remove(file.filePath());
    });
}
