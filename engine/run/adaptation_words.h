// Writes the sentences that say what `auto` has changed after measuring, and whether that has paid.
#pragma once

#include "engine/run/adaptation.h"

#include <string>

namespace engine {

/// Writes for example: "auto divides the KV in RAM anew: a token should take 8.3 ms instead of 9.1 ms (the CPU attends
/// 1.40 times as long as its rate says)". `before`, `after`: what `auto` went by, and what it goes by now.
std::string sentence_of(const AdaptationStep& step, const Assumptions& before, const Assumptions& after);

}  // namespace engine
