// Database opens a connection to the database and runs statements on it.
#pragma once

#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QVariantList>

#include <functional>

/// Holds one connection with the settings that all connections have. Used and destroyed on the thread that made it.
class Database
{
public:
    enum class Access {
        Read,   // SQLite refuses every write
        Write,  // a commit waits until it is on disk
    };

    /// `name` is a file's path, or one of memoryName().
    Database(const QString& name, Access access);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Returns the name of a new database in memory, which all connections to this name share. It lives as long as one
    /// of them.
    static QString memoryName();

    bool isOpen() const { return m_open; }
    QSqlError error() const { return m_error; }  // of opening, or of the last statement that failed

    /// Runs one statement with its values. Whether it worked is in the query and in error().
    QSqlQuery run(const QString& statement, const QVariantList& values = {}) const;
    bool ran(const QString& statement, const QVariantList& values = {}) const;
    /// Calls `take` with each row, until one cannot be read or `take` returns false.
    void rows(const QString& statement, const QVariantList& values,
              const std::function<bool(const QSqlQuery&)>& take) const;
    /// Returns the first value of the first row; invalid where there is no row.
    QVariant value(const QString& statement) const;

private:
    bool setUp(Access access);

    QString m_connection;  // Qt's name for it
    bool m_open = false;
    mutable QSqlError m_error;
};

/// Returns no error where `done`, else the database's last error.
QSqlError outcome(const Database& database, bool done);

// These say what a failure means, by SQLite's own codes.
bool isDamage(const QSqlError& error);       // the file is not a sound database
bool isForWant(const QSqlError& error);      // of space, memory or rights: it may succeed later
bool mayBeTheIndex(const QSqlError& error);  // the index of words, which can be made anew
bool isDiskFull(const QSqlError& error);
bool isHeld(const QSqlError& error);  // another program, or another connection, writes at the moment
/// Returns a part of a sentence for the user: why the database in `file` is not written, and what to do about it.
QString troubleOf(const QSqlError& error, const QString& file);

// These make errors of the same form for failures outside SQLite.
QSqlError diskFull();
QSqlError cannotWrite(const QString& file);  // beside the database
QSqlError noMemory();
