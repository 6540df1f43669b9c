// FetchQueue fetches the models that the user wants, one after another.
#pragma once

#include "app/fetching/fetch_item.h"
#include "app/fetching/fetching_world.h"
#include "app/fetching/model_source.h"
#include "app/fetching/request_thread.h"

#include <QAbstractListModel>
#include <QElapsedTimer>
#include <QHash>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <atomic>
#include <cstdint>
#include <memory>

/// Fetches one model after another; the rows are in the order in which they were asked for. What is not done is kept:
/// the next start of the program goes on with it. Lives on the UI thread; owned by Fetching.
class FetchQueue : public QAbstractListModel
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int count READ count NOTIFY countChanged)
    Q_PROPERTY(int unfinished READ unfinished NOTIFY countChanged)
    Q_PROPERTY(FetchSummary summary READ summary NOTIFY summaryChanged)
    Q_PROPERTY(QString error READ error NOTIFY errorChanged)

public:
    enum Role {
        NameRole = Qt::UserRole,
        RepositoryRole,
        QuantRole,
        StateRole,
        DoneBytesRole,
        TotalBytesRole,
        BytesPerSRole,
        CheckingRole,
        NoteRole,
        WantsTokenRole,
        AgainSRole,
        QuietSRole,
        CheckedRole,
    };

    /// `file`: in which the fetches are kept; empty: in none.
    FetchQueue(ModelSource* source, const FetchingWorld& world, const QString& file, QObject* parent = nullptr);
    ~FetchQueue() override;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    int count() const { return int(m_items.size()); }
    int unfinished() const;
    /// Sums up the fetches that run; if none runs, those that failed, are paused or wait.
    FetchSummary summary() const { return m_summary; }
    QString error() const { return m_error; }

    /// Adds a model. If it is in the list and not done, it goes on, with further companions if these are new; if it is
    /// done, its files are looked for and fetched anew as far as needed. `bytes`: of all files.
    Q_INVOKABLE void add(const QString& repository, const QString& file, const QString& quant, double bytes,
                         const QStringList& companions = {});
    Q_INVOKABLE void pause(int row);
    /// Lets a fetch that was paused or failed wait for its turn again. As with add(), the user may be asked to unlock
    /// the password store if it begins at once; a fetch that begins by itself opens no question.
    Q_INVOKABLE void resume(int row);
    /// Removes a row, and deletes what has come of its files, but not of those that another row wants, too. The files
    /// of a model that is done stay, also if its companions are still missing.
    Q_INVOKABLE void cancel(int row);
    Q_INVOKABLE void open(int row);

    /// Returns the states of a repository's models that are fetched with all of `companions`, by their first files.
    QHash<QString, Fetch::State> states(const QString& repository, const QStringList& companions) const;

    /// Says whether one of these files belongs to a fetch that is not done.
    bool needs(const QStringList& files) const;
    /// Call it when a model has been deleted: removes the rows of done models whose file is gone.
    void forgetDeleted();
    /// Limits the speed of all fetches from now on, running ones as well; 0: no limit.
    void setMostBytesPerS(qint64 bytes) { *m_mostBytesPerS = bytes; }
    /// Call it when the user permits the network, or no longer does: then the running fetch stops and waits.
    void onAllowedChanged();

Q_SIGNALS:
    void countChanged();
    void statesChanged();  // states of one or more rows, or the rows themselves
    void summaryChanged();
    void errorChanged();
    void fetched();  // a model is complete
    void removed();  // whole files that had come were deleted
    void openRequested(const QString& path, const QString& name);

private:
    void startNext(secrets::MayAsk may = secrets::MayAsk::No);
    void stopRunning();
    void endRunning();
    void onPlaces(const QStringList& places);
    void onWhole(const QString& repository, const QString& file, const QStringList& came, const QStringList& model);
    void onProgress(const FetchedSoFar& now);
    void lookForBytes();
    void onDone(const net::Result<FetchedModel>& model);
    void discard(const QStringList& places, const QStringList& whole);
    QStringList onlyOf(int row, QStringList files) const;
    QStringList unwanted(const QStringList& files) const;
    void setState(int row, Fetch::State state, const QString& note = {});
    void tell(int row);
    void sumUp();
    void keep();
    int rowOf(const QString& repository, const QString& file) const;
    void addCompanions(int row, const QStringList& companions, double bytes);

    ModelSource* m_source;
    const FetchingWorld& m_world;
    FetchList m_list;
    QList<FetchItem> m_items;
    FetchSummary m_summary;
    int m_running = -1;  // its row
    QString m_error;     // why the fetches are not kept
    QElapsedTimer m_clock;
    double m_measuredBytes = 0;  // when the clock was started
    QTimer m_look;
    QElapsedTimer m_sinceBytes;
    std::shared_ptr<std::atomic<std::int64_t>> m_mostBytesPerS = std::make_shared<std::atomic<std::int64_t>>(0);
    RequestThread m_thread;
};
