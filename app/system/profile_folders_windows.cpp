#include "app/system/profile_folders.h"

#include <QDir>

namespace {

QString folderIn(const char* variable, const char* otherwise)
{
    QString base = QDir::fromNativeSeparators(qEnvironmentVariable(variable));
    if (!QDir::isAbsolutePath(base))
        base = QDir::homePath() + QLatin1String(otherwise);
    return QDir::cleanPath(base) + QStringLiteral("/spillway");
}

}  // namespace

ProfileFolders ProfileFolders::ofUser()
{
    const QString local = folderIn("LOCALAPPDATA", "/AppData/Local");
    ProfileFolders folders;
    folders.config = folderIn("APPDATA", "/AppData/Roaming");
    folders.data = local;
    folders.cache = local + QStringLiteral("/cache");
    folders.state = local + QStringLiteral("/state");
    folders.runtime = folders.state;
    return folders;
}

void ProfileFolders::closeNewFiles() {}
