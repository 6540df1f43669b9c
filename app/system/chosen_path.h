// chosenPath() gives the path of a file that the user chose in a dialog.
#pragma once

#include <QString>
#include <QUrl>

/// Returns the path of a dialog's result; empty: the file is not on this computer. Qt's own dialog (6.4) gives typed
/// text as a path without a scheme, appended to the folder that it shows. The text may be "run.csv", "/tmp/run.csv" or
/// "~/run.csv".
QString chosenPath(const QUrl& file);

/// Returns the folder in which a dialog begins where none is remembered: the documents, or the home folder.
QString documentsFolder();
