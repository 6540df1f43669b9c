#include "app/cli/turn_report.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

const char* reason_name(engine::StopReason reason)
{
    switch (reason) {
    case engine::StopReason::EndOfTurn:
        return "end_of_turn";
    case engine::StopReason::StopString:
        return "stop_string";
    case engine::StopReason::MaxTokens:
        return "max_tokens";
    case engine::StopReason::ContextFull:
        return "context_full";
    case engine::StopReason::Cancelled:
        return "cancelled";
    }
    return "";
}

/// Says where the KV lies and what moved: part of every JSON result.
nlohmann::ordered_json placement_summary(const engine::Telemetry& t, const std::map<std::string, int>& events)
{
    nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
    for (const auto& [kind, count] : events)
        kinds[kind] = count;
    nlohmann::ordered_json summary = {
        {"device", t.device ? t.device->id : "cpu"},
        {"kv_blocks_host", t.kv_blocks_host},
        {"kv_blocks_device", t.kv_blocks_device},
        {"kv_bytes_host", t.kv_bytes_host},
        {"kv_bytes_device", t.kv_bytes_device},
        {"state_bytes_host", t.state_bytes_host},
        {"state_bytes_device", t.device ? t.device->state_bytes : 0},
        {"link_bytes", t.device ? t.device->to_device_bytes + t.device->to_host_bytes : 0}};
    if (t.device) {
        summary["device_layers"] = t.device->layers;
        summary["layers_without_experts"] = t.device->layers_without_experts;
        summary["cached_experts"] = t.device->cached_experts;
        summary["expert_hits"] = t.device->expert_hits;
        summary["expert_misses"] = t.device->expert_misses;
        summary["expert_streamed_bytes"] = t.device->expert_streamed_bytes;
        summary["vram_used_bytes"] = t.device->used_bytes();
        summary["vram_budget_bytes"] = t.device->budget_bytes;
    }
    summary["events"] = kinds;
    return summary;
}

}  // namespace

const char* kind_name(engine::Event::Kind kind)
{
    using Kind = engine::Event::Kind;
    switch (kind) {
    case Kind::TurnsDropped:
        return "turns_dropped";
    case Kind::Offload:
        return "offload";
    case Kind::Fetch:
        return "fetch";
    case Kind::LayerMove:
        return "layer_move";
    case Kind::ExpertsMove:
        return "experts_move";
    case Kind::DeviceLost:
        return "device_lost";
    case Kind::Adapted:
        return "adapted";
    case Kind::ContextNearlyFull:
        return "context_nearly_full";
    case Kind::CommandDone:
    case Kind::LoadFinished:
    case Kind::KvRestored:
    case Kind::KvPrefilled:
    case Kind::KvSaved:
    case Kind::KvRewritten:
    case Kind::DeviceChanged:
    case Kind::Warning:
        break;
    }
    return "other";
}

static nlohmann::ordered_json to_json(const std::optional<engine::DraftModelTelemetry>& guesser)
{
    if (!guesser)
        return nullptr;
    return {{"drafted_tokens", guesser->drafted_tokens},
            {"accepted_tokens", guesser->accepted_tokens},
            {"weight_bytes", guesser->weight_bytes},
            {"kv_bytes", guesser->kv_bytes},
            {"scratch_bytes", guesser->scratch_bytes}};
}

static void print_guesses(const std::optional<engine::DraftModelTelemetry>& guesser, const char* name)
{
    if (guesser && guesser->drafted_tokens > 0)
        std::fprintf(stderr, " (%d of %d by %s)", guesser->accepted_tokens, guesser->drafted_tokens, name);
}

/// Returns the bytes of the model's weights, each once: copies of experts lie in both memories.
static std::int64_t weight_bytes(const engine::Telemetry& t)
{
    return t.weight_bytes_host + t.weight_bytes_device - (t.device ? t.device->expert_cache_bytes : 0);
}

void AnswerTokens::add(int id)
{
    const auto now = std::chrono::steady_clock::now();
    if (!ids_.empty())
        ms_.push_back(std::round(1e3 * std::chrono::duration<double, std::milli>(now - last_).count()) / 1e3);
    ids_.push_back(id);
    last_ = now;
}

std::string to_json(const engine::Turn& turn, const std::map<std::string, int>& events, const AnswerTokens* tokens)
{
    const engine::Telemetry& t = turn.telemetry;
    const auto number = [](const auto& value) {
        return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
    };
    nlohmann::ordered_json tpot = nullptr;
    if (t.tpot)
        tpot = {{"mean", t.tpot->mean_ms}, {"p50", t.tpot->p50_ms}, {"p99", t.tpot->p99_ms}};
    nlohmann::ordered_json json = {{"text", turn.text},
                                   {"reason", reason_name(turn.reason)},
                                   {"seed", turn.seed},
                                   {"prompt_tokens", t.prompt_tokens},
                                   {"reused_tokens", t.reused_tokens},
                                   {"generated_tokens", t.generated_tokens},
                                   {"drafted_tokens", t.drafted_tokens},
                                   {"accepted_tokens", t.accepted_tokens},
                                   {"draft_model", to_json(t.draft_model)},
                                   {"mtp", to_json(t.mtp)},
                                   {"context_tokens", t.context_tokens},
                                   {"context_limit", t.context_limit},
                                   {"ttft_ms", number(t.ttft_ms)},
                                   {"tpot_ms", tpot},
                                   {"prefill_tok_s", number(t.prefill_tokens_per_s)},
                                   {"decode_tok_s", number(t.decode_tokens_per_s)},
                                   {"weight_bytes", weight_bytes(t)},
                                   {"scratch_bytes", t.scratch_bytes},
                                   {"placement", placement_summary(t, events)}};
    if (tokens) {
        json["token_ids"] = tokens->ids();
        json["token_ms"] = tokens->ms();
    }
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void print_rates(const engine::Telemetry& t)
{
    std::fprintf(stderr, "\n[%d prompt tokens, %d reused", t.prompt_tokens, t.reused_tokens);
    if (t.ttft_ms)
        std::fprintf(stderr, ", first token after %.0f ms", *t.ttft_ms);
    if (t.prefill_tokens_per_s)
        std::fprintf(stderr, ", prefill %.1f tok/s", *t.prefill_tokens_per_s);
    if (t.decode_tokens_per_s)
        std::fprintf(stderr, ", decode %.1f tok/s", *t.decode_tokens_per_s);
    if (t.drafted_tokens > 0)
        std::fprintf(stderr, ", %d of %d drafted tokens stood", t.accepted_tokens, t.drafted_tokens);
    print_guesses(t.draft_model, "the draft model");
    print_guesses(t.mtp, "the model's own block");
    std::fprintf(stderr, ", context %d of %d]\n", t.context_tokens, t.context_limit);
}

}  // namespace cli
