// FetchItem is one model that is being fetched, waits for it, or has been; FetchList keeps those that are not done.
#pragma once

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

namespace Fetch {
Q_NAMESPACE
QML_ELEMENT
enum State { Waiting, Fetching, Paused, Failed, Done, None };
Q_ENUM_NS(State)
}  // namespace Fetch

struct FetchItem {
    QString repository;  // "ORG/REPO"
    QString file;        // its path there; of a split model the first
    QString quant;
    QStringList companions;  // that are fetched with it, their paths there
    QString folder;          // where it goes; empty: where other programs find it
    Fetch::State state = Fetch::Waiting;
    double doneBytes = 0;
    double totalBytes = 0;
    double bytesPerS = 0;  // 0: not known
    bool checking = false;
    bool wantsToken = false;  // one, or another one, may help against what `note` says
    bool lacksToken = false;  // Paused: because the password store is locked, so the next start tries again
    QString note;             // why it goes slowly, or why it failed
    QString path;             // Done: the file to open
    QStringList places;       // where its parts will lie, as far as that is known
};

/// Keeps what is wanted in a file of the profile, for the next start. UI thread.
class FetchList
{
public:
    /// `file`: empty keeps nothing.
    explicit FetchList(QString file)
        : m_file(std::move(file))
    {
    }
    /// What was running or waiting waits. A file that makes no sense holds nothing.
    QList<FetchItem> read() const;
    /// False: it cannot be written.
    bool write(const QList<FetchItem>& items) const;

private:
    QString m_file;
};
