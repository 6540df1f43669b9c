#include "engine/sampling/sampler.h"

#include "engine/sampling/log_shares.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace engine {

Sampler::Sampler(const SamplingOptions& options, int num_vocab, std::uint64_t seed, DryBreakers breakers)
    : options_(options)
    , random_(seed)
    , dry_({options.dry_multiplier, options.dry_base, options.dry_allowed_length, options.dry_penalty_last_n},
           std::move(breakers))
    , candidates_(num_vocab)
    , logits_(static_cast<std::size_t>(std::max(num_vocab, 1)), 0.0f)
    , seen_(logits_.size(), 0)
{
    assert(num_vocab > 0);
    window_.reserve(logits_.size());
}

int Sampler::sample(std::span<const float> logits, std::span<const int> history, const TokenMask* allowed)
{
    assert(logits.size() == logits_.size());
    const std::size_t count = std::min(logits.size(), logits_.size());
    for (std::size_t i = 0; i < count; ++i)
        logits_[i] = finite_logit(logits[i]);
    std::fill(logits_.begin() + static_cast<std::ptrdiff_t>(count), logits_.end(), finite_logit(-INFINITY));

    add_bias();
    penalise(history);
    dry_.apply(history, logits_);
    if (allowed)
        forbid_others(*allowed);
    if (options_.temperature <= 0.0f)
        return greedy();
    candidates_.assign(logits_, options_.top_k);
    if (allowed)
        candidates_.drop_forbidden();
    return draw_candidate();
}

int Sampler::sample(const RowLogits& logits, std::span<const int> history)
{
    if (logits.largest.empty())
        return sample(logits.all, history);
    assert(int(logits.largest.size()) == enough());
    if (options_.temperature <= 0.0f)
        return logits.largest.front().id;
    candidates_.assign(logits.largest);
    return draw_candidate();
}

std::optional<int> Sampler::enough() const
{
    if (penalises() || options_.dry_multiplier > 0.0f || !options_.logit_bias.empty())
        return {};
    if (options_.temperature <= 0.0f)
        return 1;
    if (options_.top_k > 0 && std::size_t(options_.top_k) < logits_.size())
        return options_.top_k;
    return {};
}

/// Adds the biases of the request; every sum stays above the value that forbid_others() gives.
void Sampler::add_bias()
{
    for (const LogitBias& bias : options_.logit_bias)
        if (bias.id >= 0 && static_cast<std::size_t>(bias.id) < logits_.size()) {
            float& logit = logits_[static_cast<std::size_t>(bias.id)];
            logit = finite_logit(logit + bias.bias);
        }
}

bool Sampler::penalises() const
{
    return options_.repeat_penalty != 1.0f || options_.frequency_penalty != 0.0f || options_.presence_penalty != 0.0f;
}

void Sampler::penalise(std::span<const int> history)
{
    if (!penalises())
        return;
    if (options_.repeat_last_n >= 0)
        history = history.last(std::min(history.size(), static_cast<std::size_t>(options_.repeat_last_n)));
    for (const int id : history) {
        if (id < 0 || static_cast<std::size_t>(id) >= seen_.size())
            continue;
        if (seen_[static_cast<std::size_t>(id)]++ == 0)
            window_.push_back(id);
    }
    for (const int id : window_) {
        float& logit = logits_[static_cast<std::size_t>(id)];
        std::int32_t& times = seen_[static_cast<std::size_t>(id)];
        // Multiplying would raise a positive logit's chances, so those are divided.
        logit = logit > 0.0f ? logit / options_.repeat_penalty : logit * options_.repeat_penalty;
        logit -= static_cast<float>(times) * options_.frequency_penalty + options_.presence_penalty;
        logit = finite_logit(logit);
        times = 0;
    }
    window_.clear();
}

/// Gives tokens that are not allowed a value below any that finite_logit() returns.
void Sampler::forbid_others(const TokenMask& allowed)
{
    for (std::size_t id = 0; id < logits_.size(); ++id)
        if (!allowed.allows(int(id)))
            logits_[id] = -std::numeric_limits<float>::infinity();
}

int Sampler::greedy() const
{
    return static_cast<int>(std::max_element(logits_.begin(), logits_.end()) - logits_.begin());
}

int Sampler::draw_candidate()
{
    candidates_.keep_typical(options_.typical_p);
    candidates_.keep_top_p(options_.top_p);
    candidates_.keep_min_p(options_.min_p);
    if (options_.xtc_probability > 0.0f && options_.xtc_threshold <= 0.5f &&
        random_.uniform() < options_.xtc_probability)
        candidates_.exclude_top(options_.xtc_threshold);
    return candidates_.view()[candidates_.draw(options_.temperature, random_.uniform())].id;
}

}  // namespace engine
