#include "app/server/openai_chat.h"

#include "app/server/answer_format.h"
#include "app/server/llama_numbers.h"
#include "app/server/openai_fields.h"
#include "app/server/openai_logprobs.h"

#include <utility>

namespace server {

namespace {

class ChatWording final : public Wording
{
public:
    ChatWording(std::string model, int choices, bool includes_usage)
        : model_(std::move(model))
        , includes_usage_(includes_usage)
        , running_(choices)
        , tokens_(std::size_t(choices))
    {
    }

    void turn_to(int choice) override { choice_ = choice; }

    std::string piece(const TurnEvent& event) override
    {
        if (std::holds_alternative<Started>(event))
            return event_of(chunk({{"role", "assistant"}, {"content", ""}}));
        if (const auto* progress = std::get_if<Progress>(&event)) {
            Json json = chunk(Json::object());
            json["prompt_progress"] = llama_progress(*progress);
            return event_of(json);
        }
        if (const auto* text = std::get_if<TextPiece>(&event))
            return event_of(chunk({{"content", text->text}}));
        if (const auto* said = std::get_if<TokenPiece>(&event)) {
            tokens_[std::size_t(choice_)] = said->tokens;  // sent with the text that they become
            return {};
        }
        if (const auto* thought = std::get_if<ThoughtPiece>(&event))
            return event_of(chunk({{"reasoning_content", thought->text}}));
        if (const auto* call = std::get_if<CallBegun>(&event))
            return calls({{"index", call->index},
                          {"id", call->id},
                          {"type", "function"},
                          {"function", {{"name", call->name}, {"arguments", ""}}}});
        if (const auto* more = std::get_if<CallArguments>(&event))
            return calls({{"index", more->index}, {"function", {{"arguments", more->text}}}});
        if (const auto* failed = std::get_if<Failed>(&event))
            return "data: " + openai_error(failed->refusal) + "\n\n";
        return end(std::get<Ended>(event));
    }

    std::string whole(const Answer& answer) override { return whole_of_all({answer}); }

    std::string whole_of_all(const std::vector<Answer>& answers) override
    {
        Json json = object("chat.completion");
        Ended all;
        for (const Answer& answer : answers) {
            json["choices"].push_back({{"index", json["choices"].size()},
                                       {"message", message_of(answer)},
                                       {"logprobs", chat_logprobs(answer.tokens)},
                                       {"finish_reason", openai_finish_reason(answer.ended)}});
            add(answer.ended, all);
        }
        json["usage"] = openai_usage(all);
        json["timings"] = llama_timings(answers.front().ended);
        return text_of(json);
    }

private:
    static Json message_of(const Answer& answer)
    {
        Json message = {{"role", "assistant"}, {"content", answer.text}};
        if (!answer.thought.empty())
            message["reasoning_content"] = answer.thought;
        for (const Call& call : answer.calls)
            message["tool_calls"].push_back({{"id", call.id},
                                             {"type", "function"},
                                             {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
        if (!answer.calls.empty() && answer.text.empty())
            message["content"] = nullptr;
        return message;
    }

    Json object(const char* kind) const
    {
        return {{"id", id_}, {"object", kind}, {"created", created_}, {"model", model_}};
    }

    Json chunk(Json delta, const char* finish_reason = nullptr)
    {
        Json json = object("chat.completion.chunk");
        Json choice = {{"index", choice_}, {"delta", std::move(delta)}, {"finish_reason", nullptr}};
        if (finish_reason)
            choice["finish_reason"] = finish_reason;
        if (auto& tokens = tokens_[std::size_t(choice_)]; !tokens.empty())
            choice["logprobs"] = chat_logprobs(std::exchange(tokens, {}));
        json["choices"] = Json::array({std::move(choice)});
        return json;
    }

    std::string calls(Json call)
    {
        Json delta = Json::object();
        delta["tool_calls"] = Json::array({std::move(call)});
        return event_of(chunk(std::move(delta)));
    }

    std::string end(const Ended& ended)
    {
        Json last = chunk(Json::object(), openai_finish_reason(ended));
        add(ended, all_);
        if (--running_ > 0)
            return event_of(last);
        std::string text;
        if (includes_usage_) {
            text = event_of(last);
            last = object("chat.completion.chunk");
            last["choices"] = Json::array();
            last["usage"] = openai_usage(all_);
        }
        last["timings"] = llama_timings(ended);
        return text + event_of(last) + "data: [DONE]\n\n";
    }

    const std::string id_ = new_id("chatcmpl-");
    const std::int64_t created_ = unix_time();
    const std::string model_;
    const bool includes_usage_;
    int choice_ = 0;
    int running_;
    Ended all_;
    std::vector<std::vector<engine::TokenLogprobs>> tokens_;  // of each choice, not sent yet
};

}  // namespace

tl::expected<Asked, Refusal> OpenAiChat::read(const Json& body, const Served& served) const
{
    Fields fields(body);
    Ask ask = unsaid_ask(served);
    read_answer_limits(fields, ask);
    read_sampling(fields, ask.turn.sampling);
    read_template_arguments(fields, ask.turn);
    read_tools(fields, ask);
    read_choices(fields, ask);
    read_chat_logprobs(fields, ask.turn);
    read_answer_format(fields, ask.turn);
    refuse_unsupported(fields);
    bool includes_usage = false;
    if (const Json* options = fields.object("stream_options")) {
        Fields inner(*options);
        includes_usage = inner.flag("include_usage").value_or(false);
        if (inner.refusal())
            fields.refuse("stream_options", inner.refusal()->sentence);
    }
    // llama-server's field for how thoughts are sent; "none" leaves them in the text, as the model wrote them.
    ask.thoughts_in_text = fields.text("reasoning_format").value_or("auto") == "none";
    read_messages(fields, ask.turn);
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    auto wording = std::make_unique<ChatWording>(served.name, ask.choices, includes_usage);
    return Asked{std::move(ask), std::move(wording)};
}

std::string OpenAiChat::error(const Refusal& refusal) const
{
    return openai_error(refusal);
}

}  // namespace server
