#include "app/pressure/placement_controller.h"

#include "app/system/background.h"
#include "app/worker/error_sentence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace {

constexpr double kLowestWatermark = 0.5, kHighestWatermark = 1.0;
constexpr int kCurvePoints = 32;
constexpr std::array kKvTypes = {engine::KvType::F16, engine::KvType::Q8_0, engine::KvType::F32};  // as the settings do

// Where the first block leaves the device; empty where the context is full before.
std::optional<int> spillWithin(int context_tokens, const engine::Plan& plan)
{
    return plan.spill_tokens && *plan.spill_tokens < context_tokens ? plan.spill_tokens : std::nullopt;
}

}  // namespace

PlacementController::PlacementController(EngineThread& engine, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
{
}

QString PlacementController::device() const
{
    return m_device ? QString::fromStdString(m_device->id) : QString();
}

int PlacementController::offloadPercent() const
{
    return int(std::lround(100 * m_request.placement.kv_offload_share));
}

int PlacementController::kvType() const
{
    const auto type = std::ranges::find(kKvTypes, m_request.k_type);
    return m_request.k_type == m_request.v_type ? int(type - kKvTypes.begin()) : -1;
}

QVariant PlacementController::spillTokens() const
{
    return m_spillTokens ? QVariant(*m_spillTokens) : QVariant();
}

PlacementPreview PlacementController::preview(int layers) const
{
    engine::LoadRequest request = m_request;
    request.placement.device_layers = layers < 0 ? std::nullopt : std::optional(layers);
    return preview(request);
}

PlacementPreview PlacementController::previewBudget(double bytes) const
{
    engine::LoadRequest request = m_request;
    request.placement.vram_budget_bytes = std::int64_t(bytes);
    request.placement.budget_fit_tokens = 0;
    return preview(request);
}

PlacementPreview PlacementController::previewKvType(int type) const
{
    engine::LoadRequest request = m_request;
    if (type >= 0 && type < int(kKvTypes.size()))
        request.k_type = request.v_type = kKvTypes[std::size_t(type)];
    return preview(request);
}

bool PlacementController::outran(const engine::Telemetry& last) const
{
    constexpr double kClearly = 1.3;   // predictions are within a tenth on a machine that is as it was measured
    constexpr int kEnoughTokens = 16;  // for a rate that is not chance
    if (m_predicted.isEmpty() || last.generated_tokens < kEnoughTokens || !last.decode_tokens_per_s)
        return false;
    // Where the answer began, and was fastest.
    return *last.decode_tokens_per_s > kClearly * *predictedAt(last.context_tokens - last.generated_tokens);
}

/// As at the last point of the curve that is not beyond.
std::optional<double> PlacementController::predictedAt(int tokens) const
{
    if (m_predicted.isEmpty())
        return std::nullopt;
    const auto after = std::ranges::find_if(m_predicted, [&](const QPointF& point) { return point.x() > tokens; });
    return (after == m_predicted.begin() ? *after : *std::prev(after)).y();
}

/// How fast an answer was, of which nothing moved, says how far the rates are from what is to be expected now.
void PlacementController::learn(const engine::Telemetry& frame)
{
    constexpr int kEnoughTokens = 16;
    if (frame.phase == engine::Phase::Prefill)  // an answer begins
        m_movedMeanwhile = false;
    const bool grown = frame.generated_tokens > m_generated;
    m_generated = frame.generated_tokens;
    if (!grown || m_movedMeanwhile || m_generated < kEnoughTokens || !frame.decode_tokens_per_s)
        return;
    if (const auto predicted = predictedAt(frame.context_tokens - m_generated / 2))
        m_correction.observe(1 / *predicted, 1 / *frame.decode_tokens_per_s);
}

/// What the engine does with such choices while other programs hold what they hold now: every number that is foretold
/// comes from here.
engine::Result<engine::Plan> PlacementController::plan(engine::LoadRequest request, std::span<const int> contexts) const
{
    if (m_device)
        request.placement.other_programs_bytes = m_device->other_programs_bytes;
    return m_planner->plan(request, contexts, m_rates.get());
}

PlacementPreview PlacementController::preview(const engine::LoadRequest& request) const
{
    PlacementPreview preview;
    if (!m_planner)
        return preview;
    const std::array contexts = {m_contextTokens, m_contextLimit};
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
    preview.deviceBytes = now.device ? double(now.device->total()) : 0;
    preview.budgetBytes = double(plan->device_budget_bytes);
    const std::optional<int> spill = spillWithin(m_contextLimit, *plan);
    preview.spillTokens = spill ? QVariant(*spill) : QVariant();
    preview.tokensPerSecond = speed(now.tok_s);
    preview.tokensPerSecondFull = speed(full.tok_s);
    if (m_correction.factor() && now.tok_s)
        preview.correction = 1 / slower;
    preview.kvBytesFull = double(full.host.kv_bytes);
    preview.largestContext =
        full.stops && plan->spill_tokens ? std::min(*plan->spill_tokens, m_contextLimit) : m_contextLimit;
    return preview;
}

void PlacementController::setLayers(int layers)
{
    m_request.placement.device_layers = std::clamp(layers, 0, m_layers);
    post(engine::SetDeviceLayers{m_request.placement.device_layers});
}

void PlacementController::setAutomatic()
{
    m_request.placement.device_layers.reset();
    post(engine::SetDeviceLayers{});
}

void PlacementController::changeDevice(const engine::PlacementOptions& wish)
{
    if (m_layers > 0)
        m_postedDevices.insert(post(engine::SetDevice{wish}), wish);
}

void PlacementController::onDeviceAnswered(const engine::PlacementOptions& wish, bool done)
{
    if (!done) {
        Q_EMIT deviceRefused();
        return;
    }
    if (!m_leaving)
        m_leaving = m_request.placement;
    takeDevice(wish);
    m_beforeYield.reset();
    replan();
    Q_EMIT deviceAccepted();
    Q_EMIT changed();
}

/// How KV is kept when the device is full stays as it was.
void PlacementController::takeDevice(const engine::PlacementOptions& from)
{
    engine::PlacementOptions& placement = m_request.placement;
    placement.device = from.device;
    placement.cuda_ordinal = from.cuda_ordinal;
    placement.emulated = from.emulated;
    placement.device_layers = from.device_layers;
    placement.vram_budget_bytes = from.vram_budget_bytes;
    placement.budget_fit_tokens = from.budget_fit_tokens;
}

void PlacementController::cancelMove()
{
    if (m_leaving) {
        takeDevice(*std::exchange(m_leaving, std::nullopt));
        Q_EMIT deviceRefused();
    }
    setLayers(deviceLayers());
}

void PlacementController::setBudget(double bytes)
{
    m_request.placement.vram_budget_bytes = std::int64_t(std::clamp(bytes, 0.0, totalBytes()));
    m_beforeYield.reset();
    post(engine::SetVramBudget{m_request.placement.vram_budget_bytes});
}

void PlacementController::setWatermark(double share)
{
    m_request.placement.watermark = std::clamp(share, kLowestWatermark, kHighestWatermark);
    post(engine::SetWatermark{m_request.placement.watermark});
}

void PlacementController::setPolicy(int policy)
{
    m_request.placement.kv_policy =
        engine::KvPolicy(std::clamp(policy, int(engine::KvPolicy::Resident), int(engine::KvPolicy::CpuDecode)));
    post(engine::SetKvPolicy{m_request.placement.kv_policy});
}

void PlacementController::setKvType(int type)
{
    if (type >= 0 && type < int(kKvTypes.size()))
        keepKvAs(kKvTypes[std::size_t(type)]);
}

void PlacementController::keepKvAs(engine::KvType type)
{
    if (m_layers == 0 || (m_request.k_type == type && m_request.v_type == type))
        return;
    m_request.k_type = m_request.v_type = type;
    const engine::SetKvTypes types{type, type};
    if (const quint64 id = post(types); id != 0)
        m_postedTypes.insert(id, types);
}

void PlacementController::setOffloadPercent(int percent)
{
    m_request.placement.kv_offload_share = std::clamp(percent, 0, 100) / 100.0;
    post(engine::SetKvOffloadShare{m_request.placement.kv_offload_share});
}

void PlacementController::setOtherPrograms(double bytes)
{
    if (emulated())
        post(engine::SetOtherPrograms{std::int64_t(std::clamp(bytes, 0.0, totalBytes()))});
}

void PlacementController::yieldTo(double bytes)
{
    const auto before = m_beforeYield.value_or(m_request.placement.vram_budget_bytes);
    setBudget(std::max(1.0, bytes));
    m_beforeYield = before;
    Q_EMIT changed();
}

void PlacementController::growBack()
{
    if (m_beforeYield)
        setBudget(double(*m_beforeYield));
}

double PlacementController::yieldBytes() const
{
    return std::min(m_yieldBytes.value_or(budgetBytes() / 2), totalBytes());
}

void PlacementController::setYieldBytes(double bytes)
{
    m_yieldBytes = std::clamp(bytes, 1.0, std::max(1.0, totalBytes()));
    if (yielding())
        yieldTo(*m_yieldBytes);
    Q_EMIT changed();
}

void PlacementController::toggleYield()
{
    if (!available())
        return;
    if (yielding()) {
        growBack();
        return;
    }
    m_yieldBytes = yieldBytes();  // half of a budget that is about to be another
    yieldTo(*m_yieldBytes);
}

void PlacementController::dismissTrouble()
{
    if (m_trouble.isEmpty())
        return;
    m_trouble.clear();
    Q_EMIT troubleChanged();
}

quint64 PlacementController::post(const engine::Command& command)
{
    const bool alsoWithoutDevice =
        std::holds_alternative<engine::SetKvTypes>(command) || std::holds_alternative<engine::SetDevice>(command);
    if (!m_device && !alsoWithoutDevice)
        return 0;
    const quint64 id = m_engine.worker()->post(command);
    if (id == 0)
        return id;  // no memory for it, and no answer to wait for
    m_posted.append(id);
    m_movedMeanwhile = true;
    replan();
    Q_EMIT changed();
    return id;
}

void PlacementController::onEvent(const engine::Event& event)
{
    if (event.kind == engine::Event::Kind::DeviceChanged) {
        m_leaving.reset();
        m_deviceIsNew = true;
    }
    if (event.kind != engine::Event::Kind::CommandDone || !m_posted.removeOne(event.command))
        return;
    if (m_postedTypes.contains(event.command))
        onTypesAnswered(m_postedTypes.take(event.command), event.ok);
    if (m_postedDevices.contains(event.command))
        onDeviceAnswered(m_postedDevices.take(event.command), event.ok);
    if (event.ok)
        return;
    m_trouble = errorSentence({engine::Error::Code::BadRequest, event.sentence});
    Q_EMIT troubleChanged();
}

void PlacementController::onTypesAnswered(const engine::SetKvTypes& types, bool done)
{
    if (done)
        m_types = types;
    if (m_postedTypes.isEmpty()) {
        m_request.k_type = m_types.k_type;
        m_request.v_type = m_types.v_type;
        replan();
        Q_EMIT changed();
    }
    if (done)
        Q_EMIT kvTypeChanged();
}

void PlacementController::onModelReady(const engine::ModelInfo& model, const engine::LoadRequest& request)
{
    m_planner.reset();
    m_correction = {};
    m_request = request;
    m_types = {request.k_type, request.v_type};
    m_layers = model.layers;
    m_contextLimit = model.context_in_use;
    m_request.context_tokens = model.context_in_use;
    if (m_device)  // its first frame came before
        takeSizes();
    openPlanner(model.path);
    replan();
    Q_EMIT changed();
}

/// On a pool thread: a large vocabulary takes longer to read than a frame may.
void PlacementController::openPlanner(const std::filesystem::path& model)
{
    inBackground(
        this, [model] { return engine::Planner::open(model); },
        [this, job = ++m_plannerJob](engine::Result<engine::Planner> planner) {
            if (job != m_plannerJob || !planner)
                return;
            m_planner = *std::move(planner);
            replan();
            Q_EMIT changed();
        });
}

void PlacementController::onModelGone()
{
    m_planner.reset();
    ++m_plannerJob;
    m_device.reset();
    m_layers = 0;
    m_contextTokens = 0;
    m_contextLimit = 0;
    m_beforeYield.reset();
    m_posted.clear();
    m_postedTypes.clear();
    m_postedDevices.clear();
    m_leaving.reset();
    m_deviceIsNew = false;
    replan();
    dismissTrouble();
    Q_EMIT changed();
}

void PlacementController::onFrame(const engine::Telemetry& frame)
{
    const bool firstOfDevice = frame.device && (!m_device || m_deviceIsNew);
    const bool gone = m_device && !frame.device;
    const bool moved = m_device && frame.device &&
                       (m_device->layers != frame.device->layers ||
                        m_device->other_programs_bytes != frame.device->other_programs_bytes);
    m_device = frame.device;
    m_contextTokens = frame.context_tokens;
    m_deviceIsNew = m_deviceIsNew && !frame.device;
    if (firstOfDevice)
        takeSizes();
    m_movedMeanwhile = m_movedMeanwhile || moved;
    if (m_leaving && !moving())
        m_leaving.reset();  // it was the same device
    if (firstOfDevice || gone || moved)
        replan();
    learn(frame);
    Q_EMIT changed();
}

/// What was chosen by the tokens that fit has become bytes, and stays so whatever else changes.
void PlacementController::takeSizes()
{
    engine::PlacementOptions& placement = m_request.placement;
    if (placement.budget_fit_tokens > 0)
        placement.vram_budget_bytes = m_device->budget_bytes;
    placement.budget_fit_tokens = 0;
    placement.emulated.vram_bytes = m_device->total_bytes;
    placement.emulated.fit_tokens = 0;
}

void PlacementController::setRates(std::shared_ptr<const engine::MachineRates> rates)
{
    m_rates = std::move(rates);
    m_correction = {};
    replan();
}

void PlacementController::replan()
{
    m_predicted.clear();
    m_spillTokens.reset();
    if (m_planner && m_contextLimit > 0) {
        QList<int> contexts;
        for (int i = 0; i <= kCurvePoints; ++i)
            contexts.append(int(std::int64_t(m_contextLimit) * i / kCurvePoints));
        const auto plan =
            this->plan(m_request, std::span<const int>(contexts.constData(), std::size_t(contexts.size())));
        if (plan) {
            m_spillTokens = spillWithin(m_contextLimit, *plan);
            for (const engine::PlanRow& row : plan->rows)
                if (row.tok_s)
                    m_predicted.append(QPointF(row.context_tokens, *row.tok_s));
        }
    }
    Q_EMIT planChanged();
}
