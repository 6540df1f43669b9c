#include "app/store/database.h"

#include "app/store/well_formed.h"

#include <QCoreApplication>
#include <QDir>
#include <QUuid>

namespace {

// Result codes of SQLite; the low byte says the kind.
enum Code {
    Busy = 5,
    Locked = 6,
    NoMemory = 7,
    ReadOnly = 8,
    InputOutput = 10,
    Corrupt = 11,
    Full = 13,
    CannotOpen = 14,
    Constraint = 19,
    NotADatabase = 26
};
constexpr int kForeignKey = Constraint | 3 << 8;
constexpr int kMoved = ReadOnly | 4 << 8;
constexpr int kOtherFile = CannotOpen | 255 << 8;  // our own code: the file that the text names, and not the database

/// Translates the texts of functions that belong to no class.
struct TroubleText {
    Q_DECLARE_TR_FUNCTIONS(Database)
};

int codeOf(const QSqlError& error)
{
    return error.nativeErrorCode().toInt() & 0xff;
}

}  // namespace

QSqlError outcome(const Database& database, bool done)
{
    return done ? QSqlError() : database.error();
}

bool isDamage(const QSqlError& error)
{
    return codeOf(error) == Corrupt || codeOf(error) == NotADatabase;
}

bool isForWant(const QSqlError& error)
{
    switch (codeOf(error)) {
    case Busy:
    case Locked:
    case NoMemory:
    case ReadOnly:
    case InputOutput:
    case Full:
    case CannotOpen:
        return true;
    default:
        return false;
    }
}

// FTS5 reports damage to its own tables as such, or violates a constraint when it writes rows that it believes to be
// missing. Our own statements can violate one constraint only, that a message has a conversation.
bool mayBeTheIndex(const QSqlError& error)
{
    return isDamage(error) || (codeOf(error) == Constraint && error.nativeErrorCode().toInt() != kForeignKey);
}

bool isDiskFull(const QSqlError& error)
{
    return codeOf(error) == Full;
}

bool isHeld(const QSqlError& error)
{
    return codeOf(error) == Busy || codeOf(error) == Locked;
}

QString troubleOf(const QSqlError& error, const QString& file)
{
    const bool other = error.nativeErrorCode().toInt() == kOtherFile;
    const QString named = QDir::toNativeSeparators(other ? error.databaseText() : file);
    if (error.nativeErrorCode().toInt() == kMoved)
        return TroubleText::tr("“%1” was moved or deleted while it was in use; put it back, or start Spillway again")
            .arg(named);
    switch (codeOf(error)) {
    case ReadOnly:
    case CannotOpen:
        return TroubleText::tr("“%1” cannot be written; allow yourself to write this file and its folder").arg(named);
    case Busy:
    case Locked:
        return TroubleText::tr("another program holds “%1”; close it").arg(named);
    case InputOutput:
        return TroubleText::tr("the disk fails at “%1”; see whether it is still connected").arg(named);
    case NoMemory:
        return TroubleText::tr("there is not enough memory; close other programs");
    case Full:
        return TroubleText::tr("the disk with “%1” is full; make room on it").arg(named);
    default:
        return error.databaseText();
    }
}

QString Database::memoryName()
{
    return QStringLiteral("file:%1?mode=memory&cache=shared").arg(QUuid::createUuid().toString(QUuid::Id128));
}

QSqlError diskFull()
{
    return {QString(), QString(), QSqlError::UnknownError, QString::number(Full)};
}

QSqlError cannotWrite(const QString& file)
{
    return {QString(), file, QSqlError::UnknownError, QString::number(kOtherFile)};
}

QSqlError noMemory()
{
    return {QString(), QStringLiteral("out of memory"), QSqlError::UnknownError, QString::number(NoMemory)};
}

Database::Database(const QString& name, Access access)
    : m_connection(QUuid::createUuid().toString(QUuid::WithoutBraces))
{
    QSqlDatabase database = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connection);
    QString options = QStringLiteral("QSQLITE_BUSY_TIMEOUT=5000");
    if (name.startsWith(QLatin1String("file:")))
        options += QLatin1String(";QSQLITE_OPEN_URI");
    database.setConnectOptions(options);
    database.setDatabaseName(name);
    if (database.open())
        m_open = setUp(access);
    else
        m_error = database.lastError();
}

Database::~Database()
{
    QSqlDatabase::database(m_connection, false).close();
    QSqlDatabase::removeDatabase(m_connection);
}

// A database may be another's, and its schema must not call more than plain functions. A connection that writes has to
// allow more, since our triggers fill the index of words; schema::isComplete() has made sure that there are no other
// triggers.
bool Database::setUp(Access access)
{
    QStringList pragmas{QStringLiteral("cell_size_check=ON")};
    if (access == Access::Read)
        pragmas << QStringLiteral("trusted_schema=OFF") << QStringLiteral("query_only=ON");
    if (access == Access::Write)
        pragmas << QStringLiteral("journal_mode=WAL") << QStringLiteral("synchronous=FULL")
                << QStringLiteral("foreign_keys=ON") << QStringLiteral("secure_delete=FAST");
    return std::all_of(pragmas.begin(), pragmas.end(),
                       [this](const QString& pragma) { return ran(QStringLiteral("PRAGMA ") + pragma); });
}

QSqlQuery Database::run(const QString& statement, const QVariantList& values) const
{
    QSqlQuery query(QSqlDatabase::database(m_connection, false));
    query.setForwardOnly(true);
    bool done = query.prepare(statement);
    for (const QVariant& value : values)
        query.addBindValue(value.typeId() == QMetaType::QString && !value.isNull() ? wellFormed(value.toString())
                                                                                   : value);
    done = done && query.exec();
    if (!done)
        m_error = query.lastError();
    return query;
}

bool Database::ran(const QString& statement, const QVariantList& values) const
{
    return run(statement, values).isActive();
}

void Database::rows(const QString& statement, const QVariantList& values,
                    const std::function<bool(const QSqlQuery&)>& take) const
{
    QSqlQuery query = run(statement, values);
    while (query.next())
        if (!take(query))
            return;
    if (query.lastError().type() != QSqlError::NoError)
        m_error = query.lastError();
}

QVariant Database::value(const QString& statement) const
{
    QVariant first;
    rows(statement, {}, [&](const QSqlQuery& row) {
        first = row.value(0);
        return false;
    });
    return first;
}
