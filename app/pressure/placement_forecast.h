// PlacementForecast predicts what a change of the placement would bring.
#pragma once

#include "engine/planner.h"

#include <QList>
#include <QObject>
#include <QPointF>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

/// Holds the predicted numbers of a placement, as a value for the pages. Undefined: not known.
class PlacementPreview
{
    Q_GADGET
    QML_VALUE_TYPE(placementPreview)
    Q_PROPERTY(bool known MEMBER known CONSTANT)
    Q_PROPERTY(int layers MEMBER layers CONSTANT)
    Q_PROPERTY(int hostExperts MEMBER hostExperts CONSTANT)
    Q_PROPERTY(double expertBytes MEMBER expertBytes CONSTANT)
    Q_PROPERTY(QVariant expertsSaveMs MEMBER expertsSaveMs CONSTANT)
    Q_PROPERTY(QVariant kvWouldSaveMs MEMBER kvWouldSaveMs CONSTANT)
    Q_PROPERTY(double deviceBytes MEMBER deviceBytes CONSTANT)
    Q_PROPERTY(double budgetBytes MEMBER budgetBytes CONSTANT)
    Q_PROPERTY(QVariant spillTokens MEMBER spillTokens CONSTANT)
    Q_PROPERTY(QVariant tokensPerSecond MEMBER tokensPerSecond CONSTANT)
    Q_PROPERTY(QVariant tokensPerSecondFull MEMBER tokensPerSecondFull CONSTANT)
    Q_PROPERTY(QVariant correction MEMBER correction CONSTANT)
    Q_PROPERTY(double kvBytesFull MEMBER kvBytesFull CONSTANT)
    Q_PROPERTY(double stateBytes MEMBER stateBytes CONSTANT)
    Q_PROPERTY(double deviceStateBytes MEMBER deviceStateBytes CONSTANT)
    Q_PROPERTY(int largestContext MEMBER largestContext CONSTANT)

public:
    bool known = false;
    int layers = 0;          // on the device: as many of those asked for as fit
    int hostExperts = 0;     // layers on the device whose experts lie in RAM; -1: the model has none
    double expertBytes = 0;  // of experts on the device, at the present context
    QVariant expertsSaveMs;  // of each token
    QVariant kvWouldSaveMs;  // that KV would save in their room; undefined: no KV gives way
    double deviceBytes = 0;  // at the present context
    double budgetBytes = 0;
    QVariant spillTokens;          // undefined: no block ever leaves
    QVariant tokensPerSecond;      // at the present context
    QVariant tokensPerSecondFull;  // when the context is full
    QVariant correction;           // factor in both speeds: measured over predicted; undefined: not yet known
    double kvBytesFull = 0;        // of all KV when the context is full
    double stateBytes = 0;         // of recurrent layers, checkpoints included
    double deviceStateBytes = 0;   // of those that lie on the device
    int largestContext = 0;        // that fits; less than the limit where `resident` stops
};

/// Holds the planner's predictions for the open model, corrected by how fast its answers were. Lives on the UI thread;
/// owned by PlacementController.
class PlacementForecast : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("PlacementController has one")
    Q_PROPERTY(QVariant spillTokens READ spillTokens NOTIFY changed)
    Q_PROPERTY(PlacementPreview now READ now NOTIFY changed)

public:
    /// Holds the present state, which a preview changes in one point.
    struct Present {
        engine::LoadRequest request;
        int contextTokens = 0;  // now
        int contextLimit = 0;
    };
    explicit PlacementForecast(std::function<Present()> present);

    const PlacementPreview& now() const { return m_now; }  // for the present placement, as it was planned last
    QVariant spillTokens() const;                          // where the first block leaves; undefined: none does
    /// Returns the predicted speed by context, from an empty to a full one; empty where it is not known.
    const QList<QPointF>& predicted() const { return m_predicted; }
    /// Says whether this answer, of which nothing moved, was clearly faster than any could be by the rates that
    /// predictions are computed from.
    bool outran(const engine::Telemetry& last) const;

    /// Returns what this many layers would bring, before anything moves. -1: as many as fit.
    Q_INVOKABLE PlacementPreview preview(int layers) const;
    /// Returns what it would bring to put this many layers' experts into RAM. -1: as many as KV drives out.
    Q_INVOKABLE PlacementPreview previewHostExperts(int layers) const;
    /// Returns what so much room for copies of experts would bring, in bytes. -1: as much as saves more time than KV
    /// would.
    Q_INVOKABLE PlacementPreview previewRoomForCopies(double bytes) const;
    /// Returns what this budget would bring, in bytes.
    Q_INVOKABLE PlacementPreview previewBudget(double bytes) const;
    /// Returns what keys and values of this type would bring.
    Q_INVOKABLE PlacementPreview previewKvType(int type) const;

    void open(const std::filesystem::path& model);  // its sizes are known soon after
    void close();
    /// Sets the rates that predictions are computed from; null: speeds are not known.
    void setRates(std::shared_ptr<const engine::MachineRates> rates);
    void replan();  // call it when the present state has changed
    /// Says whether other programs hold clearly more or less of the device than the last plan assumed. Small changes,
    /// which every window on a desktop brings, do not count.
    bool othersDiffer(const engine::DeviceTelemetry& device) const;
    void learn(const engine::Telemetry& frame);
    void onMoved() { m_movedMeanwhile = true; }

Q_SIGNALS:
    void changed();
    void opened();

private:
    PlacementPreview preview(const engine::LoadRequest& request) const;
    engine::Result<engine::Plan> plan(engine::LoadRequest request, std::span<const int> contexts) const;
    std::optional<double> predictedAt(int tokens) const;

    std::function<Present()> m_present;
    std::optional<engine::Planner> m_planner;  // of the open model, soon after it was opened
    quint64 m_plannerJob = 0;                  // the newest; older ones read another model
    std::shared_ptr<const engine::MachineRates> m_rates;
    QList<QPointF> m_predicted;
    engine::PredictionCorrection m_correction;  // from the answers of this model
    int m_generated = 0;                        // of the present answer
    bool m_movedMeanwhile = false;              // something did, during that answer
    std::optional<int> m_spillTokens;
    std::int64_t m_others = 0;  // bytes of other programs, as the last plan assumed
    PlacementPreview m_now;
};
