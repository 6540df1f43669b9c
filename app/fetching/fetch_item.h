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
    QStringList companions;  // paths of the files there that are fetched with it
    QString folder;          // in which it is put; empty: where other programs find it
    Fetch::State state = Fetch::Waiting;
    double doneBytes = 0;
    double totalBytes = 0;
    double bytesPerS = 0;  // 0: not known
    double quietS = 0;     // seconds in which nothing has arrived; 0: something has, or nothing is awaited
    bool checking = false;
    bool checked = false;     // Done: its files were compared with their hashes; false: no hash is known of one of them
    bool wantsToken = false;  // a token, or another one, may help against what `note` says
    bool mayPass = false;     // Paused or Failed: the reason may have passed by the next start, which then goes on
    QString note;             // why it goes slowly, or why it failed
    double againS = 0;        // seconds until the next try; 0: it does not wait for one
    QString path;             // Done: the file to open
    QStringList places;       // where its files will lie, as far as that is known
    // Those of `places` that are whole and were not there before: they are deleted when the fetch is cancelled. The
    // files of a model that can be opened are not among them, since it may be in use.
    QStringList came;
};

/// Says whether a file may be one of those that an item fetches, by its name and its folder.
bool mayBeOf(const FetchItem& item, const QString& file);

/// Returns those of `files` that may be companions of an item's model, by their names: models of one repository have
/// companions in common. `files` are places of another item, in their order.
QStringList mayBeCompanionsOf(const FetchItem& item, const QStringList& files);

/// Sums up in one line all fetches that are not done, as a value for the pages: one of them, and how many others there
/// are.
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

/// Keeps the fetches that are not done in a file of the profile, for the next start. UI thread.
class FetchList
{
public:
    /// `file` empty: nothing is kept.
    explicit FetchList(QString file)
        : m_file(std::move(file))
    {
    }
    /// Reads the list; items that were running or waiting are Waiting. A damaged file counts as an empty list. Of the
    /// files that it names in `came`, only those are taken that may belong to the item.
    QList<FetchItem> read();
    /// Says whether the list's file exists but cannot be read, so that write() does not overwrite it.
    bool lost() const { return m_lost; }
    /// Writes the list. False: it cannot be written.
    bool write(const QList<FetchItem>& items) const;

private:
    QString m_file;
    bool m_lost = false;
};
