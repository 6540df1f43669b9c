// LastUsed remembers which models were opened last, and when.
#pragma once

#include <QHash>
#include <QList>
#include <QString>

struct UsedModel {
    QString id;    // where its bytes lie
    QString path;  // as it was opened
    QString title;
    qint64 ms = 0;  // since 1970
};

/// Holds which models were opened, in one JSON file that is written each time; a damaged file counts as empty, and only
/// the newest are kept. Lives on the UI thread; owned by CatalogueController.
class LastUsed
{
public:
    /// `file` empty: nothing is written.
    explicit LastUsed(QString file);

    QHash<QString, qint64> msById() const;
    /// Returns up to `most` models that were opened last, the newest first.
    QList<UsedModel> newest(qsizetype most) const;
    QString idOf(const QString& path) const;  // as it was when the file was opened last; empty: it never was
    void note(const UsedModel& model);
    void forget(const QString& id);

private:
    void save() const;

    QString m_file;
    QHash<QString, UsedModel> m_models;  // by id
};
