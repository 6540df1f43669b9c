#include "engine/plan/device_choice.h"

#include "engine/plan/expert_hits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace engine {

namespace {

constexpr int kSteps = 16;  // of the share of experts that have copies

/// Returns the share of its experts that a token of this model is expected to find on the device, over all layers.
double found(const DeviceShare& share)
{
    const DeviceLayout& layout = share.layout;
    const int on_host = host_expert_layers(share, 0);
    const int copies = layout.cached_experts(share.layers, on_host);
    double sum = 0;
    for (int l = 0; l < share.layers; ++l) {
        const LayerBytes& layer = layout.layer(l);
        if (layer.experts == 0)
            continue;
        const double copied = layer.expert > 0 ? double(copies) * double(layer.expert) / double(layer.experts) : 0;
        sum += !layout.leaves_experts(l, on_host) ? 1.0 : expected_hits(copied, share.expert_skew);
    }
    return sum;
}

/// Tries ways to divide the memory, and keeps the best.
class Comparison
{
public:
    Comparison(const ModelCosts& costs, const PlannedPlacement& placement, const MachineRates* rates, int columns)
        : costs_(costs)
        , placement_(placement)
        , rates_(rates)
        , tokens_(columns * placement.device->share.layout.block_tokens())
    {
    }

    /// Tries one way. False: it finds no room.
    bool take(const DeviceChoice& choice)
    {
        DeviceShare& share = placement_.device->share;
        share = with_choice(std::move(share), choice);
        if (share.layout.needed(share.layers, choice.host_expert_layers, DeviceLayout::kFewestColumns).total() >
            share.high_mark_bytes)
            return false;
        const Columns columns = columns_at(share, tokens_);
        double seconds = 0;
        if (rates_)
            seconds =
                step_seconds(costs_, placement_, *rates_, tokens_).value_or(std::numeric_limits<double>::infinity());
        const Worth worth{columns.stops, seconds, columns.on_host(), -found(share)};
        if (!best_ || worth < best_->first)
            best_.emplace(worth, choice);
        return true;
    }

    const DeviceChoice& best() const { return best_->second; }

private:
    // Less is better: whether the answer stops for want of room; seconds of a step; KV columns on the host; minus the
    // experts found.
    using Worth = std::tuple<bool, double, int, double>;

    const ModelCosts& costs_;
    PlannedPlacement placement_;
    const MachineRates* rates_;
    int tokens_;
    std::optional<std::pair<Worth, DeviceChoice>> best_;
};

/// Lists the ways to divide a device's memory.
class Ways
{
public:
    Ways(const DeviceShare& share, int columns, std::int64_t most_copies)
        : share_(share)
        , columns_(columns)
        , most_copies_(most_copies)
        , experts_(share.layout.most_experts())
    {
        share_.layout.set_expert_cache_bytes(0);
    }

    /// Returns the way with the experts of whole layers, as many as KV leaves room for. Whether it finds room is not
    /// checked here.
    DeviceChoice whole(int layers)
    {
        share_.layers = layers;
        return {layers, host_expert_layers(share_, columns_), 0};
    }

    /// Tries the few divisions with `layers` layers that suffice to compare this number with others.
    void try_some(Comparison& comparison, int layers)
    {
        const DeviceChoice whole = this->whole(layers);
        comparison.take(whole);
        if (share_.host_expert_layers)
            return;
        const int all = share_.layout.all_leave(layers);
        comparison.take({layers, 0, 0});
        take_copies(comparison, layers, all);
    }

    void try_all(Comparison& comparison, int layers)
    {
        const int asked = whole(layers).host_expert_layers;
        for (int quarters = 0; quarters <= 4; ++quarters) {
            const int on_host =
                share_.host_expert_layers ? asked : (share_.layout.all_leave(layers) * quarters + 3) / 4;
            take_copies(comparison, layers, on_host);
            if (share_.host_expert_layers)
                break;
        }
    }

private:
    /// Tries numbers of copies from none to as many as find room, in a few steps.
    void take_copies(Comparison& comparison, int layers, int on_host) const
    {
        for (int step = 0; step <= kSteps; ++step) {
            const DeviceChoice copies = with_copies(layers, on_host, step);
            if ((copies.expert_cache_bytes == 0 && step > 0) || copies.expert_cache_bytes > most_copies_ ||
                !comparison.take(copies))
                break;  // more of them find no room either
        }
    }

    DeviceChoice with_copies(int layers, int on_host, int step) const
    {
        const int copies = (experts_ * step + kSteps - 1) / kSteps;
        return {layers, on_host, share_.layout.bytes_of_copies(copies, layers, on_host)};
    }

    DeviceShare share_;
    int columns_;
    std::int64_t most_copies_;
    int experts_;
};

}  // namespace

DeviceShare with_choice(DeviceShare share, const DeviceChoice& choice)
{
    share.layers = choice.layers;
    share.host_expert_layers = choice.host_expert_layers;
    share.layout.set_expert_cache_bytes(choice.expert_cache_bytes);
    return share;
}

DeviceChoice choose_tenants(const ModelCosts& costs, const PlannedPlacement& placement, const MachineRates* rates,
                            int columns, const ChoiceBounds& bounds)
{
    const PlannedDevice& device = *placement.device;
    const int most = device.share.layers, room = columns_with_room(columns);
    Ways ways(device.share, room, bounds.most_copies);
    const DeviceChoice whole = ways.whole(most);
    if (!device.share.layout.has_experts() || most == 0)
        return whole;
    Comparison comparison(costs, placement, rates, room);
    if (!comparison.take(whole))
        return whole;
    ways.try_all(comparison, most);
    // A `resident` conversation that would stop keeps its layers: whoever asked for that policy has to say what gives
    // way.
    if (bounds.layers_are_chosen || !rates || device.cores != DeviceCores::Own ||
        device.share.policy == KvPolicy::Resident || device.share.policy == KvPolicy::CpuDecode)
        return comparison.best();
    for (int layers = most - 1; layers >= 0; --layers)
        ways.try_some(comparison, layers);
    if (const int layers = comparison.best().layers; layers < most)
        ways.try_all(comparison, layers);
    return comparison.best();
}

ExpertsGain gain_of(const ModelCosts& costs, const PlannedPlacement& chosen, const MachineRates* rates, int columns)
{
    const DeviceShare& share = chosen.device->share;
    PlannedPlacement none = chosen;
    none.device->share =
        with_choice(std::move(none.device->share), {share.layers, share.layout.all_leave(share.layers), 0});
    const auto bytes_of = [&](const DeviceShare& s) {
        const DeviceBytes needed = s.layout.needed(s.layers, host_expert_layers(s, columns), 0);
        return needed.weights + needed.expert_cache;
    };
    ExpertsGain gain;
    gain.bytes = bytes_of(share) - bytes_of(none.device->share);
    std::int64_t all = 0;
    for (int l = 0; l < share.layout.num_layers(); ++l)
        all += share.layout.layer(l).experts;
    gain.share = all > 0 ? double(gain.bytes) / double(all) : 0;
    const int tokens = columns * share.layout.block_tokens();
    gain.kv_columns_on_host =
        std::max(0, columns_at(share, tokens).on_host() - columns_at(none.device->share, tokens).on_host());
    if (!rates)
        return gain;
    PlannedPlacement neither = none;  // where these columns are not there either
    neither.device->share.high_mark_bytes -= gain.bytes;
    const auto base = step_seconds(costs, neither, *rates, tokens);
    const auto here = step_seconds(costs, chosen, *rates, tokens), kv = step_seconds(costs, none, *rates, tokens);
    if (base && here)
        gain.saved_s = std::max(0.0, *base - *here);
    if (base && kv)
        gain.kv_saved_s = std::max(0.0, *base - *kv);
    return gain;
}

}  // namespace engine
