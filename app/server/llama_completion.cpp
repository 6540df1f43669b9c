#include "app/server/llama_completion.h"

#include "app/server/answer_format.h"
#include "app/server/llama_numbers.h"
#include "app/server/llama_samplers.h"
#include "app/server/openai_fields.h"
#include "app/server/openai_logprobs.h"
#include "app/server/raw_prompts.h"

#include <chrono>
#include <utility>

namespace server {

namespace {

constexpr std::int64_t kMostProbabilities = 100;

/// Holds the fields that are the same in every answer to a request.
struct About {
    std::string model;
    Json settings;  // that the answer was made with
    std::vector<Json> prompts;
    int choices = 1;  // answers to each prompt
    bool tells_ids = false;
    bool tells_probabilities = false;
    std::vector<std::string> wanted;  // fields of the answer; empty: all
};

const char* stop_type(const Ended& ended)
{
    switch (ended.reason) {
    case engine::StopReason::EndOfTurn:
        return "eos";
    case engine::StopReason::StopString:
        return "word";
    case engine::StopReason::MaxTokens:
    case engine::StopReason::ContextFull:
        return "limit";
    case engine::StopReason::Cancelled:
        break;
    }
    return "none";
}

/// Returns only these fields, each under its name in the request. "a/b" names the field b of the object a.
Json picked(const Json& json, const std::vector<std::string>& wanted)
{
    Json some = Json::object();
    for (const std::string& name : wanted) {
        const Json* value = &json;
        for (std::size_t begin = 0; value && begin <= name.size();) {
            const std::size_t end = std::min(name.find('/', begin), name.size());
            value = value->is_object() ? Fields(*value).find(name.substr(begin, end - begin).c_str()) : nullptr;
            begin = end + 1;
        }
        if (value)
            some[name] = *value;
    }
    return some;
}

class LlamaWording final : public Wording
{
public:
    explicit LlamaWording(About about)
        : about_(std::move(about))
        , streams_(about_.prompts.size() * std::size_t(about_.choices))
    {
    }

    void turn_to(int choice) override { choice_ = choice; }

    std::string piece(const TurnEvent& event) override
    {
        Stream& stream = streams_[std::size_t(choice_)];
        if (const auto* started = std::get_if<Started>(&event))
            stream.prompt_tokens = started->prompt_tokens;
        if (const auto* said = std::get_if<TokenPiece>(&event))
            stream.tokens = said->tokens;  // sent with the text that they become
        if (const auto* progress = std::get_if<Progress>(&event)) {
            Json json = said("", {});
            json["stop"] = false;
            json["prompt_progress"] = llama_progress(*progress);
            return event_of(json);
        }
        if (const auto* text = std::get_if<TextPiece>(&event)) {
            stream.has_new_line = stream.has_new_line || text->text.find('\n') != std::string::npos;
            Json json = said(text->text, std::exchange(stream.tokens, {}));
            json["stop"] = false;
            json["tokens_evaluated"] = stream.prompt_tokens;
            return event_of(json);
        }
        if (const auto* failed = std::get_if<Failed>(&event))
            return "data: " + openai_error(failed->refusal) + "\n\n";
        const auto* ended = std::get_if<Ended>(&event);
        return ended ? event_of(last("", std::exchange(stream.tokens, {}), *ended, stream.has_new_line))
                     : std::string();
    }

    std::string whole(const Answer& answer) override { return whole_of_all({answer}); }

    std::string whole_of_all(const std::vector<Answer>& answers) override
    {
        Json all = Json::array();
        for (const Answer& answer : answers) {
            choice_ = int(all.size());
            const bool has_new_line = answer.text.find('\n') != std::string::npos;
            all.push_back(last(answer.text, answer.tokens, answer.ended, has_new_line));
        }
        return text_of(all.size() == 1 ? all.front() : all);
    }

private:
    struct Stream {
        int prompt_tokens = 0;
        bool has_new_line = false;
        std::vector<engine::TokenLogprobs> tokens = {};  // not sent yet
    };

    Json said(const std::string& text, const std::vector<engine::TokenLogprobs>& tokens) const
    {
        Json json = {{"index", choice_}, {"content", text}, {"tokens", Json::array()}};
        if (about_.tells_ids)
            for (const engine::TokenLogprobs& token : tokens)
                json["tokens"].push_back(token.written.id);
        if (about_.tells_probabilities)
            json["completion_probabilities"] = token_logprobs(tokens);
        return json;
    }

    Json last(const std::string& text, const std::vector<engine::TokenLogprobs>& tokens, const Ended& ended,
              bool has_new_line) const
    {
        Json json = said(text, tokens);
        json["stop"] = true;
        json["model"] = about_.model;
        json["tokens_predicted"] = ended.answer_tokens;
        json["tokens_evaluated"] = ended.prompt_tokens;
        json["tokens_cached"] = ended.cached_tokens;
        json["generation_settings"] = about_.settings;
        json["generation_settings"]["seed"] = ended.seed;
        json["prompt"] = about_.prompts[std::size_t(choice_ / about_.choices)];
        json["has_new_line"] = has_new_line;
        json["truncated"] = ended.reason == engine::StopReason::ContextFull;
        json["stop_type"] = stop_type(ended);
        json["stopping_word"] = ended.stop_string;
        json["timings"] = llama_timings(ended);
        return about_.wanted.empty() ? json : picked(json, about_.wanted);
    }

    const About about_;
    int choice_ = 0;
    std::vector<Stream> streams_;  // of each answer
};

void read_token_wishes(Fields& fields, Ask& ask, About& about)
{
    const auto probabilities = fields.integer("n_probs", 0, kMostProbabilities).value_or(0);
    about.tells_ids = fields.flag("return_tokens").value_or(false) || ask.streams;
    about.tells_probabilities = probabilities > 0;
    if (about.tells_probabilities || about.tells_ids)
        ask.turn.top_logprobs = about.tells_probabilities ? int(probabilities) : -1;
    if (about.tells_probabilities)
        fields.not_supported("post_sampling_probs", false);
}

/// Reads what ends an answer that is code.
void read_code_bounds(Fields& fields, Ask& ask)
{
    constexpr std::int64_t kMost = 1 << 30;
    ask.least_indent = int(fields.integer("n_indent", 0, kMost).value_or(0));
    ask.most_time = std::chrono::milliseconds(fields.integer("t_max_predict_ms", -1, kMost).value_or(0));
}

/// Refuses fields that are not supported. `cache_prompt` and `id_slot` are ignored instead: KV of a prompt is found
/// wherever it is, and reusing it changes no bit of an answer. So are n_keep, since nothing is ever shifted out of a
/// context, and t_max_prompt_ms, by which editors would have half a prompt read: llama-server ignores it, too.
void refuse_others(Fields& fields)
{
    fields.not_supported("lora", Json::array());
    fields.not_supported("image_data", Json::array());
}

Json settings_of(const Ask& ask)
{
    Json settings = said_sampling(ask.turn.sampling);
    settings["n_predict"] = ask.turn.max_tokens;
    settings["max_tokens"] = ask.turn.max_tokens;
    settings["stop"] = ask.turn.stop;
    settings["ignore_eos"] = ask.turn.ignore_end;
    settings["stream"] = ask.streams;
    settings["n_probs"] = std::max(ask.turn.top_logprobs.value_or(0), 0);
    settings["grammar"] = ask.turn.grammar;
    return settings;
}

/// Reads all but the prompts.
Ask read_around_prompts(Fields& fields, const Served& served, About& about)
{
    Ask ask = unsaid_ask(served);
    ask.thoughts_in_text = true;
    read_answer_limits(fields, ask);
    read_sampling(fields, ask.turn.sampling);
    read_samplers(fields, ask.turn.sampling);
    read_choices(fields, ask);
    read_token_wishes(fields, ask, about);
    read_answer_format(fields, ask.turn);
    read_code_bounds(fields, ask);
    refuse_others(fields);
    about.model = served.name;
    about.settings = settings_of(ask);
    about.choices = ask.choices;
    about.wanted = fields.texts("response_fields");
    return ask;
}

Gap read_gap(Fields& fields)
{
    if (!fields.find("input_prefix") && !fields.find("input_suffix"))
        fields.refuse("input_prefix", "is missing, and so is 'input_suffix'");
    Gap gap{.before = fields.text("input_prefix").value_or("") + fields.text("prompt").value_or(""),
            .after = fields.text("input_suffix").value_or("")};
    if (const Json* others = fields.array("input_extra"))
        for (const Json& other : *others) {
            Fields inner(other);
            auto name = inner.text("filename"), text = inner.text("text");
            if (!text || inner.refusal())
                fields.refuse("input_extra", "must be an array of objects, each with a 'text' and maybe a 'filename'");
            else
                gap.others.push_back({name.value_or(""), std::move(*text)});
        }
    return gap;
}

}  // namespace

tl::expected<Asked, Refusal> LlamaCompletion::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    About about;
    Ask ask = read_around_prompts(fields, served, about);
    read_prompts(fields, ask);
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    about.prompts =
        ask.prompts.size() == 1 ? std::vector<Json>{body["prompt"]} : body["prompt"].get<std::vector<Json>>();
    return Asked{std::move(ask), std::make_unique<LlamaWording>(std::move(about))};
}

std::string LlamaCompletion::error(const Refusal& refusal) const
{
    return openai_error(refusal);
}

tl::expected<Asked, Refusal> LlamaInfill::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    About about;
    Ask ask = read_around_prompts(fields, served, about);
    ask.prompts = {RawPrompt{.gap = read_gap(fields)}};
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    about.prompts.emplace_back(fields.text("prompt").value_or(""));
    return Asked{std::move(ask), std::make_unique<LlamaWording>(std::move(about))};
}

std::string LlamaInfill::error(const Refusal& refusal) const
{
    return openai_error(refusal);
}

}  // namespace server
