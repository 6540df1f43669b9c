// SearchWords says what the words that were typed into the search field look for.
#pragma once

#include <QString>
#include <QStringList>

/// All of it has to be there. Nothing typed is syntax.
struct SearchWords {
    /// For SQLite's full-text search: the words that others write between spaces, the last of which may be the
    /// beginning of one. Empty: there are none.
    QString query = {};
    /// Words of a script without spaces, such as Chinese, of whose words the index knows nothing: they are looked for
    /// within the texts.
    QStringList parts = {};

    bool isEmpty() const { return query.isEmpty() && parts.isEmpty(); }
};

SearchWords searchWords(const QString& typed);
