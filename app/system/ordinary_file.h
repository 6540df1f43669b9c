// openOrdinary() opens a file that somebody named, if it is an ordinary one.
#pragma once

#include <QString>

class QFile;

/// Opens `file` for reading, and keeps it open if it is an ordinary one: asked in this order, nothing can take its
/// place in between. A pipe without another end does not make it wait. Empty: the file is open; else why not.
QString openOrdinary(QFile& file);
