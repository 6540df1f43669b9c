#include "engine/run/mtp_drafter.h"

#include "engine/caught.h"
#include "engine/metrics/clock.h"

#include <algorithm>
#include <utility>

namespace engine {

MtpDrafter::MtpDrafter(const Of& of, const SamplingOptions& sampling, std::stop_token stop)
    : of_(of)
    , sampler_(as_guessed(sampling), of.mtp.info().vocabulary, 0)
    , stop_(std::move(stop))
{
    text_.reserve(std::size_t(of.mtp.context_tokens() + kMostRowsTogether));
    guessed_.reserve(kMostRowsTogether);
}

std::span<const int> MtpDrafter::next(std::span<const int> tokens, int most)
{
    aside_us_ = 0;
    guessed_.clear();
    if (off_ || of_.mtp.given_up() || most <= 0)
        return {};
    try {
        if (const Status done = guess(tokens, most); !done)
            take_failure(done.error());
    } catch (...) {
        take_failure(caught("for guessing tokens").value());
    }
    return guessed_;
}

Status MtpDrafter::guess(std::span<const int> tokens, int most)
{
    most = std::min(most, of_.mtp.context_tokens() - int(tokens.size()));
    const std::int64_t start = now_us();
    const auto missed = of_.mtp.read(of_.sequence, tokens, stop_);
    if (!missed)
        return tl::unexpected(missed.error());
    if (*missed == 0 || most <= 0)
        return {};
    if (*missed > kMostRowsTogether)
        aside_us_ = now_us() - start;
    text_.assign(tokens.begin(), tokens.end());
    sampler_.draw_as(of_.sampler);
    Status done;
    while (done) {
        const int id = sampler_.sample(of_.mtp.logits(), text_);
        if (of_.model.ends_answer(id))
            break;
        text_.push_back(id);
        guessed_.push_back(id);
        if (int(guessed_.size()) == most)
            break;
        done = of_.mtp.read_guess(of_.sequence, id, stop_);
    }
    of_.mtp.forget_guesses(of_.sequence, int(tokens.size()));
    return done;
}

void MtpDrafter::take_failure(const Error& error)
{
    guessed_.clear();
    of_.mtp.forget(of_.sequence);
    if (error.code == Error::Code::Cancelled)
        return;
    if (error.code == Error::Code::ContextFull || error.code == Error::Code::NoMemory)
        off_ = true;
    else
        of_.mtp.give_up(error);
}

}  // namespace engine
