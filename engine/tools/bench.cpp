#include "engine/bench.h"

#include "engine/caught.h"
#include "engine/device/kernels_in_use.h"
#include "engine/metrics/clock.h"
#include "engine/metrics/host_probe.h"
#include "engine/metrics/rates.h"
#include "engine/plan/dram_bandwidth.h"
#include "engine/plan/measure_copies.h"
#include "engine/run/loaded_model.h"

#include <algorithm>
#include <chrono>
#include <new>

namespace engine {

int BenchRequest::most_tokens() const
{
    const int most_rows = step_rows.empty() ? 1 : std::ranges::max(step_rows);
    return std::max(prefill_tokens, decode_tokens * most_rows);
}

namespace {

class Bench
{
public:
    Bench(LoadedModel& model, const BenchRequest& request)
        : model_(model)
        , request_(request)
    {
    }

    Result<BenchRow> prefill(int depth)
    {
        return measure("prefill", request_.prefill_tokens, depth, 1, [&](std::span<KvSequence> all) -> Status {
            KvSequence& kv = all.front();
            int count = 0;
            for (int done = 0; done < request_.prefill_tokens; done += count) {
                count = std::min(model_.max_rows(), request_.prefill_tokens - done);
                if (Status ok = model_.append(kv, tokens(count), 1); !ok)
                    return ok;
            }
            return logits(kv, count - 1);
        });
    }

    /// Measures decoding. A step has `rows` rows of each conversation, where the model computes them together.
    Result<BenchRow> decode(int depth, int conversations, int rows)
    {
        TurnRates times(request_.repeats * request_.decode_tokens);
        bool warm = false;  // the first run does not count
        auto row =
            measure("decode", request_.decode_tokens * rows, depth, conversations, [&](std::span<KvSequence> all) {
                for (int i = 0; i < request_.decode_tokens; ++i) {
                    const std::int64_t start = now_us();
                    if (Status ok = decode_step(all, rows); !ok)
                        return ok;
                    if (warm)
                        times.add_token(std::chrono::microseconds(now_us() - start));
                }
                warm = true;
                return Status();
            });
        if (row) {
            row->tokens = request_.decode_tokens;
            row->step_rows = rows;
            if (const auto tokens = times.token_times())
                row->p99_ms = tokens->p99_ms;
            const auto& cache = model_.cache();
            const double kv_per_token = double(cache.page_bytes()) / cache.block_tokens();
            const double kv_bytes = kv_per_token * (depth + request_.decode_tokens * rows / 2.0);
            // A step reads the weights once, and the KV of every conversation.
            const double steps_per_s = row->tok_s_median / (conversations * rows);
            const double weight_bytes = double(decode_bytes(model_.parts().weights, model_.parts().h));
            row->gb_s = steps_per_s * (weight_bytes + conversations * kv_bytes) / 1e9;
        }
        return row;
    }

private:
    Status decode_step(std::span<KvSequence> all, int rows)
    {
        std::vector<RowGroup> groups;
        for (KvSequence& kv : all)
            groups.push_back({.sequence = &kv, .tokens = tokens(rows), .wanted = rows});
        const std::size_t at_once = model_.computes_together() ? groups.size() : 1;
        for (std::size_t at = 0; at < groups.size(); at += at_once) {
            const auto step = std::span(groups).subspan(at, at_once);
            if (Status ok = model_.append(step); !ok)
                return ok;
            for (const RowGroup& group : step)
                for (int row = 0; row < rows; ++row)
                    if (Status ok = logits(*group.sequence, row); !ok)
                        return ok;
        }
        return {};
    }

    Status logits(KvSequence& kv, int row)
    {
        const auto logits = model_.logits(kv, row);
        return logits ? Status() : tl::unexpected(logits.error());
    }

    std::span<const int> tokens(int count)
    {
        // Ids that differ from each other, so that embedding rows are not all the same.
        while (int(ids_.size()) < count)
            ids_.push_back(int(ids_.size() * 7919 % std::size_t(model_.info().vocabulary)));
        return std::span(ids_).first(std::size_t(count));
    }

    template <class Work>
    Result<BenchRow> measure(const char* test, int count, int depth, int conversations, const Work& work)
    {
        std::vector<KvSequence> all(static_cast<std::size_t>(conversations));
        std::vector<double> rates;
        Status status;
        BenchRow row{.test = test, .tokens = count, .depth = depth, .conversations = conversations};
        const std::int64_t reading = now_us();
        for (KvSequence& kv : all)
            while (status && kv.length() < depth)
                status = model_.append(kv, tokens(std::min(model_.max_rows(), depth - kv.length())), 0);
        if (depth > 0)
            row.depth_ms = double(now_us() - reading) / 1e3;
        note_memory(row);
        std::optional<DeviceTelemetry> before;
        for (int run = -1; run < request_.repeats && status; ++run) {  // the first one warms up and does not count
            if (run == 0)
                before = model_.placement().telemetry();
            const std::int64_t start = now_us();
            status = work(all);
            const double seconds = double(std::max<std::int64_t>(1, now_us() - start)) / 1e6;
            if (run >= 0)
                rates.push_back(count * conversations / seconds);
            note_memory(row);
            for (KvSequence& kv : all)
                model_.cache().truncate(kv, depth);
        }
        for (KvSequence& kv : all)
            model_.cache().truncate(kv, 0);
        if (!status)
            return tl::unexpected(status.error());
        note_experts(row, before);
        std::sort(rates.begin(), rates.end());
        row.tok_s_median = rates[rates.size() / 2];
        row.tok_s_min = rates.front();
        row.tok_s_max = rates.back();
        return row;
    }

    /// Notes the memory in use. The process's own peak would count what measuring the DRAM took.
    void note_memory(BenchRow& row) const
    {
        if (const OnDevice* device = model_.placement().device())
            row.device_peak_bytes = device->vram().peak();
        if (const auto now = process_memory().resident_bytes)
            row.host_peak_bytes = std::max(row.host_peak_bytes.value_or(0), *now);
    }

    void note_experts(BenchRow& row, const std::optional<DeviceTelemetry>& before) const
    {
        const auto now = model_.placement().telemetry();
        if (!now || now->cached_experts == 0)
            return;
        row.expert_cache_bytes = now->expert_cache_bytes;
        row.expert_hits = now->expert_hits - (before ? before->expert_hits : 0);
        row.expert_misses = now->expert_misses - (before ? before->expert_misses : 0);
    }

    LoadedModel& model_;
    const BenchRequest& request_;
    std::vector<int> ids_;
};

}  // namespace

namespace {

/// Measures the GPU's copies, before the model takes its memory.
Result<double> device_copy_gb_s(int ordinal)
{
    auto device = CudaDevice::open(ordinal);
    if (!device)
        return tl::unexpected(device.error());
    auto meter = DeviceMeter::make(**device);
    Result<double> rate = meter ? measure_copy_bytes_per_s(*meter) : tl::unexpected(meter.error());
    if (!rate)
        return rate;
    return *rate / 1e9;
}

}  // namespace

Result<BenchReport> bench(const LoadRequest& load, const BenchRequest& request,
                          const std::function<void(const BenchRow&)>& on_row)
try {
    if (request.repeats < 1 || request.prefill_tokens < 0 || request.decode_tokens < 0 || request.depths.empty())
        return fail(Error::Code::BadRequest, "a benchmark needs at least one repeat and one depth");
    for (const int conversations : request.conversations)
        for (const int rows : request.step_rows)
            if (conversations < 1 || rows < 1 || conversations > kMostRowsTogether / rows)
                return fail(Error::Code::BadRequest,
                            "a step of decode has 1 to " + std::to_string(kMostRowsTogether) + " rows in all");
    BenchReport report;
    if (load.placement.device == PlacementOptions::Device::Cuda) {
        const auto copy = device_copy_gb_s(load.placement.cuda_ordinal);
        if (!copy)
            return tl::unexpected(copy.error());
        report.device_copy_gb_s = *copy;
    }
    const std::int64_t start = now_us();
    auto model = LoadedModel::load(load, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        return tl::unexpected(model.error());

    while ((*model)->placement().advance()) {
        // As before a turn, so that copies of experts get their room.
    }
    report.load_ms = double(now_us() - start) / 1e3;
    report.model = (*model)->info().name;
    report.threads = (*model)->cpu().threads();
    report.kernels = kernels_in_use();
    const auto device = (*model)->placement().telemetry();
    report.device = device ? device->id : "cpu";
    report.device_layers = device ? device->layers : 0;
    if (device) {
        report.kv_policy = (*model)->placement().policy();
        report.device_budget_bytes = device->budget_bytes;
    }
    report.weight_bytes = (*model)->weight_bytes();
    Bench runs(**model, request);
    report.dram_read_gb_s = measure_dram_read((*model)->cpu().pool()) / 1e9;
    for (const int depth : request.depths) {
        const int most = depth + request.most_tokens();
        if (request.within_context && most > (*model)->info().context_tokens)
            return fail(Error::Code::ContextFull, std::to_string(most) + " tokens are more than the " +
                                                      std::to_string((*model)->info().context_tokens) +
                                                      " the model was made for");
        if (depth < 0 || most > (*model)->context_tokens())
            return fail(Error::Code::ContextFull, "a depth of " + std::to_string(depth) +
                                                      " and the tokens after it do not fit the context of " +
                                                      std::to_string((*model)->context_tokens()));
        std::vector<std::function<Result<BenchRow>()>> tests;
        if (request.prefill_tokens > 0)
            tests.emplace_back([&] { return runs.prefill(depth); });
        if (request.decode_tokens > 0)
            for (const int conversations : request.conversations)
                for (const int rows : request.step_rows)
                    tests.emplace_back([&, conversations, rows] { return runs.decode(depth, conversations, rows); });
        for (const auto& test : tests) {
            auto row = test();
            if (!row)
                return tl::unexpected(row.error());
            const bool on_gpu = report.device_layers == (*model)->info().layers && report.device_copy_gb_s;
            const double bandwidth = on_gpu ? *report.device_copy_gb_s : report.dram_read_gb_s;
            if (bandwidth > 0)
                row->bandwidth_share = row->gb_s / bandwidth;
            if (on_row)
                on_row(*row);
            report.rows.push_back(*row);
        }
    }
    const auto& cache = (*model)->cache();
    report.kv_bytes = std::int64_t(cache.used_pages()) * std::int64_t(cache.page_bytes());
    report.state_bytes = std::int64_t(cache.states().used()) * std::int64_t(cache.states().bytes());
    report.peak_resident_bytes = process_memory().peak_resident_bytes;
    return report;
} catch (...) {
    return caught("for this benchmark");
}

}  // namespace engine
