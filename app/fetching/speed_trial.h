// SpeedTrial measures for some seconds the speed of a random model with the shapes of one that is not fetched yet.
#pragma once

#include "app/fetching/fetching_world.h"
#include "app/fetching/model_source.h"
#include "engine/shape_model.h"

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QThreadPool>
#include <QTimer>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <atomic>
#include <memory>
#include <optional>

/// Writes random weights of the model's types and sizes to a file, on a thread of its own, and lets `spillway-cli
/// bench` run them in a process of its own, so that a crash does not end the window. Both can be stopped at any moment,
/// and no file is left. A model that finds no room in memory is refused before anything is written. Lives on the UI
/// thread; owned by ModelPage.
class SpeedTrial : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(State state READ state NOTIFY changed)
    Q_PROPERTY(bool possible READ possible NOTIFY changed)
    Q_PROPERTY(double bytes READ bytes NOTIFY changed)
    Q_PROPERTY(double share READ share NOTIFY progressed)
    Q_PROPERTY(double tokensPerSecond READ tokensPerSecond NOTIFY changed)
    Q_PROPERTY(QString trouble READ trouble NOTIFY changed)

public:
    enum State { Idle, Making, Running, Done, Failed };
    Q_ENUM(State)

    explicit SpeedTrial(const FetchingWorld& world, QObject* parent = nullptr);
    ~SpeedTrial() override;

    State state() const { return m_state; }
    bool possible() const { return m_subject.has_value() && !m_world.machine.program.isEmpty(); }
    double bytes() const;                                               // that are written to the disk for it
    double share() const { return m_work ? m_work->share.load() : 0; }  // of the file that is being made
    double tokensPerSecond() const { return m_tokensPerSecond; }        // once it is done
    QString trouble() const { return m_trouble; }                       // why it failed, one sentence

    /// Takes another model, and ends what runs. A model without a header cannot be tried.
    void show(const LookedAt& subject);

    /// Begins a trial. `expected`: the outlook's tokens a second; negative: there are none.
    Q_INVOKABLE void start(double expected);
    Q_INVOKABLE void stop();

Q_SIGNALS:
    void changed();
    void progressed();

private:
    struct Work {
        std::atomic<bool> givenUp = false;
        std::atomic<double> share = 0;
    };
    QString whyNot() const;
    void onMade(engine::Result<engine::ShapeModel>& made);
    void run();
    void onFinished(int exitCode, QProcess::ExitStatus status);
    void end(State state, const QString& trouble = {});
    void drop();

    const FetchingWorld& m_world;
    std::optional<LookedAt> m_subject;
    State m_state = Idle;
    int m_tokens = 0;  // this many are measured
    double m_tokensPerSecond = 0;
    QString m_trouble;
    std::shared_ptr<Work> m_work;  // while the file is made
    std::optional<engine::ShapeModel> m_model;
    std::unique_ptr<QProcess> m_process;
    QTimer m_progress, m_limit;
    QThreadPool m_thread;  // destroyed first: it waits for the work, whose result is then dropped
};
