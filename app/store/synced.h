// Brings files onto the disk, so that they survive a loss of power.
#pragma once

class QString;

/// Waits until the file's contents are on the disk. False: that failed.
bool syncFile(const QString& path);
/// Does the same for the names in a folder.
bool syncFolder(const QString& path);
