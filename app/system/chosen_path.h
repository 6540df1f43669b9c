// chosenPath() gives the path of what somebody chose in a dialog.
#pragma once

#include <QString>
#include <QUrl>

/// Qt's own dialog (6.4) gives what was typed as a path without a scheme, behind that of the folder it shows. It may be
/// "run.csv", "/tmp/run.csv" or "~/run.csv". Empty: it is not on this computer.
QString chosenPath(const QUrl& file);

/// The folder in which a dialog begins that nothing is known for: the documents, or the home folder.
QString documentsFolder();
