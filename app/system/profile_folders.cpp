#include "app/system/profile_folders.h"

#include "engine/private_folder.h"

#include <QDir>
#include <QFileInfo>

ProfileFolders ProfileFolders::of(const QString& profile)
{
    ProfileFolders folders = ofUser();
    if (profile.isEmpty())
        return folders;
    const QString root = QDir::cleanPath(QFileInfo(profile).absoluteFilePath());
    folders.config = root + QStringLiteral("/config");
    folders.data = root + QStringLiteral("/data");
    folders.cache = root + QStringLiteral("/cache");
    folders.state = root + QStringLiteral("/state");
    return folders;  // `runtime` stays the user's: paths of sockets must be short
}

bool ProfileFolders::make(const QString& folder)
{
    return engine::make_private_folder(folder.toStdU16String()).has_value();
}
