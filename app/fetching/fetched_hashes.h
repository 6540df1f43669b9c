// FetchedHashes remembers the hashes of files that were fetched into folders of the user's choice: in these another
// file of the same name may be of another model, or of another version, and have the same size.
#pragma once

#include <QHash>
#include <QString>

#include <filesystem>
#include <mutex>
#include <string>

/// Keeps the hashes in a file. Any thread.
class FetchedHashes
{
public:
    /// `file`: in which they are kept; empty: in none.
    explicit FetchedHashes(const std::filesystem::path& file);

    /// Notes the hash that the file at `path` has now. `sha256`: 64 hexadecimal digits.
    void note(const std::filesystem::path& path, const std::string& sha256);
    /// Says whether the file may have this hash. False: it is known to have another one. True also if none was noted,
    /// or if the file has changed since.
    bool mayBe(const std::filesystem::path& path, const std::string& sha256) const;

private:
    struct Noted {
        qint64 bytes = 0;
        qint64 changed_ms = 0;  // since 1970
        QString sha256;
    };
    static Noted stateOf(const QString& path);
    void keep() const;

    const QString m_file;
    mutable std::mutex m_mutex;
    QHash<QString, Noted> m_noted;  // by path
};
