#include "app/system/profile_folders.h"

#include <QDir>
#include <QFileInfo>

#include <sys/stat.h>

namespace {

// The XDG specification: a path that is not absolute is to be ignored. Qt knows XDG_STATE_HOME only from 6.7 on.
QString xdgFolder(const char* variable, const char* otherwise)
{
    QString base = qEnvironmentVariable(variable);
    if (!QDir::isAbsolutePath(base))
        base = QDir::homePath() + QLatin1String(otherwise);
    return QDir::cleanPath(base) + QStringLiteral("/spillway");
}

}  // namespace

ProfileFolders ProfileFolders::ofUser()
{
    ProfileFolders folders;
    folders.config = xdgFolder("XDG_CONFIG_HOME", "/.config");
    folders.data = xdgFolder("XDG_DATA_HOME", "/.local/share");
    folders.cache = xdgFolder("XDG_CACHE_HOME", "/.cache");
    folders.state = xdgFolder("XDG_STATE_HOME", "/.local/state");
    const QString runtime = qEnvironmentVariable("XDG_RUNTIME_DIR");
    folders.runtime = QDir::isAbsolutePath(runtime) && QFileInfo(runtime).isDir()
                          ? QDir::cleanPath(runtime) + QStringLiteral("/spillway")
                          : folders.state;
    return folders;
}

void ProfileFolders::closeNewFiles()
{
    umask(S_IRWXG | S_IRWXO);
}
