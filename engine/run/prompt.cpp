#include "engine/run/prompt.h"

#include "engine/tokenizer/reasoning_marks.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

namespace engine {

namespace {

using Json = nlohmann::ordered_json;

/// Bytes [begin, end) of the rendered prompt that are one message's text.
struct Found {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool empty() const { return begin == end; }
};

std::string_view stripped(std::string_view text)
{
    constexpr std::string_view kSpace = " \t\r\n";
    const auto first = text.find_first_not_of(kSpace);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

/// Templates print a message whole, without white space at its ends, or without what was thought first.
Found find_message(std::string_view rendered, std::size_t from, std::string_view text)
{
    constexpr std::string_view kThoughtEnd = "</think>";
    const auto thought = text.rfind(kThoughtEnd);
    const std::string_view said = thought == std::string_view::npos ? text : text.substr(thought + kThoughtEnd.size());
    for (const std::string_view form : std::array{text, stripped(text), stripped(said)}) {
        const auto at = form.empty() ? std::string_view::npos : rendered.find(form, from);
        if (at != std::string_view::npos)
            return {at, at + form.size()};
    }
    return {from, from};
}

std::vector<Found> find_messages(std::string_view rendered, std::span<const Message> messages)
{
    std::vector<Found> found;
    std::size_t from = 0;
    for (const Message& message : messages) {
        found.push_back(find_message(rendered, from, message.text));
        from = found.back().end;
    }
    return found;
}

Result<Json> parse_json(const std::string& text, Json::value_t kind, const char* what)
{
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || json.type() != kind)
        return fail(Error::Code::BadRequest, std::string("the ") + what + " are not a valid JSON " +
                                                 (kind == Json::value_t::object ? "object" : "array"));
    return json;
}

Result<Json> template_variables(const Request& request, std::span<const int> kept, const Tokenizer& tokenizer)
{
    Json variables = Json::object();
    variables["messages"] = Json::array();
    for (const int i : kept) {
        const Message& message = request.messages[std::size_t(i)];
        Json entry = {{"role", message.role}, {"content", message.text}};
        if (!message.reasoning.empty())
            entry["reasoning_content"] = message.reasoning;
        variables["messages"].push_back(std::move(entry));
    }
    variables["add_generation_prompt"] = true;
    variables["bos_token"] = tokenizer.bos() >= 0 ? std::string(tokenizer.text(tokenizer.bos())) : "";
    variables["eos_token"] = tokenizer.eos() >= 0 ? std::string(tokenizer.text(tokenizer.eos())) : "";
    if (!request.tools_json.empty()) {
        auto tools = parse_json(request.tools_json, Json::value_t::array, "tools");
        if (!tools)
            return tl::unexpected(tools.error());
        variables["tools"] = std::move(*tools);
    }
    if (!request.template_arguments_json.empty()) {
        const auto arguments = parse_json(request.template_arguments_json, Json::value_t::object, "template arguments");
        if (!arguments)
            return tl::unexpected(arguments.error());
        variables.update(*arguments);
    }
    return variables;
}

/// Encodes a rendered prompt piece by piece, and notes which message each token comes from.
class Encoder
{
public:
    Encoder(const Tokenizer& tokenizer, std::string_view rendered)
        : tokenizer_(tokenizer)
        , rendered_(rendered)
    {
    }

    /// Up to byte `end` as text, in which only the template's own words may be special tokens.
    void text_until(std::size_t end, EncodeOptions::Specials specials)
    {
        if (end <= at_)
            return;
        const bool after_special = !ids_.empty() && tokenizer_.is_special(ids_.back());
        const auto start = at_ == 0        ? EncodeOptions::Start::Beginning
                           : after_special ? EncodeOptions::Start::AfterSpecial
                                           : EncodeOptions::Start::Middle;
        for (const Token& token : tokenizer_.encode(rendered_.substr(at_, end - at_), {specials, start})) {
            ids_.push_back(token.id);
            begins_.push_back(at_ + token.begin);
        }
        at_ = end;
    }

    /// Up to byte `end` as these ids.
    void ids_until(std::size_t end, std::span<const int> ids)
    {
        ids_.insert(ids_.end(), ids.begin(), ids.end());
        begins_.insert(begins_.end(), ids.size(), at_);
        at_ = end;
    }

    Prompt finish(std::span<const Found> found, std::span<const int> messages)
    {
        Prompt prompt;
        prompt.ledger.total_tokens = int(ids_.size());
        prompt.ledger.template_tokens = int(ids_.size());
        for (std::size_t m = 0; m < found.size(); ++m) {
            const auto token_at = [&](std::size_t byte) {
                return int(std::lower_bound(begins_.begin(), begins_.end(), byte) - begins_.begin());
            };
            const TokenRange range{token_at(found[m].begin), token_at(found[m].end)};
            prompt.ledger.messages.push_back({messages[m], range});
            prompt.ledger.template_tokens -= range.count();
        }
        prompt.ids = std::move(ids_);
        return prompt;
    }

private:
    const Tokenizer& tokenizer_;
    std::string_view rendered_;
    std::size_t at_ = 0;
    std::vector<int> ids_;
    std::vector<std::size_t> begins_;  // (ids,) byte in the rendered prompt; never decreasing
};

bool has_special_words(const Tokenizer& tokenizer, std::string_view text)
{
    const auto tokens = tokenizer.encode(text, {EncodeOptions::Specials::Parse, EncodeOptions::Start::Middle});
    return std::any_of(tokens.begin(), tokens.end(), [&](const Token& t) { return tokenizer.is_special(t.id); });
}

/// An answer that goes on, when nobody kept its ids: the marks of reasoning in it were control tokens when the model
/// wrote them, and nothing else was.
void encode_answer(Encoder& encoder, const Tokenizer& tokenizer, std::size_t begin, std::string_view text)
{
    for (const MarkRange& mark : find_reasoning_marks(text)) {
        if (!has_special_words(tokenizer, text.substr(mark.begin, mark.end - mark.begin)))
            continue;
        encoder.text_until(begin + mark.begin, EncodeOptions::Specials::AsText);
        encoder.text_until(begin + mark.end, EncodeOptions::Specials::Parse);
    }
    encoder.text_until(begin + text.size(), EncodeOptions::Specials::AsText);
}

}  // namespace

Prompt PromptBuilder::build_raw(const std::string& text) const
{
    Prompt prompt;
    for (const Token& token :
         tokenizer_.encode(text, {EncodeOptions::Specials::Parse, EncodeOptions::Start::Beginning, true}))
        prompt.ids.push_back(token.id);
    prompt.ledger.total_tokens = int(prompt.ids.size());
    return prompt;
}

Result<Prompt> PromptBuilder::build_from(const Request& request, std::span<const int> kept) const
{
    const bool goes_on = request.continue_last && !kept.empty();
    const auto variables = template_variables(request, goes_on ? kept.first(kept.size() - 1) : kept, tokenizer_);
    if (!variables)
        return tl::unexpected(variables.error());
    auto rendered = template_.render(*variables);
    if (!rendered)
        return tl::unexpected(rendered.error());

    std::vector<Message> messages;
    for (const int i : kept)
        messages.push_back(request.messages[std::size_t(i)]);
    auto found = find_messages(*rendered, std::span(messages).first(messages.size() - (goes_on ? 1 : 0)));
    if (goes_on) {
        // Behind what the template asks for an answer with, since there it was made. Templates may refuse a thought
        // that is cut off, or close it.
        found.push_back({rendered->size(), rendered->size() + messages.back().text.size()});
        *rendered += messages.back().text;
    }

    // A template usually writes the beginning-of-text token itself.
    const std::string_view bos = tokenizer_.bos() >= 0 ? tokenizer_.text(tokenizer_.bos()) : std::string_view();
    Encoder encoder(tokenizer_, *rendered);
    if (tokenizer_.adds_bos() && !bos.empty() && !rendered->starts_with(bos)) {
        const int id = tokenizer_.bos();
        encoder.ids_until(0, std::span(&id, 1));
    }
    for (std::size_t m = 0; m < found.size(); ++m) {
        const std::string_view text = std::string_view(*rendered).substr(found[m].begin, found[m].end - found[m].begin);
        const auto reply = std::find_if(replies_.begin(), replies_.end(), [&](const KeptReply& r) {
            return messages[m].role == "assistant" && !text.empty() && r.text == text;
        });
        if (reply != replies_.end()) {
            encoder.text_until(found[m].begin, EncodeOptions::Specials::Parse);
            encoder.ids_until(found[m].end, reply->ids);
        } else if (goes_on && m + 1 == found.size()) {
            encoder.text_until(found[m].begin, EncodeOptions::Specials::Parse);
            encode_answer(encoder, tokenizer_, found[m].begin, text);
        } else if (has_special_words(tokenizer_, text)) {
            // What a person typed never becomes a control token.
            encoder.text_until(found[m].begin, EncodeOptions::Specials::Parse);
            encoder.text_until(found[m].end, EncodeOptions::Specials::AsText);
        }
    }
    encoder.text_until(rendered->size(), EncodeOptions::Specials::Parse);
    return encoder.finish(found, kept);
}

/// The oldest turn that may go: the first message that is no system message, up to the next user message.
static bool drop_oldest_turn(const Request& request, std::vector<int>& kept, std::vector<int>& dropped)
{
    const auto role = [&](int i) -> const std::string& { return request.messages[std::size_t(i)].role; };
    const auto first = std::find_if(kept.begin(), kept.end(), [&](int i) { return role(i) != "system"; });
    if (first == kept.end())
        return false;
    const auto next = std::find_if(first + 1, kept.end(), [&](int i) { return role(i) == "user"; });
    if (next == kept.end())
        return false;  // the last turn stays
    dropped.insert(dropped.end(), first, next);
    kept.erase(first, next);
    return true;
}

Result<Prompt> PromptBuilder::build(const Request& request, int limit, int room) const
{
    const auto too_long = [&](int tokens) {
        return fail(Error::Code::ContextFull, "the prompt needs " + std::to_string(tokens) +
                                                  " tokens and the context holds " + std::to_string(limit));
    };
    if (request.messages.empty()) {
        if (request.raw_prompt.empty())
            return fail(Error::Code::BadRequest, "the prompt is empty");
        Prompt prompt = build_raw(request.raw_prompt);
        if (int(prompt.ids.size()) >= limit)
            return too_long(int(prompt.ids.size()));
        return prompt;
    }

    std::vector<int> kept(request.messages.size());
    std::iota(kept.begin(), kept.end(), 0);
    std::vector<int> dropped;
    for (;;) {
        auto prompt = build_from(request, kept);
        if (!prompt)
            return prompt;
        const int tokens = int(prompt->ids.size());
        const bool may_drop = request.full_context == FullContext::DropOldest;
        const bool fits = tokens < limit && (!may_drop || tokens + room <= limit);
        if (!fits && may_drop && drop_oldest_turn(request, kept, dropped))
            continue;
        if (tokens >= limit)
            return too_long(tokens);
        if (prompt->ids.empty())
            return fail(Error::Code::BadRequest, "the prompt is empty");
        prompt->ledger.dropped_messages = std::move(dropped);
        return prompt;
    }
}

}  // namespace engine
