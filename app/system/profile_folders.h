// ProfileFolders names the folders in which the program keeps its files.
#pragma once

#include <QString>

/// The folders of one profile: the user's own, or all under one folder for portable use and tests. Values only: nothing
/// is made until make() is asked for it.
struct ProfileFolders {
    QString config;   // settings
    QString data;     // conversations and their attachments
    QString cache;    // what can be computed again
    QString state;    // logs, crash notes
    QString runtime;  // sockets; gone when the user logs out

    /// Returns the user's folders: XDG's on Linux, the application data folders on Windows. `profile`: all under that
    /// folder.
    static ProfileFolders of(const QString& profile = {});

    /// Makes a folder, readable for its user alone, also where it was there. False when that cannot be.
    static bool make(const QString& folder);

    /// Makes the process's new files readable for its user alone from now on, whoever makes them: the database beside
    /// its journal, settings, logs, attachments, exports. On Windows the folders' own rules do that.
    static void closeNewFiles();

private:
    static ProfileFolders ofUser();
};
