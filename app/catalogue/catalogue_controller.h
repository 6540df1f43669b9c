// CatalogueController finds the models of this computer and tells the pages about them.
#pragma once

#include "app/catalogue/catalogue_world.h"
#include "app/catalogue/draft_models.h"
#include "app/catalogue/experts_on_device.h"
#include "app/catalogue/last_used.h"
#include "app/catalogue/model_controller.h"
#include "app/catalogue/model_list_model.h"
#include "app/catalogue/model_remover.h"
#include "app/catalogue/recent_model.h"
#include "app/catalogue/shown_models.h"

#include <QObject>
#include <QSet>
#include <QStringList>
#include <QThreadPool>
#include <QtQml/qqmlregistration.h>

/// A place that is looked into, for the pages.
class ModelPlace
{
    Q_GADGET
    QML_VALUE_TYPE(modelPlace)
    Q_PROPERTY(QString name MEMBER name CONSTANT)
    Q_PROPERTY(QString path MEMBER path CONSTANT)
    Q_PROPERTY(QString shownPath MEMBER shownPath CONSTANT)
    Q_PROPERTY(bool own MEMBER own CONSTANT)
    Q_PROPERTY(bool there MEMBER there CONSTANT)
    Q_PROPERTY(int models MEMBER models CONSTANT)
    Q_PROPERTY(QString note MEMBER note CONSTANT)

public:
    QString name;
    QString path;  // as it is: to open, not to show
    QString shownPath;
    bool own = false;   // the user added it, and may take it off the list
    bool there = true;  // false: no such folder, as far as is known
    int models = 0;
    QString note;  // what was left out there
};
Q_DECLARE_METATYPE(ModelPlace)

/// Looks for models in the user's folders and in those of other programs, on a thread of its own, and remembers when
/// each was used last. Lives on the UI thread; owned by Program.
class CatalogueController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(ShownModels* models READ models CONSTANT)
    Q_PROPERTY(ModelRemover* remover READ remover CONSTANT)
    Q_PROPERTY(DraftModels* drafts READ drafts CONSTANT)
    Q_PROPERTY(int total READ total NOTIFY totalChanged)
    Q_PROPERTY(bool scanning READ scanning NOTIFY scanningChanged)
    Q_PROPERTY(bool scanned READ scanned NOTIFY scanningChanged)
    Q_PROPERTY(QList<ModelPlace> places READ places NOTIFY placesChanged)
    Q_PROPERTY(QList<RecentModel> recent READ recent NOTIFY recentChanged)
    Q_PROPERTY(double availableBytes READ availableBytes NOTIFY memoryChanged)
    Q_PROPERTY(double totalBytes READ totalBytes NOTIFY memoryChanged)
    Q_PROPERTY(QString error READ error NOTIFY errorChanged)

public:
    using World = CatalogueWorld;

    CatalogueController(ModelController& opener, World world, QObject* parent = nullptr);
    ~CatalogueController() override;

    ShownModels* models() { return &m_shown; }
    ModelRemover* remover() { return &m_remover; }
    DraftModels* drafts() { return &m_drafts; }
    int total() const { return m_models.rowCount(); }
    bool scanning() const { return m_scanning; }
    bool scanned() const { return m_scanned; }  // at least once
    QList<ModelPlace> places() const { return m_places; }
    double availableBytes() const;
    double totalBytes() const;
    engine::MachineMemory memoryNow() const { return m_world.memory(); }
    QString error() const { return m_error; }

    static constexpr qsizetype kMostRecent = 8;
    /// Returns what was opened last, the newest first.
    QList<RecentModel> recent() const { return m_recent; }

    /// Returns the open model's ModelEntry::id; empty: none is open.
    const QString& openId() const { return m_models.open(); }
    /// Returns the models of this computer that write text and can be opened, sorted by title.
    QList<ModelEntry> measurable() const;

    /// Shows these models of servers in the list, in place of those given before.
    void setElsewhere(const QList<ModelEntry>& models);
    /// Sets the user's own folders, which are searched at once if there has been a search yet. `fetchFolder`: where
    /// fetched models go; it is searched as well, and need not hold a model yet.
    void setFolders(const QStringList& folders, const QString& fetchFolder = {});
    /// Sets the request with which models would be loaded; whether they fit is computed for it.
    void setLoadRequest(const engine::LoadRequest& request);

    /// Looks for models unless they are, or have been, looked for.
    Q_INVOKABLE void begin();
    Q_INVOKABLE void rescan();
    Q_INVOKABLE void cancelScan();
    /// Measures how much memory is free now.
    Q_INVOKABLE void measure();
    Q_INVOKABLE void dismissError();

    /// Loads a model in place of what is open. False: it cannot be opened, `error` says why.
    Q_INVOKABLE bool open(const QString& id);
    /// Loads a file, such as one that was just fetched, under the title of its row; under `name` if it has no row.
    void openFile(const QString& path, const QString& name);
    /// Opens one of `recent`, by its path.
    Q_INVOKABLE void openRecent(const QString& path);
    /// Finds out which of `recent` are there, on another thread: a share may take its time to answer.
    Q_INVOKABLE void lookAtRecent();
    /// Shows the file in the desktop's file manager.
    Q_INVOKABLE void reveal(const QString& id);
    Q_INVOKABLE void copyPath(const QString& id);
    /// Computes on another thread what share of the model's experts the device would hold; the row's fit has it then.
    Q_INVOKABLE void findExpertsOnDevice(const QString& id);

Q_SIGNALS:
    void totalChanged();
    void scanningChanged();
    void placesChanged();
    void memoryChanged();
    void recentChanged();
    void errorChanged();

private:
    QList<StoreFolder> placesToLookInto() const;
    void onEntries(quint64 job, const QList<ModelEntry>& entries);
    void onScanned(quint64 job, const ScanReport& report);
    void onModelReady(const engine::ModelInfo& model);
    void onRefused();
    void onRemoved(const ModelRemoval& removal, bool gone);
    QString knownId(const QString& path) const;
    QStringList openedFiles() const;
    void showRecent();
    void sayWhatIsEmpty(const QList<PlaceReport>& places);
    void showPlaces();
    void setError(const QString& sentence);

    ModelController& m_opener;
    World m_world;
    engine::LoadRequest m_request;
    engine::MachineMemory m_memory;
    ModelListModel m_models;
    ShownModels m_shown;
    ModelRemover m_remover;
    DraftModels m_drafts;
    ExpertsOnDevice m_experts;
    QList<PlaceReport> m_reports;  // of the last scan that came to its end
    QList<ModelPlace> m_places;
    QStringList m_folders;
    QString m_fetchFolder;
    QStringList m_newFolders;  // added since the last scan that came to its end
    QString m_emptyFolder;     // of which the error says that there is no model in it
    LastUsed m_lastUsed;
    QList<RecentModel> m_recent;
    QSet<QString> m_missing;  // paths of recent ones that are not there
    QString m_error;
    quint64 m_job = 0;  // the newest scan; what older ones find is dropped
    std::stop_source m_stop{std::nostopstate};
    bool m_scanning = false;
    bool m_scanned = false;
    bool m_looksAtRecent = false;
    QThreadPool m_pool;  // of one thread: scans wait for each other, and nothing else waits for them
};
