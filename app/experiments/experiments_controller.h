// ExperimentsController does what the experiments' page asks for.
#pragma once

#include "app/catalogue/model_controller.h"
#include "app/chat/turn_runner.h"
#include "app/experiments/experiment_draft.h"
#include "app/experiments/experiment_row_model.h"
#include "app/experiments/experiment_runner.h"
#include "app/experiments/experiment_store.h"
#include "engine/machine.h"

#include <QObject>
#include <QUrl>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <optional>

/// A kept run, for the page.
class ExperimentFacts
{
    Q_GADGET
    QML_VALUE_TYPE(experimentFacts)
    Q_PROPERTY(QString id MEMBER id CONSTANT)
    Q_PROPERTY(QString name MEMBER name CONSTANT)
    Q_PROPERTY(double started MEMBER started CONSTANT)
    Q_PROPERTY(QString machine MEMBER machine CONSTANT)
    Q_PROPERTY(int cores MEMBER cores CONSTANT)
    Q_PROPERTY(QString kernels MEMBER kernels CONSTANT)
    Q_PROPERTY(QString device MEMBER device CONSTANT)
    Q_PROPERTY(QString memory MEMBER memory CONSTANT)
    Q_PROPERTY(int rows MEMBER rows CONSTANT)
    Q_PROPERTY(bool cancelled MEMBER cancelled CONSTANT)

public:
    QString id;
    QString name;
    double started = 0;  // ms since 1970
    QString machine;     // in English
    int cores = 0;       // of it; 0: not known
    QString kernels;
    QString device;
    QString memory;
    int rows = 0;
    bool cancelled = false;
};
Q_DECLARE_METATYPE(ExperimentFacts)

/// Plans, measures, keeps and compares experiments. The chat's model is closed before the first child starts, so that
/// the child has the machine for itself, and loaded again when the last has ended. Lives on the UI thread; owned by
/// Program.
class ExperimentsController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(ExperimentDraft* draft READ draft CONSTANT)
    Q_PROPERTY(ExperimentRowModel* rows READ rows CONSTANT)
    Q_PROPERTY(State state READ state NOTIFY stateChanged)
    Q_PROPERTY(bool busy READ busy NOTIFY stateChanged)
    Q_PROPERTY(QString roomNote READ roomNote NOTIFY stateChanged)
    Q_PROPERTY(int done READ done NOTIFY progressChanged)
    Q_PROPERTY(int total READ total NOTIFY progressChanged)
    Q_PROPERTY(QString currentModel READ currentModel NOTIFY progressChanged)
    Q_PROPERTY(int currentContext READ currentContext NOTIFY progressChanged)
    Q_PROPERTY(QString currentStrategy READ currentStrategy NOTIFY progressChanged)
    Q_PROPERTY(QString currentExperts READ currentExperts NOTIFY progressChanged)
    Q_PROPERTY(QVariant madeShare READ madeShare NOTIFY progressChanged)
    Q_PROPERTY(QVariant remainingMs READ remainingMs NOTIFY progressChanged)
    Q_PROPERTY(QList<ExperimentFacts> runs READ runs NOTIFY runsChanged)
    Q_PROPERTY(ExperimentFacts shown READ shown NOTIFY runsChanged)
    Q_PROPERTY(QString comparedId READ comparedId NOTIFY runsChanged)
    Q_PROPERTY(QString trouble READ trouble NOTIFY troubleChanged)

public:
    enum State {
        Idle,
        AnswerRuns,  // start() came while a model answers: waitAndStart(), stopAndStart() or cancel() decides
        Waiting,     // for the answer to end
        MakingRoom,  // the chat's model is being closed
        Measuring,
        Cancelling,
    };
    Q_ENUM(State)

    /// Holds what differs between the program and its tests.
    struct World {
        QString program;  // spillway-cli
        QString folder;   // of kept runs
        std::function<QList<ExperimentDraft::Candidate>()> files;
        std::function<std::vector<engine::DeviceInfo>()> devices;  // called on a pool thread
        std::function<engine::LoadRequest()> choices;              // threads, KV type and placement of the chat
    };

    ExperimentsController(TurnRunner& turns, ModelController& models, World world, QObject* parent = nullptr);
    ~ExperimentsController() override;

    ExperimentDraft* draft() { return &m_draft; }
    ExperimentRowModel* rows() { return &m_rows; }
    State state() const { return m_state; }
    bool busy() const { return m_state != Idle && m_state != AnswerRuns; }
    QString roomNote() const;  // says which model was closed; empty: none was open
    int done() const { return int(m_runner.done()); }
    int total() const { return int(m_runner.total()); }
    QString currentModel() const;
    int currentContext() const;
    QString currentStrategy() const;
    QString currentExperts() const;  // where its experts lie; empty: it has none, or no device
    QVariant madeShare() const;      // of the shape's file, 0 to 1; undefined: none is being made
    QVariant remainingMs() const;    // undefined: nothing has been measured yet
    QList<ExperimentFacts> runs() const;
    ExperimentFacts shown() const;  // without an id: none
    QString comparedId() const { return m_comparedId; }
    QString trouble() const { return m_trouble; }

    /// Reads the kept runs and looks for models and devices; the page calls it when it appears.
    Q_INVOKABLE void begin();
    Q_INVOKABLE void start();
    Q_INVOKABLE void waitAndStart();
    Q_INVOKABLE void stopAndStart();
    /// Ends the measuring; the rows so far are kept. Where none has begun, there is no run.
    Q_INVOKABLE void cancel();
    Q_INVOKABLE void show(const QString& id);
    /// Compares the shown run with another one; empty: with none.
    Q_INVOKABLE void compare(const QString& id);
    Q_INVOKABLE void rename(const QString& id, const QString& name);
    Q_INVOKABLE void remove(const QString& id);
    /// Returns the file that is offered for an export of the shown run. `suffix`: csv, json, png, svg.
    Q_INVOKABLE QUrl suggestedFile(const QString& suffix) const;
    /// Writes the shown run as JSON or CSV, by the file's suffix. Returns why it could not; empty: it was written.
    Q_INVOKABLE QString save(const QUrl& file) const;
    Q_INVOKABLE void showFolder(const QUrl& file);
    Q_INVOKABLE void dismissTrouble() { setTrouble({}); }
    Q_INVOKABLE void refreshProgress() { Q_EMIT progressChanged(); }

Q_SIGNALS:
    void stateChanged();
    void progressChanged();
    void runsChanged();
    void troubleChanged();

private:
    QString obstacle() const;
    void makeRoom();
    ExperimentRun planned() const;
    void measure();
    QString nameFor(const ExperimentRun& run) const;
    void onTurnsChanged();
    void onRow(const ExperimentRow& row);
    void onFinished(bool cancelled);
    const ExperimentRun* find(const QString& id) const;
    void keep(const ExperimentRun& run);
    void setState(State state);
    void setTrouble(const QString& sentence);

    TurnRunner& m_turns;
    ModelController& m_models;
    World m_world;
    ExperimentDraft m_draft;
    ExperimentRowModel m_rows;
    ExperimentStore m_store;
    ExperimentRunner m_runner;
    QList<ExperimentRun> m_runs;              // the newest first
    std::optional<ExperimentRun> m_measured;  // the run that is being measured
    QString m_shownId, m_comparedId;
    QString m_setAside;  // name of the chat's model, which was closed
    State m_state = Idle;
    bool m_begun = false;
    QString m_trouble;
};
