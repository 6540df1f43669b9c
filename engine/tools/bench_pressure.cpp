#include "engine/bench.h"
#include "engine/caught.h"
#include "engine/metrics/clock.h"
#include "engine/plan/predict.h"
#include "engine/planner.h"
#include "engine/run/loaded_model.h"
#include "engine/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace engine {

namespace {

class GrowingConversation
{
public:
    explicit GrowingConversation(LoadedModel& model)
        : model_(model)
        , sampler_({}, model.info().vocabulary, 1)
    {
        model_.placement().begin_turn();
    }
    ~GrowingConversation() { model_.cache().truncate(kv_, 0); }

    int length() const { return kv_.length(); }

    Status prefill(int tokens)
    {
        while (kv_.length() < tokens) {
            const int count = std::min(model_.max_rows(), tokens - kv_.length());
            if (Status ok = append(count); !ok)
                return ok;
        }
        return {};
    }

    /// Decodes this many tokens and says what the row is made of.
    Result<PressureRow> measure(int tokens)
    {
        PressureRow row;
        std::vector<double> seconds;
        for (int i = 0; i < tokens; ++i) {
            const std::int64_t start = now_us();
            if (Status ok = append(1); !ok)
                return tl::unexpected(ok.error());
            const auto logits = model_.logits(kv_, 0, sampler_.enough());
            if (!logits)
                return tl::unexpected(logits.error());
            (void)sampler_.sample(*logits, kv_.ids);
            seconds.push_back(double(std::max<std::int64_t>(1, now_us() - start)) / 1e6);
        }
        std::sort(seconds.begin(), seconds.end());
        row.context_tokens = kv_.length();
        row.tok_s = 1.0 / seconds[seconds.size() / 2];
        const int blocks = int(kv_.pages.size()) * model_.cache().kv_layers();
        row.blocks_host = blocks;
        if (const auto device = model_.placement().telemetry()) {
            row.vram_used_bytes = device->used_bytes();
            row.vram_ahead_bytes = device->kv_ahead_bytes;
            row.vram_budget_bytes = device->budget_bytes;
            row.blocks_device = device->kv_blocks;
            row.blocks_host = blocks - device->kv_blocks;
            row.link_bytes_per_token = device->step_streamed_bytes;
            row.attended_on_host_bytes_per_token = device->step_attended_on_host_bytes;
        }
        for (const Event& event : model_.placement().take_events()) {
            row.offloads += event.kind == Event::Kind::Offload;
            row.fetches += event.kind == Event::Kind::Fetch;
        }
        return row;
    }

private:
    Status append(int count)
    {
        ids_.clear();
        for (int i = 0; i < count; ++i)
            ids_.push_back(int(std::size_t(kv_.length() + i) * 7919 % std::size_t(model_.info().vocabulary)));
        model_.placement().advance();
        return model_.append(kv_, ids_);
    }

    LoadedModel& model_;
    Sampler sampler_;  // for the time that a choice takes; its tokens are not used
    KvSequence kv_;
    std::vector<int> ids_;
};

/// Holds what is expected of each row, predicted before the first is measured.
class Forecast
{
public:
    static Result<Forecast> make(const LoadRequest& load, const PressureRequest& request)
    {
        const auto planner = Planner::open(load.model);
        if (!planner)
            return tl::unexpected(planner.error());
        auto rates = request.rates ? Result<MachineRates>(*request.rates) : planner->measure_rates(load);
        if (!rates)
            return tl::unexpected(rates.error());
        std::vector<int> contexts;  // in the middle of the tokens that a row measures
        for (int tokens = request.every_tokens; tokens <= request.most_tokens; tokens += request.every_tokens)
            contexts.push_back(tokens - request.decode_tokens / 2);
        auto plan = planner->plan(load, contexts, &*rates);
        if (!plan)
            return tl::unexpected(plan.error());
        return Forecast(std::move(*rates), std::move(*plan));
    }

    const MachineRates& rates() const { return rates_; }
    const Plan& plan() const { return plan_; }

    void add_to(PressureRow& row, std::size_t index)
    {
        row.predicted_tok_s = plan_.rows[index].tok_s;
        if (!row.predicted_tok_s)
            return;
        if (const auto factor = correction_.factor())
            row.corrected_tok_s = *row.predicted_tok_s / *factor;
        correction_.observe(1 / *row.predicted_tok_s, 1 / row.tok_s);
    }

private:
    Forecast(MachineRates rates, Plan plan)
        : rates_(std::move(rates))
        , plan_(std::move(plan))
    {
    }

    MachineRates rates_;
    Plan plan_;
    PredictionCorrection correction_;
};

std::optional<double> median_error(const std::vector<PressureRow>& rows, std::optional<double> PressureRow::*predicted)
{
    std::vector<double> errors;
    for (const PressureRow& row : rows)
        if (row.*predicted)
            errors.push_back(std::abs(*(row.*predicted) / row.tok_s - 1));
    if (errors.empty())
        return std::nullopt;
    std::ranges::sort(errors);
    return errors[errors.size() / 2];
}

}  // namespace

Result<PressureReport> bench_pressure(const LoadRequest& load, const PressureRequest& request,
                                      const std::function<void(const PressureRow&)>& on_row)
try {
    if (request.every_tokens < 1 || request.decode_tokens < 1 || request.decode_tokens >= request.every_tokens ||
        request.most_tokens < request.every_tokens)
        return fail(Error::Code::BadRequest, "a row needs fewer tokens to measure than there are from row to row");
    auto forecast = Forecast::make(load, request);
    if (!forecast)
        return tl::unexpected(forecast.error());
    auto model = LoadedModel::load(load, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        return tl::unexpected(model.error());
    if (request.most_tokens > (*model)->context_tokens())
        return fail(Error::Code::ContextFull, std::to_string(request.most_tokens) +
                                                  " tokens do not fit the context of " +
                                                  std::to_string((*model)->context_tokens()));
    PressureReport report;
    report.model = (*model)->info().name;
    report.kernels = kernels::cpu_kernels().name;
    report.threads = (*model)->cpu().threads();
    const auto device = (*model)->placement().telemetry();
    report.device = device ? device->id : "cpu";
    report.device_layers = device ? device->layers : 0;
    report.dram_read_gb_s = forecast->rates().dram_read_bytes_per_s.value_or(0) / 1e9;
    report.spill_tokens = forecast->plan().spill_tokens;
    GrowingConversation conversation(**model);
    for (int row_tokens = request.every_tokens; row_tokens <= request.most_tokens; row_tokens += request.every_tokens) {
        Status grown = conversation.prefill(row_tokens - request.decode_tokens);
        auto row = grown ? conversation.measure(request.decode_tokens) : tl::unexpected(grown.error());
        if (!row && row.error().code == Error::Code::ContextFull && !report.rows.empty())
            break;
        if (!row)
            return tl::unexpected(row.error());
        forecast->add_to(*row, report.rows.size());
        if (on_row)
            on_row(*row);
        report.rows.push_back(*row);
    }
    report.median_error = median_error(report.rows, &PressureRow::predicted_tok_s);
    report.corrected_median_error = median_error(report.rows, &PressureRow::corrected_tok_s);
    return report;
} catch (...) {
    return caught("for this benchmark");
}

}  // namespace engine
