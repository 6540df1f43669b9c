// LoadedModel holds everything that belongs to one loaded model, in the order in which it is built; it is destroyed in
// the reverse order.
#pragma once

#include "engine/engine.h"
#include "engine/exec/cpu_backend.h"
#include "engine/exec/decoder.h"
#include "engine/gguf/gguf_file.h"
#include "engine/grammar/token_trie.h"
#include "engine/kv/saved_kv_format.h"
#include "engine/run/kv_room.h"
#include "engine/run/model_placement.h"
#include "engine/template/chat_template.h"
#include "engine/tokenizer/tokenizer.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace engine {

/// Names parts of a model that others compute with.
struct ModelParts {
    const GgufFile& file;
    const Hyperparameters& h;
    const Weights& weights;
    const HeadWeights& host_head;  // its output matrix is laid out as the host multiplies with it now
    int chunk_tokens;              // the most tokens of a step that the backends have room for
};

class LoadedModel
{
public:
    struct Progress {
        std::function<void(const LoadProgress&)> report;
        std::function<bool()> cancelled;
        std::function<void(std::string)> warn;
    };

    /// Opens and checks the file, allocates, and reads the weights into memory where they fit.
    static Result<std::unique_ptr<LoadedModel>> load(const LoadRequest& request, const Progress& progress);

    const ModelInfo& info() const { return info_; }
    const Tokenizer& tokenizer() const { return *tokenizer_; }
    const ChatTemplate& chat_template() const { return *chat_template_; }
    /// Says whether the token ends an answer, by the file, by the texts that all models use, or by the chat template.
    bool ends_answer(int id) const
    {
        return tokenizer_->is_end_of_generation(id) || (id == turn_end_ && id != kNoToken);
    }
    /// Returns every token that ends an answer.
    std::vector<int> answer_ends() const;
    enum class Marks { LeftOut, Included };
    /// Returns the texts of all tokens that may be a part of an answer, the marks of thoughts and calls included or
    /// not; made when it is first asked for.
    const std::shared_ptr<const TokenTrie>& token_trie(Marks marks);
    KvCache& cache() { return *cache_; }
    const KvCache& cache() const { return *cache_; }
    KvRoom& kv_room() { return *kv_room_; }
    CpuBackend& cpu() { return *cpu_; }
    const CpuBackend& cpu() const { return *cpu_; }
    /// Measures where the time of its steps goes.
    StepClock& clock() { return clock_; }

    int context_tokens() const { return info_.context_in_use; }
    /// Returns the most tokens of the next step: fewer than the prefill chunk where a device has little room.
    int max_rows() const { return placement_->step_rows(decoder_->max_rows()); }
    std::int64_t weight_bytes() const { return weights_.bytes; }
    ModelParts parts() const { return {file_, h_, weights_, host_weights_->head(), decoder_->max_rows()}; }
    std::int64_t scratch_bytes() const { return std::int64_t(decoder_->scratch_bytes() + cpu_->scratch_bytes()); }

    /// Returns what files of saved KV must have been made with, and how they are laid out.
    const std::shared_ptr<const SavedKvFormat>& saved_kv_format() const { return saved_kv_format_; }

    bool has_kv_types(KvType k_type, KvType v_type) const;
    /// Says whether set_kv_types() will take these types. NoMemory; Unsupported: not on this device.
    Status may_set_kv_types(KvType k_type, KvType v_type) const;
    /// Call it between steps; see SetKvTypes. Where the types are refused, nothing has changed.
    Status set_kv_types(KvType k_type, KvType v_type);

    /// Call it between steps; see SetDevice. NoMemory, and the errors of ModelPlacement::change_device().
    Status change_device(const PlacementOptions& wish, KvInUse in_use);

    ModelPlacement& placement() { return *placement_; }
    const ModelPlacement& placement() const { return *placement_; }

    /// Computes one step: the tokens, which it appends to the sequence after reserving pages. Where a device has no
    /// room, layers leave it; when it is lost, what its memory took with it is computed again on the host. Logits of
    /// the last `wanted` rows will be asked for (-1: of all).
    Status append(KvSequence& sequence, std::span<const int> tokens, int wanted = -1);
    /// Says whether a step may have rows of several sequences. A device computes one after another: its tables of
    /// blocks and its recurrent state are those of one sequence.
    bool computes_together() const { return !placement_->has_device(); }
    /// Computes one step of several sequences, of which no two are the same; fills in first and row of each group. All
    /// are computed, or none is. Precondition: computes_together(), or it is one group. Cancelled: none of the
    /// rows is wanted any more; within a tenth of a second where no group goes on to its end.
    Status append(std::span<RowGroup> groups);
    /// Forgets the tokens from `tokens` on: drafted rows of the last step, of which one remains at least. Where the
    /// states of those that remain cannot be made again from kept inputs, they are computed again with the next step.
    void take_back(KvSequence& sequence, int tokens);
    /// Does as Decoder::made_of(), with rows counted from the sequence's first. False: they are lost with a device.
    bool made_of(const KvSequence& sequence, RowRange rows, std::span<float> out);
    /// Returns the logits, (vocabulary,), after one row of the last step, counted from the sequence's first in it.
    /// Where the device is lost that held it, the step is computed again.
    Result<std::span<const float>> logits(KvSequence& sequence, int row);
    /// Does the same, or returns only the `enough` largest, where a device finds them.
    Result<RowLogits> logits(KvSequence& sequence, int row, std::optional<int> enough);

private:
    LoadedModel(GgufFile file, Hyperparameters h)
        : file_(std::move(file))
        , h_(std::move(h))
    {
    }
    Status read_text_parts(const Progress& progress);
    Status choose_context(LoadRequest request, const ModelInfo* draft, const Progress& progress);
    void warn(const Progress& progress, std::string sentence);
    void allocate(const LoadRequest& request, const ModelInfo* draft);
    Status bring_weights_in(const Progress& progress);
    void describe_saved_kv();
    StepLimits step_limits() const;
    Status place_layers(const LoadRequest& request, const Progress& progress);
    Status step(std::span<RowGroup> groups);
    Status restore_lost(KvSequence& sequence, const std::stop_token& stop);
    Status compute(std::span<RowGroup> groups);
    Status compute_reserved(std::span<const RowGroup> groups);
    void spoil_states(std::span<const RowGroup> groups);
    int row_of(const KvSequence& sequence) const;
    template <class Ask>
    auto with_lost_step_repeated(KvSequence& sequence, const Ask& ask) -> Result<decltype(ask())>;
    Status repeat_last_step(KvSequence& sequence);
    void lose_device(const Error& error);

    GgufFile file_;
    Hyperparameters h_;
    Weights weights_;
    std::unique_ptr<HostWeights> host_weights_;
    ModelInfo info_;
    std::unique_ptr<const Tokenizer> tokenizer_;
    std::unique_ptr<const ChatTemplate> chat_template_;
    int turn_end_ = kNoToken;  // from the template
    std::shared_ptr<const TokenTrie> token_trie_, token_trie_with_marks_;
    std::unique_ptr<CpuBackend> cpu_;
    std::unique_ptr<KvCache> cache_;
    std::shared_ptr<const SavedKvFormat> saved_kv_format_;
    std::unique_ptr<ModelPlacement> placement_;
    std::unique_ptr<KvRoom> kv_room_;
    std::unique_ptr<Decoder> decoder_;
    StepClock clock_;
    std::vector<RowGroup> last_;   // the groups of the last step, without their tokens
    bool last_step_lost_ = false;  // with the device that computed it
};

}  // namespace engine
