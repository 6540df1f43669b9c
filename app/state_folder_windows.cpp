#include "app/state_folder.h"

#include <QDir>
#include <QStandardPaths>

QString stateFolder()
{
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation);
    return QDir().mkpath(folder) ? folder : QString();
}
