// ModelController opens a model file: looks into it, offers it, loads it, and says what went wrong.
#pragma once

#include "app/catalogue/model_facts.h"
#include "app/system/remote_path.h"
#include "app/worker/engine_thread.h"

#include <QObject>
#include <QUrl>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <stop_token>

/// Reads a model file's header: engine::inspect_model, or a fake one. Called on a pool thread; Cancelled once stopped.
using ModelInspector =
    std::function<engine::Result<engine::ModelInfo>(const std::filesystem::path&, const std::stop_token&)>;

/// Takes the options that a model was loaded with and returns them with what the user has changed since. Called before
/// the model is loaded again.
using PlacementAsChanged = std::function<engine::PlacementOptions(const engine::PlacementOptions&)>;

/// Returns a text for the path of a model: the path of its draft model, or its server's name.
using TextOfPath = std::function<QString(const QString& path)>;

/// Holds what was found in a model file, and the machine's memory at that time.
struct LookedInto {
    engine::ModelInfo info;
    engine::MachineMemory memory;
};

/// Opens models: looks into the file first, offers it, loads it when asked. Errors are state, one sentence, until the
/// next attempt or until dismissed. Lives on the UI thread; owned by Program.
class ModelController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(Phase phase READ phase NOTIFY phaseChanged)
    Q_PROPERTY(ModelFacts offer READ offer NOTIFY offerChanged)
    Q_PROPERTY(ModelFacts current READ current NOTIFY currentChanged)
    Q_PROPERTY(double bytesDone READ bytesDone NOTIFY progressChanged)
    Q_PROPERTY(double bytesTotal READ bytesTotal NOTIFY progressChanged)
    Q_PROPERTY(QString error READ error NOTIFY errorChanged)
    Q_PROPERTY(bool canRetry READ canRetry NOTIFY errorChanged)
    Q_PROPERTY(bool reloadNeeded READ reloadNeeded NOTIFY reloadNeededChanged)

public:
    enum Phase {
        Idle,
        Inspecting,  // the header of a file is being read
        Offered,     // `offer` says what it is; load() or cancel()
        Loading,
        Cancelling,  // the engine has been told to stop
    };
    Q_ENUM(Phase)

    /// Every load starts from `defaults`; only its path is replaced.
    ModelController(EngineThread& engine, ModelInspector inspect, engine::LoadRequest defaults,
                    QObject* parent = nullptr);
    ~ModelController() override;

    Phase phase() const { return m_phase; }
    ModelFacts offer() const { return m_offer; }      // what is being opened
    ModelFacts current() const { return m_current; }  // what is open; not known() when nothing is
    double bytesDone() const { return m_bytesDone; }
    double bytesTotal() const { return m_bytesTotal; }
    QString error() const { return m_error; }
    bool canRetry() const { return !m_path.isEmpty(); }
    bool reloadNeeded() const;                      // what is open was opened with other choices than the present ones
    const QString& path() const { return m_path; }  // of the newest attempt
    QStringList pathsInUse() const;                 // of what is open, is being opened or will be again
    const engine::LoadRequest& loadedRequest() const { return m_loaded; }  // of what is open
    const engine::LoadRequest& chosenRequest() const { return m_chosen; }  // the choices that it was opened with

    Q_INVOKABLE void open(const QUrl& file);                 // looks into it and offers it
    Q_INVOKABLE void openDropped(const QList<QUrl>& files);  // takes one GGUF file of this computer only
    /// Looks into a file and loads it at once. `name`: the model's name in a list; empty: the file's own.
    void openAndLoad(const QString& path, const QString& name = {});

    /// Loads what was offered, in place of what is open.
    Q_INVOKABLE void load();
    /// Loads the open model again with this many tokens of context; later loads use `defaults` again. False: not now.
    bool reloadWithContext(int contextTokens);
    Q_INVOKABLE void cancel();
    Q_INVOKABLE void retry();
    /// Loads what is open once more, with the present choices.
    Q_INVOKABLE void reload();
    /// Takes note that the open model keeps keys and values in these types from now on.
    void onKvTypes(engine::KvType keys, engine::KvType values);
    /// Takes note that the open model lies on this device now; empty: on none.
    void onDevice(const QString& device);
    void onPlacement(const engine::PlacementOptions& placement);  // the open model's, on a device chosen since
    void setChanged(PlacementAsChanged changed) { m_changed = std::move(changed); }
    void setDraftOf(TextOfPath draftOf) { m_draftOf = std::move(draftOf); }  // finds a model's draft model
    void setServerOf(TextOfPath serverOf);                                   // finds the name of a model's server
    bool draftChanged() const;  // another draft model is chosen for the open model than it was loaded with
    /// Sets the request that all later loads start from.
    void setDefaults(const engine::LoadRequest& defaults);
    Q_INVOKABLE void dismissError();

    /// Closes the open model so that something else may have its memory, and opens none until giveRoomBack(). Call it
    /// in the phase Idle. False: no model is open. Else setAside() comes once it is closed.
    bool makeRoom();
    void giveRoomBack();  // loads it again as it was, also where it lay

    /// Takes note that the engine had to close the model in the middle of an answer, since its file went away.
    void onModelLost();

Q_SIGNALS:
    void phaseChanged();
    void offerChanged();
    void currentChanged();
    void progressChanged();
    void errorChanged();
    void reloadNeededChanged();
    void loadStarted();  // the model that was open is gone from here on
    void modelReady(const engine::ModelInfo& model);
    void modelGone();
    void setAside();  // after makeRoom()

private:
    enum class AfterInspection { Offer, Load };
    struct Inspected;
    void inspect(const QString& path, AfterInspection after, const QString& name = {});
    void loadOffer(const Inspected& found);
    void load(const engine::LoadRequest& request);
    ModelFacts facts(const engine::ModelInfo& info) const;
    void onInspected(quint64 job, AfterInspection after, const Inspected& found);
    void onLoadAdvanced(quint64 job, qint64 bytesDone, qint64 bytesTotal);
    void onLoaded(quint64 job, const engine::ModelInfo& model);
    void onLoadFailed(quint64 job, const engine::Error& error);
    void onUnloaded(quint64 job);
    void setPhase(Phase phase);
    void setError(const QString& sentence);

    EngineThread& m_engine;
    ModelInspector m_inspect;
    PlacementAsChanged m_changed = [](const auto& loaded) { return loaded; };
    TextOfPath m_draftOf = [](const QString&) { return QString(); }, m_serverOf = hostOf;
    engine::LoadRequest m_request;  // the present choices, for what is being opened
    engine::LoadRequest m_chosen;   // what they were when the open model was opened
    engine::LoadRequest m_loaded;   // with what it was loaded, the context it was raised to included
    Phase m_phase = Idle;
    quint64 m_job = 0;  // the newest inspection or load; answers to older ones are dropped
    std::stop_source m_inspectStop{std::nostopstate}, m_loadStop{std::nostopstate};
    bool m_aside = false;   // since makeRoom(): something else has the memory
    ModelFacts m_madeRoom;  // what was open before; not known() when nothing was
    QString m_path;         // of the newest attempt
    QString m_name;         // by which it was asked for; empty: the file's own
    ModelFacts m_offer, m_current;
    LookedInto m_offered;  // what m_offer was made of
    double m_bytesDone = 0, m_bytesTotal = 0;
    QString m_error;
};
