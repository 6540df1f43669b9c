// Conversation holds what the engine keeps of one conversation; SavedStart holds what was saved of one that has no KV
// in memory.
#pragma once

#include "engine/kv/kv_cache.h"
#include "engine/kv/saved_kv_file.h"
#include "engine/metrics/expert_counts.h"
#include "engine/run/draft_model.h"
#include "engine/run/drafted_step.h"
#include "engine/run/frames.h"
#include "engine/run/mtp_model.h"
#include "engine/run/prompt.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

struct Conversation {
    std::string saved_as;  // in its newest turn; empty: nowhere
    KvSequence kv;
    std::unique_ptr<DraftSequence> draft = {};  // the draft model's; null: it has not guessed here
    std::unique_ptr<MtpSequence> mtp = {};      // of the model's own block; null: the same
    DraftRecords drafts = {};                   // of its newest answers
    std::vector<KeptReply> replies;
    std::vector<TokenRange> pins;  // that the user keeps on the device
    Frames frames;
    std::unique_ptr<ExpertCounts> experts;  // since its first turn; null: the model has none
    bool answered_now = false;              // a turn of it runs
};

/// Holds what was saved of a conversation that has no KV in memory.
struct SavedStart {
    bool asked = false;                     // KV is saved, and the conversation could have some
    std::unique_ptr<SavedKvReader> reader;  // null: there is none of use, for the reason `miss`
    SavedKvMiss miss = SavedKvMiss::None;
};

}  // namespace engine
