// openOrdinary() opens a file that the user named, if it is an ordinary one.
#pragma once

#include <QString>

class QFile;

/// Opens `file` for reading, and keeps it open if it is an ordinary one. The kind is looked at after opening, so that
/// nothing else can take the file's place in between. A pipe that nobody writes to does not make it wait. Empty: the
/// file is open; else why not.
QString openOrdinary(QFile& file);
