// Drafter guesses what an answer says next.
#pragma once

#include "engine/engine.h"

#include <cstdint>
#include <span>

namespace engine {

enum class DraftedBy { Repetition, Model, Mtp };
constexpr std::size_t kDrafters = 3;

/// Returns the answer's own options but for DRY, whose search costs more than its guesses are worth.
inline SamplingOptions as_guessed(SamplingOptions options)
{
    options.dry_multiplier = 0.0f;
    return options;
}

/// Owned by a turn, on its thread.
class Drafter
{
public:
    virtual ~Drafter() = default;

    virtual DraftedBy kind() const = 0;
    /// Returns what may follow `tokens`, prompt and answer so far, `most` at most; valid until the next call. Empty: it
    /// has no guess. `tokens` only grows from call to call.
    virtual std::span<const int> next(std::span<const int> tokens, int most) = 0;
    /// Returns the time that the last next() spent on reading tokens it had missed, which further guesses do not cost.
    virtual std::int64_t aside_us() const { return 0; }
};

}  // namespace engine
