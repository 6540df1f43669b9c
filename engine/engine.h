// Engine is the front door of the room: load a model, generate, post commands. No Qt, no printing, no exceptions past
// this line.
//
// Threads: load, poll and the calls of sequences and turns belong to one thread, the owner's. post() and the stop
// tokens may be used from any thread. Listener functions are called on the owner's thread.
#pragma once

#include "engine/kv_type.h"
#include "engine/model_info.h"
#include "engine/placement_options.h"
#include "engine/result.h"
#include "engine/telemetry.h"
#include "engine/token_logprobs.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

/// The most rows of answers in one step: one for each of this many turns, or those of an answer's newest token and of
/// what is drafted after it. The host computes the logits of this many rows together, too.
inline constexpr int kMostRowsTogether = 16;
/// The most rows in a step of the block that guesses tokens ahead; as many wait while nothing is guessed.
constexpr int kMtpRows = 64;

struct LoadRequest {
    std::filesystem::path model;
    int context_tokens = 0;  // 0: the model's own, or what fits in memory if that is less
    KvType k_type = KvType::F16;
    KvType v_type = KvType::F16;
    int threads = 0;               // 0: one per physical core
    bool pin_threads = false;      // to a core each, as far as there are cores
    int prefill_chunk_tokens = 0;  // 0: 512, and on a GPU as many as keep it and its link busy, find room and end soon
    int kv_block_tokens = 256;     // a multiple of 16
    PlacementOptions placement = {};
    // A second, small model of the same vocabulary, which guesses what the first one will say. It lies on the host; its
    // memory counts with the first one's where the context is chosen. Empty: none.
    std::filesystem::path draft_model = {};
};

struct LoadProgress {
    std::int64_t bytes_done = 0;
    std::int64_t bytes_total = 0;
};

/// Changes how likely a token is chosen.
struct LogitBias {
    int id = -1;
    std::string text = {};  // where it is not empty, each of its tokens is meant, not `id`
    float bias = 0;         // added to the logit; minus infinity: it is chosen only where nothing else may be
};

struct SamplingOptions {
    float temperature = 0.8f;  // 0: greedy
    int top_k = 40;            // 0: off
    float top_p = 0.95f;       // 1: off
    float min_p = 0.05f;       // 0: off
    float typical_p = 1.0f;    // 1: off
    float repeat_penalty = 1.0f;
    int repeat_last_n = 64;  // tokens the penalties look back on; -1: the whole context
    float presence_penalty = 0.0f;
    float frequency_penalty = 0.0f;
    float dry_multiplier = 0.0f;  // 0: off
    float dry_base = 1.75f;
    int dry_allowed_length = 2;
    int dry_penalty_last_n = -1;
    std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};
    float xtc_probability = 0.0f;  // 0: off
    float xtc_threshold = 0.1f;
    std::vector<LogitBias> logit_bias = {};  // several of one token add up
    std::optional<std::uint64_t> seed;       // empty: a random one, reported in the Turn
};

struct Message {
    std::string role;  // "system", "user", "assistant", "tool"
    std::string text;
    std::string reasoning = {};  // what an assistant thought, for templates that take it (reasoning_content)
    std::string more_json = {};  // an object of further fields for templates, such as tool_calls; empty: none
};

/// Says what to do when prompt and answer do not fit the context.
enum class FullContext {
    Stop,        // refuse a prompt that is too long; end an answer with StopReason::ContextFull
    DropOldest,  // leave out the oldest turns (never the system message, never the last one), and report which
};

/// Says what may guess the next tokens of an answer.
enum class Drafters {
    All,         // whichever promises more, from what its guesses have brought and cost
    Repetition,  // what the conversation repeats
    Model,       // the draft model, where there is one
    Mtp,         // the block for that in the model's own file, where there is one (multi-token prediction)
};

enum class DraftDepth {
    Adaptive,  // as many as have paid, and none where they do not
    Fixed,     // as many as may be in each step, whether it pays or not: for measurements
};

struct Request {
    std::vector<Message> messages;  // rendered with the model's chat template...
    std::string raw_prompt;         // ...or, when there are none, this text as it is...
    std::vector<int> raw_ids = {};  // ...or, when that is empty, these tokens as they are
    SamplingOptions sampling;
    int max_tokens = -1;  // -1: until the model ends or the context is full
    // The most tokens that are drafted; they are computed in one step with the token before them. A draft stands only
    // where the sampler chooses the same token, so the answer is the same. 0: none.
    int most_drafted = 0;
    Drafters drafters = Drafters::All;
    DraftDepth draft_depth = DraftDepth::Adaptive;
    std::vector<std::string> stop;  // strings that end the answer; not part of it
    // The model may not end the answer: other tokens are chosen in place of those that would. A grammar or a schema
    // still ends it.
    bool ignore_end = false;
    // What the answer is held to, from the end of its thoughts on: rules in GBNF, or a JSON Schema. Both empty:
    // nothing. It ends where the rules let it, or is cut off as others are.
    std::string grammar;
    std::string json_schema;
    FullContext full_context = FullContext::Stop;
    std::string template_arguments_json;  // an object, e.g. {"enable_thinking": false}; empty: none
    std::string tools_json;               // an array; empty: none
    bool continue_last = false;           // the last message is an answer, as it was made: go on where its text ends
    // The name under which the KV is saved when the turn ends, and found again: letters, digits and '-', 64 at most.
    // Empty, or anything else: it is not saved.
    std::string saved_as;
    // Gives each token of the answer to on_token, with this many of the likeliest in its place; -1: without its
    // probability, which takes no time. Empty: on_token is not called.
    std::optional<int> top_logprobs = {};
};

enum class StopReason { EndOfTurn, StopString, MaxTokens, ContextFull, Cancelled };

/// Bytes [first, last) of a text.
struct TextRange {
    int first = 0;
    int last = 0;
    bool operator==(const TextRange&) const = default;
};

/// Holds what became of one turn.
struct Turn {
    StopReason reason = StopReason::EndOfTurn;
    std::string text;                     // all that on_text was given
    std::string stop_string = {};         // with StopReason::StopString: which of them it was
    std::vector<TextRange> guessed = {};  // of it, in order: whole characters of tokens that had been drafted
    TokenRange prompt;                    // in the sequence
    TokenRange answer;
    PromptLedger ledger;
    std::uint64_t seed = 0;
    Telemetry telemetry;  // the last frame
};

struct Listener {
    std::function<void(const PromptLedger&)> on_prompt = {};  // once, when the prompt is known
    std::function<void(std::string_view)> on_text = {};       // whole UTF-8 characters only
    std::function<void(const TokenLogprobs&)> on_token = {};  // before its text; not for the token that ends the answer
    std::function<void(const Telemetry&)> on_telemetry = {};
    std::function<void(const Event&)> on_event = {};
    std::function<void(const LoadProgress&)> on_load = {};
};

using SequenceId = int;  // never 0

// ---- commands: what may be asked for while the engine is busy ----

struct SetThreads {
    int threads = 0;  // 0: one per physical core
};
struct CancelLoad {
};
/// Layers move one at a time between steps, each with an Event; a later command takes the place of an earlier one.
struct SetDeviceLayers {
    std::optional<int> layers;  // this many, from the first on; empty: as many as fit
};
/// Routed experts move a layer at a time between steps, each with an Event, as for SetDeviceLayers.
struct SetHostExperts {
    std::optional<int> layers;  // this many, from the first on, have them on the host; empty: as room asks for
};
/// Room on the device for copies of experts that lie on the host, made or given back between steps.
struct SetExpertCache {
    std::optional<std::int64_t> bytes = 0;  // 0: none are kept; empty: as many as save more time than KV would
};
struct SetVramBudget {
    std::int64_t bytes = 0;  // 0: all that other programs leave
};
struct SetWatermark {
    double share = 0.95;  // of the budget
};
struct SetKvPolicy {
    KvPolicy policy = KvPolicy::Auto;
};
struct SetKvOffloadShare {
    double share = 0;
};
/// Says in which types the keys and values of all conversations are kept, those that are there included: what was
/// rounded more coarsely stays so until it is computed again. Refused where a whole context would not find room in the
/// host's memory.
struct SetKvTypes {
    KvType k_type = KvType::F16;
    KvType v_type = KvType::F16;
};
/// Holds what is known of this machine from now on, for the policy `auto` on a GPU.
struct SetRates {
    std::shared_ptr<const MachineRates> rates;
};
/// Pins tokens of a conversation, in its later turns, too: their KV leaves the device when nothing else can, and comes
/// back before anything else. They replace those that were pinned before; none: nothing is pinned.
struct SetPins {
    std::vector<TokenRange> tokens;
    SequenceId sequence = 0;  // 0: the one whose turn was begun last
};
/// Moves the loaded model to another device, to none, or to an emulated one of another size, as a load would open it.
/// The device is opened at once; where that fails, everything stays as it was. Then layers and KV go home, one after
/// another between steps; DeviceChanged says when the old device is closed; then they come to the new one.
/// Conversations go on. A SetDeviceLayers before the old device is closed gives the change up. Policy, watermark,
/// shares and rates stay as they are.
struct SetDevice {
    PlacementOptions placement;
};
/// Sets how much of an emulated device's memory other programs seem to hold.
struct SetOtherPrograms {
    std::int64_t bytes = 0;
};
/// Sets where the KV of conversations is saved, readable by the user alone. Files that were used longest ago leave when
/// there are more bytes. It needs no model; off until it is posted.
struct SetSavedKv {
    std::filesystem::path folder;
    std::int64_t most_bytes = 0;  // 0: nothing is kept there, and what is there goes
};
/// Deletes the saved KV of a conversation that is gone.
struct ForgetSavedKv {
    std::string saved_as;
};
/// Deletes all saved KV but that of these conversations.
struct KeepSavedKv {
    std::vector<std::string> saved_as;
};
/// Commands that change where a loaded model's layers and KV lie.
using PlacementCommand = std::variant<SetDeviceLayers, SetHostExperts, SetExpertCache, SetVramBudget, SetWatermark,
                                      SetKvPolicy, SetKvOffloadShare, SetOtherPrograms>;
using Command = std::variant<PlacementCommand, SetThreads, CancelLoad, SetKvTypes, SetRates, SetPins, SetDevice,
                             SetSavedKv, ForgetSavedKv, KeepSavedKv>;

using TurnId = std::uint64_t;  // never 0

/// A text, or the tokens of one.
struct EmbeddingInput {
    std::string text;
    std::vector<int> ids = {};  // used where `text` is empty
};

/// The direction that a model gives a text: the product of two is near 1 where the texts mean nearly the same.
struct Embedding {
    std::vector<float> values;  // (embedding_length,), of length 1
    int tokens = 0;             // of the text
};

class Engine
{
public:
    virtual ~Engine() = default;

    /// Opens a model; what was loaded before is unloaded first, and all its sequences end.
    virtual Result<ModelInfo> load(const LoadRequest& request, const Listener& listener, std::stop_token stop) = 0;
    virtual void unload() = 0;
    virtual bool loaded() const = 0;

    /// Begins an empty conversation and returns its number. Its KV cache keeps the longest common prefix from one
    /// generate() to the next.
    virtual Result<SequenceId> create_sequence() = 0;
    /// Begins a second conversation with the first `tokens` tokens of another (-1: all), which both share without a
    /// copy.
    virtual Result<SequenceId> branch(SequenceId from, int tokens) = 0;
    virtual void end_sequence(SequenceId sequence) = 0;

    // Turns of several conversations advance side by side:
    //     begin(); begin(); while (there are any) for (const TurnId turn : step(listener)) end(turn);
    // None of these is to be called from a listener; to end a turn from there, ask its stop token.

    /// Begins a turn of a conversation that has none running: its prompt is made; nothing is computed, and what was
    /// saved of it is read back with its first steps. kMostRowsTogether turns run at most. Text, numbers and what
    /// happens to this turn go to the listener, which is copied, until the turn is over. An error: there is no such
    /// turn.
    virtual Result<TurnId> begin(SequenceId sequence, const Request& request, const Listener& listener,
                                 std::stop_token stop) = 0;
    /// Computes one step of all turns that run: an answer gets on by a token at least, a prompt by some, within a
    /// budget of rows that keeps the pace of the answers. A turn for which there is no memory waits until another one
    /// is over. Before the step, what was posted is carried out; of that, and of what moves, `listener` is told.
    /// Returns the turns that are over and have not been ended.
    virtual std::vector<TurnId> step(const Listener& listener) = 0;
    /// Returns what became of the turn, which is gone then. One that is not over is stopped.
    virtual Result<Turn> end(TurnId turn) = 0;

    /// Runs one turn to its end: begin(), step() and end() in one. Blocks; text, numbers and events go to the listener.
    virtual Result<Turn> generate(SequenceId sequence, const Request& request, const Listener& listener,
                                  std::stop_token stop) = 0;

    /// Returns how many tokens the text would take in the context, as typed by a user. For meters; NotLoaded without a
    /// model, Cancelled where `stop` was asked for.
    virtual Result<int> count_tokens(std::string_view text, std::stop_token stop) const = 0;

    /// Returns the ledger that generate() would report for this request, whether it fits or not; nothing is computed.
    /// An answer that was made for this `saved_as` since the model was loaded is counted by the ids it was made in,
    /// another one by its text. NotLoaded without a model, Cancelled where `stop` was asked for.
    virtual Result<PromptLedger> count_prompt(const Request& request, std::stop_token stop) const = 0;

    /// Embeds a text, with a model whose file says how (ModelInfo::embeds). Blocks until the text is read, between two
    /// steps of the turns that run. Unsupported: this model, or engine, gives none; ContextFull: the text is longer
    /// than the context; Cancelled where `stop` was asked for.
    // NOLINTNEXTLINE(performance-unnecessary-value-param): by value as in all others, for engines that keep it
    virtual Result<Embedding> embed(const EmbeddingInput& /*input*/, std::stop_token /*stop*/)
    {
        return fail(Error::Code::Unsupported, "this engine makes no embeddings");
    }

    /// Queues a command, on any thread. The engine carries it out between tokens, between prefill chunks, and when idle
    /// at the next poll(); its answer is an Event of kind CommandDone with the id returned here. 0: there was no memory
    /// for it.
    virtual std::uint64_t post(Command command) = 0;

    /// Carries out what was posted, and what follows from it, such as the move of many layers. Where on_posted is set,
    /// it does a part of that, and on_posted fires again while there is more. The owner calls it when on_posted fired
    /// and the engine is idle.
    virtual void poll(const Listener& listener) = 0;

    /// Called on the posting thread after each post(), and by a poll() that leaves something for the next: wake the
    /// owner so that it polls. Set once, before the first post.
    std::function<void()> on_posted;
};

/// Makes the real engine, which computes on the CPU and on the devices of this machine.
std::unique_ptr<Engine> make_engine();

}  // namespace engine
