// findModelFiles() finds the model files below a folder, however large or entangled that folder is.
#pragma once

#include <QString>
#include <QStringList>

#include <chrono>
#include <stop_token>

/// Bounds how much below a folder is looked at: it may be a whole disk, a slow share or a maze of links.
struct WalkLimits {
    int depth = 10;
    int entries = 200'000;
    int files = 20'000;
    std::chrono::milliseconds time{30'000};
};

struct Walk {
    QStringList files;      // *.gguf by the paths on which they were reached, sorted
    int unfinished = 0;     // downloads that are not complete
    int unreadable = 0;     // folders that may not be read, links to nowhere
    bool cutShort = false;  // a limit was met: there may be more
};

/// Looks below `root`; follows links, but enters no folder twice; leaves out hidden folders. Any thread.
Walk findModelFiles(const QString& root, const WalkLimits& limits, const std::stop_token& stop);

/// Returns the absolute path with all links resolved, which is the same for all ways to a file. Empty: there is none.
QString whereItLies(const QString& path);
