#include "app/pressure/doctor_guess.h"

#include <algorithm>

namespace {

// With fewer rows a prompt's time is mostly that of reading the weights, which all rows share.
constexpr int kEnoughRows = 16;

// Guessing helps only where a step mostly reads RAM, since all rows of a step share that.
constexpr double kLeastReading = 0.5;

// A smaller gain is within what two answers differ by.
constexpr double kLeastGain = 1.1;

/// Both costs are given as a part of the time of a step of one row.
struct GuessCosts {
    double draft = 0;  // the draft model's time for a guess
    double row = 0;    // what one guess adds to the step that checks it
};

/// Returns the share of a step's time in which RAM is read, for weights or KV.
double readingOf(const DoctorShares& shares)
{
    return shares.host + shares.hostAttention + shares.link;
}

/// Returns the bytes that a step reads from RAM: weights and KV of the host's layers, and KV that left the device.
double bytesOfStep(const DoctorFacts& facts)
{
    const auto& device = facts.last.device;
    const double onHost = 1 - (device ? double(device->layers) / std::max(1, facts.layers) : 0);
    const double bytes = onHost * (double(facts.weightBytes) + facts.kvBytesPerToken * facts.last.context_tokens);
    return device ? bytes + double(device->step_attended_on_host_bytes + device->step_streamed_bytes) : bytes;
}

/// Returns what a guess costs. The draft model is taken to read as fast as this answer's steps did. A row is taken to
/// cost what it cost in the prompt, since that was measured; it is a little too much, since it counts a part of the
/// reading of weights, which further rows of a step share.
std::optional<GuessCosts> costsOf(const DoctorFacts& facts, const DoctorShares& shares)
{
    const engine::StepShares& s = *facts.last.shares;
    const double bytes = bytesOfStep(facts);
    if (!facts.draft || facts.last.prefilled_tokens < kEnoughRows || s.steps == 0 || s.decode_s() <= 0 || bytes <= 0)
        return {};
    const double step = s.decode_s() / s.steps;
    return GuessCosts{facts.draft->bytesPerToken / bytes * readingOf(shares),
                      s.prefill_s / facts.last.prefilled_tokens / step};
}

/// Returns how many times as fast guessing is at the best length: a step brings its own token and the guesses up to the
/// first wrong one.
double timesAsFast(const GuessCosts& costs, double right)
{
    double best = 1, tokens = 1, stands = 1;
    for (int guesses = 1; guesses < engine::kMostRowsTogether; ++guesses) {
        tokens += stands *= right;
        best = std::max(best, tokens / (1 + guesses * (costs.draft + costs.row)));
    }
    return best;
}

/// Says whether a draft model may be suggested with this diagnosis: the others name a lack of memory, a slow prompt or
/// other programs, which have to be dealt with first.
bool mayEndSo(Diagnosis::Kind kind)
{
    using Kind = Diagnosis::Kind;
    return kind == Kind::AllWell || kind == Kind::BelowPrediction || kind == Kind::HostLayers ||
           kind == Kind::KvOverLink || kind == Kind::KvOnHost || kind == Kind::KvInRam;
}

}  // namespace

Diagnosis withDraftModel(Diagnosis d, const DoctorFacts& facts)
{
    if (d.action.kind != DoctorAction::Kind::None || !mayEndSo(d.kind) || readingOf(d.shares) < kLeastReading)
        return d;
    const auto costs = costsOf(facts, d.shares);
    const auto speed = measuredSpeed(facts.last);
    if (!costs || !speed)
        return d;
    const double least = *speed * timesAsFast(*costs, kFewRight);
    const double now = std::max(*speed, facts.last.decode_tokens_per_s.value_or(0));  // repetition may have guessed
    if (least < kLeastGain * now)
        return d;
    d.action = {.kind = DoctorAction::Kind::SetDraftModel, .file = facts.draft->path, .name = facts.draft->name};
    d.predicted = least;
    d.predictedAtMost = *speed * timesAsFast(*costs, kManyRight);
    return d;
}
