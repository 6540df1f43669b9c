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

/// Holds what was opened, kept in one JSON file, each at once; a damaged file counts as empty, and only the newest are
/// kept. Lives on the UI thread; owned by CatalogueController.
class LastUsed
{
public:
    /// `file`: empty, and nothing is kept.
    explicit LastUsed(QString file);

    QHash<QString, qint64> msById() const;
    /// The newest, the newest first.
    QList<UsedModel> newest(qsizetype most) const;
    QString idOf(const QString& path) const;  // as it was when that was opened last; empty: it was not
    void note(const UsedModel& model);
    void forget(const QString& id);

private:
    void save() const;

    QString m_file;
    QHash<QString, UsedModel> m_models;  // by id
};
