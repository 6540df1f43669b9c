// migrate() makes the tables and brings older ones up to date. app/store/README.md explains each column.
#pragma once

#include "app/store/database.h"

namespace schema {

/// Stands in the file's header, by which we tell our databases from other programs'.
constexpr int kApplicationId = 0x53706c77;  // "Splw"

int newest();
/// Brings the database from version `from` to the newest, all or nothing.
bool migrate(const Database& database, int from);
/// Says whether the tables are there with their columns, and no triggers or views but our own.
bool isComplete(const Database& database);

/// Returns an error where the indexes of words differ from the texts, or a text is not `searchable`.
QSqlError checkIndexes(const Database& database);
/// Makes the indexes of words anew from the texts.
QSqlError makeIndexesAnew(const Database& database);

}  // namespace schema
