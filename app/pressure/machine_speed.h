// MachineSpeed has this machine measured, so that speed can be predicted and `auto` can divide a GPU's work.
#pragma once

#include "app/worker/engine_thread.h"
#include "engine/machine_rates.h"
#include "engine/planner.h"
#include "engine/rates_file.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

/// Holds the rates that the profile keeps. Those that are missing for a model are measured in a second or two, on a
/// thread of their own, while nothing is answered. When an answer begins meanwhile, measuring stops, since each would
/// disturb the other, and begins again when the engine is idle. Lives on the UI thread; owned by Program.
class MachineSpeed : public QObject
{
    Q_OBJECT

public:
    using GoesOn = std::function<bool(double)>;
    /// Returns the rates that a prediction for this model needs: the known ones where they suffice, else measured ones.
    /// Called on a pool thread.
    using Measure = std::function<engine::Result<engine::MachineRates>(
        const engine::LoadRequest&, const engine::MachineRates* known, const GoesOn&)>;
    /// Measures by engine::Planner.
    static engine::Result<engine::MachineRates> measureModel(const engine::LoadRequest& request,
                                                             const engine::MachineRates* known, const GoesOn& goesOn);

    /// Does the same with a planner, for a model that need not be on this computer.
    static engine::Result<engine::MachineRates> measureFor(const engine::Planner& planner,
                                                           const engine::LoadRequest& request,
                                                           const engine::MachineRates* known, const GoesOn& goesOn);

    /// `dataFolder`: the profile's; `silenceMs`: time without an answer before measuring begins.
    MachineSpeed(EngineThread& engine, const QString& dataFolder, Measure measure, int silenceMs = 2000,
                 QObject* parent = nullptr);
    ~MachineSpeed() override;

    /// Returns the rates for this many threads (0: one per core); null: none are known.
    std::shared_ptr<const engine::MachineRates> rates(int threads) const;

    bool measuring() const { return m_measurements > 0; }
    /// Sets the function that says whether others compute on this machine that the engine's worker does not report:
    /// measuring waits for them.
    void setOthers(std::function<bool()> compute) { m_othersCompute = std::move(compute); }
    /// Call it when others begin to compute: a running measurement is stopped and made later.
    void onOthers();
    /// Keeps rates that were measured elsewhere.
    void keep(const engine::MachineRates& rates);

    /// Asks for what is missing, some time after the model was loaded with these choices, or was given others.
    void onModelReady(const engine::LoadRequest& request);
    void onModelGone();
    /// Call it when an answer was clearly faster than these rates allow, so that the machine must have been busy when
    /// they were measured. All rates for the model are measured anew, at most once between two calls of onModelReady().
    void onOutrun(const engine::LoadRequest& request);

Q_SIGNALS:
    void changed();

private:
    void want(const engine::LoadRequest& request);
    void onTurn(bool running);
    bool othersCompute() const { return m_othersCompute && m_othersCompute(); }
    void measureLater();
    void measure();
    void onMeasured(quint64 job, const engine::Result<engine::MachineRates>& result);

    EngineThread& m_engine;
    engine::RatesFile m_file;
    Measure m_measure;
    std::shared_ptr<const engine::MachineRates> m_rates;
    std::optional<engine::LoadRequest> m_wanted;  // of the open model, until it has been measured
    bool m_anew = false;                          // known rates are not used
    bool m_answering = false;
    std::function<bool()> m_othersCompute;
    int m_measurements = 0;  // measurements that run, stopped ones included
    quint64 m_job = 0;
    std::stop_source m_stop{std::nostopstate};
    QTimer m_silence;
};
