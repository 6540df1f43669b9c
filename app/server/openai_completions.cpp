#include "app/server/openai_completions.h"

#include "app/server/answer_format.h"
#include "app/server/llama_numbers.h"
#include "app/server/openai_fields.h"
#include "app/server/openai_logprobs.h"
#include "app/server/raw_prompts.h"

#include <utility>

namespace server {

namespace {

class CompletionWording final : public Wording
{
public:
    /// `choices`: of the answers, to each prompt.
    CompletionWording(std::string model, int answers, int choices, bool includes_usage)
        : model_(std::move(model))
        , choices_(choices)
        , includes_usage_(includes_usage)
        , running_(answers)
        , sums_(std::size_t(answers / choices))
        , logprobs_(std::size_t(answers))
        , tokens_(std::size_t(answers))
    {
    }

    void turn_to(int choice) override { choice_ = choice; }

    std::string piece(const TurnEvent& event) override
    {
        if (const auto* text = std::get_if<TextPiece>(&event))
            return event_of(object(choice(text->text, std::exchange(tokens(), {}))));
        if (const auto* progress = std::get_if<Progress>(&event)) {
            Json json = object(choice("", {}));
            json["prompt_progress"] = llama_progress(*progress);
            return event_of(json);
        }
        if (const auto* said = std::get_if<TokenPiece>(&event))
            tokens() = said->tokens;  // sent with the text that they become
        if (const auto* failed = std::get_if<Failed>(&event))
            return "data: " + openai_error(failed->refusal) + "\n\n";
        const auto* ended = std::get_if<Ended>(&event);
        return ended ? end(*ended) : std::string();
    }

    std::string whole(const Answer& answer) override { return whole_of_all({answer}); }

    std::string whole_of_all(const std::vector<Answer>& answers) override
    {
        Json choices = Json::array();
        for (const Answer& answer : answers) {
            choice_ = int(choices.size());
            choices.push_back(choice(answer.text, answer.tokens, openai_finish_reason(answer.ended)));
            add(answer.ended, sum());
        }
        Json json = object({});
        json["choices"] = std::move(choices);
        json["usage"] = usage();
        json["timings"] = llama_timings(answers.front().ended);
        return text_of(json);
    }

private:
    Ended& sum() { return sums_[std::size_t(choice_ / choices_)]; }
    std::vector<engine::TokenLogprobs>& tokens() { return tokens_[std::size_t(choice_)]; }

    Json choice(const std::string& text, const std::vector<engine::TokenLogprobs>& tokens,
                const char* finish_reason = nullptr)
    {
        Json json = {{"index", choice_},
                     {"text", text},
                     {"logprobs", logprobs_[std::size_t(choice_)].next(tokens)},
                     {"finish_reason", nullptr}};
        if (finish_reason)
            json["finish_reason"] = finish_reason;
        return json;
    }

    Json object(Json choice) const
    {
        return {{"id", id_},
                {"object", "text_completion"},
                {"created", created_},
                {"model", model_},
                {"choices", Json::array({std::move(choice)})}};
    }

    /// Sums up the tokens of all answers; a prompt counts once, however many answers it has.
    Json usage() const
    {
        Ended all;
        for (const Ended& sum : sums_) {
            all.prompt_tokens += sum.prompt_tokens;
            all.cached_tokens += sum.cached_tokens;
            all.answer_tokens += sum.answer_tokens;
        }
        return openai_usage(all);
    }

    std::string end(const Ended& ended)
    {
        Json last = object(choice("", std::exchange(tokens(), {}), openai_finish_reason(ended)));
        add(ended, sum());
        if (--running_ > 0)
            return event_of(last);
        std::string text;
        if (includes_usage_) {
            text = event_of(last);
            last = object({});
            last["choices"] = Json::array();
            last["usage"] = usage();
        }
        last["timings"] = llama_timings(ended);
        return text + event_of(last) + "data: [DONE]\n\n";
    }

    const std::string id_ = new_id("cmpl-");
    const std::int64_t created_ = unix_time();
    const std::string model_;
    const int choices_;
    const bool includes_usage_;
    int choice_ = 0;
    int running_;
    std::vector<Ended> sums_;                                 // of each prompt
    std::vector<CompletionLogprobs> logprobs_;                // of each choice
    std::vector<std::vector<engine::TokenLogprobs>> tokens_;  // of each, not sent yet
};

}  // namespace

tl::expected<Asked, Refusal> OpenAiCompletions::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    Ask ask = unsaid_ask(served);
    ask.thoughts_in_text = true;
    read_answer_limits(fields, ask);
    read_sampling(fields, ask.turn.sampling);
    read_choices(fields, ask);
    read_completion_logprobs(fields, ask.turn);
    read_answer_format(fields, ask.turn);
    refuse_unsupported(fields);
    fields.not_supported("echo", false);
    bool includes_usage = false;
    if (const Json* options = fields.object("stream_options"))
        includes_usage = Fields(*options).flag("include_usage").value_or(false);
    read_prompts_and_suffix(fields, ask);
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    auto wording = std::make_unique<CompletionWording>(served.name, ask.answers(), ask.choices, includes_usage);
    return Asked{std::move(ask), std::move(wording)};
}

std::string OpenAiCompletions::error(const Refusal& refusal) const
{
    return openai_error(refusal);
}

}  // namespace server
