#include "app/server/openai_completions.h"

#include "app/server/openai_fields.h"

namespace server {

namespace {

class CompletionWording final : public Wording
{
public:
    CompletionWording(std::string model, bool includes_usage)
        : model_(std::move(model))
        , includes_usage_(includes_usage)
    {
    }

    std::string piece(const TurnEvent& event) override
    {
        if (const auto* text = std::get_if<TextPiece>(&event))
            return event_of(object(text->text));
        if (const auto* failed = std::get_if<Failed>(&event))
            return "data: " + openai_error(failed->refusal) + "\n\n";
        const auto* ended = std::get_if<Ended>(&event);
        if (!ended)
            return {};
        Json last = object("");
        last["choices"][0]["finish_reason"] = openai_finish_reason(*ended);
        std::string text = event_of(last);
        if (includes_usage_) {
            last["choices"] = Json::array();
            last["usage"] = openai_usage(*ended);
            text += event_of(last);
        }
        return text + "data: [DONE]\n\n";
    }

    std::string whole(const Answer& answer) override
    {
        Json json = object(answer.text);
        json["choices"][0]["finish_reason"] = openai_finish_reason(answer.ended);
        json["usage"] = openai_usage(answer.ended);
        json["timings"] = llama_timings(answer.ended);
        return text_of(json);
    }

private:
    Json object(const std::string& text) const
    {
        Json choice = {{"index", 0}, {"text", text}, {"logprobs", nullptr}, {"finish_reason", nullptr}};
        return {{"id", id_},
                {"object", "text_completion"},
                {"created", created_},
                {"model", model_},
                {"choices", Json::array({std::move(choice)})}};
    }

    const std::string id_ = new_id("cmpl-");
    const std::int64_t created_ = unix_time();
    const std::string model_;
    const bool includes_usage_;
};

}  // namespace

tl::expected<Asked, Refusal> OpenAiCompletions::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    Ask ask;
    ask.turn.most_drafted = -1;
    ask.thoughts_in_text = true;
    read_answer_limits(fields, ask);
    read_sampling(fields, ask.turn.sampling);
    refuse_unsupported(fields);
    fields.not_supported("echo", false);
    fields.not_supported("suffix", "");
    bool includes_usage = false;
    if (const Json* options = fields.object("stream_options"))
        includes_usage = Fields(*options).flag("include_usage").value_or(false);
    const std::vector<std::string> prompts = fields.texts("prompt");
    if (prompts.size() == 1 && !prompts.front().empty())
        ask.turn.raw_prompt = prompts.front();
    else
        fields.refuse("prompt", prompts.size() > 1 ? "must be one text; several are not supported here"
                                                   : "must be a text that is not empty");
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    return Asked{std::move(ask), std::make_unique<CompletionWording>(served.name, includes_usage)};
}

std::string OpenAiCompletions::error(const Refusal& refusal) const
{
    return openai_error(refusal);
}

}  // namespace server
