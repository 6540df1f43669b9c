#include "engine/text_tools.h"

#include "engine/caught.h"
#include "engine/gguf/gguf_file.h"
#include "engine/run/prompt.h"
#include "engine/template/chat_template.h"
#include "engine/tokenizer/tokenizer.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace engine {

namespace {

using Json = nlohmann::ordered_json;

struct Opened {
    GgufFile file;
    std::unique_ptr<const Tokenizer> tokenizer;
};

Result<Opened> open_tokenizer(const std::filesystem::path& model)
{
    auto file = GgufFile::open(model);
    if (!file)
        return tl::unexpected(file.error());
    auto vocabulary = read_vocabulary(*file);
    if (!vocabulary)
        return tl::unexpected(vocabulary.error());
    auto tokenizer = Tokenizer::make(std::move(*vocabulary));
    if (!tokenizer)
        return tl::unexpected(tokenizer.error());
    return Opened{std::move(*file), std::move(*tokenizer)};
}

Result<std::tm> parse_time(const std::string& text)
{
    std::tm time = {};
    if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour,
                    &time.tm_min, &time.tm_sec) < 3)
        return fail(Error::Code::BadRequest, "the time '" + text + "' is not of the form 2026-07-26T12:00:00");
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    time.tm_isdst = -1;
    std::mktime(&time);  // fills in the day of the week and of the year
    return time;
}

Result<Json> parse(const std::string& text, const char* what)
{
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
        return fail(Error::Code::BadRequest, std::string("the ") + what + " are not valid JSON");
    return json;
}

/// Makes contents that are texts into what the template takes, as is done where the model is asked.
void put_contents(const ChatTemplate& chat_template, Json& variables)
{
    const auto messages = variables.find("messages");
    if (messages == variables.end() || !messages->is_array())
        return;
    for (Json& message : *messages)
        if (message.is_object() && message.contains("content") && message["content"].is_string())
            message["content"] = chat_template.content(message["content"].get<std::string>());
}

Result<std::string> render_within(RenderAllowance& allowance, const ChatTemplate& chat_template, const Json& variables,
                                  RenderOptions options)
{
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    std::int64_t left = allowance.steps_left.value_or(options.max_steps);
    options.max_steps = left;
    options.max_time -= allowance.spent;
    options.steps_left = &left;
    auto text = chat_template.render(variables, options);
    allowance.steps_left = left;
    allowance.spent += std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begin);
    return text;
}

Result<std::vector<int>> ids_of(const Tokenizer& tokenizer, std::string_view text, const TokenizeOptions& options)
{
    const auto specials = options.specials ? EncodeOptions::Specials::Parse : EncodeOptions::Specials::AsText;
    const auto start = options.goes_on ? EncodeOptions::Start::Middle : EncodeOptions::Start::Beginning;
    EncodeOptions encoding{specials, start, options.bos};
    encoding.stop = options.stop;
    std::vector<int> ids;
    for (const Token& token : tokenizer.encode(text, encoding))
        ids.push_back(token.id);
    if (options.stop.stop_requested())
        return fail(Error::Code::Cancelled, "turning the text into tokens was stopped");
    return ids;
}

class OpenCodec final : public TextCodec
{
public:
    OpenCodec(std::unique_ptr<const Tokenizer> tokenizer, std::string chat_template)
        : tokenizer_(std::move(tokenizer))
        , template_(std::move(chat_template))
    {
    }

    Result<std::vector<int>> encode(std::string_view text, const TokenizeOptions& options) const override;
    Result<std::string> decode(const std::vector<int>& ids) const override;
    Result<std::string> piece(int id) const override;
    Result<int> count_prompt(const Request& request, std::stop_token stop) const override;

private:
    std::unique_ptr<const Tokenizer> tokenizer_;
    const std::string template_;
};

Result<std::vector<int>> OpenCodec::encode(std::string_view text, const TokenizeOptions& options) const
try {
    return ids_of(*tokenizer_, text, options);
} catch (...) {
    return caught("for the tokens of so much text");
}

Result<std::string> OpenCodec::piece(int id) const
try {
    return tokenizer_->piece(id, true);
} catch (...) {
    return caught("for the text of a token");
}

Result<std::string> OpenCodec::decode(const std::vector<int>& ids) const
try {
    return tokenizer_->decode(ids, {true, true});
} catch (...) {
    return caught("for the text of so many tokens");
}

Result<int> OpenCodec::count_prompt(const Request& request, std::stop_token stop) const
try {
    auto parsed = ChatTemplate::parse(template_);
    if (!parsed && parsed.error().code != Error::Code::NoMemory)  // as where the model is loaded
        parsed = ChatTemplate::parse(std::string(kChatMlTemplate));
    if (!parsed)
        return tl::unexpected(parsed.error());
    Request whole = request;
    whole.full_context = FullContext::Stop;
    const PromptBuilder builder(*parsed, *tokenizer_, {}, std::move(stop));
    const auto prompt = builder.build(whole, std::numeric_limits<int>::max(), 0);
    if (!prompt)
        return tl::unexpected(prompt.error());
    return prompt->ledger.total_tokens;
} catch (...) {
    return caught("to count the prompt");
}

std::string template_in(const GgufFile& file)
{
    return std::string(file.string("tokenizer.chat_template").value_or(kChatMlTemplate));
}

}  // namespace

Result<std::shared_ptr<const TextCodec>> TextCodec::open(const std::filesystem::path& model)
try {
    auto opened = open_tokenizer(model);
    if (!opened)
        return tl::unexpected(opened.error());
    return std::make_shared<const OpenCodec>(std::move(opened->tokenizer), template_in(opened->file));
} catch (...) {
    return caught("for the tokenizer");
}

Result<TokenizedText> tokenize(const std::filesystem::path& model, std::string_view text,
                               const TokenizeOptions& options)
try {
    const auto opened = open_tokenizer(model);
    if (!opened)
        return tl::unexpected(opened.error());
    auto ids = ids_of(*opened->tokenizer, text, options);
    if (!ids)
        return tl::unexpected(ids.error());
    return TokenizedText{std::move(*ids), opened->tokenizer->warnings()};
} catch (...) {
    return caught("for the tokens of so much text");
}

Result<TemplateSource> read_template(const std::filesystem::path& model)
try {
    const auto opened = open_tokenizer(model);
    if (!opened)
        return tl::unexpected(opened.error());
    const Tokenizer& t = *opened->tokenizer;
    return TemplateSource{template_in(opened->file), std::string(t.text(t.bos())), std::string(t.text(t.eos())),
                          t.fill_marks()};
} catch (...) {
    return caught("to read the chat template");
}

Result<std::string> render_template(const TemplateSource& source, const TemplateRequest& request,
                                    RenderAllowance* shared)
try {
    const auto parsed = ChatTemplate::parse(source.text);
    if (!parsed)
        return tl::unexpected(parsed.error());
    auto messages = parse(request.messages_json, "messages");
    if (!messages)
        return tl::unexpected(messages.error());
    Json variables = messages->is_object() ? std::move(*messages) : Json{{"messages", std::move(*messages)}};
    put_contents(*parsed, variables);
    if (!variables.contains("add_generation_prompt") || !request.generation_prompt)
        variables["add_generation_prompt"] = request.generation_prompt;
    if (request.bos || !variables.contains("bos_token"))
        variables["bos_token"] = request.bos.value_or(source.bos);
    if (request.eos || !variables.contains("eos_token"))
        variables["eos_token"] = request.eos.value_or(source.eos);
    if (!request.tools_json.empty()) {
        auto tools = parse(request.tools_json, "tools");
        if (!tools)
            return tl::unexpected(tools.error());
        variables["tools"] = std::move(*tools);
    }
    if (!request.arguments_json.empty()) {
        const auto arguments = parse(request.arguments_json, "template arguments");
        if (!arguments)
            return tl::unexpected(arguments.error());
        if (!arguments->is_object())
            return fail(Error::Code::BadRequest, "the template arguments are not a JSON object");
        variables.update(*arguments);
    }
    RenderOptions options;
    options.stop = request.stop;
    if (!request.now.empty()) {
        const auto time = parse_time(request.now);
        if (!time)
            return tl::unexpected(time.error());
        options.now = *time;
    }
    if (const auto all = variables.find("messages"); all != variables.end() && all->is_array())
        options.allow_for(all->size());
    return shared ? render_within(*shared, *parsed, variables, options) : parsed->render(variables, options);
} catch (...) {
    return caught("to render the chat template");
}

}  // namespace engine
