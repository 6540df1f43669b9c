#include "app/system/chosen_path.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

QString chosenPath(const QUrl& file)
{
    return file.scheme().isEmpty() ? QUrl::fromPercentEncoding(file.toEncoded()) : file.toLocalFile();
}

QString documentsFolder()
{
    const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    return QFileInfo::exists(documents) ? documents : QDir::homePath();
}
