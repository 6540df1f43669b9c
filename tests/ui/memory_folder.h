// memoryFolder() makes a temporary folder of which no disk has to be waited for, where the system has such a place.
#pragma once

#include <QFileInfo>
#include <QTemporaryDir>

#include <memory>

/// Returns a folder in memory, or a usual one where the system has none. The store of conversations waits until what it
/// writes is on the disk, which most tests of the window let it do several times.
inline std::unique_ptr<QTemporaryDir> memoryFolder()
{
    const QFileInfo place(QStringLiteral("/dev/shm"));
    return place.isDir() && place.isWritable()
               ? std::make_unique<QTemporaryDir>(place.filePath() + QStringLiteral("/spillway-ui-XXXXXX"))
               : std::make_unique<QTemporaryDir>();
}
