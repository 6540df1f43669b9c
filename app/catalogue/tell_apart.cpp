#include "app/catalogue/tell_apart.h"

#include "app/text/visible_text.h"

#include <QDir>
#include <QFileInfo>
#include <QHash>

QStringList tellApart(const QList<NamedFile>& files)
{
    QHash<QString, int> names;
    QHash<QString, QHash<QString, int>> fileNames;  // of each name
    for (const NamedFile& file : files) {
        ++names[file.name];
        ++fileNames[file.name][QFileInfo(file.path).fileName()];
    }
    QStringList marks;
    for (const NamedFile& file : files) {
        const QString fileName = QFileInfo(file.path).fileName();
        if (names[file.name] == 1)
            marks.append(QString());
        else
            marks.append(
                VisibleText::of(fileNames[file.name][fileName] == 1 ? fileName : QDir::toNativeSeparators(file.path)));
    }
    return marks;
}
