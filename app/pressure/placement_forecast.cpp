#include "app/pressure/placement_forecast.h"

#include "app/pressure/speed_without_drafts.h"
#include "app/system/background.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace {

constexpr int kCurvePoints = 32;
constexpr int kEnoughTokens = 16;  // for a rate that is not chance

// Returns where the first block leaves the device; empty where the context is full before.
std::optional<int> spillWithin(int context_tokens, const engine::Plan& plan)
{
    return plan.spill_tokens && *plan.spill_tokens < context_tokens ? plan.spill_tokens : std::nullopt;
}

QVariant milliseconds(std::optional<double> seconds)
{
    return seconds ? QVariant(*seconds * 1000) : QVariant();
}

}  // namespace

PlacementForecast::PlacementForecast(std::function<Present()> present)
    : m_present(std::move(present))
{
}

QVariant PlacementForecast::spillTokens() const
{
    return m_spillTokens ? QVariant(*m_spillTokens) : QVariant();
}

PlacementPreview PlacementForecast::preview(int layers) const
{
    engine::LoadRequest request = m_present().request;
    request.placement.device_layers = layers < 0 ? std::nullopt : std::optional(layers);
    return preview(request);
}

PlacementPreview PlacementForecast::previewHostExperts(int layers) const
{
    engine::LoadRequest request = m_present().request;
    request.placement.host_expert_layers = layers < 0 ? std::nullopt : std::optional(layers);
    return preview(request);
}

PlacementPreview PlacementForecast::previewRoomForCopies(double bytes) const
{
    engine::LoadRequest request = m_present().request;
    request.placement.expert_cache_bytes = bytes < 0 ? std::nullopt : std::optional(std::int64_t(bytes));
    return preview(request);
}

PlacementPreview PlacementForecast::previewBudget(double bytes) const
{
    engine::LoadRequest request = m_present().request;
    request.placement.vram_budget_bytes = std::int64_t(bytes);
    request.placement.budget_fit_tokens = 0;
    return preview(request);
}

PlacementPreview PlacementForecast::previewKvType(int type) const
{
    engine::LoadRequest request = m_present().request;
    if (type >= 0 && type < int(engine::kKvTypes.size()))
        request.k_type = request.v_type = engine::kKvTypes[std::size_t(type)].type;
    return preview(request);
}

bool PlacementForecast::outran(const engine::Telemetry& last) const
{
    constexpr double kClearly = 1.3;  // predictions are within a tenth on a machine that is as it was measured
    const auto speed = speedWithoutDrafts(last, kEnoughTokens);
    if (m_movedMeanwhile || m_predicted.isEmpty() || last.generated_tokens < kEnoughTokens || !speed)
        return false;
    // The prediction for the answer's beginning, where it is fastest.
    return *speed > kClearly * *predictedAt(last.context_tokens - last.generated_tokens);
}

/// Returns the predicted speed at the last point of the curve that is not beyond `tokens`.
std::optional<double> PlacementForecast::predictedAt(int tokens) const
{
    if (m_predicted.isEmpty())
        return std::nullopt;
    const auto after = std::ranges::find_if(m_predicted, [&](const QPointF& point) { return point.x() > tokens; });
    return (after == m_predicted.begin() ? *after : *std::prev(after)).y();
}

/// Corrects the predictions by the speed of an answer during which nothing moved.
void PlacementForecast::learn(const engine::Telemetry& frame)
{
    if (frame.phase == engine::Phase::Prefill && frame.generated_tokens == 0)  // an answer begins
        m_movedMeanwhile = false;
    const bool grown = frame.generated_tokens > m_generated;
    m_generated = frame.generated_tokens;
    const auto speed = speedWithoutDrafts(frame, kEnoughTokens);
    if (!grown || m_movedMeanwhile || m_generated < kEnoughTokens || !speed)
        return;
    if (const auto predicted = predictedAt(frame.context_tokens - m_generated / 2))
        m_correction.observe(1 / *predicted, 1 / *speed);
}

/// Plans a request; every predicted number comes from here. The draft model is left out: it lies on the host and
/// changes no prediction, and to plan its memory the planner would read its file here on the UI thread.
engine::Result<engine::Plan> PlacementForecast::plan(engine::LoadRequest request, std::span<const int> contexts) const
{
    request.draft_model.clear();
    return m_planner->plan(request, contexts, m_rates.get());
}

PlacementPreview PlacementForecast::preview(const engine::LoadRequest& request) const
{
    PlacementPreview preview;
    if (!m_planner)
        return preview;
    const Present present = m_present();
    const int contextLimit = present.contextLimit;
    const std::array contexts = {present.contextTokens, contextLimit};
    const auto plan = this->plan(request, contexts);
    if (!plan || plan->rows.size() != contexts.size())
        return preview;
    const engine::PlanRow& now = plan->rows.front();
    const engine::PlanRow& full = plan->rows.back();
    const double slower = m_correction.factor().value_or(1);
    const auto speed = [&](std::optional<double> predicted) {
        return predicted ? QVariant(*predicted / slower) : QVariant();
    };
    preview.known = true;
    preview.layers = plan->device_layers;
    preview.hostExperts = plan->expert_layers > 0 ? now.host_expert_layers : -1;
    if (now.experts) {
        preview.expertBytes = double(now.experts->bytes);
        preview.expertsSaveMs = milliseconds(now.experts->saved_s);
        if (now.experts->kv_columns_on_host > 0)
            preview.kvWouldSaveMs = milliseconds(now.experts->kv_saved_s);
    }
    preview.deviceBytes = now.device ? double(now.device->total()) : 0;
    preview.budgetBytes = double(plan->device_budget_bytes);
    const std::optional<int> spill = spillWithin(contextLimit, *plan);
    preview.spillTokens = spill ? QVariant(*spill) : QVariant();
    preview.tokensPerSecond = speed(now.tok_s);
    preview.tokensPerSecondFull = speed(full.tok_s);
    if (m_correction.factor() && now.tok_s)
        preview.correction = 1 / slower;
    preview.kvBytesFull = double(full.host.kv_bytes);
    preview.stateBytes = double(full.host.state_bytes);
    preview.deviceStateBytes = now.device ? double(now.device->state_bytes) : 0;
    preview.largestContext =
        full.stops && plan->spill_tokens ? std::min(*plan->spill_tokens, contextLimit) : contextLimit;
    return preview;
}

void PlacementForecast::close()
{
    m_planner.reset();
    ++m_plannerJob;
    m_correction = {};
}

/// Reads the model on a pool thread: a large vocabulary takes longer than a frame may.
void PlacementForecast::open(const std::filesystem::path& model)
{
    inBackground(
        this, [model] { return engine::Planner::open(model); },
        [this, job = ++m_plannerJob](engine::Result<engine::Planner> planner) {
            if (job != m_plannerJob || !planner)
                return;
            m_planner = *std::move(planner);
            replan();
            Q_EMIT opened();
        });
}

void PlacementForecast::setRates(std::shared_ptr<const engine::MachineRates> rates)
{
    m_rates = std::move(rates);
    m_correction = {};
    replan();
}

bool PlacementForecast::othersDiffer(const engine::DeviceTelemetry& device) const
{
    constexpr int kNoticed = 100;  // a change of a hundredth of the device's memory
    return std::abs(device.other_programs_bytes - m_others) * kNoticed > device.total_bytes;
}

void PlacementForecast::replan()
{
    m_predicted.clear();
    m_spillTokens.reset();
    const Present present = m_present();
    m_others = present.request.placement.other_programs_bytes.value_or(0);
    m_now = preview(present.request);
    if (m_planner && present.contextLimit > 0) {
        QList<int> contexts;
        for (int i = 0; i <= kCurvePoints; ++i)
            contexts.append(int(std::int64_t(present.contextLimit) * i / kCurvePoints));
        const auto plan =
            this->plan(present.request, std::span<const int>(contexts.constData(), std::size_t(contexts.size())));
        if (plan) {
            m_spillTokens = spillWithin(present.contextLimit, *plan);
            for (const engine::PlanRow& row : plan->rows)
                if (row.tok_s)
                    m_predicted.append(QPointF(row.context_tokens, *row.tok_s));
        }
    }
    Q_EMIT changed();
}

#include "moc_placement_forecast.cpp"
