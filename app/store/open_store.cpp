#include "app/store/open_store.h"

#include "app/store/attachment_folder.h"
#include "app/store/rows.h"
#include "app/store/schema.h"
#include "app/store/store_reader.h"
#include "app/store/synced.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QUrl>

#include <optional>

namespace {

// Checking all pages reads the whole file, about 1 GB/s from memory: a larger one is checked only where there is a
// reason to.
constexpr qint64 kAlwaysChecked_bytes = 64 * 1024 * 1024;
constexpr qint64 kSmallestPage_bytes = 512;

enum class State { Good, New, Older, Newer, Damaged, Foreign, Unavailable };

struct Finding {
    State state;
    int version = 0;
    QString why = {};
};

/// Translates the texts of functions that belong to no class.
struct Text {
    Q_DECLARE_TR_FUNCTIONS(ConversationStore)
};

QString checkMark(const QString& file)
{
    return file + QLatin1String("-check");
}

bool hasReasonToCheck(const QString& file)
{
    // A log that is left says that the program did not end in order.
    return QFileInfo(file + QLatin1String("-wal")).size() > 0 || QFile::exists(checkMark(file));
}

Finding failure(const Database& database, const QString& file)
{
    return {isDamage(database.error()) ? State::Damaged : State::Unavailable, 0, troubleOf(database.error(), file)};
}

Finding look(const QString& file, bool thoroughly)
{
    if (!QFile::exists(file) || QFileInfo(file).size() == 0)
        return {State::New};
    if (QFileInfo(file).size() < kSmallestPage_bytes)
        return {State::Damaged};  // SQLite would write over such a file
    const Database database(file, Database::Access::Read);
    if (!database.isOpen())
        return failure(database, file);
    const QVariant version = database.value(QStringLiteral("PRAGMA user_version"));
    const QVariant tables = database.value(QStringLiteral("SELECT count(*) FROM sqlite_schema"));
    if (!version.isValid() || !tables.isValid())
        return failure(database, file);
    if (tables.toInt() == 0)
        return {State::New};
    if (database.value(QStringLiteral("PRAGMA application_id")).toInt() != schema::kApplicationId ||
        version.toInt() < 1)
        return {State::Foreign};
    if (version.toInt() > schema::newest())
        return {State::Newer};
    if (thoroughly && database.value(QStringLiteral("PRAGMA quick_check(1)")).toString() != QLatin1String("ok"))
        return {State::Damaged};
    if (version.toInt() < schema::newest())
        return {State::Older, version.toInt()};
    return {schema::isComplete(database) ? State::Good : State::Damaged, version.toInt()};
}

QString makeOrMigrate(const QString& file, int from)
{
    const Database database(file, Database::Access::Write);
    if (!database.isOpen() || !schema::migrate(database, from))
        return troubleOf(database.error(), file);
    return {};
}

/// Returns no error when the copy is on the disk.
QSqlError backUp(const QString& file, int version)
{
    const QString backup = QFileInfo(file).path() + QStringLiteral("/spillway-backup-v%1.sqlite").arg(version);
    const QString unfinished = backup + QLatin1String(".part");
    QFile::remove(unfinished);
    const Database database(file, Database::Access::Write);
    if (!database.isOpen() || !database.ran(QStringLiteral("VACUUM INTO ?"), {unfinished}))
        return database.error();
    // SQLite does not bring the copy to the disk itself, while the migration that comes next is on disk at once.
    if (!syncFile(unfinished))
        return cannotWrite(unfinished);
    QFile::remove(backup);
    const bool done = QFile::rename(unfinished, backup) && syncFolder(QFileInfo(file).path());
    return done ? QSqlError() : cannotWrite(backup);
}

/// Returns the name under which a new database is made before it takes the place of `file`.
QString successor(const QString& file)
{
    return file + QLatin1String("-new");
}

void removeDatabase(const QString& file)
{
    for (const char* part : {"-wal", "-shm", ""})
        QFile::remove(file + QLatin1String(part));
}

/// Renames a database and its log. The log goes first: a log without its database does no harm, but a database without
/// its log is damaged.
bool renameDatabase(const QString& from, const QString& to)
{
    const QString log = from + QLatin1String("-wal"), newLog = to + QLatin1String("-wal");
    QFile::remove(newLog);
    QFile::rename(log, newLog);
    if (!QFile::rename(from, to)) {
        QFile::rename(newLog, log);
        return false;
    }
    QFile::remove(from + QLatin1String("-shm"));
    return true;
}

/// Renames a database and returns its new name. Empty: that failed.
QString setAside(const QString& file, const QString& reason)
{
    const QString stamp = QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyy-MM-ddTHH-mm-ss-zzz"));
    const QString name = QStringLiteral("spillway-%1-%2.sqlite").arg(reason, stamp);
    return renameDatabase(file, QFileInfo(file).path() + QLatin1Char('/') + name) ? name : QString();
}

/// Writes what can still be read of a damaged file to a new one; returns the number of conversations. Empty: the new
/// file cannot be written, and `why` says why.
std::optional<int> rescue(const QString& damaged, const QString& to, const QString& attachments, QSqlError& why)
{
    const StoreReader reader(damaged, Database::Access::Read, AttachmentFolder(attachments));
    const Database database(to, Database::Access::Write);
    if (!database.isOpen()) {
        why = database.error();
        return {};
    }
    if (!reader.isOpen())
        return 0;
    int count = 0;
    bool isWritten = database.ran(QStringLiteral("BEGIN IMMEDIATE"));
    const StoreReader::Rescued rescued = reader.rescue();
    for (const Preset& preset : rescued.presets)
        rows::write(database, preset);
    for (const StoredConversation& conversation : rescued.conversations) {
        database.ran(QStringLiteral("SAVEPOINT one"));
        if (rows::write(database, conversation)) {
            ++count;
        } else if (why = database.error(); isForWant(why)) {
            return {};
        } else {
            database.ran(QStringLiteral("ROLLBACK TO one"));
        }
        database.ran(QStringLiteral("RELEASE one"));
    }
    isWritten = isWritten && database.ran(QStringLiteral("COMMIT"));
    why = database.error();
    return isWritten ? std::optional(count) : std::nullopt;
}

OpenedStore inMemory(const QString& sentence)
{
    return {.database = Database::memoryName(), .inMemory = true, .notice = sentence};
}

OpenedStore unavailable(const QString& why)
{
    return inMemory(Text::tr("Conversations cannot be kept and will be gone when the program ends: %1.").arg(why));
}

/// Says whether writing is worth trying. What another program holds now can be written later: the writer tries again,
/// so that the start need not wait for it.
bool canBeWritten(const QString& file)
{
    const Database database(file, Database::Access::Write);
    return (database.isOpen() && database.ran(QStringLiteral("PRAGMA busy_timeout = 0")) &&
            database.ran(QStringLiteral("BEGIN IMMEDIATE")) && database.ran(QStringLiteral("ROLLBACK"))) ||
           isHeld(database.error());
}

/// Opens a database that cannot be written for reading only, if that works. With a log, SQLite needs the log's index
/// for it; without one the file will not change, so that it can be opened as immutable.
OpenedStore asItIs(const QString& file, const QString& why)
{
    if (!QFile::exists(file))
        return unavailable(why);
    const QString folder = QFileInfo(file).path();
    for (const char* way : {"?mode=ro", "?mode=ro&immutable=1"}) {
        const QString name = QString::fromLatin1(QUrl::fromLocalFile(file).toEncoded()) + QLatin1String(way);
        const Database database(name, Database::Access::Read);
        if (!database.isOpen() || !schema::isComplete(database))
            continue;
        return {.database = name,
                .readOnly = true,
                .notice = Text::tr("The folder %1 cannot be written. Your conversations are shown, but nothing new can "
                                   "be saved.")
                              .arg(folder)};
    }
    return inMemory(
        Text::tr("The folder %1 cannot be written. Your conversations are safe but not shown.").arg(folder));
}

/// Call it before a new database is made: attached files of an earlier one may be needed again, by a file that is set
/// aside or that the user moved elsewhere. Marks them to be kept. Empty: done, else why not.
QString keepFiles(const QString& file, const QString& attachments)
{
    const QSqlError why = AttachmentFolder(attachments).keepAll();
    return why.type() == QSqlError::NoError ? QString() : troubleOf(why, file);
}

/// Starts a new file. The old one keeps its name until the new one is complete, so that the next start tries again
/// where there was no room.
OpenedStore startAnew(const QString& file, const QString& attachments, State state)
{
    const bool damaged = state == State::Damaged;
    if (const QString why = keepFiles(file, attachments); !why.isEmpty())
        return unavailable(why);
    const QString next = successor(file);
    const auto givenUp = [&](const QString& why) {
        removeDatabase(next);
        return unavailable(why);
    };
    removeDatabase(next);
    if (const QString why = makeOrMigrate(next, 0); !why.isEmpty())
        return givenUp(why);
    QSqlError why;
    const std::optional<int> rescued = damaged ? rescue(file, next, attachments, why) : 0;
    if (!rescued)
        return givenUp(troubleOf(why, file));
    const QString name = setAside(file, damaged ? QStringLiteral("damaged") : QStringLiteral("foreign"));
    if (name.isEmpty() || !renameDatabase(next, file))
        return unavailable(Text::tr("the damaged database could not be set aside"));
    QFile::remove(checkMark(file));
    if (!damaged)
        return {.database = file,
                .notice = Text::tr("The file of conversations was another program's and was renamed to %1.").arg(name)};
    return {
        .database = file,
        .notice =
            *rescued > 0
                ? Text::tr("The database of conversations was damaged: %1 of them could be read again, and the damaged "
                           "file was renamed to %2.")
                      .arg(*rescued)
                      .arg(name)
                : Text::tr("The database of conversations was damaged and was renamed to %1.").arg(name)};
}

OpenedStore migrated(const QString& file, int version, const QString& attachments)
{
    if (const QSqlError why = backUp(file, version); why.type() != QSqlError::NoError)
        return unavailable(troubleOf(why, file));
    if (const QString why = makeOrMigrate(file, version); !why.isEmpty())
        return unavailable(why);
    if (!schema::isComplete(Database(file, Database::Access::Read)))
        return startAnew(file, attachments, State::Damaged);
    return {.database = file};
}

}  // namespace

OpenedStore openStore(const QString& folder, const QString& attachments)
{
    const QString file = folder + QLatin1String("/spillway.sqlite");
    if (!QDir().mkpath(folder))
        return unavailable(Text::tr("the folder %1 cannot be made").arg(folder));
    if (!QFile::exists(file) && QFile::exists(successor(file)))  // the program ended between two renamings
        renameDatabase(successor(file), file);
    const bool suspect = hasReasonToCheck(file);
    const Finding found = look(file, suspect || QFileInfo(file).size() <= kAlwaysChecked_bytes);
    switch (found.state) {
    case State::Good:
        if (!canBeWritten(file))
            return asItIs(file, {});
        if (suspect)
            checkAtNextOpen(file);        // the program may end before its indexes have been checked
        removeDatabase(successor(file));  // left by an earlier attempt
        return {.database = file, .toCheck = suspect};
    case State::New:
        if (const QString why = keepFiles(file, attachments); !why.isEmpty())
            return unavailable(why);
        if (const QString why = makeOrMigrate(file, 0); !why.isEmpty())
            return unavailable(why);
        return {.database = file};
    case State::Older:
        return migrated(file, found.version, attachments);
    case State::Newer:
        return inMemory(
            Text::tr("The conversations were kept by a newer version of Spillway; they are left as they are, and "
                     "new ones will be gone when the program ends."));
    case State::Damaged:
    case State::Foreign:
        checkAtNextOpen(file);  // if it cannot be set aside now
        return startAnew(file, attachments, found.state);
    case State::Unavailable:
        break;
    }
    return asItIs(file, found.why);
}

QString makeTables(const QString& database)
{
    return makeOrMigrate(database, 0);
}

void checkAtNextOpen(const QString& database)
{
    QFile mark(checkMark(database));
    mark.open(QIODevice::WriteOnly);
}

void setChecked(const QString& database)
{
    QFile::remove(checkMark(database));
}
