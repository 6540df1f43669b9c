#include "app/store/synced.h"

#include <QFile>

#include <fcntl.h>
#include <unistd.h>

namespace {

bool sync(const QString& path, int flags)
{
    const int file = open(QFile::encodeName(path).constData(), O_RDONLY | O_CLOEXEC | flags);
    if (file < 0)
        return false;
    const bool done = fsync(file) == 0;
    close(file);
    return done;
}

}  // namespace

bool syncFile(const QString& path)
{
    return sync(path, 0);
}

bool syncFolder(const QString& path)
{
    return sync(path, O_DIRECTORY);
}
