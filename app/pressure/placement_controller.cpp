#include "app/pressure/placement_controller.h"

#include "app/worker/error_sentence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

PlacementController::PlacementController(EngineThread& engine, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_forecast([this] { return present(); })
    , m_experts(m_request.placement, m_device, m_layers, [this](const engine::Command& command) { post(command); })
{
    connect(this, &PlacementController::changed, &m_experts, &ExpertPlacement::changed);
    connect(&m_forecast, &PlacementForecast::opened, this, &PlacementController::changed);
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
    const auto type = std::ranges::find(engine::kKvTypes, m_request.k_type, &engine::NamedKvType::type);
    return m_request.k_type == m_request.v_type ? int(type - engine::kKvTypes.begin()) : -1;
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

bool PlacementController::changeDevice(const engine::PlacementOptions& wish)
{
    const quint64 id = m_layers > 0 ? post(engine::SetDevice{wish}) : 0;
    if (id != 0)
        m_postedDevices.insert(id, wish);
    return id != 0;
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
    m_forecast.replan();
    Q_EMIT deviceAccepted();
    Q_EMIT changed();
}

/// Takes the device and its sizes from `from`; the policy for KV on a full device stays as it was.
void PlacementController::takeDevice(const engine::PlacementOptions& from)
{
    engine::PlacementOptions& placement = m_request.placement;
    placement.device = from.device;
    placement.cuda_ordinal = from.cuda_ordinal;
    placement.emulated = from.emulated;
    placement.device_layers = from.device_layers;
    placement.host_expert_layers = from.host_expert_layers;
    placement.expert_cache_bytes = from.expert_cache_bytes;
    placement.vram_budget_bytes = from.vram_budget_bytes;
    placement.budget_fit_tokens = from.budget_fit_tokens;
}

void PlacementController::cancelMove()
{
    if (m_leaving) {
        takeDevice(*std::exchange(m_leaving, std::nullopt));
        Q_EMIT deviceTakenBack();
    }
    setLayers(deviceLayers());
}

void PlacementController::setBudget(double bytes)
{
    m_beforeYield.reset();
    postBudget(bytes);
}

void PlacementController::postBudget(double bytes)
{
    m_request.placement.vram_budget_bytes = std::int64_t(std::clamp(bytes, 0.0, totalBytes()));
    post(engine::SetVramBudget{m_request.placement.vram_budget_bytes});
}

void PlacementController::setWatermark(double share)
{
    m_request.placement.watermark = std::clamp(share, engine::kLowestWatermark, engine::kHighestWatermark);
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
    if (type >= 0 && type < int(engine::kKvTypes.size()))
        keepKvAs(engine::kKvTypes[std::size_t(type)].type);
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
    if (!m_beforeYield)
        m_beforeYield = m_request.placement.vram_budget_bytes;
    postBudget(std::max(1.0, bytes));
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
    m_yieldBytes = yieldBytes();  // before the budget changes: half of it, where no size was chosen
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
        return id;  // there was no memory for the command, and no answer will come
    m_posted.append(id);
    m_forecast.onMoved();
    m_forecast.replan();
    Q_EMIT changed();
    return id;
}

void PlacementController::onEvent(const engine::Event& event)
{
    if (event.kind == engine::Event::Kind::DeviceLost && !m_leaving) {
        m_request.placement.device = engine::PlacementOptions::Device::Cpu;
        m_forecast.replan();
    }
    if (event.kind == engine::Event::Kind::DeviceChanged) {
        m_leaving.reset();
        m_deviceIsNew = true;
        Q_EMIT changed();
    }
    if (event.kind != engine::Event::Kind::CommandDone || !m_posted.removeOne(event.command))
        return;
    if (m_postedTypes.contains(event.command))
        onTypesAnswered(m_postedTypes.take(event.command), event.ok);
    if (m_postedDevices.contains(event.command))
        onDeviceAnswered(m_postedDevices.take(event.command), event.ok);
    Q_EMIT changed();
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
        m_forecast.replan();
        Q_EMIT changed();
    }
    if (done)
        Q_EMIT kvTypeChanged();
}

void PlacementController::onModelReady(const engine::ModelInfo& model, const engine::LoadRequest& request)
{
    m_forecast.close();
    m_request = request;
    m_types = {request.k_type, request.v_type};
    m_layers = model.layers;
    m_contextLimit = model.context_in_use;
    m_request.context_tokens = model.context_in_use;
    if (m_device)  // the device's first frame came before
        takeSizes();
    m_forecast.open(model.path);
    m_forecast.replan();
    Q_EMIT changed();
}

engine::PlacementOptions PlacementController::asChanged(engine::PlacementOptions loaded) const
{
    const engine::PlacementOptions& now = m_request.placement;
    loaded.device_layers = now.device_layers;
    loaded.host_expert_layers = now.host_expert_layers;
    loaded.expert_cache_bytes = now.expert_cache_bytes;
    loaded.vram_budget_bytes = m_beforeYield.value_or(now.vram_budget_bytes);
    loaded.budget_fit_tokens = now.budget_fit_tokens;
    loaded.watermark = now.watermark;
    loaded.kv_policy = now.kv_policy;
    loaded.kv_offload_share = now.kv_offload_share;
    return loaded;
}

void PlacementController::onModelGone()
{
    m_forecast.close();
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
    m_forecast.replan();
    dismissTrouble();
    Q_EMIT changed();
}

void PlacementController::onFrame(const engine::Telemetry& frame, bool alone)
{
    const bool firstOfDevice = frame.device && (!m_device || m_deviceIsNew);
    const bool gone = m_device && !frame.device;
    const bool moved = m_device && frame.device &&
                       (m_device->layers != frame.device->layers ||
                        m_device->layers_without_experts != frame.device->layers_without_experts ||
                        m_device->cached_experts != frame.device->cached_experts ||
                        m_device->expert_skew != frame.device->expert_skew);
    m_device = frame.device;
    m_contextTokens = frame.context_tokens;
    m_deviceIsNew = m_deviceIsNew && !frame.device;
    if (firstOfDevice)
        takeSizes();
    if (moved || gone)
        m_forecast.onMoved();
    if (m_leaving && !moving())
        m_leaving.reset();  // the move went to the same device
    if (firstOfDevice || gone || moved || (m_device && m_forecast.othersDiffer(*m_device)))
        m_forecast.replan();
    if (alone)
        m_forecast.learn(frame);
    Q_EMIT changed();
}

/// Replaces sizes that were chosen as a number of tokens by the bytes these took, so that they stay whatever else
/// changes.
void PlacementController::takeSizes()
{
    engine::PlacementOptions& placement = m_request.placement;
    if (placement.budget_fit_tokens > 0)
        placement.vram_budget_bytes = m_device->budget_bytes;
    placement.budget_fit_tokens = 0;
    placement.emulated.vram_bytes = m_device->total_bytes;
    placement.emulated.fit_tokens = 0;
}

/// Returns the present placement for the forecast, which assumes that other programs keep what they hold now.
PlacementForecast::Present PlacementController::present() const
{
    PlacementForecast::Present present{m_request, m_contextTokens, m_contextLimit};
    if (m_device) {
        present.request.placement.other_programs_bytes = m_device->other_programs_bytes;
        present.request.placement.expert_skew = m_device->expert_skew;
    }
    return present;
}

#include "moc_placement_controller.cpp"
