// Declares the numbers that leave the engine: frames at a fixed rate, events as they happen. Plain values, no text
// where a number is meant. An empty optional means "this machine cannot tell", which is not zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace engine {

struct ExpertMap;

/// Says where bytes are. Moving: a copy is on its way.
enum class Residency : std::uint8_t { Host, Device, Moving };

/// Says what a frame was made in: Prefill also while an answer waits for tokens that are computed again.
enum class Phase { Idle, Load, Prefill, Decode };

/// Time per output token over one answer.
struct TokenTimes {
    double mean_ms = 0;
    double p50_ms = 0;
    double p99_ms = 0;
};

/// Says where the time of an answer goes. Those of decode steps are sums from the first token to the newest: the
/// difference between two frames is that of the steps between them. Together they are the time between these tokens.
struct StepShares {
    double prefill_s = 0;        // computing the prompt; the rest of the time to the first token is none of these
    int steps = 0;               // fewer than tokens where a step computed drafted ones, too
    double device_layers_s = 0;  // the output matrix included, where it lies
    double host_layers_s = 0;
    std::optional<double> kv_link_s = {};  // waiting for KV on its way there; empty: a GPU waits by itself, unseen
    double host_attention_s = 0;           // the CPU, over KV of device layers
    double sampling_s = 0;
    double telemetry_s = 0;  // making frames such as this one, and giving them away
    double rest_s = 0;       // blocks and layers that move, commands, text

    double decode_s() const
    {
        return device_layers_s + host_layers_s + kv_link_s.value_or(0) + host_attention_s + sampling_s + telemetry_s +
               rest_s;
    }
};

/// Steps of one answer in which its newest token was all that was computed: nothing was drafted, and no other answer
/// had rows. How long they take says how fast the machine is, whatever the text repeats. Sums from the first token to
/// the newest, so that two frames give those between them.
struct PlainSteps {
    int count = 0;
    double seconds = 0;  // from token to token
};

/// The memory of a device, and what moves between it and the host.
struct DeviceTelemetry {
    std::string id;  // "emulated"
    int layers = 0;  // computed there
    int layers_wanted = 0;
    int layers_without_experts = 0;  // of them, whose routed experts lie on the host
    // The number for SetHostExperts that changes nothing: layers in the order in which their experts leave, up to the
    // last whose experts have left. Layers without experts have their places in that order and count as well.
    int host_expert_layers = 0;
    int expert_layers = 0;  // of the model, that have routed experts
    std::int64_t total_bytes = 0;
    std::int64_t other_programs_bytes = 0;
    std::optional<std::int64_t> spilled_bytes = {};  // of ours, that the system put into the host's memory in silence
    std::int64_t budget_bytes = 0;
    std::int64_t watermark_bytes = 0;
    std::int64_t weight_bytes = 0;        // copies of experts included
    std::int64_t expert_cache_bytes = 0;  // of these copies
    int cached_experts = 0;               // copies that a layer has room for, whose experts lie on the host
    // Experts that steps of device layers read since the model was loaded, where they lie on the host: those that had a
    // copy on the device, and the others. Each counts once a step.
    std::int64_t expert_hits = 0, expert_misses = 0;
    // Bytes of such experts that came to the device, each for one step of many rows.
    std::int64_t expert_streamed_bytes = 0;
    std::optional<double> expert_skew = {};  // how much more often than by chance answers find copies, as was observed
    std::int64_t kv_bytes = 0;
    std::int64_t kv_ahead_bytes = 0;  // taken for KV to come, and given up when something else needs it
    int kv_blocks = 0;
    std::int64_t state_bytes = 0;  // of recurrent layers
    std::int64_t ring_bytes = 0;
    std::int64_t scratch_bytes = 0;
    std::int64_t to_device_bytes = 0;  // since the model was loaded
    std::int64_t to_host_bytes = 0;
    std::int64_t step_streamed_bytes = 0;          // KV that the last step copied to the device to attend it there
    std::int64_t step_attended_on_host_bytes = 0;  // KV of device layers that it attended on the host
    std::int64_t used_bytes() const
    {
        return weight_bytes + kv_bytes + kv_ahead_bytes + state_bytes + ring_bytes + scratch_bytes;
    }
};

/// A draft model, or the block of the model's own file: what it has guessed of this answer, and its memory, all on the
/// host.
struct DraftModelTelemetry {
    int drafted_tokens = 0;
    int accepted_tokens = 0;  // of them, part of the answer
    std::int64_t weight_bytes = 0;
    std::int64_t kv_bytes = 0;  // of blocks in use, and states of recurrent layers
    std::int64_t scratch_bytes = 0;
    std::int64_t used_bytes() const { return weight_bytes + kv_bytes + scratch_bytes; }
};

/// Says where each KV block of one conversation lies, and the states of its recurrent layers.
struct KvMap {
    /// The same as Residency, and two more. Window: a block that its sliding layer needs no more on the device; the
    /// host keeps it. None: the layer has no KV of its own.
    enum class Place : std::uint8_t { Host, Device, Moving, Window, None };
    static constexpr std::uint8_t kPinned = 0x80;
    /// Holds what a recurrent layer keeps of the conversation, whatever its length. No bytes: it is none.
    struct State {
        std::int64_t bytes = 0;
        Residency at = Residency::Host;
    };

    int block_tokens = 0;
    int layers = 0;
    int columns = 0;                  // one for every run of block_tokens tokens
    std::vector<std::uint8_t> cells;  // (columns, layers) a Place, and kPinned where the user keeps the column
    std::vector<State> states;        // (layers,); empty: the model has no recurrent layer

    std::uint8_t cell(int column, int layer) const
    {
        return cells[std::size_t(column) * std::size_t(layers) + std::size_t(layer)];
    }
    Place place(int column, int layer) const { return Place(cell(column, layer) & ~kPinned); }
    bool pinned(int column) const { return layers > 0 && (cell(column, 0) & kPinned) != 0; }
};

/// One frame for the monitor, about 20 a second while something runs. Between turns there is one after the load, and
/// one for what a command has changed, about 20 a second while layers move: they say where everything lies and nothing
/// of a turn; their context and map are those of the conversation that ran last.
struct Telemetry {
    Phase phase = Phase::Idle;
    int sequence = 0;          // the conversation that it is of; 0: of none
    std::int64_t time_us = 0;  // monotonic clock

    int context_tokens = 0;    // tokens in the sequence now
    int context_limit = 0;     // tokens it can hold
    int prompt_tokens = 0;     // of this turn's prompt
    int reused_tokens = 0;     // of them, found in the KV cache and not computed again
    int restored_tokens = 0;   // of those, read back from the disk in this turn
    int prefilled_tokens = 0;  // of them, computed so far
    int generated_tokens = 0;
    int drafted_tokens = 0;   // computed ahead of the answer, and judged so far
    int accepted_tokens = 0;  // of them, part of the answer
    PlainSteps plain_steps;

    std::optional<double> ttft_ms;  // time to first token, from the request
    std::optional<TokenTimes> tpot;
    std::optional<double> prefill_tokens_per_s;
    std::optional<double> decode_tokens_per_s;
    std::optional<StepShares> shares;  // from the first token on

    std::int64_t weight_bytes_host = 0;
    std::int64_t weight_bytes_device = 0;
    std::int64_t kv_bytes_host = 0;  // of blocks in use
    std::int64_t kv_bytes_device = 0;
    std::int64_t state_bytes_host = 0;  // recurrent layers of all conversations, checkpoints included
    int kv_blocks_host = 0;             // blocks in use: one layer, one run of tokens
    int kv_blocks_device = 0;
    std::int64_t scratch_bytes = 0;
    std::optional<DeviceTelemetry> device;           // empty: all is computed on the host
    std::optional<DraftModelTelemetry> draft_model;  // empty: there is none; its bytes are not in those above
    std::optional<DraftModelTelemetry> mtp;          // likewise of the block in the model's own file (MTP)
    std::shared_ptr<const KvMap> kv_map;  // of the conversation; the same object until a block or a state has moved
    std::shared_ptr<const ExpertMap> expert_map;  // of the conversation, some times a second; null: it has no experts

    int threads = 0;  // of the CPU that compute
    int cores = 0;    // worth a thread each

    std::optional<std::int64_t> process_resident_bytes;  // RAM this program holds, mapped file pages included
    std::optional<std::int64_t> process_swapped_bytes;   // of this program, on the disk for want of RAM
    std::optional<std::int64_t> ram_total_bytes;
    std::optional<std::int64_t> ram_available_bytes;
};

/// Tokens [first, last) of a sequence.
struct TokenRange {
    int first = 0;
    int last = 0;
    int count() const { return last - first; }
};

/// Why a conversation's saved KV was of no use, or of little.
enum class SavedKvMiss : std::uint8_t {
    None,
    NoFile,
    OtherModel,    // another model made it
    OtherFormat,   // its keys and values have other types, or its blocks another size
    OtherVersion,  // another version of the engine or of the file's layout wrote it
    OtherText,     // its text is another one from some token on
    Damaged,
};

/// Seconds of a decode step before and after a change that `auto` has made by what it measured.
struct AdaptationTimes {
    double before_s = 0;
    double expected_s = 0;
    std::optional<double> measured_s = {};  // with it; empty: it was made just now
};

/// Something that happened and is worth a line in a table.
struct Event {
    enum class Kind {
        CommandDone,
        LoadFinished,
        TurnsDropped,
        ContextNearlyFull,  // nine tenths of it are used; once a turn
        Offload,
        Fetch,
        LayerMove,
        DeviceLost,
        KvRestored,   // a conversation goes on from its saved KV; `miss` says why not from all of it
        KvPrefilled,  // a conversation that has been answered before was computed again, for the reason `miss`
        KvSaved,
        Warning,
        KvRewritten,    // all KV is kept in other types from now on; `bytes` of it
        DeviceChanged,  // from now on the model lies on another device, or on none; `sentence` names both
        ExpertsMove,    // the routed experts of a layer
        Adapted,        // `auto` has changed what it does, or says whether that has paid; `adaptation` says by how much
    };
    enum class Cause { User, Watermark, Split, OtherProgram, DeviceLost, ContextFull, None };

    Kind kind = Kind::Warning;
    Cause cause = Cause::None;
    std::int64_t time_us = 0;
    std::int64_t bytes = 0;
    int blocks = 0;
    TokenRange tokens = {};           // Offload, Fetch, KvRestored, KvPrefilled, KvSaved: whose KV it was
    int page = -1;                    // Offload, Fetch: of the KV cache, that these tokens have
    std::vector<int> sequences = {};  // Offload, Fetch: whose tokens they are; branches share them
    int layer = -1;                   // LayerMove, ExpertsMove: which
    bool pinned = false;              // Offload, Fetch: tokens that the user keeps on the device
    std::int64_t duration_us = 0;
    SavedKvMiss miss = SavedKvMiss::None;
    std::uint64_t command = 0;  // CommandDone: the id post() gave
    bool ok = true;
    std::string sentence;
    std::optional<AdaptationTimes> adaptation = {};
};

/// Says where the tokens of a prompt come from: one entry per message in order, the rest is the template's.
struct PromptLedger {
    struct Entry {
        int message = 0;  // index in Request::messages
        TokenRange tokens;
    };
    int total_tokens = 0;
    int template_tokens = 0;  // markers, role names, the generation prompt
    std::vector<Entry> messages;
    std::vector<int> dropped_messages;  // left out because the context was full, by the request's own policy
};

}  // namespace engine
