// ExpertPlacement changes where routed experts lie, and what room the device has for copies of them.
#pragma once

#include "engine/engine.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <optional>

/// The handles on a model's experts. Each applies while the model talks. Lives on the UI thread; owned by
/// PlacementController, whose request it changes.
class ExpertPlacement : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("PlacementController has one")
    Q_PROPERTY(int hostLayers READ hostLayers NOTIFY changed)
    Q_PROPERTY(bool automatic READ automatic NOTIFY changed)
    Q_PROPERTY(bool takesCopies READ takesCopies NOTIFY changed)
    Q_PROPERTY(bool copiesAutomatic READ copiesAutomatic NOTIFY changed)
    Q_PROPERTY(double roomForCopies READ roomForCopies NOTIFY changed)
    Q_PROPERTY(double mostRoom READ mostRoom NOTIFY changed)
    Q_PROPERTY(double copyBytes READ copyBytes NOTIFY changed)
    Q_PROPERTY(int copies READ copies NOTIFY changed)

public:
    using Device = std::optional<engine::DeviceTelemetry>;
    using Post = std::function<void(const engine::Command&)>;

    /// All of them outlive it: what is asked for, the device and the model's layers as they are now.
    ExpertPlacement(engine::PlacementOptions& wish, const Device& device, const int& layers, Post post);

    /// So many layers' experts are to lie in RAM, or do; as setHostLayers() counts. -1: the model has none.
    int hostLayers() const;
    bool automatic() const { return !m_wish.host_expert_layers; }
    /// Experts of layers on the device lie in RAM, and it keeps copies of some where it is asked to.
    bool takesCopies() const;
    bool copiesAutomatic() const { return !m_wish.expert_cache_bytes; }
    /// Returns the room for copies, as it was asked for, or chosen.
    double roomForCopies() const { return copiesAutomatic() ? copyBytes() : double(*m_wish.expert_cache_bytes); }
    double mostRoom() const;                                                                  // that can be asked for
    double copyBytes() const { return m_device ? double(m_device->expert_cache_bytes) : 0; }  // that there are
    int copies() const { return m_device ? m_device->cached_experts : 0; }                    // of each layer

    /// The bytes that a placement gives to copies; -1: as many as the plan chooses.
    static qint64 roomIn(const engine::PlacementOptions& placement)
    {
        return placement.expert_cache_bytes.value_or(-1);
    }

    /// The first so many in the order in which experts leave, layers without any among them; -1: as many as KV drives
    /// out.
    Q_INVOKABLE void setHostLayers(int layers);
    Q_INVOKABLE void setRoomForCopies(double bytes);  // 0: none; -1: as much as saves more time than KV would

Q_SIGNALS:
    void changed();

private:
    engine::PlacementOptions& m_wish;
    const Device& m_device;
    const int& m_layers;
    Post m_post;
};
