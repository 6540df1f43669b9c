// memoryFolder() makes a temporary folder of which no disk has to be waited for, where the system has such a place.
#pragma once

#include <QFileInfo>
#include <QTemporaryDir>

#include <memory>

/// The store of conversations waits until what it writes is on the disk: most tests of the window do that several
/// times.
inline std::unique_ptr<QTemporaryDir> memoryFolder()
{
    const QFileInfo place(QStringLiteral("/dev/shm"));
    return place.isDir() && place.isWritable()
               ? std::make_unique<QTemporaryDir>(place.filePath() + QStringLiteral("/spillway-ui-XXXXXX"))
               : std::make_unique<QTemporaryDir>();
}
