// Measures what drafting brings for a text: answers with drafts and without, in turns.
#pragma once

#include "engine/engine.h"

#include <functional>
#include <string>
#include <vector>

namespace engine {

struct DraftBenchRequest {
    std::string text;  // the model continues it as it is
    int tokens = 128;  // of each answer at most
    float temperature = 0;
    int most_drafted = kMostRowsTogether - 1;
    Drafters drafters = Drafters::All;
    DraftDepth depth = DraftDepth::Adaptive;
    int pairs = 5;  // that are counted
};

/// Two answers with the same seed and the same text, one with drafts and one without.
struct DraftBenchPair {
    int tokens = 0;  // of each
    double with_tok_s = 0, without_tok_s = 0;
    int steps = 0;  // with drafts
    int drafted = 0, accepted = 0;
    int model_drafted = 0, model_accepted = 0;  // of them, by the draft model

    double gain() const { return with_tok_s / without_tok_s; }
};

struct DraftBenchReport {
    std::string model;
    std::string draft_model;  // empty: there is none
    std::vector<DraftBenchPair> pairs;
    double median_gain = 0;
};

/// Measures answers with and without drafts, in pairs. BadRequest: the answer is too short to be timed. Internal:
/// drafts changed it.
Result<DraftBenchReport> bench_drafts(const LoadRequest& load, const DraftBenchRequest& request,
                                      const std::function<void(const DraftBenchPair&)>& on_pair);

}  // namespace engine
