// migrate() makes the tables and brings older ones up to date. app/store/README.md explains each column.
#pragma once

#include "app/store/database.h"

namespace schema {

/// Stands in the file's header, so that nobody takes another program's database for ours.
constexpr int kApplicationId = 0x53706c77;  // "Splw"

int newest();
/// Brings the database from its version to the newest, all or nothing.
bool migrate(const Database& database, int from);
/// Says whether the tables are there, with their columns, and nothing that acts by itself but our own triggers.
bool isComplete(const Database& database);

/// An error where the indexes of words do not hold what the texts say, or a text is not `searchable`.
QSqlError checkIndexes(const Database& database);
/// Makes them anew from the texts.
QSqlError makeIndexesAnew(const Database& database);

}  // namespace schema
