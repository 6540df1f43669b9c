#include "engine/run/mtp_drafter.h"

#include "engine/metrics/clock.h"

#include <algorithm>
#include <utility>

namespace engine {

MtpDrafter::MtpDrafter(const Of& of, const SamplingOptions& sampling, std::stop_token stop)
    : SampledDrafter({of.model, of.sampler, sampling}, of.mtp.info().vocabulary, "for guessing tokens")
    , of_(of)
    , stop_(std::move(stop))
{
    text_.reserve(std::size_t(of.mtp.context_tokens() + kMostRowsTogether));
}

Result<int> MtpDrafter::catch_up(std::span<const int> tokens, int most)
{
    const std::int64_t start = now_us();
    const auto missed = of_.mtp.read(of_.sequence, tokens, stop_);
    if (!missed)
        return tl::unexpected(missed.error());
    if (*missed == 0)
        return 0;
    if (*missed > kMostRowsTogether)
        set_aside(now_us() - start);
    text_.assign(tokens.begin(), tokens.end());
    return std::min(most, of_.mtp.context_tokens() - int(tokens.size()));
}

Status MtpDrafter::read_guess(int id)
{
    text_.push_back(id);
    return of_.mtp.read_guess(of_.sequence, id, stop_);
}

void MtpDrafter::take_failure(const Error& error)
{
    of_.mtp.forget(of_.sequence);
    if (error.code == Error::Code::Cancelled)
        return;
    if (error.code == Error::Code::ContextFull || error.code == Error::Code::NoMemory)
        rest();
    else
        of_.mtp.give_up(error);
}

}  // namespace engine
