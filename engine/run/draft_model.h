// DraftModel holds a small second model, which guesses what the loaded one will say, and its KV of the conversations.
#pragma once

#include "engine/run/loaded_model.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace engine {

class DraftModel;

/// The draft model's KV of one conversation. Owned by the conversation, which ends before the draft model does.
class DraftSequence
{
public:
    /// Throws std::bad_alloc.
    explicit DraftSequence(DraftModel& of);
    ~DraftSequence();
    DraftSequence(const DraftSequence&) = delete;
    DraftSequence& operator=(const DraftSequence&) = delete;

    /// Makes another one that shares the first `tokens` tokens, as far as it has them. Throws std::bad_alloc.
    std::unique_ptr<DraftSequence> branch(int tokens) const;

    KvSequence kv;

private:
    DraftModel& of_;
};

/// Owned by the engine, on its thread. It lies on the host and is computed with as many threads as the model is. What
/// goes wrong with it costs guesses, never an answer.
class DraftModel
{
public:
    /// `model` outlives it. BadRequest: its vocabulary is another one than the tokenizer's; the errors of
    /// LoadedModel::load().
    static Result<std::unique_ptr<DraftModel>> load(const LoadRequest& request, LoadedModel& model,
                                                    const LoadedModel::Progress& progress);
    ~DraftModel();
    DraftModel(const DraftModel&) = delete;
    DraftModel& operator=(const DraftModel&) = delete;

    const ModelInfo& info() const { return model_->info(); }
    LoadedModel& model() { return *model_; }
    void set_threads(int threads) { model_->cpu().set_threads(threads); }
    /// Returns the memory that it takes; nothing of what it has guessed.
    DraftModelTelemetry telemetry() const;

    /// Makes room where there is none for the sequence in use: the sequence of another conversation that was used
    /// longest ago gives up its oldest checkpoint, or else its KV. False: there is none.
    bool make_room();
    void use(DraftSequence& sequence) { sequence.kv.last_used = ++uses_; }

    /// Call it when something went wrong that will go wrong again: it guesses nothing more.
    void give_up(const Error& error);
    bool given_up() const { return given_up_; }
    /// Returns, once, a sentence for the user about what went wrong.
    std::optional<std::string> take_complaint() { return std::exchange(complaint_, {}); }

private:
    friend class DraftSequence;
    DraftModel(std::unique_ptr<LoadedModel> model, LoadedModel& guessed_for);

    std::unique_ptr<LoadedModel> model_;
    LoadedModel& guessed_for_;
    std::vector<DraftSequence*> sequences_;  // all that there are
    std::uint64_t uses_ = 0;
    bool given_up_ = false;
    std::optional<std::string> complaint_;
};

}  // namespace engine
