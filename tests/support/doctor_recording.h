// What the Doctor knew when an answer had ended, as a small JSON text.
#pragma once

#include "app/monitor/doctor.h"

#include <nlohmann/json.hpp>

namespace test_support {

using Json = nlohmann::ordered_json;

template <class T>
void put(Json& to, const char* name, const std::optional<T>& value)
{
    if (value)
        to[name] = *value;
}

template <class T>
void take(const Json& from, const char* name, std::optional<T>& value)
{
    if (from.contains(name))
        value = from.at(name).get<T>();
}

inline Json shares_to_json(const engine::StepShares& s)
{
    Json out = {{"prefill_s", s.prefill_s},
                {"steps", s.steps},
                {"device_layers_s", s.device_layers_s},
                {"host_layers_s", s.host_layers_s},
                {"host_attention_s", s.host_attention_s},
                {"sampling_s", s.sampling_s},
                {"telemetry_s", s.telemetry_s},
                {"rest_s", s.rest_s}};
    put(out, "kv_link_s", s.kv_link_s);
    return out;
}

inline engine::StepShares shares_from_json(const Json& from)
{
    engine::StepShares s;
    s.prefill_s = from.at("prefill_s");
    s.steps = from.at("steps");
    s.device_layers_s = from.at("device_layers_s");
    s.host_layers_s = from.at("host_layers_s");
    s.host_attention_s = from.at("host_attention_s");
    s.sampling_s = from.at("sampling_s");
    s.telemetry_s = from.at("telemetry_s");
    s.rest_s = from.at("rest_s");
    take(from, "kv_link_s", s.kv_link_s);
    return s;
}

inline Json device_to_json(const engine::DeviceTelemetry& d)
{
    Json out = {{"id", d.id},
                {"layers", d.layers},
                {"total_bytes", d.total_bytes},
                {"other_programs_bytes", d.other_programs_bytes},
                {"weight_bytes", d.weight_bytes},
                {"kv_bytes", d.kv_bytes},
                {"ring_bytes", d.ring_bytes},
                {"scratch_bytes", d.scratch_bytes},
                {"step_streamed_bytes", d.step_streamed_bytes}};
    put(out, "spilled_bytes", d.spilled_bytes);
    return out;
}

inline engine::DeviceTelemetry device_from_json(const Json& from)
{
    engine::DeviceTelemetry d;
    d.id = from.at("id");
    d.layers = from.at("layers");
    d.total_bytes = from.at("total_bytes");
    d.other_programs_bytes = from.at("other_programs_bytes");
    d.weight_bytes = from.at("weight_bytes");
    d.kv_bytes = from.at("kv_bytes");
    d.ring_bytes = from.at("ring_bytes");
    d.scratch_bytes = from.at("scratch_bytes");
    d.step_streamed_bytes = from.at("step_streamed_bytes");
    take(from, "spilled_bytes", d.spilled_bytes);
    return d;
}

inline Json to_json(const DoctorFacts& facts)
{
    const engine::Telemetry& t = facts.last;
    Json last = {{"context_tokens", t.context_tokens},
                 {"context_limit", t.context_limit},
                 {"prefilled_tokens", t.prefilled_tokens},
                 {"kv_bytes_host", t.kv_bytes_host},
                 {"scratch_bytes", t.scratch_bytes},
                 {"threads", t.threads},
                 {"cores", t.cores}};
    put(last, "ram_total_bytes", t.ram_total_bytes);
    put(last, "process_swapped_bytes", t.process_swapped_bytes);
    if (t.shares)
        last["shares"] = shares_to_json(*t.shares);
    if (t.device)
        last["device"] = device_to_json(*t.device);
    Json out = {{"last", last},
                {"earlier", facts.earlier},
                {"layers", facts.layers},
                {"weight_bytes", facts.weightBytes},
                {"kv_bytes_per_token", facts.kvBytesPerToken},
                {"policy", int(facts.policy)}};
    put(out, "link_bytes_per_s", facts.linkBytesPerSecond);
    put(out, "spill_tokens", facts.spillTokens);
    put(out, "predicted", facts.predicted);
    for (const DoctorOption& option : facts.options) {
        Json row = {{"action", int(option.action.kind)}, {"value", option.action.value}};
        put(row, "tokens_per_s", option.tokensPerSecond);
        out["options"].push_back(row);
    }
    return out;
}

/// Throws nlohmann::json::exception where a number is missing.
inline DoctorFacts facts_from_json(const Json& from)
{
    DoctorFacts facts;
    const Json& last = from.at("last");
    engine::Telemetry& t = facts.last;
    t.context_tokens = last.at("context_tokens");
    t.context_limit = last.at("context_limit");
    t.prefilled_tokens = last.at("prefilled_tokens");
    t.kv_bytes_host = last.at("kv_bytes_host");
    t.scratch_bytes = last.at("scratch_bytes");
    t.threads = last.at("threads");
    t.cores = last.at("cores");
    take(last, "ram_total_bytes", t.ram_total_bytes);
    take(last, "process_swapped_bytes", t.process_swapped_bytes);
    if (last.contains("shares"))
        t.shares = shares_from_json(last.at("shares"));
    if (last.contains("device"))
        t.device = device_from_json(last.at("device"));
    facts.earlier = from.at("earlier").get<std::vector<double>>();
    facts.layers = from.at("layers");
    facts.weightBytes = from.at("weight_bytes");
    facts.kvBytesPerToken = from.at("kv_bytes_per_token");
    facts.policy = engine::KvPolicy(from.at("policy").get<int>());
    take(from, "link_bytes_per_s", facts.linkBytesPerSecond);
    take(from, "spill_tokens", facts.spillTokens);
    take(from, "predicted", facts.predicted);
    for (const Json& row : from.value("options", Json::array())) {
        DoctorOption option{{DoctorAction::Kind(row.at("action").get<int>()), row.at("value").get<qint64>()}, {}};
        take(row, "tokens_per_s", option.tokensPerSecond);
        facts.options.push_back(option);
    }
    return facts;
}

}  // namespace test_support
