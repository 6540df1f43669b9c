#include "engine/planner.h"

#include "engine/caught.h"
#include "engine/exec/cuda_backend.h"
#include "engine/exec/thread_pool.h"
#include "engine/gguf/gguf_file.h"
#include "engine/gguf/printable.h"
#include "engine/machine.h"
#include "engine/memory_plan.h"
#include "engine/metrics/host_probe.h"
#include "engine/model/tensor_overrides.h"
#include "engine/plan/device_choice.h"
#include "engine/plan/dram_bandwidth.h"
#include "engine/plan/expert_stream.h"
#include "engine/plan/measure_device.h"
#include "engine/plan/measure_rates.h"
#include "engine/plan/predict.h"
#include "engine/plan/prefill_chunk.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <new>
#include <set>
#include <string>
#include <system_error>

namespace engine {

namespace {

constexpr int kLongestContext = 1 << 24;

std::int64_t kv_page_bytes(const std::vector<KvLayerShape>& kv)
{
    std::int64_t bytes = 0;
    for (const KvLayerShape& layer : kv)
        bytes += std::int64_t(layer.bytes());
    return bytes;
}

/// Describes the emulated device. It computes with the host's cores, and its link is set; a stream is still no faster
/// than one thread copies while the others attend.
PlannedDevice emulated_device(const PlacementOptions& options, DeviceLayout layout, const MachineRates* rates)
{
    const std::int64_t size = emulated_bytes(options, layout);
    const std::int64_t free_bytes = std::max<std::int64_t>(0, size - options.other_programs_bytes.value_or(0));
    PlannedDevice device{share_of(options, std::move(layout), free_bytes), DeviceCores::HostsToo, {}};
    if (rates && rates->stream_bytes_per_s) {
        const double set = options.emulated.link_bytes_per_s;
        device.rates.to_device_bytes_per_s =
            set > 0 ? std::min(set, *rates->stream_bytes_per_s) : *rates->stream_bytes_per_s;
    }
    return device;
}

/// A GPU as it is now.
struct CudaFacts {
    int ordinal = 0;
    std::string name;  // with its driver
    std::int64_t total_bytes = 0;
    std::int64_t other_programs_bytes = 0;

    std::int64_t free_bytes(const PlacementOptions& options) const
    {
        return std::max<std::int64_t>(0, total_bytes - options.other_programs_bytes.value_or(other_programs_bytes));
    }
};

Result<CudaFacts> cuda_facts(int ordinal)
{
    const auto device = CudaDevice::open(ordinal);
    if (!device)
        return tl::unexpected(device.error());
    return CudaFacts{ordinal, name_with_driver(**device), (*device)->total_bytes(), (*device)->other_programs_bytes()};
}

/// Returns the rates that were entered for an emulated device; nobody measures them.
DeviceRates emulated_rates(const PlannedPlacement& placement, const MachineRates* rates)
{
    return rates ? rates->device_rates("emulated", {}, placement.k_type, placement.v_type) : DeviceRates();
}

DeviceRates rates_of(const CudaFacts& facts, const PlannedPlacement& placement, const MachineRates* rates)
{
    return rates ? rates->device_rates("cuda:" + std::to_string(facts.ordinal), facts.name, placement.k_type,
                                       placement.v_type)
                 : DeviceRates();
}

/// Describes a GPU: its cores are its own, and its memory is what other programs leave, the driver among them.
PlannedDevice cuda_device(const CudaFacts& facts, const PlacementOptions& options, DeviceLayout layout,
                          DeviceRates rates)
{
    return {share_of(options, std::move(layout), facts.free_bytes(options)), DeviceCores::Own, std::move(rates)};
}

/// Returns the layers on a GPU of these rates. Unsupported: the model has what it cannot compute.
Result<DeviceLayout> cuda_layout(const Hyperparameters& h, const Weights& weights, const LoadRequest& request,
                                 const std::vector<KvLayerShape>& kv, int context, const DeviceRates& rates)
{
    const KvCache none(kv, request.kv_block_tokens, 0);
    if (const Status ok = CudaBackend::supports(h, none.layers()); !ok)
        return tl::unexpected(ok.error());
    const std::int64_t scratch =
        cuda_scratch_bytes(h, none, std::min(request.prefill_chunk_tokens, context), context, rates);
    return device_layout(h, weights, kv, scratch, DeviceLayout::Transport::Link);
}

/// Returns the bytes of a conversation's states, of which checkpoints may be one for each of its first tokens.
std::int64_t state_bytes(const ModelCosts& costs, int tokens)
{
    std::int64_t bytes = 0;
    for (const LayerWork& layer : costs.layers)
        bytes += layer.state_bytes;
    return tokens > 0 ? bytes * RecurrentStates::kMostOfSequence : 0;
}

/// Finds the placement beside conversations of one length after another: where the plan chooses what lies on the
/// device, its choice changes as they grow.
class PlacementByColumns
{
public:
    PlacementByColumns(const ModelCosts& costs, PlannedPlacement placement, const MachineRates* rates,
                       const PlacementOptions& options)
        : costs_(costs)
        , placement_(std::move(placement))
        , rates_(rates)
        , bounds_{.layers_are_chosen = options.device_layers.has_value()}
        , chooses_(!options.expert_cache_bytes && placement_.device && placement_.device->share.layout.has_experts())
    {
    }

    const PlannedPlacement& at(int columns)
    {
        if (!chooses_)
            return placement_;
        const int room = columns_with_room(columns);
        auto known = by_room_.find(room);
        if (known == by_room_.end()) {
            PlannedPlacement chosen = placement_;
            chosen.device->share =
                with_choice(std::move(chosen.device->share), choose_tenants(costs_, placement_, rates_, room, bounds_));
            known = by_room_.emplace(room, std::move(chosen)).first;
        }
        return known->second;
    }

    /// Counts columns as columns_before_spill() does, also where experts are chosen together with KV.
    int before_spill(int most)
    {
        const int last = columns_before_spill(placement_.device->share, most);
        if (!chooses_)
            return last;
        // Where experts are worth more than KV, blocks leave before all experts have.
        std::vector<int> rooms{columns_with_room(0)};
        while (rooms.back() < last)
            rooms.push_back(columns_with_room(rooms.back() + 1));
        const auto first = std::ranges::partition_point(rooms, [&](int room) {
            return columns_before_spill(at(room).device->share, most) >= std::min(room, last);
        });
        if (first == rooms.end())
            return last;
        const int shorter = first == rooms.begin() ? 0 : *std::prev(first);
        return std::max(shorter, columns_before_spill(at(*first).device->share, most));
    }

private:
    const ModelCosts& costs_;
    PlannedPlacement placement_;
    const MachineRates* rates_;
    ChoiceBounds bounds_;
    bool chooses_;
    std::map<int, PlannedPlacement> by_room_;
};

MemoryUse on_device(const DeviceShare& share, int tokens)
{
    const int host_experts = host_expert_layers(share, columns_at(share, tokens).total);
    const DeviceBytes fixed = share.layout.needed(share.layers, host_experts, 0);
    MemoryUse use{fixed.weights + fixed.expert_cache, 0, fixed.state, fixed.ring, fixed.scratch};
    if (tokens > 0)
        use.kv_bytes = columns_at(share, tokens).on_device * share.layout.column(share.layers) +
                       share.layout.windows_at(share.layers, tokens - 1);
    return use;
}

}  // namespace

struct Planner::Model {
    GgufFile file;
    Hyperparameters h;
    Weights weights;
    ModelCosts costs;
    mutable std::optional<CudaFacts> cuda = {};  // asked once: all rows are of the same moment
};

Result<Planner> Planner::open(const std::filesystem::path& path)
try {
    auto file = GgufFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    auto h = read_hyperparameters(*file);
    if (!h)
        return tl::unexpected(h.error());
    h->vocabulary = int(std::min<std::size_t>(file->array_length("tokenizer.ggml.tokens").value_or(0), 1 << 24));
    auto weights = Weights::read(*file, *h);
    if (!weights)
        return tl::unexpected(weights.error());
    ModelCosts costs = model_costs(*h, *weights);
    Planner planner;
    planner.model_ =
        std::make_shared<const Model>(Model{std::move(*file), std::move(*h), std::move(*weights), std::move(costs)});
    return planner;
} catch (...) {
    return caught("to look into the model");
}

int Planner::context_length() const
{
    return model_->costs.context_length;
}

Result<Plan> Planner::plan(const LoadRequest& wish, std::span<const int> contexts, const MachineRates* rates) const
try {
    LoadRequest asked = wish;
    auto options = with_tensor_overrides(wish.placement, model_->file);
    if (!options)
        return tl::unexpected(options.error());
    asked.placement = std::move(*options);
    const ModelCosts& costs = model_->costs;
    const bool has_device = asked.placement.device != PlacementOptions::Device::Cpu;
    const int block = asked.kv_block_tokens;
    if (block < 16 || block % 16 != 0)
        return fail(Error::Code::BadRequest, "a KV block must hold a multiple of 16 tokens");
    const int context = asked.context_tokens > 0 ? asked.context_tokens : costs.context_length;
    const LoadRequest request =
        with_prefill_chunk(asked, model_->h, context, model_->weights, host_memory().total_bytes);
    const int longest_step = std::min(request.prefill_chunk_tokens, context);
    const int threads = request.threads > 0 ? request.threads : physical_cores();
    const std::int64_t scratch =
        scratch_bytes(model_->h, model_->weights,
                      {longest_step, block, threads, has_device ? AttentionRuns::Several : AttentionRuns::One});
    const std::vector<KvLayerShape> kv = kv_shapes(model_->h, request);

    Result<ModelInfo> draft;
    if (!asked.draft_model.empty())
        draft = inspect_model(asked.draft_model);
    if (!draft)
        return tl::unexpected(draft.error());

    const kernels::KvBlockLayout& form = kv.front().block;
    PlannedPlacement placement{kv_type(form.k_type), kv_type(form.v_type), {}};
    Plan plan;
    plan.layers = int(costs.layers.size());
    plan.expert_layers = int(std::ranges::count_if(costs.experts, [](const LayerWork& w) { return !w.reads.empty(); }));
    if (has_device) {
        if (request.placement.device == PlacementOptions::Device::Cuda) {
            if (!model_->cuda || model_->cuda->ordinal != request.placement.cuda_ordinal) {
                auto facts = cuda_facts(request.placement.cuda_ordinal);
                if (!facts)
                    return tl::unexpected(facts.error());
                model_->cuda = std::move(*facts);
            }
            DeviceRates known = rates_of(*model_->cuda, placement, rates);
            auto layout = cuda_layout(model_->h, model_->weights, request, kv, context, known);
            if (!layout)
                return tl::unexpected(layout.error());
            layout->set_experts_first(request.placement.host_experts_first);
            layout->set_expert_cache_bytes(request.placement.expert_cache_bytes.value_or(0));
            plan_expert_ring(model_->h, model_->weights, rates, known, longest_step, host_memory().total_bytes,
                             *layout);
            placement.device = cuda_device(*model_->cuda, request.placement, std::move(*layout), std::move(known));
        } else {
            DeviceLayout layout =
                device_layout(model_->h, model_->weights, kv, scratch, DeviceLayout::Transport::Copies);
            layout.set_experts_first(request.placement.host_experts_first);
            layout.set_expert_cache_bytes(request.placement.expert_cache_bytes.value_or(0));
            plan_expert_ring(model_->h, model_->weights, rates, emulated_rates(placement, rates), longest_step,
                             host_memory().total_bytes, layout);
            placement.device = emulated_device(request.placement, std::move(layout), rates);
        }
        const DeviceShare& share = placement.device->share;
        plan.device_layers = share.layers;
        plan.device_budget_bytes = share.budget_bytes;
        plan.device_watermark_bytes = share.high_mark_bytes;
    }
    PlacementByColumns by_columns(costs, std::move(placement), rates, request.placement);
    if (has_device) {
        const int most = kLongestContext / block;
        if (const int columns = by_columns.before_spill(most); plan.device_layers > 0 && columns < most)
            plan.spill_tokens = columns * block;
    }
    for (const int tokens : contexts) {
        if (tokens < 0 || tokens > kLongestContext)
            return fail(Error::Code::BadRequest, "a context holds 0 to 16777216 tokens");
        PlanRow row;
        row.context_tokens = tokens;
        row.beyond_training = tokens > costs.context_length;
        row.host = {costs.weight_bytes, (std::int64_t(tokens) + block - 1) / block * kv_page_bytes(kv),
                    state_bytes(costs, tokens), 0, scratch};
        if (!asked.draft_model.empty()) {
            const LoadRequest beside = as_draft(request, std::max(1, tokens));
            const MemoryNeed need = memory_need(*draft, beside);
            row.draft_model = {need.weight_bytes, tokens > 0 ? need.kv_bytes : 0, need.state_bytes, 0,
                               need.scratch_bytes};
        }
        const PlannedPlacement& here = by_columns.at((tokens + block - 1) / block);
        if (here.device) {
            const DeviceShare& share = here.device->share;
            const Columns columns = columns_at(share, tokens);
            row.device_layers = share.layers;
            const int on_host = host_expert_layers(share, columns.total);
            for (int l = 0; l < share.layers; ++l)
                row.host_expert_layers += share.layout.leaves_experts(l, on_host) && share.layout.layer(l).experts > 0;
            row.device = on_device(share, tokens);
            row.expert_cache_bytes = share.layout.needed(share.layers, on_host, 0).expert_cache;
            row.kv_share_on_host = columns.total > 0 ? double(columns.on_host()) / columns.total : 0.0;
            row.stops = columns.stops;
            if (share.layout.has_experts() && share.layers > 0)
                row.experts = gain_of(costs, here, rates, columns.total);
        }
        if (rates)
            if (const auto seconds = step_seconds(costs, here, *rates, tokens); seconds && *seconds > 0)
                row.tok_s = 1 / *seconds;
        plan.rows.push_back(row);
    }
    if (!plan.rows.empty())
        plan.device_layers = plan.rows.front().device_layers;
    return plan;
} catch (...) {
    return caught("for this plan");
}

Result<MachineRates> Planner::measure_rates(const LoadRequest& request,
                                            const std::function<bool(double)>& on_progress) const
try {
    const ModelCosts& costs = model_->costs;
    std::set<std::pair<kernels::TensorType, int>> products;
    std::set<std::pair<int, int>> heads;  // their length, and how many share a KV head
    for (const LayerWork& layer : costs.layers) {
        if (layer.divided_tokens > 0)
            heads.insert({layer.key_length, layer.group});
        for (const WeightRead& read : layer.reads)
            products.insert({read.type, read.row_length});
    }
    for (const WeightRead& read : costs.head.reads)
        products.insert({read.type, read.row_length});
    const std::size_t pieces = products.size() + heads.size() + 5;
    std::size_t done = 0;
    const auto goes_on = [&] { return !on_progress || on_progress(double(done++) / double(pieces)); };
    const auto given_up = [] { return fail(Error::Code::Cancelled, "measuring this machine was given up"); };
    if (!goes_on())
        return given_up();

    ThreadPool pool(request.threads > 0 ? request.threads : physical_cores(), request.pin_threads);
    RateMeter meter(pool, 40);
    MachineRates rates;
    rates.cpu = cpu_device().description;
    rates.kernels = kernels::cpu_kernels().name;
    rates.threads = pool.size();
    if (!goes_on())
        return given_up();
    rates.dram_read_bytes_per_s = measure_dram_read(pool);
    if (!goes_on())
        return given_up();
    rates.values_per_s = meter.values_per_s();
    rates.wake_s = meter.wake_s();
    if (!goes_on())
        return given_up();
    const RateMeter::Choice choice = meter.choice();
    rates.token_s = choice.token_s;
    rates.choice_s_per_value = choice.s_per_value;
    for (const auto& [type, row_length] : products) {
        if (!goes_on())
            return given_up();
        rates.products.push_back(meter.product(kernels::type_traits(type), row_length));
    }
    KvForm form{.k_type = request.k_type, .v_type = request.v_type, .block_tokens = request.kv_block_tokens};
    for (const auto& [length, group] : heads) {
        if (!goes_on())
            return given_up();
        form.head_length = length;
        form.group = group;
        rates.attention.push_back(meter.attention(form));
    }
    if (!goes_on())
        return given_up();
    rates.copy_start_s = meter.copy_start_s();
    const int kv_heads = std::max(1, *std::ranges::max_element(costs.kv_heads));
    rates.stream_bytes_per_s = meter.stream_bytes_per_s(form, kv_heads);
    if (request.placement.device == PlacementOptions::Device::Cuda) {
        auto device = CudaDevice::open(request.placement.cuda_ordinal);
        if (!device)
            return tl::unexpected(device.error());
        auto measured = measure_rates_of(**device, costs.layers.front().reads, form, kv_heads);
        if (!measured)
            return tl::unexpected(measured.error());
        rates.devices[std::string((*device)->id())] = std::move(*measured);
    }
    return rates;
} catch (...) {
    return caught("to measure this machine");
}

std::string sentence_of(const ExpertsGain& gain)
{
    if (gain.bytes == 0)
        return {};
    const auto ms = [](double seconds) {
        char text[32];
        std::snprintf(text, sizeof text, seconds < 0.0995 ? "%.1f ms" : "%.0f ms", seconds * 1000);
        return std::string(text);
    };
    const std::string bytes = byte_size(std::uint64_t(gain.bytes)) + " of experts";
    if (!gain.saved_s)
        return bytes + " have what room KV leaves: how fast this machine is has not been measured";
    return bytes + " save " + ms(*gain.saved_s) + " a token" +
           (gain.kv_columns_on_host == 0
                ? ", and all KV lies beside them"
                : ", the KV blocks that give way to them would save " + ms(gain.kv_saved_s.value_or(0)));
}

void PredictionCorrection::observe(double predicted_s, double observed_s)
{
    if (!(predicted_s > 0) || !(observed_s > 0))
        return;
    const double ratio = observed_s / predicted_s;
    factor_ = factor_ ? *factor_ + kWeight * (ratio - *factor_) : ratio;
}

}  // namespace engine
