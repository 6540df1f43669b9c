// Writes and reads what the Doctor knew when an answer had ended, as a small JSON text.
#pragma once

#include "app/pressure/doctor.h"

#include <nlohmann/json.hpp>

namespace test_support {

using Json = nlohmann::ordered_json;

class FactsWriter
{
public:
    template <class T>
    void field(const char* name, const T& value)
    {
        json[name] = value;
    }
    template <class T>
    void field(const char* name, const std::optional<T>& value)
    {
        if (value)
            json[name] = *value;
    }
    template <class Part, class Fields>
    void part(const char* name, const Part& part, const Fields& fields)
    {
        FactsWriter inner;
        fields(inner, part);
        json[name] = inner.json;
    }
    template <class Part, class Fields>
    void part(const char* name, const std::optional<Part>& known, const Fields& fields)
    {
        if (known)
            part(name, *known, fields);
    }
    template <class Part, class Fields>
    void parts(const char* name, const std::vector<Part>& all, const Fields& fields)
    {
        for (const Part& one : all) {
            FactsWriter inner;
            fields(inner, one);
            json[name].push_back(inner.json);
        }
    }

    Json json = Json::object();
};

/// Throws nlohmann::json::exception where a number is missing.
class FactsReader
{
public:
    explicit FactsReader(const Json& from)
        : from_(from)
    {
    }
    template <class T>
    void field(const char* name, T& value)
    {
        value = from_.at(name).get<T>();
    }
    template <class T>
    void field(const char* name, std::optional<T>& value)
    {
        if (from_.contains(name))
            value = from_.at(name).get<T>();
    }
    template <class Part, class Fields>
    void part(const char* name, Part& part, const Fields& fields)
    {
        if (!from_.contains(name))  // recorded before it was known
            return;
        FactsReader inner(from_.at(name));
        fields(inner, part);
    }
    template <class Part, class Fields>
    void part(const char* name, std::optional<Part>& known, const Fields& fields)
    {
        if (from_.contains(name))
            part(name, known.emplace(), fields);
    }
    template <class Part, class Fields>
    void parts(const char* name, std::vector<Part>& all, const Fields& fields)
    {
        if (!from_.contains(name))
            return;
        for (const Json& one : from_.at(name)) {
            FactsReader inner(one);
            fields(inner, all.emplace_back());
        }
    }

private:
    const Json& from_;
};

// Each field once, for writing and for reading.

inline constexpr auto kSharesFields = [](auto& io, auto& s) {
    io.field("prefill_s", s.prefill_s);
    io.field("steps", s.steps);
    io.field("device_layers_s", s.device_layers_s);
    io.field("host_layers_s", s.host_layers_s);
    io.field("host_attention_s", s.host_attention_s);
    io.field("sampling_s", s.sampling_s);
    io.field("telemetry_s", s.telemetry_s);
    io.field("rest_s", s.rest_s);
    io.field("kv_link_s", s.kv_link_s);
};

/// Not in the recordings before models with experts could have them on the host.
inline constexpr auto kExpertFields = [](auto& io, auto& d) {
    io.field("layers", d.expert_layers);
    io.field("on_host", d.layers_without_experts);
};

/// Not in the recordings before there were copies of experts.
inline constexpr auto kCopyFields = [](auto& io, auto& d) {
    io.field("cached_experts", d.cached_experts);
    io.field("bytes", d.expert_cache_bytes);
    io.field("watermark_bytes", d.watermark_bytes);
};

/// These are not in the older recordings either.
inline constexpr auto kReadFields = [](auto& io, auto& facts) {
    io.field("experts", facts.experts);
    io.field("experts_used", facts.expertsUsed);
    io.field("hits", facts.expertHits);
    io.field("misses", facts.expertMisses);
    io.field("copied_bytes", facts.copiedBytes);
};

inline constexpr auto kDeviceFields = [](auto& io, auto& d) {
    io.field("id", d.id);
    io.field("layers", d.layers);
    io.field("total_bytes", d.total_bytes);
    io.field("other_programs_bytes", d.other_programs_bytes);
    io.field("weight_bytes", d.weight_bytes);
    io.field("kv_bytes", d.kv_bytes);
    io.field("ring_bytes", d.ring_bytes);
    io.field("scratch_bytes", d.scratch_bytes);
    io.field("step_streamed_bytes", d.step_streamed_bytes);
    io.field("spilled_bytes", d.spilled_bytes);
    io.part("experts", d, kExpertFields);
    io.part("copies", d, kCopyFields);
};

/// Not in the recordings before there were such counts.
inline constexpr auto kBlockFields = [](auto& io, auto& t) {
    io.field("host", t.kv_blocks_host);
    io.field("device", t.kv_blocks_device);
};

inline constexpr auto kFrameFields = [](auto& io, auto& t) {
    io.field("context_tokens", t.context_tokens);
    io.field("context_limit", t.context_limit);
    io.field("prefilled_tokens", t.prefilled_tokens);
    io.field("kv_bytes_host", t.kv_bytes_host);
    io.field("scratch_bytes", t.scratch_bytes);
    io.field("threads", t.threads);
    io.field("cores", t.cores);
    io.field("ram_total_bytes", t.ram_total_bytes);
    io.field("process_swapped_bytes", t.process_swapped_bytes);
    io.field("decode_tokens_per_s", t.decode_tokens_per_s);
    io.part("blocks", t, kBlockFields);
    io.part("shares", t.shares, kSharesFields);
    io.part("device", t.device, kDeviceFields);
};

inline constexpr auto kOptionFields = [](auto& io, auto& option) {
    io.field("action", option.action.kind);
    io.field("value", option.action.value);
    io.field("tokens_per_s", option.tokensPerSecond);
};

inline constexpr auto kFactsFields = [](auto& io, auto& facts) {
    io.part("last", facts.last, kFrameFields);
    io.field("earlier", facts.earlier);
    io.field("waited_s", facts.waitedS);
    io.field("disk_bytes", facts.diskBytes);
    io.part("reads", facts, kReadFields);
    io.field("layers", facts.layers);
    io.field("weight_bytes", facts.weightBytes);
    io.field("kv_bytes_per_token", facts.kvBytesPerToken);
    io.field("kv_bytes_per_token_as_q8_0", facts.kvBytesPerTokenAsQ8);
    io.field("policy", facts.policy);
    io.field("link_bytes_per_s", facts.linkBytesPerSecond);
    io.field("spill_tokens", facts.spillTokens);
    io.field("predicted", facts.predicted);
    io.parts("options", facts.options, kOptionFields);
};

inline Json to_json(const DoctorFacts& facts)
{
    FactsWriter writer;
    kFactsFields(writer, facts);
    return writer.json;
}

inline DoctorFacts facts_from_json(const Json& from)
{
    DoctorFacts facts;
    FactsReader reader(from);
    kFactsFields(reader, facts);
    return facts;
}

}  // namespace test_support
