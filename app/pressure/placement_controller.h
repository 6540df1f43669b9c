// PlacementController changes where the model lies, and says beforehand what a change would bring.
#pragma once

#include "app/worker/engine_thread.h"
#include "engine/planner.h"

#include <QHash>
#include <QList>
#include <QObject>
#include <QPointF>
#include <QStringList>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

/// What a placement would be like, as a value for the pages. Undefined numbers are not known.
class PlacementPreview
{
    Q_GADGET
    QML_VALUE_TYPE(placementPreview)
    Q_PROPERTY(bool known MEMBER known CONSTANT)
    Q_PROPERTY(int layers MEMBER layers CONSTANT)
    Q_PROPERTY(double deviceBytes MEMBER deviceBytes CONSTANT)
    Q_PROPERTY(double budgetBytes MEMBER budgetBytes CONSTANT)
    Q_PROPERTY(QVariant spillTokens MEMBER spillTokens CONSTANT)
    Q_PROPERTY(QVariant tokensPerSecond MEMBER tokensPerSecond CONSTANT)
    Q_PROPERTY(QVariant tokensPerSecondFull MEMBER tokensPerSecondFull CONSTANT)
    Q_PROPERTY(QVariant correction MEMBER correction CONSTANT)
    Q_PROPERTY(double kvBytesFull MEMBER kvBytesFull CONSTANT)
    Q_PROPERTY(int largestContext MEMBER largestContext CONSTANT)

public:
    bool known = false;
    int layers = 0;          // on the device: as many of those asked for as fit
    double deviceBytes = 0;  // at the present context
    double budgetBytes = 0;
    QVariant spillTokens;          // undefined: no block ever leaves
    QVariant tokensPerSecond;      // at the present context
    QVariant tokensPerSecondFull;  // when the context is full
    QVariant correction;           // that both were multiplied by: what was measured over what the rates promise
    double kvBytesFull = 0;        // of all KV when the context is full
    int largestContext = 0;        // that it holds: less than the whole where `resident` stops
};

/// Posts the engine's commands about the placement, shows what became of them, and says beforehand what they would
/// bring. Each applies while the model talks. Lives on the UI thread; owned by Program.
class PlacementController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(bool available READ available NOTIFY changed)
    Q_PROPERTY(QString device READ device NOTIFY changed)
    Q_PROPERTY(bool emulated READ emulated NOTIFY changed)
    Q_PROPERTY(int layers READ layers NOTIFY changed)
    Q_PROPERTY(int deviceLayers READ deviceLayers NOTIFY changed)
    Q_PROPERTY(int wantedLayers READ wantedLayers NOTIFY changed)
    Q_PROPERTY(bool automatic READ automatic NOTIFY changed)
    Q_PROPERTY(bool moving READ moving NOTIFY changed)
    Q_PROPERTY(double totalBytes READ totalBytes NOTIFY changed)
    Q_PROPERTY(double budgetBytes READ budgetBytes NOTIFY changed)
    Q_PROPERTY(double watermark READ watermark NOTIFY changed)
    Q_PROPERTY(int policy READ policy NOTIFY changed)
    Q_PROPERTY(int kvType READ kvType NOTIFY changed)
    Q_PROPERTY(int offloadPercent READ offloadPercent NOTIFY changed)
    Q_PROPERTY(double otherProgramsBytes READ otherProgramsBytes NOTIFY changed)
    Q_PROPERTY(bool yielding READ yielding NOTIFY changed)
    Q_PROPERTY(double yieldBytes READ yieldBytes NOTIFY changed)
    Q_PROPERTY(QVariant spillTokens READ spillTokens NOTIFY planChanged)
    Q_PROPERTY(QString trouble READ trouble NOTIFY troubleChanged)

public:
    explicit PlacementController(EngineThread& engine, QObject* parent = nullptr);

    bool available() const { return m_device.has_value(); }  // there is a device beside the host
    QString device() const;
    bool emulated() const { return m_request.placement.device == engine::PlacementOptions::Device::Emulated; }
    int layers() const { return m_layers; }  // of the model
    int deviceLayers() const { return m_device ? m_device->layers : 0; }
    int wantedLayers() const { return m_device ? m_device->layers_wanted : 0; }
    bool automatic() const { return !m_request.placement.device_layers; }
    bool moving() const { return deviceLayers() != wantedLayers(); }
    double totalBytes() const { return m_device ? double(m_device->total_bytes) : 0; }
    double budgetBytes() const { return m_device ? double(m_device->budget_bytes) : 0; }
    double watermark() const { return m_request.placement.watermark; }  // share of the budget
    int policy() const { return int(m_request.placement.kv_policy); }
    int kvType() const;  // as SettingsController::KvType; -1: keys have another one than values
    int offloadPercent() const;
    double otherProgramsBytes() const { return m_device ? double(m_device->other_programs_bytes) : 0; }
    bool yielding() const { return m_beforeYield.has_value(); }
    /// Empty: it is not shrunk. 0: all that other programs left.
    std::optional<std::int64_t> budgetBeforeYield() const { return m_beforeYield; }
    double yieldBytes() const;  // the budget while another program needs the device: as chosen, else half
    QVariant spillTokens() const;
    QString trouble() const { return m_trouble; }  // the last command that the engine could not carry out

    /// What so many layers would bring, before anything moves. -1: as many as fit.
    Q_INVOKABLE PlacementPreview preview(int layers) const;
    /// What this budget would bring, in bytes.
    Q_INVOKABLE PlacementPreview previewBudget(double bytes) const;
    /// What keys and values of this type would bring.
    Q_INVOKABLE PlacementPreview previewKvType(int type) const;

    Q_INVOKABLE void setLayers(int layers);
    Q_INVOKABLE void setAutomatic();
    /// Another device for the open model, or none; its layers move there.
    void changeDevice(const engine::PlacementOptions& wish);
    /// The layers stay where they are now; on the device that they were leaving, if they were.
    Q_INVOKABLE void cancelMove();
    Q_INVOKABLE void setBudget(double bytes);  // 0: all that other programs leave
    Q_INVOKABLE void setWatermark(double share);
    Q_INVOKABLE void setPolicy(int policy);
    /// Of all conversations, from the next token on; also without a device.
    Q_INVOKABLE void setKvType(int type);
    void keepKvAs(engine::KvType type);
    Q_INVOKABLE void setOffloadPercent(int percent);
    Q_INVOKABLE void setOtherPrograms(double bytes);  // the dial of an emulated device
    /// Makes room for another program: the budget shrinks to this, until growBack().
    Q_INVOKABLE void yieldTo(double bytes);
    Q_INVOKABLE void growBack();
    /// The size that toggleYield() shrinks to; at once, where it has shrunk already.
    Q_INVOKABLE void setYieldBytes(double bytes);
    Q_INVOKABLE void toggleYield();
    Q_INVOKABLE void dismissTrouble();

    /// Whether this answer was clearly faster than any could be by the rates that predictions are computed from.
    bool outran(const engine::Telemetry& last) const;

    /// As it was loaded, with what has been changed since.
    const engine::LoadRequest& request() const { return m_request; }
    /// Predicted speed by context, from an empty to a full one; empty where it is not known.
    const QList<QPointF>& predicted() const { return m_predicted; }

    // What becomes of the model.
    void onModelReady(const engine::ModelInfo& model, const engine::LoadRequest& request);
    void onModelGone();
    void onFrame(const engine::Telemetry& frame);
    void onEvent(const engine::Event& event);
    /// What predictions are computed from; null: they are not known.
    void setRates(std::shared_ptr<const engine::MachineRates> rates);

Q_SIGNALS:
    void changed();
    void planChanged();
    void troubleChanged();
    /// What became of changeDevice(): refused, too, where somebody stopped it half way.
    void deviceAccepted();
    void deviceRefused();
    /// The engine keeps keys and values in other types now.
    void kvTypeChanged();

private:
    PlacementPreview preview(const engine::LoadRequest& request) const;
    engine::Result<engine::Plan> plan(engine::LoadRequest request, std::span<const int> contexts) const;
    std::optional<double> predictedAt(int tokens) const;
    void learn(const engine::Telemetry& frame);
    quint64 post(const engine::Command& command);
    void onTypesAnswered(const engine::SetKvTypes& types, bool done);
    void openPlanner(const std::filesystem::path& model);
    void takeDevice(const engine::PlacementOptions& from);
    void onDeviceAnswered(const engine::PlacementOptions& wish, bool done);
    void takeSizes();
    void replan();

    EngineThread& m_engine;
    std::optional<engine::Planner> m_planner;  // of the open model, soon after it was opened
    quint64 m_plannerJob = 0;                  // the newest; what older ones read is another model's
    std::shared_ptr<const engine::MachineRates> m_rates;
    engine::LoadRequest m_request;  // as it was loaded, and then changed
    std::optional<engine::DeviceTelemetry> m_device;
    int m_layers = 0;
    int m_contextTokens = 0;  // now
    int m_contextLimit = 0;
    std::optional<std::int64_t> m_beforeYield;         // the budget
    std::optional<double> m_yieldBytes;                // as chosen, as long as the program runs
    QList<quint64> m_posted;                           // and not answered
    QHash<quint64, engine::SetKvTypes> m_postedTypes;  // of them
    QHash<quint64, engine::PlacementOptions> m_postedDevices;
    std::optional<engine::PlacementOptions> m_leaving;  // the device that the engine has not closed yet
    bool m_deviceIsNew = false;                         // its first frame is to come
    engine::SetKvTypes m_types;                         // that the engine has
    QList<QPointF> m_predicted;
    engine::PredictionCorrection m_correction;  // by the answers of this model
    int m_generated = 0;                        // of the present answer
    bool m_movedMeanwhile = false;              // while it was written
    std::optional<int> m_spillTokens;
    QString m_trouble;
};
