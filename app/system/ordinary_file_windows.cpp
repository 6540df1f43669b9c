#include "app/system/ordinary_file.h"

#include <QCoreApplication>
#include <QFile>

#include <io.h>
#include <windows.h>

QString openOrdinary(QFile& file)
{
    if (!file.open(QIODevice::ReadOnly))
        return file.errorString();
    if (GetFileType(reinterpret_cast<HANDLE>(_get_osfhandle(file.handle()))) == FILE_TYPE_DISK)
        return {};
    file.close();
    return QCoreApplication::translate("Import", "it is not an ordinary file");
}
