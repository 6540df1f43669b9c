// ProfileFolders names the folders in which the program keeps its files.
#pragma once

#include <QString>

/// Holds the folders of one profile: the user's own, or all under one folder for portable use and tests. Values only:
/// folders are created by make() alone.
struct ProfileFolders {
    QString config;   // settings
    QString data;     // conversations and their attachments
    QString cache;    // what can be computed again
    QString state;    // logs, crash notes
    QString runtime;  // sockets; gone when the user logs out

    /// Returns the user's folders: XDG's on Linux, the application data folders on Windows. `profile`: all under that
    /// folder.
    static ProfileFolders of(const QString& profile = {});

    /// Makes a folder readable for its user alone, and creates it where it is missing. False: that failed.
    static bool make(const QString& folder);

    /// Makes the process's new files readable for its user alone from now on, whoever makes them: the database beside
    /// its journal, settings, logs, attachments, exports. On Windows the folders' own rules do that.
    static void closeNewFiles();

private:
    static ProfileFolders ofUser();
};
