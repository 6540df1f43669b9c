// MtpDrafter guesses what an answer says next with the block that the model's file has for that.
#pragma once

#include "engine/run/mtp_model.h"
#include "engine/run/sampled_drafter.h"

#include <stop_token>
#include <vector>

namespace engine {

/// Has no guess where the newest rows of the model were not noted.
class MtpDrafter final : public SampledDrafter
{
public:
    /// Holds what the drafter works with; all of it outlives the drafter.
    struct Of {
        MtpModel& mtp;
        MtpSequence& sequence;
        const LoadedModel& model;
        const Sampler& sampler;  // of the answer
    };
    MtpDrafter(const Of& of, const SamplingOptions& sampling, std::stop_token stop);

    DraftedBy kind() const override { return DraftedBy::Mtp; }

private:
    bool given_up() const override { return of_.mtp.given_up(); }
    Result<int> catch_up(std::span<const int> tokens, int most) override;
    Result<std::span<const float>> logits() override { return of_.mtp.logits(); }
    std::span<const int> read_tokens() const override { return text_; }
    Status read_guess(int id) override;
    void forget_guesses(int tokens) override { of_.mtp.forget_guesses(of_.sequence, tokens); }
    void take_failure(const Error& error) override;

    Of of_;
    std::stop_token stop_;
    std::vector<int> text_;  // the answer's tokens, and what is guessed behind them
};

}  // namespace engine
