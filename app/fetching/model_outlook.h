// ModelOutlook foretells how fast a model would be here that has not been fetched yet, and where it would lie.
#pragma once

#include "app/fetching/fetching_world.h"
#include "engine/planner.h"

#include <QList>
#include <QObject>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <optional>
#include <stop_token>

/// Holds the speed with this many tokens in the conversation, as a value for the pages.
class OutlookRow
{
    Q_GADGET
    QML_VALUE_TYPE(outlookRow)
    Q_PROPERTY(int contextTokens MEMBER contextTokens CONSTANT)
    Q_PROPERTY(QVariant tokensPerSecond MEMBER tokensPerSecond CONSTANT)
    Q_PROPERTY(bool beyond MEMBER beyond CONSTANT)
    Q_PROPERTY(bool stops MEMBER stops CONSTANT)

public:
    bool operator==(const OutlookRow&) const = default;

    int contextTokens = 0;
    QVariant tokensPerSecond;  // undefined: not known
    bool beyond = false;       // the model was made for fewer tokens
    bool stops = false;        // this many tokens find no room
};
Q_DECLARE_METATYPE(OutlookRow)

/// Computes the outlook with the planner, which also makes the slider's preview, for the choices of the next load.
/// Rates of this machine that are not known yet are measured while nothing else is computed. Lives on the UI thread;
/// owned by ModelPage.
class ModelOutlook : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(bool known READ known NOTIFY changed)
    Q_PROPERTY(bool measuring READ measuring NOTIFY changed)
    Q_PROPERTY(QList<OutlookRow> rows READ rows NOTIFY changed)
    Q_PROPERTY(bool onDevice READ onDevice NOTIFY changed)
    Q_PROPERTY(int layers READ layers NOTIFY changed)
    Q_PROPERTY(int deviceLayers READ deviceLayers NOTIFY changed)
    Q_PROPERTY(QVariant expertsOnDevice READ expertsOnDevice NOTIFY changed)
    Q_PROPERTY(QVariant spillTokens READ spillTokens NOTIFY changed)

public:
    explicit ModelOutlook(const FetchingWorld& world, QObject* parent = nullptr);
    ~ModelOutlook() override;

    bool known() const { return m_known; }
    bool measuring() const { return m_measuring; }
    QList<OutlookRow> rows() const
    {
        return m_rows;
    }                                             // for a conversation that begins, one of 8K and one of 32K tokens
    bool onDevice() const { return m_onDevice; }  // a device beside the CPU is chosen
    int layers() const { return m_layers; }
    int deviceLayers() const { return m_deviceLayers; }  // of them on the device
    /// Returns the share of the experts, 0 to 1, that lies on the device, if all the rest of the model does; undefined:
    /// all of them do, or the rest does not.
    QVariant expertsOnDevice() const { return m_expertsOnDevice; }
    QVariant spillTokens() const { return m_spillTokens; }  // at which the first block leaves it; undefined: none does

    /// Computes the outlook of another model; nothing: of none.
    void show(const std::optional<engine::Planner>& plan);
    /// Call it when the machine is free again, more of its rates are known, or other choices were made.
    void refresh();
    /// Stops measuring, since something else begins to compute and the rates would be wrong.
    void yield();

Q_SIGNALS:
    void changed();

private:
    void foretell();
    void measure();

    const FetchingWorld& m_world;
    std::optional<engine::Planner> m_plan;
    bool m_known = false, m_measuring = false, m_onDevice = false;
    bool m_tried = false;  // rates have been measured for this model; not once more
    QList<OutlookRow> m_rows;
    int m_layers = 0, m_deviceLayers = 0;
    QVariant m_expertsOnDevice, m_spillTokens;
    std::stop_source m_stop{std::nostopstate};
};
