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
    std::string saved_as;  // in its newest turn; empty: it is not saved
    KvSequence kv;
    std::unique_ptr<DraftSequence> draft = {};  // of the draft model; null: that has not guessed here
    std::unique_ptr<MtpSequence> mtp = {};      // of the block in the model's own file; null: likewise
    DraftRecords drafts = {};                   // of its newest answers
    std::vector<KeptReply> replies;
    std::vector<TokenRange> pins;  // of tokens that the user keeps on the device
    Frames frames;
    std::unique_ptr<ExpertCounts> experts;  // since its first turn; null: the model has none
    bool answered_now = false;              // a turn of it runs
};

/// Holds what was saved of a conversation that has no KV in memory.
struct SavedStart {
    bool asked = false;                     // KV is saved, and there could be a file of it
    std::unique_ptr<SavedKvReader> reader;  // null: no file is of use, for the reason `miss`
    SavedKvMiss miss = SavedKvMiss::None;
};

}  // namespace engine
