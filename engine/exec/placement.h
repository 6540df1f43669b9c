// Placement says for every layer which backend computes it and from which copy of its weights. It stays the same within
// a token; between two tokens layers may move.
#pragma once

#include "engine/exec/cpu_backend.h"
#include "engine/exec/host_weights.h"

#include <vector>

namespace engine {

class Placement
{
public:
    /// Places all layers and the head on the host.
    Placement(const HostWeights& weights, CpuBackend& host)
        : host_(&host)
        , host_head_(&weights.head())
        , head_{&host, host_head_}
    {
        for (int l = 0; l < weights.layers(); ++l)
            layers_.push_back({&host, &weights.layer(l)});
    }

    void place(int layer, Backend& on, const LayerWeights& weights)
    {
        layers_[std::size_t(layer)] = {&on, &weights};
        ++version_;
    }
    void place_head(Backend& on, const HeadWeights& weights) { head_ = {&on, &weights}; }

    Backend& backend_of(int layer) const { return *layers_[std::size_t(layer)].on; }
    /// Returns the layers from `first` on that one backend computes.
    LayerRange range_from(int first) const
    {
        LayerRange range{first, first + 1, version_};
        while (range.last < int(layers_.size()) && &backend_of(range.last) == &backend_of(first))
            ++range.last;
        return range;
    }
    const LayerWeights& weights_of(int layer) const { return *layers_[std::size_t(layer)].weights; }
    Backend& backend_of_head() const { return *head_.on; }
    const HeadWeights& head() const { return *head_.weights; }
    bool head_on_host() const { return head_.weights == host_head_; }
    CpuBackend& host() const { return *host_; }  // it also embeds: a row of the table is all that a token needs

private:
    /// Holds the weights of a layer or of the head, and the backend that computes with them.
    template <class T>
    struct PlacedWeights {
        Backend* on = nullptr;
        const T* weights = nullptr;
    };
    CpuBackend* host_;
    const HeadWeights* host_head_;
    std::uint64_t version_ = 0;
    std::vector<PlacedWeights<LayerWeights>> layers_;
    PlacedWeights<HeadWeights> head_;
};

}  // namespace engine
