// Files that somebody names and nobody vouches for.
#pragma once

#include <QString>

class QFile;

/// Opens `file` for reading if it is an ordinary one. Opening comes first and looking second, so that nothing can take
/// its place in between; and nothing waits, as it would for a pipe's other end. Empty: it is open; else why not.
QString openOrdinary(QFile& file);
