// speedWithoutDrafts says how fast the machine answers, whatever the text repeats.
#pragma once

#include "engine/telemetry.h"

#include <optional>

/// Returns an answer's speed in tokens a second, from its first token to this frame, without what drafts brought: a
/// text that repeats itself does not make the machine faster, and rows computed for nothing do not make it slower.
/// Where drafts were computed, that is the speed of the steps without; empty where they are fewer than `leastSteps`, or
/// nothing is known.
inline std::optional<double> speedWithoutDrafts(const engine::Telemetry& frame, int leastSteps)
{
    if (frame.drafted_tokens == 0)
        return frame.decode_tokens_per_s;
    const engine::PlainSteps& plain = frame.plain_steps;
    return plain.count >= leastSteps && plain.seconds > 0 ? std::optional(plain.count / plain.seconds) : std::nullopt;
}
