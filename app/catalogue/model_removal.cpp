#include "app/catalogue/model_removal.h"

#include "app/catalogue/split_name.h"
#include "app/text/visible_text.h"

#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QSet>

#include <filesystem>

namespace {

constexpr qsizetype kShownFiles = 3;
constexpr qsizetype kShownRevision = 12;  // characters of its name
constexpr int kMostNames = 10'000;        // entries of one repository that are looked at

struct RemovalTr {
    Q_DECLARE_TR_FUNCTIONS(ModelRemoval)
};

QString shown(const QString& path)
{
    ModelEntry named;
    named.path = path;
    return named.shownPath();
}

/// Says whether there is a file or a link, also a link whose target is gone.
bool isThere(const QFileInfo& file)
{
    return file.exists() || file.isSymbolicLink();
}

QStringList partsOf(const QString& path)
{
    const auto split = splitName(path);
    if (!split)
        return {path};
    QStringList parts;
    for (int part = 1; part <= split->count; ++part)
        if (const QString at = partPath(*split, part); isThere(QFileInfo(at)))
            parts.append(at);
    return parts;
}

/// Returns the repository of a Hugging Face cache among whose blobs a file lies: CACHE/models--ORG--NAME. Empty: none.
QString repositoryOfBlob(const QString& file)
{
    const QDir blobs = QFileInfo(file).dir();
    const QString repository = QFileInfo(blobs.path()).path();
    const bool is = blobs.dirName() == QLatin1String("blobs") &&
                    QFileInfo(repository).fileName().startsWith(QLatin1String("models--"));
    return is ? repository : QString();
}

/// Returns the path with the links among its folders resolved; where the last name is a link itself, that stays.
QString linkAt(const QString& path)
{
    return whereItLies(QFileInfo(path).path()) + QLatin1Char('/') + QFileInfo(path).fileName();
}

bool isOllamas(const QString& file)
{
    const QDir blobs = QFileInfo(file).dir();
    return blobs.dirName() == QLatin1String("blobs") && QFileInfo(blobs.filePath("../manifests")).isDir();
}

/// Gathers what deleting one model would take from the disk.
class RemovalPlan
{
public:
    explicit RemovalPlan(const ModelEntry& entry)
    {
        m_made.id = entry.id;
        m_made.title = entry.title;
        m_made.path = entry.path;
        if (entry.store == Store::HuggingFace)
            m_cache = whereItLies(entry.path.section(QStringLiteral("/snapshots/"), 0, 0));
    }

    void addPart(const QString& path)
    {
        const QString file = whereItLies(path);
        // A folder of the cache may be a link to a folder that is not the cache's.
        if (const QString link = linkAt(path); !m_cache.isEmpty() && !link.startsWith(m_cache + QLatin1Char('/'))) {
            m_made.obstacle = RemovalTr::tr("The cache only links to “%1”, which lies outside of it: delete it there.")
                                  .arg(shown(link));
            return;
        }
        if (!QFileInfo(path).isSymbolicLink()) {
            addFile(file);
            if (const QString folder = QFileInfo(file).path();
                !file.isEmpty() && folder != QDir::cleanPath(QFileInfo(path).absolutePath()))
                note(RemovalTr::tr("Through a linked folder it lies in “%1”.").arg(shown(folder)));
            if (const QString repository = repositoryOfBlob(file); !repository.isEmpty())
                addNamesIn(repository, file);
            return;
        }
        addName(path);
        const QString repository = file.isEmpty() ? QString() : repositoryOfBlob(file);
        // The file is deleted only with a link of its own repository; a link from elsewhere is deleted alone.
        if (!repository.isEmpty() && whereItLies(QFileInfo(path).path()).startsWith(repository + QLatin1Char('/'))) {
            addFile(file);
            addNamesIn(repository, file);
        } else if (!file.isEmpty()) {
            note(RemovalTr::tr("Only the link is deleted; the file “%1” stays.").arg(shown(file)));
        }
    }

    /// Notes links elsewhere that would lead to nothing.
    void addOtherLinks(const QStringList& folders, const WalkLimits& limits)
    {
        const QSet<QString> files(m_made.files.begin(), m_made.files.end());
        for (const QString& folder : folders)
            for (const QString& path : findModelFiles(folder, limits, {}).files)
                if (QFileInfo(path).isSymbolicLink() && !m_links.contains(linkAt(path)) &&
                    files.contains(whereItLies(path)))
                    note(RemovalTr::tr("“%1” is a link to it and will lead to nothing.").arg(shown(path)));
    }

    void note(const QString& sentence)
    {
        if (!m_made.notes.contains(sentence))
            m_made.notes.append(sentence);
    }

    ModelRemoval made()
    {
        m_also.sort();
        if (!m_also.isEmpty())
            note(RemovalTr::tr("In the Hugging Face cache it has other names, which go as well: %1.")
                     .arg(VisibleText::of(m_also.join(QStringLiteral(", ")))));
        if (m_inCache)
            note(RemovalTr::tr("Other programs that use the Hugging Face cache will have to fetch it again."));
        if (m_keptElsewhere)
            note(RemovalTr::tr(
                "The file has another name on this disk; its room is free only when that is deleted, too."));
        if (m_made.files.isEmpty() && m_made.names.isEmpty() && m_made.obstacle.isEmpty())
            m_made.obstacle = RemovalTr::tr("The file of “%1” is not there any more.").arg(m_made.title);
        for (const QString& path : m_made.files + m_made.names)
            if (const QString folder = QFileInfo(path).path();
                m_made.obstacle.isEmpty() && !QFileInfo(folder).isWritable())
                m_made.obstacle =
                    RemovalTr::tr("Nothing may be deleted in “%1”: you have no right to change it.").arg(shown(folder));
        return std::move(m_made);
    }

private:
    void addFile(const QString& file)
    {
        if (file.isEmpty() || m_made.files.contains(file))
            return;
        if (isOllamas(file))
            m_made.obstacle = RemovalTr::tr("Ollama keeps this model: “ollama rm %1” deletes it.").arg(m_made.title);
        m_made.files.append(file);
        m_made.bytes += double(QFileInfo(file).size());
        std::error_code ignored;
        const auto names = std::filesystem::hard_link_count(std::filesystem::path(file.toStdU16String()), ignored);
        m_keptElsewhere = m_keptElsewhere || (!ignored && names > 1);
    }

    /// Adds a link to those that are deleted. False: it is among them already, perhaps by another path to its folder.
    bool addName(const QString& path)
    {
        const QString link = linkAt(path);
        if (m_links.contains(link))
            return false;
        m_links.insert(link);
        m_made.names.append(path);
        return true;
    }

    /// Adds all links to the file in its repository.
    void addNamesIn(const QString& repository, const QString& file)
    {
        m_inCache = true;
        const QString snapshots = repository + QStringLiteral("/snapshots");
        const QString own = QFileInfo(m_made.path).fileName();
        QDirIterator entries(snapshots, QDir::Files | QDir::System | QDir::NoDotAndDotDot,
                             QDirIterator::Subdirectories);
        for (int seen = 0; entries.hasNext() && seen < kMostNames; ++seen) {
            entries.next();
            if (!entries.fileInfo().isSymbolicLink() || whereItLies(entries.filePath()) != file ||
                !addName(entries.filePath()))
                continue;
            const QString revision = entries.filePath().mid(snapshots.size() + 1).section(QLatin1Char('/'), 0, 0);
            const bool sameName = splitName(entries.fileName()).has_value() || entries.fileName() == own;
            const QString name = revision.left(kShownRevision) + (sameName ? QString() : '/' + entries.fileName());
            if (!m_also.contains(name))
                m_also.append(name);
        }
    }

    ModelRemoval m_made;
    QString m_cache;        // the repository of a Hugging Face cache in which all of it has to lie; empty: anywhere
    QSet<QString> m_links;  // that are deleted, as linkAt() gives them
    QStringList m_also;     // revisions of a cache, or names in them, that have the same bytes
    bool m_inCache = false;
    bool m_keptElsewhere = false;
};

/// Removes the folders that are empty without a deleted link, within a revision of a Hugging Face cache. The revision's
/// own folder stays, since the cache's refs name it, and so do all folders elsewhere.
void removeEmptyFolders(const QString& name)
{
    const QString revisions = QStringLiteral("/snapshots/");
    const qsizetype at = name.lastIndexOf(revisions);
    const qsizetype inRevision = at < 0 ? -1 : name.indexOf(QLatin1Char('/'), at + revisions.size());
    QString folder = QFileInfo(name).path();
    while (inRevision > 0 && folder.size() > inRevision && QDir().rmdir(folder))
        folder = QFileInfo(folder).path();
}

}  // namespace

QStringList ModelRemoval::shownFiles() const
{
    QStringList shown;
    for (const QString& part : partsOf(path)) {
        if (shown.size() == kShownFiles) {
            shown.append(QStringLiteral("…"));
            break;
        }
        shown.append(VisibleText::of(QFileInfo(part).fileName()));
    }
    return shown;
}

ModelRemoval planRemoval(const ModelEntry& entry, const QStringList& folders, const WalkLimits& limits)
{
    RemovalPlan plan(entry);
    for (const QString& part : partsOf(entry.path))
        if (isThere(QFileInfo(part)))
            plan.addPart(part);
    plan.addOtherLinks(folders, limits);
    if (!entry.projector.isEmpty())
        plan.note(RemovalTr::tr("Its projector “%1” stays and is listed by itself from then on.").arg(entry.projector));
    return plan.made();
}

QString removeModel(const ModelRemoval& removal)
{
    // The files come first: if the first of them cannot be deleted, everything is as it was.
    for (const QString& path : removal.files + removal.names) {
        QFile file(path);
        if (isThere(QFileInfo(path)) && !file.remove())
            return RemovalTr::tr("“%1” could not be deleted: %2.")
                .arg(shown(path), VisibleText::of(file.errorString()));
    }
    for (const QString& name : removal.names)
        removeEmptyFolders(name);
    return {};
}

#include "moc_model_removal.cpp"
