#include "engine/run/sampled_drafter.h"

#include "engine/caught.h"

namespace engine {

SampledDrafter::SampledDrafter(const Answer& answer, int vocabulary, const char* what_for)
    : model_(answer.model)
    , answers_(answer.sampler)
    , sampler_(as_guessed(answer.sampling), vocabulary, 0)
    , what_for_(what_for)
{
    guessed_.reserve(kMostRowsTogether);
}

std::span<const int> SampledDrafter::next(std::span<const int> tokens, int most)
{
    aside_us_ = 0;
    guessed_.clear();
    if (rests_ || given_up() || most <= 0)
        return {};
    try {
        if (const Status done = guess(tokens, most); !done)
            fail_with(done.error());
    } catch (...) {
        fail_with(caught(what_for_).value());
    }
    return guessed_;
}

Status SampledDrafter::guess(std::span<const int> tokens, int most)
{
    const auto may = catch_up(tokens, most);
    if (!may)
        return tl::unexpected(may.error());
    if (*may <= 0)
        return {};
    sampler_.draw_as(answers_);
    Status done;
    while (done) {
        const auto row = logits();
        if (!row)
            return tl::unexpected(row.error());
        const int id = sampler_.sample(*row, read_tokens());
        if (id >= model_.info().vocabulary || model_.ends_answer(id))
            break;
        guessed_.push_back(id);
        if (int(guessed_.size()) == *may)
            break;
        done = read_guess(id);
    }
    forget_guesses(int(tokens.size()));
    return done;
}

void SampledDrafter::fail_with(const Error& error)
{
    guessed_.clear();
    take_failure(error);
}

}  // namespace engine
