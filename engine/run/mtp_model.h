// MtpModel computes the block that a model's file has for guessing the token after the next one, and keeps that block's
// KV of the conversations.
#pragma once

#include "engine/run/draft_model.h"
#include "engine/run/loaded_model.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace engine {

class MtpModel;

/// Holds the block's KV of one conversation: a row for each token from some position on, made of the model's hidden
/// state of the token and of the token that followed. Owned by the conversation, which ends before the MtpModel does.
class MtpSequence
{
public:
    /// Throws std::bad_alloc.
    explicit MtpSequence(MtpModel& of);
    ~MtpSequence();
    MtpSequence(const MtpSequence&) = delete;
    MtpSequence& operator=(const MtpSequence&) = delete;

    /// Makes another sequence, which shares the rows of the first `tokens` tokens. Throws std::bad_alloc.
    std::unique_ptr<MtpSequence> branch(int tokens) const;

private:
    friend class MtpModel;
    MtpModel& of_;
    KvSequence kv_;
    int first_ = 0;               // the position of its first row's token: those before were not computed here
    std::vector<float> waiting_;  // (tokens, dim) hidden states of the next tokens, which have no rows yet
};

/// Owned by the engine, on its thread. The block is computed on the host, by the model's own workers. Where it fails,
/// only guesses are missing.
class MtpModel
{
public:
    /// Opens the block of the model's file. Null: it has none, or one of another kind. `model` outlives it. BadFile:
    /// one of the block's tensors is missing or has another shape. Throws std::bad_alloc.
    static Result<std::unique_ptr<MtpModel>> make(LoadedModel& model);
    ~MtpModel();

    /// Says whether guessing may pay: where nearly all layers are computed on a GPU, reading a layer and the head on
    /// the host takes longer than it saves.
    bool may_pay() const;

    /// Notes the first `rows.count` rows that the model's last step computed for the conversation `kv`; their tokens
    /// begin at position `rows.first`. `tokens`: all that are known of it. Where that fails the sequence is empty.
    void note(MtpSequence& sequence, const KvSequence& kv, RowRange rows, std::span<const int> tokens,
              const std::stop_token& stop);
    /// Brings the sequence's rows up to the one before the last of these tokens; returns how many were missing. 0: they
    /// cannot be made, since hidden states of the newest tokens were not noted. Errors as of LoadedModel::append().
    Result<int> read(MtpSequence& sequence, std::span<const int> tokens, const std::stop_token& stop);
    /// Reads a guessed token: makes its row with the block's own hidden state of the token before.
    Status read_guess(MtpSequence& sequence, int token, const std::stop_token& stop);
    /// Returns the logits, (vocabulary,), after the newest row that was read.
    std::span<const float> logits();
    /// Drops the guesses: the rows that stay end before the last of this many tokens.
    void forget_guesses(MtpSequence& sequence, int tokens);

    /// Returns the memory that it takes; nothing of what it has guessed.
    DraftModelTelemetry telemetry() const;
    const ModelInfo& info() const { return model_.info(); }
    int context_tokens() const { return model_.context_tokens(); }

    void forget(MtpSequence& sequence);
    /// Returns the cache of its keys and values, which share the host's memory with the model's.
    KvCache& cache() { return cache_; }
    /// Call it when something went wrong that will go wrong again: it guesses nothing more.
    void give_up(const Error& error);
    bool given_up() const { return given_up_; }
    /// Returns, once, a sentence for the user about what went wrong.
    std::optional<std::string> take_complaint() { return std::exchange(complaint_, {}); }

private:
    friend class MtpSequence;
    MtpModel(LoadedModel& model, Hyperparameters h, Weights weights);
    int dim() const { return h_.embedding_length; }
    int waiting(const MtpSequence& sequence) const { return int(sequence.waiting_.size()) / dim(); }
    static int position(const MtpSequence& sequence) { return sequence.first_ + sequence.kv_.length(); }
    Status note_rows(MtpSequence& sequence, const KvSequence& kv, RowRange rows, std::span<const int> tokens,
                     const std::stop_token& stop);
    void go_to(MtpSequence& sequence, int first);
    Status read_waiting(MtpSequence& sequence, int left, std::span<const int> tokens, const std::stop_token& stop);
    Status append(MtpSequence& sequence, std::span<const int> tokens, std::span<const float> given,
                  const std::stop_token& stop);
    Status reserve(MtpSequence& sequence, int tokens);
    bool make_room_for(const MtpSequence& sequence);

    LoadedModel& model_;
    const Hyperparameters h_;
    const Weights weights_;
    const int max_rows_;  // of a step
    HostWeights host_weights_;
    KvCache cache_;
    HeadWeights head_;
    Placement placement_;
    Decoder decoder_;
    StepClock clock_;
    std::vector<MtpSequence*> sequences_;  // all that there are
    std::uint64_t uses_ = 0;
    int last_row_ = 0;          // of the block's last step
    std::vector<float> guess_;  // (dim,) the block's hidden state of that row
    bool given_up_ = false;
    std::optional<std::string> complaint_;
};

}  // namespace engine
