// ExpertPlacement changes where routed experts lie, and what room the device has for copies of them.
#pragma once

#include "engine/engine.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <functional>
#include <optional>

/// Changes the placement of a model's experts, also while it answers. Lives on the UI thread; owned by
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

    /// All of them outlive this object: `wish` is what was asked for, `device` and `layers` are the model's as they are
    /// now.
    ExpertPlacement(engine::PlacementOptions& wish, const Device& device, const int& layers, Post post);

    /// Returns how many layers' experts are asked to lie in RAM, or lie there; counted as in setHostLayers(). -1: the
    /// model has none.
    int hostLayers() const;
    bool automatic() const { return !m_wish.host_expert_layers; }
    /// Says whether experts of the device's layers lie in RAM, so that the device may keep copies of some.
    bool takesCopies() const;
    bool copiesAutomatic() const { return !m_wish.expert_cache_bytes; }
    /// Returns the room for copies in bytes: as it was asked for, else as the plan chose it.
    double roomForCopies() const { return copiesAutomatic() ? copyBytes() : double(*m_wish.expert_cache_bytes); }
    double mostRoom() const;                                                                  // that can be asked for
    double copyBytes() const { return m_device ? double(m_device->expert_cache_bytes) : 0; }  // that there are
    int copies() const { return m_device ? m_device->cached_experts : 0; }                    // of each layer

    /// Returns the bytes that a placement gives to copies; -1: as many as the plan chooses.
    static qint64 roomIn(const engine::PlacementOptions& placement)
    {
        return placement.expert_cache_bytes.value_or(-1);
    }

    /// Puts the experts of the first `layers` layers, in the order in which experts leave the device, into RAM; layers
    /// without experts count, too. -1: as many as KV drives out.
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
