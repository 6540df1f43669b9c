// Database opens a connection to the database and runs statements on it.
#pragma once

#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QVariantList>

#include <functional>

/// One connection, set up the way all of them have to be. Used, and ended, on the thread that made it.
class Database
{
public:
    enum class Access {
        Read,   // SQLite refuses every write
        Write,  // what is committed is on disk
    };

    /// `name` is a file's path, or one of memoryName().
    Database(const QString& name, Access access);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// A new database in memory, that all connections to this name share. It lives as long as one of them.
    static QString memoryName();

    bool isOpen() const { return m_open; }
    QSqlError error() const { return m_error; }  // of opening, or the last one since

    /// Runs one statement with its values. Whether it worked is in the query and in error().
    QSqlQuery run(const QString& statement, const QVariantList& values = {}) const;
    bool ran(const QString& statement, const QVariantList& values = {}) const;
    /// Hands over each row, until one cannot be read or `take` returns false.
    void rows(const QString& statement, const QVariantList& values,
              const std::function<bool(const QSqlQuery&)>& take) const;
    /// The first value of the first row; invalid without one.
    QVariant value(const QString& statement) const;

private:
    bool setUp(Access access);

    QString m_connection;  // Qt's name for it
    bool m_open = false;
    mutable QSqlError m_error;
};

/// Why something was not done; no error where it was.
QSqlError outcome(const Database& database, bool done);

// Say what a failure means, by SQLite's own codes.
bool isDamage(const QSqlError& error);       // the file is not a sound database
bool isForWant(const QSqlError& error);      // of space, rights or luck: the same may work another time
bool mayBeTheIndex(const QSqlError& error);  // of words, which can be made anew
bool isDiskFull(const QSqlError& error);
/// Why the database in `file` is not written, in our words, and what to do about it: a part of a sentence.
QString troubleOf(const QSqlError& error, const QString& file);

// The same, of what happened outside SQLite.
QSqlError diskFull();
QSqlError cannotWrite(const QString& file);  // beside the database
QSqlError noMemory();
