#include "engine/run/turn_meter.h"

#include "engine/metrics/clock.h"

#include <chrono>
#include <utility>

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

std::optional<PlainStep> TurnMeter::add_token(TokenFrom from)
{
    const std::int64_t now = now_us();
    const std::int64_t before_us = std::exchange(last_token_us_, now);
    if (!first_token_us_) {
        first_token_us_ = now;
        first_ = last_ = clock_.seconds();
        return std::nullopt;
    }
    rates_.add_token(std::chrono::microseconds(now - before_us));
    const StepClock::Seconds before = std::exchange(last_, clock_.seconds());  // what comes later belongs to no token
    steps_ += from != TokenFrom::SameStep ? 1 : 0;
    if (from != TokenFrom::PlainStep)
        return std::nullopt;
    ++plain_steps_;
    plain_us_ += now - before_us;
    constexpr auto kHostAttention = std::size_t(StepClock::Part::HostAttention);
    return PlainStep{double(now - before_us) / 1e6, last_[kHostAttention] - before[kHostAttention]};
}

void TurnMeter::fill(Telemetry& frame, bool link_is_seen) const
{
    if (first_token_us_) {
        frame.ttft_ms = double(*first_token_us_ - start_us_) / 1e3;
        frame.shares = shares(link_is_seen);
    }
    frame.plain_steps = {plain_steps_, double(plain_us_) / 1e6};
    frame.tpot = rates_.token_times();
    frame.prefill_tokens_per_s = rates_.prefill_tokens_per_s();
    frame.decode_tokens_per_s = rates_.decode_tokens_per_s();
}

StepShares TurnMeter::shares(bool link_is_seen) const
{
    using Part = StepClock::Part;
    const auto of = [&](Part part) { return last_[std::size_t(part)] - first_[std::size_t(part)]; };
    StepShares s;
    s.prefill_s = double(prefill_us_) / 1e6;
    s.steps = steps_;
    s.device_layers_s = of(Part::DeviceLayers);
    s.host_layers_s = of(Part::HostLayers);
    if (link_is_seen)
        s.kv_link_s = of(Part::KvLink);
    s.host_attention_s = of(Part::HostAttention);
    s.sampling_s = of(Part::Sampling);
    s.telemetry_s = of(Part::Telemetry);
    s.rest_s = of(Part::Rest);
    return s;
}

}  // namespace engine
