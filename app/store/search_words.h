// SearchWords turns the text of the search field into what the database is searched for.
#pragma once

#include <QString>
#include <QStringList>

/// A hit holds all the words of both. Nothing typed counts as syntax.
struct SearchWords {
    /// For SQLite's full-text search: words of scripts that write spaces; the last may be the beginning of a word.
    /// Empty: there are none.
    QString query = {};
    /// Words of scripts without spaces, such as Chinese, which the index cannot tell apart: the texts are searched for
    /// them.
    QStringList parts = {};

    bool isEmpty() const { return query.isEmpty() && parts.isEmpty(); }
};

SearchWords searchWords(const QString& typed);
