// FetchedHashes remembers the hashes of files that were fetched into folders of the user's choice: in these another
// file of the same name may be of another model, or of another version, and have the same size.
#pragma once

#include <QHash>
#include <QString>

#include <filesystem>
#include <mutex>
#include <string>

/// Any thread.
class FetchedHashes
{
public:
    /// `file`: where they are kept; empty: nowhere.
    explicit FetchedHashes(const std::filesystem::path& file);

    /// `sha256`: what the file at `path` has now, in 64 digits.
    void note(const std::filesystem::path& path, const std::string& sha256);
    /// False: it is known to be another file. True also of what nobody has noted, or has changed since.
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
