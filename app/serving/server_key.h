// ServerKey keeps the secret that other programs send to the local server, in a file that only the user can read.
#pragma once

#include <QString>

#include <utility>

/// Values only; lives on the UI thread.
class ServerKey
{
public:
    static constexpr qsizetype kLongest = 200;

    /// `file`: its path; empty: nothing is kept.
    explicit ServerKey(QString file)
        : m_file(std::move(file))
    {
    }

    struct Kept {
        QString key;           // empty: there is none yet, or the file is `useless`
        bool useless = false;  // a file is there, which cannot be read or holds no key
    };
    Kept read() const;
    const QString& path() const { return m_file; }
    /// Returns a new random key, and writes nothing.
    QString make() const;
    /// Writes the key. False: that failed, and the file is unchanged.
    bool write(const QString& key) const;

private:
    QString m_file;
};
