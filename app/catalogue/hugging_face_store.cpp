// The Hugging Face cache: models--ORG--NAME/snapshots/REVISION/FILE, links to blobs in most cases.
#include "app/catalogue/found_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHash>

namespace {

constexpr qint64 kRevisionLength = 128;  // bytes of a file that names a revision

/// Returns the name of the repository in a folder: "org/name" for "models--org--name".
QString repositoryName(const QString& folder)
{
    return folder.mid(int(qstrlen("models--"))).replace(QLatin1String("--"), QLatin1String("/"));
}

/// Returns the revisions of one repository, the one called main first.
QStringList revisions(const QString& repository)
{
    QStringList names = QDir(repository + QStringLiteral("/snapshots")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    QFile main(repository + QStringLiteral("/refs/main"));
    if (main.open(QFile::ReadOnly)) {
        const QString wanted = QString::fromUtf8(main.read(kRevisionLength)).trimmed();
        if (names.removeOne(wanted))
            names.prepend(wanted);
    }
    return names;
}

}  // namespace

Findings lookIntoHuggingFace(const QString& root, const WalkLimits& limits, const std::stop_token& stop)
{
    Findings found;
    found.there = true;
    const QStringList repositories =
        QDir(root).entryList({QStringLiteral("models--*")}, QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString& folder : repositories) {
        const QString repository = root + QLatin1Char('/') + folder;
        found.unfinished += int(QDir(repository + QStringLiteral("/blobs"))
                                    .entryList({QStringLiteral("*.incomplete"), QStringLiteral("*.spillway-part")})
                                    .size());
        QHash<QString, qsizetype> byBlob;  // place in found.files
        for (const QString& revision : revisions(repository)) {
            if (stop.stop_requested())
                return found;
            const Walk walk = findModelFiles(repository + QStringLiteral("/snapshots/") + revision, limits, stop);
            found.unreadable += walk.unreadable;
            found.cutShort |= walk.cutShort;
            for (const QString& path : walk.files) {
                const QString blob = whereItLies(path);
                if (const auto known = byBlob.constFind(blob); known != byBlob.constEnd()) {
                    found.files[*known].alsoNamed.append(revision.left(12));
                    continue;
                }
                byBlob.insert(blob, found.files.size());
                FoundFile file;
                file.store = Store::HuggingFace;
                file.path = path;
                file.name = repositoryName(folder);
                found.files.append(file);
            }
        }
    }
    return found;
}
