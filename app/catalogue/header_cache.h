// HeaderCache keeps what was read from model files, so that the next start need not read them again.
#pragma once

#include "engine/model_info.h"

#include <QHash>
#include <QJsonObject>
#include <QString>

#include <optional>

/// Headers by path, valid while the file's size and time are the same. Kept in one JSON file that may be deleted at any
/// time; a damaged one counts as empty. One scan uses it, on its own thread.
class HeaderCache
{
public:
    /// A header, or why there is none that could be used.
    using Header = engine::Result<engine::ModelInfo>;

    /// `file` empty: nothing is kept.
    explicit HeaderCache(QString file);

    /// Returns what was kept for this path, if it was with the same stamp: sizes and times of all the model's parts.
    std::optional<Header> find(const QString& path, const QString& stamp);
    void keep(const QString& path, const QString& stamp, const Header& header);

    /// What happens to kept headers that nobody asked for. They are dropped after a scan that looked at all files.
    enum class Rest { Drop, Keep };
    /// Writes what was found or kept, if that is not what the file holds.
    void save(Rest rest) const;

private:
    QString m_file;
    QHash<QString, QJsonObject> m_old;
    QHash<QString, QJsonObject> m_used;
    bool m_changed = false;
};
