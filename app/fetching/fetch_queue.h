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

/// The rows in the order in which they were asked for. What is not done is kept: the next start goes on with it. Lives
/// on the UI thread; owned by Fetching.
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

    /// `file`: where they are kept; empty: nowhere.
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

    /// One that is not done goes on, also where companions are wanted now that were not before; of what is done it is
    /// looked anew what is there. `bytes`: of all.
    Q_INVOKABLE void add(const QString& repository, const QString& file, const QString& quant, double bytes,
                         const QStringList& companions = {});
    Q_INVOKABLE void pause(int row);
    /// What was paused or failed waits for its turn again. As with add(), the user may be asked to unlock the password
    /// store if it begins at once: what begins by itself opens no question.
    Q_INVOKABLE void resume(int row);
    /// Takes a row away, and all that has come of it. What is done stays where it is, also a model whose companions
    /// are still missing.
    Q_INVOKABLE void cancel(int row);
    Q_INVOKABLE void open(int row);

    /// Returns what is being fetched of a repository together with all of `companions`, by its first files.
    QHash<QString, Fetch::State> states(const QString& repository, const QStringList& companions) const;

    /// Says whether one of these files is being fetched, or is part of a model that is.
    bool needs(const QStringList& files) const;
    /// A model has been deleted: what is done and not there any more is no row.
    void forgetDeleted();
    /// Limits all fetches from now on, running ones as well; 0: no limit.
    void setMostBytesPerS(qint64 bytes) { *m_mostBytesPerS = bytes; }
    /// The user permits it, or no longer does: what runs stops and waits.
    void onAllowedChanged();

Q_SIGNALS:
    void countChanged();
    void statesChanged();  // of one or more rows, or which rows there are
    void summaryChanged();
    void errorChanged();
    void fetched();  // a model is there that was not before
    void removed();  // whole files that had come are there no more
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
    QString m_error;     // why they are not kept
    QElapsedTimer m_clock;
    double m_measuredBytes = 0;  // when the clock was started
    QTimer m_look;
    QElapsedTimer m_sinceBytes;
    std::shared_ptr<std::atomic<std::int64_t>> m_mostBytesPerS = std::make_shared<std::atomic<std::int64_t>>(0);
    RequestThread m_thread;
};
