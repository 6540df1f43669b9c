// searchQuery() turns what the user typed into the search field into a query of SQLite's full-text search.
#pragma once

#include <QString>

/// A query for all of the words, the last of which may be the beginning of one. Nothing typed is syntax. Empty: there
/// is nothing to look for.
QString searchQuery(const QString& words);
