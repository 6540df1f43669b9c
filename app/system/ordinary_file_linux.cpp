#include "app/system/ordinary_file.h"

#include <QCoreApplication>
#include <QFile>

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

QString openOrdinary(QFile& file)
{
    const int opened =
        open(QFile::encodeName(file.fileName()).constData(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (opened < 0)
        return qt_error_string(errno);
    struct stat facts {
    };
    if (fstat(opened, &facts) == 0 && S_ISREG(facts.st_mode) &&
        file.open(opened, QIODevice::ReadOnly, QFileDevice::AutoCloseHandle))
        return {};
    close(opened);
    return QCoreApplication::translate("Import", "it is not an ordinary file");
}
