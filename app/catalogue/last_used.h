// When each model was opened last.
#pragma once

#include <QHash>
#include <QString>

/// Times by where a model's bytes lie, kept in one JSON file, each at once; a damaged file counts as empty, and only
/// the newest are kept. Lives on the UI thread; owned by CatalogueController.
class LastUsed
{
public:
    /// `file`: empty, and nothing is kept.
    explicit LastUsed(QString file);

    const QHash<QString, qint64>& msById() const { return m_msById; }  // since 1970
    void note(const QString& id, qint64 ms);

private:
    void save() const;

    QString m_file;
    QHash<QString, qint64> m_msById;
};
