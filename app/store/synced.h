// Brings files onto the disk, so that they outlive a loss of power.
#pragma once

class QString;

/// Brings what was written to the file to the disk. True: it is there.
bool syncFile(const QString& path);
/// Does the same for the names in a folder.
bool syncFolder(const QString& path);
