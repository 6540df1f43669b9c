// MtpDrafter guesses what an answer says next by asking the block that the model's file has for that.
#pragma once

#include "engine/run/drafter.h"
#include "engine/run/mtp_model.h"
#include "engine/sampling/sampler.h"

#include <stop_token>
#include <vector>

namespace engine {

/// It draws from the block's logits with the random numbers that the answer's sampler will use. Memory is taken in the
/// constructor, but for KV.
class MtpDrafter final : public Drafter
{
public:
    /// What it belongs to; all of it outlives it.
    struct Of {
        MtpModel& mtp;
        MtpSequence& sequence;
        const LoadedModel& model;
        const Sampler& sampler;  // of the answer
    };
    MtpDrafter(const Of& of, const SamplingOptions& sampling, std::stop_token stop);

    DraftedBy kind() const override { return DraftedBy::Mtp; }
    /// Empty also where something goes wrong, or the model's newest rows were not noted.
    std::span<const int> next(std::span<const int> tokens, int most) override;
    std::int64_t aside_us() const override { return aside_us_; }

private:
    Status guess(std::span<const int> tokens, int most);
    void take_failure(const Error& error);

    Of of_;
    Sampler sampler_;
    std::stop_token stop_;
    std::vector<int> text_;  // the answer's tokens, and what is guessed behind them
    std::int64_t aside_us_ = 0;
    std::vector<int> guessed_;
    bool off_ = false;  // for this turn
};

}  // namespace engine
