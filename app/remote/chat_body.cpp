#include "app/remote/chat_body.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace remote {

namespace {

using Ordered = nlohmann::ordered_json;  // keeps the fields in a readable order
using Code = engine::Error::Code;

/// Says whether a server takes all of llama.cpp's names for fields.
bool is_of_llama(Kind kind)
{
    return kind == Kind::LlamaServer || kind == Kind::Spillway;
}

bool renders_templates_as_asked(Kind kind)
{
    return is_of_llama(kind) || kind == Kind::Vllm || kind == Kind::SgLang;
}

/// Rounds to six places: a float of 0.8 would be written as 0.800000011920929.
double rounded(float value)
{
    return std::round(double(value) * 1e6) / 1e6;
}

void add_sampling(const engine::SamplingOptions& s, Kind kind, Ordered& body)
{
    const auto add = [&](const char* name, const Ordered& value) {
        if (knows(kind, name))
            body[name] = value;
    };
    add("temperature", rounded(s.temperature));
    if (kind != Kind::Tgi || s.top_p < 1)  // TGI refuses 1, which means "off" to all others
        add("top_p", rounded(s.top_p));
    add("presence_penalty", rounded(s.presence_penalty));
    add("frequency_penalty", rounded(s.frequency_penalty));
    if (s.seed)
        add("seed", *s.seed);
    if (knows(kind, "top_k"))  // -1 is off for vLLM and SGLang, 0 for LM Studio and llama.cpp
        body["top_k"] = s.top_k == 0 && (kind == Kind::Vllm || kind == Kind::SgLang) ? -1 : s.top_k;
    add("min_p", rounded(s.min_p));
    if (knows(kind, "repeat_penalty"))
        body[kind == Kind::Vllm || kind == Kind::SgLang ? "repetition_penalty" : "repeat_penalty"] =
            rounded(s.repeat_penalty);
    if (!is_of_llama(kind))
        return;
    body["typical_p"] = rounded(s.typical_p);
    body["repeat_last_n"] = s.repeat_last_n;
    if (s.dry_multiplier > 0) {
        body["dry_multiplier"] = rounded(s.dry_multiplier);
        body["dry_base"] = rounded(s.dry_base);
        body["dry_allowed_length"] = s.dry_allowed_length;
        body["dry_penalty_last_n"] = s.dry_penalty_last_n;
        body["dry_sequence_breakers"] = s.dry_sequence_breakers;
    }
    if (s.xtc_probability > 0) {
        body["xtc_probability"] = rounded(s.xtc_probability);
        body["xtc_threshold"] = rounded(s.xtc_threshold);
    }
}

/// Writes logit biases as OpenAI has them: by the tokens' ids, from -100, which forbids one, to 100.
engine::Status add_biases(const engine::Request& request, Kind kind, Ordered& body)
{
    for (const engine::LogitBias& bias : request.sampling.logit_bias) {
        if (!bias.text.empty() && !is_of_llama(kind))
            return engine::fail(Code::BadRequest, "this server takes logit biases for tokens only, not for texts");
        body["logit_bias"][bias.text.empty() ? std::to_string(bias.id) : bias.text] =
            rounded(std::clamp(bias.bias, -100.0f, 100.0f));
    }
    if (request.ignore_end)
        body["ignore_eos"] = true;
    return {};
}

engine::Result<Ordered> messages_of(const engine::Request& request)
{
    Ordered all = Ordered::array();
    for (const engine::Message& message : request.messages) {
        Ordered one = {{"role", message.role}, {"content", message.text}};
        if (!message.more_json.empty()) {
            const Ordered more = Ordered::parse(message.more_json, nullptr, false);
            if (!more.is_object())
                return engine::fail(Code::BadRequest, "what a message has besides its text is no JSON object");
            one.update(more);
        }
        all.push_back(std::move(one));
    }
    return all;
}

engine::Status add_rules(const engine::Request& request, Kind kind, Ordered& body)
{
    if (!request.grammar.empty()) {
        if (!is_of_llama(kind))
            return engine::fail(Code::BadRequest, "this server cannot hold an answer to a grammar; it may know JSON "
                                                  "schemas");
        body["grammar"] = request.grammar;
    }
    if (request.json_schema.empty())
        return {};
    const Ordered schema = Ordered::parse(request.json_schema, nullptr, false);
    if (!schema.is_object())
        return engine::fail(Code::BadRequest, "the JSON schema is no JSON object");
    if (schema.empty())
        body["response_format"] = {{"type", "json_object"}};
    else
        body["response_format"] = {{"type", "json_schema"},
                                   {"json_schema", {{"name", "answer"}, {"schema", schema}, {"strict", true}}}};
    return {};
}

engine::Status add_template(const engine::Request& request, Kind kind, Ordered& body)
{
    if (request.template_arguments_json.empty())
        return {};
    const Ordered arguments = Ordered::parse(request.template_arguments_json, nullptr, false);
    if (!arguments.is_object())
        return engine::fail(Code::BadRequest, "the template's arguments are no JSON object");
    if (renders_templates_as_asked(kind) && !arguments.empty())
        body["chat_template_kwargs"] = arguments;
    else if (arguments.contains("reasoning_effort"))
        body["reasoning_effort"] = arguments["reasoning_effort"];
    return {};
}

}  // namespace

bool knows(Kind kind, std::string_view sampling)
{
    // All know the options of OpenAI's API.
    for (const char* everywhere :
         {"temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "max_tokens"})
        if (sampling == everywhere)
            return true;
    switch (kind) {
    case Kind::Spillway:
    case Kind::LlamaServer:
        return true;
    case Kind::Vllm:
    case Kind::SgLang:
        return sampling == "top_k" || sampling == "min_p" || sampling == "repeat_penalty";
    case Kind::LmStudio:
        return sampling == "top_k" || sampling == "repeat_penalty";
    case Kind::Unknown:
    case Kind::Tgi:
    case Kind::Ollama:
        break;
    }
    return false;
}

std::string path_of(const engine::Request& request)
{
    return request.messages.empty() ? "/v1/completions" : "/v1/chat/completions";
}

engine::Result<std::string> body_of(const engine::Request& request, const std::string& model, Kind kind)
{
    Ordered body = {{"model", model}, {"stream", true}, {"stream_options", {{"include_usage", true}}}};
    if (request.messages.empty() && request.raw_prompt.empty()) {
        body["prompt"] = request.raw_ids;
    } else if (request.messages.empty()) {
        body["prompt"] = request.raw_prompt;
    } else {
        auto messages = messages_of(request);
        if (!messages)
            return tl::unexpected(std::move(messages.error()));
        body["messages"] = std::move(*messages);
        // These two have to be told to continue an assistant's last message; others do so by themselves, or cannot.
        if (request.continue_last && (kind == Kind::Vllm || kind == Kind::SgLang)) {
            body["add_generation_prompt"] = false;
            body["continue_final_message"] = true;
        }
    }
    add_sampling(request.sampling, kind, body);
    if (const engine::Status ok = add_biases(request, kind, body); !ok)
        return tl::unexpected(ok.error());
    if (request.max_tokens >= 0)
        body["max_tokens"] = request.max_tokens;
    if (!request.stop.empty())
        body["stop"] = request.stop;
    if (const engine::Status ok = add_rules(request, kind, body); !ok)
        return tl::unexpected(ok.error());
    if (const engine::Status ok = add_template(request, kind, body); !ok)
        return tl::unexpected(ok.error());
    if (!request.tools_json.empty()) {
        const Ordered tools = Ordered::parse(request.tools_json, nullptr, false);
        if (!tools.is_array())
            return engine::fail(Code::BadRequest, "the tools are no JSON array");
        body["tools"] = tools;
    }
    if (kind == Kind::Vllm)
        body["stream_options"]["continuous_usage_stats"] = true;
    if (kind == Kind::LlamaServer)
        body["timings_per_token"] = true;
    return body.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

}  // namespace remote
