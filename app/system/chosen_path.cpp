#include "app/system/chosen_path.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

QString chosenPath(const QUrl& file)
{
    if (!file.scheme().isEmpty())
        return file.toLocalFile();
    QString path = QUrl::fromPercentEncoding(file.toEncoded());
    // The path is the shown folder with the typed text behind it, which may be a whole path itself: "/home/u" + "/" +
    // "/tmp/run.csv".
    const qsizetype whole = path.indexOf(QLatin1String("//")), home = path.indexOf(QLatin1String("/~/"));
    if (home >= 0 && (whole < 0 || home < whole))
        return QDir::homePath() + path.mid(home + 2);
    if (whole >= 0)
        return path.mid(whole + 1);
    return path;
}

QString documentsFolder()
{
    const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    return QFileInfo::exists(documents) ? documents : QDir::homePath();
}
