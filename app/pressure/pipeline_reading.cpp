#include "app/pressure/pipeline_reading.h"

#include <algorithm>
#include <array>
#include <utility>

namespace {

constexpr double kOffloadShare = 0.5;      // of the decoding time: if moves take more, the phase is Offload
constexpr std::int64_t kFlowUs = 300'000;  // time between two frames, long enough for several tokens
constexpr qint64 kLoadMs = 100;

engine::StepShares since(const engine::StepShares& before, const engine::StepShares& now)
{
    engine::StepShares between = now;
    between.device_layers_s -= before.device_layers_s;
    between.host_layers_s -= before.host_layers_s;
    if (between.kv_link_s)
        *between.kv_link_s -= before.kv_link_s.value_or(0);
    between.host_attention_s -= before.host_attention_s;
    between.sampling_s -= before.sampling_s;
    between.rest_s -= before.rest_s;
    return between;
}

/// Finds the stage to which most of the time of the decode steps went.
PipelineReading::Stage slowest(const engine::StepShares& shares)
{
    using Stage = PipelineReading::Stage;
    const std::array<std::pair<double, Stage>, 4> stages = {
        {{shares.host_layers_s + shares.host_attention_s, Stage::Ram},
         {shares.kv_link_s.value_or(0), Stage::Link},
         {shares.device_layers_s, Stage::Vram},
         {shares.sampling_s, Stage::Compute}}};
    const auto most = *std::max_element(stages.begin(), stages.end());
    return most.first > 0 ? most.second : Stage::None;
}

/// Returns the bytes of KV and states of the layers that the host computes; their KV is estimated by their share of all
/// blocks.
double hostLayersKept(const engine::Telemetry& frame)
{
    const engine::KvMap* const map = frame.kv_map.get();
    double states = 0;
    for (std::size_t l = frame.device ? std::size_t(frame.device->layers) : 0; map && l < map->states.size(); ++l)
        states += double(map->states[l].bytes);
    if (!frame.device)
        return double(frame.kv_bytes_host) + states;
    const int blocks = frame.kv_blocks_host + frame.kv_blocks_device;
    if (!map || blocks == 0)
        return states;
    int cells = 0;  // in a column
    for (int l = frame.device->layers; map->columns > 0 && l < map->layers; ++l)
        cells += map->place(0, l) != engine::KvMap::Place::None ? 1 : 0;
    return double(frame.kv_bytes_host + frame.kv_bytes_device) / blocks * cells * map->columns + states;
}

}  // namespace

PipelineReading PipelineReading::between(const engine::Telemetry& before, const engine::Telemetry& now, bool readsAll)
{
    PipelineReading reading;
    const double seconds = double(now.time_us - before.time_us) / 1e6;
    if (seconds <= 0)
        return reading;
    if (before.device && now.device) {
        const double moved = double(now.device->to_device_bytes + now.device->to_host_bytes -
                                    before.device->to_device_bytes - before.device->to_host_bytes);
        if (moved > 0)
            reading.link = moved / seconds;
    }
    const bool sameTurn = now.generated_tokens >= before.generated_tokens;
    switch (now.phase) {
    case engine::Phase::Idle:
        break;
    case engine::Phase::Load:
        reading.phase = Load;
        reading.bottleneck = Disk;
        break;
    case engine::Phase::Prefill:
        reading.phase = Prefill;
        reading.bottleneck = Compute;
        if (now.prefilled_tokens > before.prefilled_tokens)
            reading.compute = (now.prefilled_tokens - before.prefilled_tokens) / seconds;
        break;
    case engine::Phase::Decode: {
        reading.phase = Decode;
        if (!sameTurn || now.generated_tokens == before.generated_tokens)
            break;
        const int tokens = now.generated_tokens - before.generated_tokens;
        reading.compute = tokens / seconds;
        // A step reads weights and KV once, also for the drafted tokens in it.
        const double stepsPerSecond = (tokens - (now.accepted_tokens - before.accepted_tokens)) / seconds;
        if (readsAll) {
            double host = double(now.weight_bytes_host) + hostLayersKept(now);
            if (now.device) {
                host += double(now.device->step_attended_on_host_bytes + now.device->step_streamed_bytes);
                reading.vram =
                    stepsPerSecond * double(now.weight_bytes_device + now.kv_bytes_device + now.device->state_bytes);
            }
            if (host > 0)
                reading.ram = stepsPerSecond * host;
        }
        if (now.shares && before.shares) {
            const engine::StepShares shares = since(*before.shares, *now.shares);
            reading.bottleneck = slowest(shares);
            if (shares.rest_s > kOffloadShare * shares.decode_s())
                reading.phase = Offload;
        }
        break;
    }
    }
    return reading;
}

void PipelineMeter::add(const engine::Telemetry& frame)
{
    const bool other = frame.phase != m_from.phase || frame.generated_tokens < m_from.generated_tokens;
    if (!other && frame.time_us - m_from.time_us < kFlowUs)
        return;
    if (!other)
        m_reading = PipelineReading::between(m_from, frame, m_readsAll);
    m_from = frame;
}

bool PipelineMeter::addLoaded(qint64 bytesDone)
{
    if (!m_loading.isValid() || bytesDone < m_loadedBytes) {
        m_loading.start();
        m_loadedBytes = bytesDone;
        return false;
    }
    if (m_loading.elapsed() < kLoadMs)
        return false;
    m_reading = {};
    m_reading.phase = PipelineReading::Load;
    m_reading.bottleneck = PipelineReading::Disk;
    m_reading.disk = 1000.0 * double(bytesDone - m_loadedBytes) / double(m_loading.restart());
    m_loadedBytes = bytesDone;
    return true;
}

void PipelineMeter::endTurn()
{
    m_reading = {};
    m_from = {};
}

void PipelineMeter::beginModel(bool readsAll)
{
    m_readsAll = readsAll;
    m_loading.invalidate();
    m_reading = {};
}

void PipelineMeter::endModel()
{
    endTurn();
    m_loadedBytes = 0;
    m_loading.invalidate();
}

#include "moc_pipeline_reading.cpp"
