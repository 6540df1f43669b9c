#include "app/state_folder.h"

#include <QDir>

// Qt knows XDG_STATE_HOME only from 6.7 on.
QString stateFolder()
{
    QString base = qEnvironmentVariable("XDG_STATE_HOME");
    if (!QDir::isAbsolutePath(base))  // the XDG specification: a relative path is to be ignored
        base = QDir::homePath() + QStringLiteral("/.local/state");
    const QString folder = base + QStringLiteral("/spillway");
    return QDir().mkpath(folder) ? folder : QString();
}
