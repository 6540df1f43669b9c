#include "app/store/schema.h"

#include "app/store/rows.h"

#include <QStringList>

namespace schema {

namespace {

// The statements that lead from each version to the next. A released step never changes; a new one is added at the end.
const QList<QStringList>& steps()
{
    static const QList<QStringList> all{
        // 1: the tables
        {
            QStringLiteral("CREATE TABLE conversations ("
                           "number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, "
                           "title_by_user INTEGER NOT NULL, created_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL, "
                           "pinned INTEGER NOT NULL, leaf TEXT, draft TEXT NOT NULL, system_prompt TEXT NOT NULL, "
                           "preset TEXT NOT NULL, sampling TEXT NOT NULL, template_arguments TEXT NOT NULL, "
                           "trashed_ms INTEGER)"),
            QStringLiteral("CREATE TABLE messages ("
                           "number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
                           "conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE, "
                           "parent TEXT REFERENCES messages (id) ON DELETE CASCADE, role TEXT NOT NULL, "
                           "text TEXT NOT NULL, status TEXT NOT NULL, sentence TEXT NOT NULL, "
                           "created_ms INTEGER NOT NULL, left_out INTEGER NOT NULL, model TEXT NOT NULL, "
                           "prompt_tokens INTEGER, template_tokens INTEGER, tokens INTEGER, ttft_ms REAL, "
                           "tokens_per_second REAL, reasoning_ms REAL)"),
            QStringLiteral("CREATE INDEX messages_of_conversation ON messages (conversation, number)"),
            QStringLiteral("CREATE INDEX messages_of_parent ON messages (parent)"),
            QStringLiteral("CREATE TABLE attachments ("
                           "number INTEGER PRIMARY KEY, id TEXT NOT NULL, "
                           "message TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE, name TEXT NOT NULL, "
                           "kind TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, tokens INTEGER)"),
            QStringLiteral("CREATE INDEX attachments_of_message ON attachments (message)"),
            QStringLiteral("CREATE TABLE presets ("
                           "name TEXT PRIMARY KEY NOT NULL, system_prompt TEXT NOT NULL, sampling TEXT NOT NULL, "
                           "template_arguments TEXT NOT NULL)"),
        },
        // 2: words can be found. An answer that is being written is indexed when it is done, since every piece of it
        // would cost as much as the whole.
        {
            QStringLiteral("ALTER TABLE messages ADD COLUMN searchable INTEGER NOT NULL DEFAULT 0"),
            QStringLiteral("CREATE INDEX messages_not_searchable ON messages (number) WHERE searchable = 0"),
            QStringLiteral("CREATE VIRTUAL TABLE title_search USING fts5(title, content='conversations', "
                           "content_rowid='number', tokenize='unicode61 remove_diacritics 2', prefix='1 2 3')"),
            QStringLiteral("CREATE VIRTUAL TABLE text_search USING fts5(text, content='messages', "
                           "content_rowid='number', tokenize='unicode61 remove_diacritics 2', prefix='2 3')"),
            QStringLiteral("CREATE TRIGGER title_added AFTER INSERT ON conversations BEGIN "
                           "INSERT INTO title_search (rowid, title) VALUES (new.number, new.title); END"),
            QStringLiteral("CREATE TRIGGER title_removed AFTER DELETE ON conversations BEGIN "
                           "INSERT INTO title_search (title_search, rowid, title) "
                           "VALUES ('delete', old.number, old.title); END"),
            QStringLiteral("CREATE TRIGGER title_changed AFTER UPDATE OF title ON conversations "
                           "WHEN old.title <> new.title BEGIN "
                           "INSERT INTO title_search (title_search, rowid, title) "
                           "VALUES ('delete', old.number, old.title); "
                           "INSERT INTO title_search (rowid, title) VALUES (new.number, new.title); END"),
            QStringLiteral("CREATE TRIGGER text_added AFTER INSERT ON messages WHEN new.searchable BEGIN "
                           "INSERT INTO text_search (rowid, text) VALUES (new.number, new.text); END"),
            QStringLiteral("CREATE TRIGGER text_removed AFTER DELETE ON messages WHEN old.searchable BEGIN "
                           "INSERT INTO text_search (text_search, rowid, text) "
                           "VALUES ('delete', old.number, old.text); END"),
            QStringLiteral("CREATE TRIGGER text_changed AFTER UPDATE OF text, searchable ON messages "
                           "WHEN (old.searchable OR new.searchable) AND "
                           "(old.text <> new.text OR old.searchable <> new.searchable) BEGIN "
                           "INSERT INTO text_search (text_search, rowid, text) "
                           "SELECT 'delete', old.number, old.text WHERE old.searchable; "
                           "INSERT INTO text_search (rowid, text) "
                           "SELECT new.number, new.text WHERE new.searchable; END"),
            QStringLiteral("INSERT INTO title_search (title_search) VALUES ('rebuild')"),
            QStringLiteral("UPDATE messages SET searchable = 1"),
        },
        // 3: a draft keeps its files.
        {
            QStringLiteral("ALTER TABLE conversations ADD COLUMN draft_files TEXT NOT NULL DEFAULT '[]'"),
        },
        // 4: measurements of a conversation. Not in the conversation's row, which is read for every list.
        {
            QStringLiteral("CREATE TABLE recordings ("
                           "number INTEGER PRIMARY KEY, conversation TEXT NOT NULL UNIQUE "
                           "REFERENCES conversations (id) ON DELETE CASCADE, recording TEXT NOT NULL)"),
        },
        // 5: a conversation may lie in a folder, which exists as long as a conversation names it.
        {
            QStringLiteral("ALTER TABLE conversations ADD COLUMN folder TEXT NOT NULL DEFAULT ''"),
        },
        // 6: how many tokens were drafted for an answer.
        {
            QStringLiteral("ALTER TABLE messages ADD COLUMN drafted_tokens INTEGER"),
            QStringLiteral("ALTER TABLE messages ADD COLUMN accepted_tokens INTEGER"),
        },
    };
    return all;
}

/// Returns the SQL of a database's triggers and views, as text.
QVariant triggers(const Database& database)
{
    return database.value(QStringLiteral("SELECT group_concat(type || ' ' || name || ' ' || sql, char(10)) FROM ("
                                         "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') "
                                         "ORDER BY name)"));
}

/// Runs the statements until one fails, and returns its error.
QSqlError firstError(const Database& database, const QStringList& statements)
{
    const bool done = std::all_of(statements.begin(), statements.end(),
                                  [&](const QString& statement) { return database.ran(statement); });
    return done ? QSqlError() : database.error();
}

}  // namespace

int newest()
{
    return int(steps().size());
}

bool migrate(const Database& database, int from)
{
    if (!database.ran(QStringLiteral("BEGIN IMMEDIATE")))
        return false;
    bool done = database.ran(QStringLiteral("PRAGMA application_id=%1").arg(kApplicationId));
    for (int version = from; done && version < newest(); ++version)
        for (const QString& statement : steps()[version])
            done = done && database.ran(statement);
    done = done && database.ran(QStringLiteral("PRAGMA user_version=%1").arg(newest())) &&
           database.ran(QStringLiteral("COMMIT"));
    if (!done)
        database.ran(QStringLiteral("ROLLBACK"));
    return done;
}

QSqlError checkIndexes(const Database& database)
{
    // Rank 1 makes FTS5 compare the index with the texts.
    return firstError(database,
                      {QStringLiteral("INSERT INTO title_search (title_search, rank) VALUES ('integrity-check', 1)"),
                       QStringLiteral("INSERT INTO text_search (text_search, rank) VALUES ('integrity-check', 1)")});
}

QSqlError makeIndexesAnew(const Database& database)
{
    return firstError(database, {QStringLiteral("INSERT INTO title_search (title_search) VALUES ('rebuild')"),
                                 QStringLiteral("INSERT INTO text_search (text_search) VALUES ('rebuild')"),
                                 // 'rebuild' also takes texts that are not `searchable` yet.
                                 QStringLiteral("INSERT INTO text_search (text_search, rowid, text) "
                                                "SELECT 'delete', number, text FROM messages WHERE searchable = 0")});
}

bool isComplete(const Database& database)
{
    const QStringList tables{
        QStringLiteral("SELECT %1, trashed_ms FROM conversations LIMIT 0").arg(rows::kHeaderColumns),
        QStringLiteral("SELECT %1, searchable FROM messages LIMIT 0").arg(rows::kMessageColumns),
        QStringLiteral("SELECT %1 FROM attachments LIMIT 0").arg(rows::kAttachmentColumns),
        QStringLiteral("SELECT %1 FROM presets LIMIT 0").arg(rows::kPresetColumns),
        QStringLiteral("SELECT %1 FROM recordings LIMIT 0").arg(rows::kRecordingColumns),
        QStringLiteral("SELECT rowid FROM title_search LIMIT 0"),
        QStringLiteral("SELECT rowid FROM text_search LIMIT 0"),
    };
    if (!std::all_of(tables.begin(), tables.end(), [&](const QString& table) { return database.ran(table); }))
        return false;
    const Database made(Database::memoryName(), Database::Access::Write);
    return migrate(made, 0) && triggers(database) == triggers(made);
}

}  // namespace schema
