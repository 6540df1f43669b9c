// ServerKey is the secret with which other programs reach the port, in a file that only the user can read.
#pragma once

#include <QString>

#include <utility>

/// Values only; lives on the UI thread.
class ServerKey
{
public:
    static constexpr qsizetype kLongest = 200;

    /// Empty: nothing is kept.
    explicit ServerKey(QString file)
        : m_file(std::move(file))
    {
    }

    struct Kept {
        QString key;           // empty: there is none yet, or what is there is of no use
        bool useless = false;  // a file is there, which cannot be read or holds no key
    };
    Kept read() const;
    const QString& path() const { return m_file; }
    /// A new one takes its place. Nobody can guess it.
    QString make() const;
    /// False: it could not be written, and the file is as it was.
    bool write(const QString& key) const;

private:
    QString m_file;
};
