// Brings files onto the disk, so that they outlive a loss of power.
#pragma once

class QString;

/// When it returns true, what was written to the file is on disk.
bool syncFile(const QString& path);
/// The same for the names in a folder.
bool syncFolder(const QString& path);
