#include "app/catalogue/tell_apart.h"

#include "app/system/remote_path.h"
#include "app/text/visible_text.h"

#include <QDir>
#include <QFileInfo>
#include <QHash>

namespace {

QString shortMark(const NamedFile& file)
{
    return file.server.isEmpty() ? QFileInfo(file.path).fileName() : file.server;
}

QString longMark(const NamedFile& file)
{
    return file.server.isEmpty() ? QDir::toNativeSeparators(file.path)
                                 : QStringLiteral("%1: %2").arg(file.server, idElsewhere(file.path));
}

}  // namespace

QStringList tellApart(const QList<NamedFile>& files)
{
    QHash<QString, int> names;
    QHash<QString, QHash<QString, int>> shortMarks;  // of each name
    for (const NamedFile& file : files) {
        ++names[file.name];
        ++shortMarks[file.name][shortMark(file)];
    }
    QStringList marks;
    for (const NamedFile& file : files) {
        const QString mark = shortMark(file);
        if (names[file.name] == 1)
            marks.append(QString());
        else
            marks.append(VisibleText::of(shortMarks[file.name][mark] == 1 ? mark : longMark(file)));
    }
    return marks;
}
