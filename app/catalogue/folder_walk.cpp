#include "app/catalogue/folder_walk.h"

#include <QDirIterator>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QSet>

#include <algorithm>

namespace {

bool isModelFile(const QString& name)
{
    return name.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive);
}

/// Says whether the name is one that browsers and the programs that fetch models, this one among them, give to what
/// they have not finished.
bool isUnfinished(const QString& name)
{
    if (name.startsWith(QLatin1String("incomplete-")))
        return true;
    for (const char* ending : {".incomplete", ".part", ".partial", ".download", ".downloadInProgress", ".crdownload",
                               ".tmp", ".aria2", ".spillway-part"})
        if (name.endsWith(QLatin1String(ending), Qt::CaseInsensitive))
            return name.contains(QLatin1String(".gguf"), Qt::CaseInsensitive) ||
                   name.endsWith(QLatin1String(".incomplete"));
    return false;
}

/// Walks once below a folder, level by level, until a limit is met.
class Walker
{
public:
    Walker(const WalkLimits& limits, const std::stop_token& stop)
        : m_limits(limits)
        , m_stop(stop)
    {
        m_clock.start();
    }

    Walk from(const QString& root)
    {
        enter(root, 0);
        while (!m_waiting.isEmpty() && !m_stop.stop_requested() && !m_walk.cutShort) {
            const Folder folder = m_waiting.takeFirst();
            look(folder);
        }
        std::sort(m_walk.files.begin(), m_walk.files.end());
        return std::move(m_walk);
    }

private:
    struct Folder {
        QString path;
        int depth = 0;
    };

    void enter(const QString& path, int depth)
    {
        const QString real = whereItLies(path);
        if (real.isEmpty() || m_seen.contains(real))
            return;
        m_seen.insert(real);
        m_waiting.append({path, depth});
    }

    void look(const Folder& folder)
    {
        if (!QFileInfo(folder.path).isReadable()) {
            ++m_walk.unreadable;
            return;
        }
        // Without QDir::Hidden there are no hidden entries; with QDir::System there are links that lead nowhere, too.
        QDirIterator entries(folder.path, QDir::Dirs | QDir::Files | QDir::System | QDir::NoDotAndDotDot);
        while (entries.hasNext()) {
            entries.next();
            if (m_stop.stop_requested() || limitMet())
                return;
            const QFileInfo entry = entries.fileInfo();
            const QString name = entry.fileName();
            if (entry.isDir()) {
                if (folder.depth < m_limits.depth)
                    enter(entry.filePath(), folder.depth + 1);
                else
                    m_walk.cutShort = true;
            } else if (isUnfinished(name)) {
                ++m_walk.unfinished;
            } else if (isModelFile(name)) {
                if (entry.isFile())
                    m_walk.files.append(entry.filePath());
                else
                    ++m_walk.unreadable;  // a link to nowhere; a pipe or a device by that name
            }
        }
    }

    bool limitMet()
    {
        if (++m_entries > m_limits.entries || m_walk.files.size() >= m_limits.files ||
            m_clock.elapsed() > m_limits.time.count())
            m_walk.cutShort = true;
        return m_walk.cutShort;
    }

    const WalkLimits& m_limits;
    const std::stop_token& m_stop;
    QElapsedTimer m_clock;
    QList<Folder> m_waiting;  // the shallow ones first: models rarely lie deep, and limits may end the walk
    QSet<QString> m_seen;
    int m_entries = 0;
    Walk m_walk;
};

}  // namespace

Walk findModelFiles(const QString& root, const WalkLimits& limits, const std::stop_token& stop)
{
    return Walker(limits, stop).from(root);
}

QString whereItLies(const QString& path)
{
    return QFileInfo(path).canonicalFilePath();
}
