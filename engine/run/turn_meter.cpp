#include "engine/run/turn_meter.h"

#include "engine/metrics/clock.h"

#include <chrono>

namespace engine {

TurnMeter::TurnMeter(StepClock& clock)
    : clock_(clock)
    , start_us_(now_us())
{
}

void TurnMeter::add_prefill(int tokens, std::int64_t duration_us)
{
    rates_.add_prefill(tokens, std::chrono::microseconds(duration_us));
    prefill_us_ += duration_us;
}

void TurnMeter::add_token()
{
    const std::int64_t now = now_us();
    if (!first_token_us_) {
        first_token_us_ = now;
        clock_.start();
    } else {
        rates_.add_token(std::chrono::microseconds(now - last_token_us_));
        clock_.lap();  // what comes after the last token is no part of any
    }
    last_token_us_ = now;
}

void TurnMeter::fill(Telemetry& frame, bool link_is_seen) const
{
    if (first_token_us_) {
        frame.ttft_ms = double(*first_token_us_ - start_us_) / 1e3;
        frame.shares = shares(link_is_seen);
    }
    frame.tpot = rates_.token_times();
    frame.prefill_tokens_per_s = rates_.prefill_tokens_per_s();
    frame.decode_tokens_per_s = rates_.decode_tokens_per_s();
}

StepShares TurnMeter::shares(bool link_is_seen) const
{
    using Part = StepClock::Part;
    StepShares s;
    s.prefill_s = double(prefill_us_) / 1e6;
    s.steps = rates_.tokens();
    s.device_layers_s = clock_.lap_seconds(Part::DeviceLayers);
    s.host_layers_s = clock_.lap_seconds(Part::HostLayers);
    if (link_is_seen)
        s.kv_link_s = clock_.lap_seconds(Part::KvLink);
    s.host_attention_s = clock_.lap_seconds(Part::HostAttention);
    s.sampling_s = clock_.lap_seconds(Part::Sampling);
    s.telemetry_s = clock_.lap_seconds(Part::Telemetry);
    s.rest_s = clock_.lap_seconds(Part::Rest);
    return s;
}

}  // namespace engine
