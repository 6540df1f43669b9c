// PlacementController changes where the model lies.
#pragma once

#include "app/pressure/expert_placement.h"
#include "app/pressure/placement_forecast.h"
#include "app/worker/engine_thread.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <optional>

/// Posts the engine's commands about the placement and shows how they ended; those about experts are in `experts`, and
/// `forecast` predicts what they would bring. All of them work while the model answers. Lives on the UI thread; owned
/// by Program.
class PlacementController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(PlacementForecast* forecast READ forecast CONSTANT)
    Q_PROPERTY(ExpertPlacement* experts READ experts CONSTANT)
    Q_PROPERTY(bool available READ available NOTIFY changed)
    Q_PROPERTY(QString device READ device NOTIFY changed)
    Q_PROPERTY(bool emulated READ emulated NOTIFY changed)
    Q_PROPERTY(int layers READ layers NOTIFY changed)
    Q_PROPERTY(int deviceLayers READ deviceLayers NOTIFY changed)
    Q_PROPERTY(int wantedLayers READ wantedLayers NOTIFY changed)
    Q_PROPERTY(bool automatic READ automatic NOTIFY changed)
    Q_PROPERTY(bool moving READ moving NOTIFY changed)
    Q_PROPERTY(bool asking READ asking NOTIFY changed)
    Q_PROPERTY(double totalBytes READ totalBytes NOTIFY changed)
    Q_PROPERTY(double budgetBytes READ budgetBytes NOTIFY changed)
    Q_PROPERTY(double watermark READ watermark NOTIFY changed)
    Q_PROPERTY(int policy READ policy NOTIFY changed)
    Q_PROPERTY(int kvType READ kvType NOTIFY changed)
    Q_PROPERTY(int offloadPercent READ offloadPercent NOTIFY changed)
    Q_PROPERTY(double otherProgramsBytes READ otherProgramsBytes NOTIFY changed)
    Q_PROPERTY(bool yielding READ yielding NOTIFY changed)
    Q_PROPERTY(double yieldBytes READ yieldBytes NOTIFY changed)
    Q_PROPERTY(QString trouble READ trouble NOTIFY troubleChanged)

public:
    explicit PlacementController(EngineThread& engine, QObject* parent = nullptr);

    PlacementForecast* forecast() { return &m_forecast; }
    ExpertPlacement* experts() { return &m_experts; }
    bool available() const { return m_device.has_value(); }  // there is a device beside the host
    QString device() const;
    bool emulated() const { return m_request.placement.device == engine::PlacementOptions::Device::Emulated; }
    int layers() const { return m_layers; }  // of the model
    int deviceLayers() const { return m_device ? m_device->layers : 0; }
    int wantedLayers() const { return m_device ? m_device->layers_wanted : 0; }
    bool automatic() const { return !m_request.placement.device_layers; }
    bool moving() const { return deviceLayers() != wantedLayers(); }
    bool asking() const { return !m_posted.isEmpty(); }     // a command waits for the end of a step
    bool leaving() const { return m_leaving.has_value(); }  // it moves to another device, which was accepted
    double totalBytes() const { return m_device ? double(m_device->total_bytes) : 0; }
    double budgetBytes() const { return m_device ? double(m_device->budget_bytes) : 0; }
    double watermark() const { return m_request.placement.watermark; }  // share of the budget
    int policy() const { return int(m_request.placement.kv_policy); }
    int kvType() const;  // as SettingsController::KvType; -1: keys have another one than values
    int offloadPercent() const;
    double otherProgramsBytes() const { return m_device ? double(m_device->other_programs_bytes) : 0; }
    bool yielding() const { return m_beforeYield.has_value(); }
    /// Returns the budget before it shrank for another program. Empty: it is not shrunk. 0: all that others left free.
    std::optional<std::int64_t> budgetBeforeYield() const { return m_beforeYield; }
    double yieldBytes() const;  // the budget while another program needs the device: as chosen, else half
    QString trouble() const { return m_trouble; }  // why the last command failed; empty: none did

    Q_INVOKABLE void setLayers(int layers);
    Q_INVOKABLE void setAutomatic();
    /// Moves the open model's layers to another device, or to none. False: no model is open.
    bool changeDevice(const engine::PlacementOptions& wish);
    /// Stops a move: the layers stay where they are now, and on the device that they were leaving.
    Q_INVOKABLE void cancelMove();
    Q_INVOKABLE void setBudget(double bytes);  // 0: all that other programs leave
    Q_INVOKABLE void setWatermark(double share);
    Q_INVOKABLE void setPolicy(int policy);
    Q_INVOKABLE void setKvType(int type);  // of all conversations' KV from the next token on, also without a device
    void keepKvAs(engine::KvType type);
    Q_INVOKABLE void setOffloadPercent(int percent);
    Q_INVOKABLE void setOtherPrograms(double bytes);  // the dial of an emulated device
    Q_INVOKABLE void yieldTo(double bytes);           // sets the budget until growBack(), for another program
    Q_INVOKABLE void growBack();
    /// Sets the budget that toggleYield() shrinks to; it applies at once where it has shrunk already.
    Q_INVOKABLE void setYieldBytes(double bytes);
    Q_INVOKABLE void toggleYield();
    Q_INVOKABLE void dismissTrouble();

    const engine::LoadRequest& request() const { return m_request; }  // as it was loaded, with what was changed since
    /// Returns `loaded` with what has been changed since on the same device, a budget that has shrunk as grown back.
    engine::PlacementOptions asChanged(engine::PlacementOptions loaded) const;

    // Called when the model was loaded, is gone, or the engine reports something.
    void onModelReady(const engine::ModelInfo& model, const engine::LoadRequest& request);
    void onModelGone();
    /// `alone`: no other answer was made beside it, so that its speed is the model's.
    void onFrame(const engine::Telemetry& frame, bool alone = true);
    void onEvent(const engine::Event& event);

Q_SIGNALS:
    void changed();
    void troubleChanged();
    /// One of these two answers each changeDevice(), in their order.
    void deviceAccepted();
    void deviceRefused();
    void deviceTakenBack();  // the move was stopped half way: the device is the one before
    void kvTypeChanged();    // the engine keeps keys and values in another type now

private:
    quint64 post(const engine::Command& command);
    void postBudget(double bytes);
    void onTypesAnswered(const engine::SetKvTypes& types, bool done);
    void takeDevice(const engine::PlacementOptions& from);
    void onDeviceAnswered(const engine::PlacementOptions& wish, bool done);
    void takeSizes();
    PlacementForecast::Present present() const;

    EngineThread& m_engine;
    engine::LoadRequest m_request;  // as the model was loaded, with the changes since
    std::optional<engine::DeviceTelemetry> m_device;
    int m_layers = 0;
    int m_contextTokens = 0;  // now
    int m_contextLimit = 0;
    std::optional<std::int64_t> m_beforeYield;         // the budget before it shrank
    std::optional<double> m_yieldBytes;                // as chosen, as long as the program runs
    QList<quint64> m_posted;                           // commands that are not answered
    QHash<quint64, engine::SetKvTypes> m_postedTypes;  // those that set KV types
    QHash<quint64, engine::PlacementOptions> m_postedDevices;
    std::optional<engine::PlacementOptions> m_leaving;  // the device that the engine has not closed yet
    bool m_deviceIsNew = false;                         // its first frame is to come
    engine::SetKvTypes m_types;                         // that the engine uses now
    PlacementForecast m_forecast;
    ExpertPlacement m_experts;
    QString m_trouble;
};
