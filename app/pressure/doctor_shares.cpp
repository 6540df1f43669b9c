#include "app/pressure/doctor.h"

#include <algorithm>
#include <array>

// Divides the time of an answer's tokens. Waiting for a core is taken off the parts in which it happened.
DoctorShares sharesOf(const DoctorFacts& facts)
{
    const engine::StepShares& s = *facts.last.shares;
    const double all = s.decode_s();
    if (all <= 0)
        return {};
    const double here = s.device_layers_s + s.host_layers_s + s.host_attention_s + s.sampling_s;
    const double waited = std::min(facts.waitedS.value_or(0), here);
    const double ran = here > 0 ? 1 - waited / here : 1;
    DoctorShares shares{.device = ran * s.device_layers_s / all,
                        .host = ran * s.host_layers_s / all,
                        .link = s.kv_link_s.value_or(0) / all,
                        .hostAttention = ran * s.host_attention_s / all,
                        .cores = waited / all,
                        .words = ran * s.sampling_s / all,
                        .rest = (s.telemetry_s + s.rest_s) / all};
    if (!s.kv_link_s && facts.last.device && facts.linkBytesPerSecond) {
        // A GPU's step lasts at least as long as its copies take. Where these take more than half of the step, they
        // take longer than all its arithmetic, and the step waits for them; shorter ones may run beside it unnoticed.
        const double copying = double(facts.last.device->step_streamed_bytes) / *facts.linkBytesPerSecond;
        const double share = std::min(copying * s.steps / all, shares.device);
        if (share > 0.5) {
            shares.link = share;
            shares.device -= share;
        }
    }
    return shares;
}

DoctorCauseShare largestCause(const DoctorFacts& facts, const DoctorShares& shares)
{
    const auto& device = facts.last.device;
    // Where all is computed on the host, its layers are the model's arithmetic and no cause.
    const bool split = device && (device->layers < facts.layers || device->layers_without_experts > 0);
    const std::array causes = {DoctorCauseShare{DoctorCause::Link, shares.link},
                               DoctorCauseShare{DoctorCause::HostAttention, shares.hostAttention},
                               DoctorCauseShare{DoctorCause::HostLayers, split ? shares.host : 0},
                               DoctorCauseShare{DoctorCause::Cores, shares.cores},
                               DoctorCauseShare{DoctorCause::Words, shares.words}};
    const DoctorCauseShare found = *std::ranges::max_element(causes, {}, &DoctorCauseShare::share);
    return found.share > 0 ? found : DoctorCauseShare();
}
