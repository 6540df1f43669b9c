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
    double quietS = 0;     // seconds in which nothing has arrived; 0: something has, or nothing is awaited
    bool checking = false;
    bool checked = false;     // Done: against what its files should be; where nobody says that, they are not
    bool wantsToken = false;  // one, or another one, may help against what `note` says
    bool mayPass = false;     // Paused or Failed: by what may have passed at the next start, which goes on with it then
    QString note;             // why it goes slowly, or why it failed
    double againS = 0;        // seconds until what `note` says is tried again; 0: it is not waited for
    QString path;             // Done: the file to open
    QStringList places;       // where its files will lie, as far as that is known
    // Of them, what is whole and was not there before; it goes when the fetch is cancelled. Not a model that can be
    // opened: it may be in use by then.
    QStringList came;
};

/// Says whether a file may be part of what an item wants, by its name and where it lies.
bool mayBeOf(const FetchItem& item, const QString& file);

/// Holds what there is to say in one line of all that is not done, as a value for the pages: one of them, and how many
/// wait besides.
class FetchSummary
{
    Q_GADGET
    QML_VALUE_TYPE(fetchSummary)
    Q_PROPERTY(Fetch::State state MEMBER state CONSTANT)
    Q_PROPERTY(QString name MEMBER name CONSTANT)
    Q_PROPERTY(double share MEMBER share CONSTANT)
    Q_PROPERTY(int others MEMBER others CONSTANT)

public:
    Fetch::State state = Fetch::None;  // None: everything is done
    QString name;                      // safe to show
    double share = 0;                  // of its bytes that are here, 0 to 1, in steps of a hundredth
    int others = 0;                    // that are not done either
    bool operator==(const FetchSummary&) const = default;
};
Q_DECLARE_METATYPE(FetchSummary)

/// Keeps what is wanted in a file of the profile, for the next start. UI thread.
class FetchList
{
public:
    /// `file`: empty keeps nothing.
    explicit FetchList(QString file)
        : m_file(std::move(file))
    {
    }
    /// Reads the list; items that were running or waiting wait. A file that makes no sense holds none. Of the files
    /// that it says have come, only those are believed that may belong to the item.
    QList<FetchItem> read();
    /// The list's file exists but cannot be read, so write() leaves it alone.
    bool lost() const { return m_lost; }
    /// False: it cannot be written.
    bool write(const QList<FetchItem>& items) const;

private:
    QString m_file;
    bool m_lost = false;
};
