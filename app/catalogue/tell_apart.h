// tellApart() says what distinguishes models of the same name.
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

struct NamedFile {
    QString name;
    QString path;
    QString server = {};  // of a model elsewhere, as the user knows it
};

/// Returns what has to be said beside each name so that no two read alike: nothing where the name is there once; else
/// the name of the file; its whole path where files of one name lie in several folders. Of a model elsewhere it is the
/// server, and what that calls the model where it has several of the name. Safe to show.
QStringList tellApart(const QList<NamedFile>& files);
