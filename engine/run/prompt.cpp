#include "engine/run/prompt.h"

#include "engine/reasoning_marks.h"
#include "engine/tokenizer/reasoning_marks.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

namespace engine {

namespace {

using Json = nlohmann::ordered_json;

// The names that templates give an answer's thoughts: most use the first, Laguna and Kimi K3 the second, LFM2.5 and
// gpt-oss the third.
constexpr std::array kReasoningNames = {"reasoning_content", "reasoning", "thinking"};

std::string_view stripped(std::string_view text)
{
    constexpr std::string_view kSpace = " \t\r\n";
    const auto first = text.find_first_not_of(kSpace);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

/// Holds a rendered prompt, and finds where in it each message stands.
class RenderedMessages
{
public:
    explicit RenderedMessages(const TracedText& rendered)
        : rendered_(rendered)
    {
        std::size_t begin = 0;
        for (const TracedText::Run& run : rendered.runs()) {
            runs_.push_back({{begin, run.end}, run.origin});
            begin = run.end;
        }
    }

    /// Finds a message behind those before it: from the first to the last byte of its content that is not interrupted
    /// by another's. Empty where a template leaves it out.
    ByteRange find(TextOrigin message)
    {
        const auto is_of_it = [&](const Run& run) { return run.origin == message; };
        const auto first = std::find_if(runs_.begin() + next_, runs_.end(), is_of_it);
        if (first == runs_.end())
            return {end_, end_};
        auto last = first;
        for (auto run = first; run != runs_.end() && (is_of_it(*run) || run->origin < 0); ++run)
            if (is_of_it(*run))
                last = run;
        first_ = first - runs_.begin();
        next_ = last - runs_.begin() + 1;
        previous_end_ = std::exchange(end_, last->bytes.end);
        return {first->bytes.begin, end_};
    }

    /// Finds the whole answer as the model made it, around the part that find() found last: as it is, or put together
    /// again by the template from its parts. Empty where it is written in another way.
    ByteRange widen(ByteRange found, std::string_view answer)
    {
        if (found.empty())
            return {};
        constexpr std::size_t kEnough = 64;
        const ByteRange first = runs_[std::size_t(first_)].bytes;
        const std::string_view bytes = rendered_.bytes();
        const std::size_t before = answer.find(bytes.substr(first.begin, std::min(first.end - first.begin, kEnough)));
        if (before == std::string_view::npos || first.begin < previous_end_ + before)
            return {};
        const ByteRange whole{first.begin - before, first.begin - before + answer.size()};
        if (bytes.substr(whole.begin, answer.size()) != answer || !is_whose(whole, runs_[std::size_t(first_)].origin))
            return {};
        while (next_ < std::ptrdiff_t(runs_.size()) && runs_[std::size_t(next_)].bytes.end <= whole.end)
            ++next_;
        end_ = whole.end;
        return whole;
    }

private:
    struct Run {
        ByteRange bytes;
        TextOrigin origin;
    };

    /// Says whether these bytes are the message's own words and the template's, and no other message's.
    bool is_whose(ByteRange range, TextOrigin message) const
    {
        auto run =
            std::partition_point(runs_.begin(), runs_.end(), [&](const Run& r) { return r.bytes.end <= range.begin; });
        for (; run != runs_.end() && run->bytes.begin < range.end; ++run)
            if (run->origin != message && run->origin != kTemplateText)
                return false;
        return true;
    }

    const TracedText& rendered_;
    std::vector<Run> runs_;
    std::ptrdiff_t first_ = 0;  // run of what was found last
    std::ptrdiff_t next_ = 0;   // run behind it
    std::size_t end_ = 0;
    std::size_t previous_end_ = 0;
};

Result<Json> parse_json(const std::string& text, Json::value_t kind, const char* what)
{
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || json.type() != kind)
        return fail(Error::Code::BadRequest, std::string("the ") + what + " are not a valid JSON " +
                                                 (kind == Json::value_t::object ? "object" : "array"));
    return json;
}

Result<Json> template_variables(const Request& request, std::span<const int> kept, const ChatTemplate& chat_template,
                                const Tokenizer& tokenizer)
{
    Json variables = Json::object();
    variables["messages"] = Json::array();
    for (const int i : kept) {
        const Message& message = request.messages[std::size_t(i)];
        Json entry = {{"role", message.role}, {"content", chat_template.content(message.text)}};
        if (!message.reasoning.empty())
            for (const char* const name : kReasoningNames)
                entry[name] = message.reasoning;
        if (!message.more_json.empty()) {
            const auto more = parse_json(message.more_json, Json::value_t::object, "further fields of a message");
            if (!more)
                return tl::unexpected(more.error());
            for (const auto& [name, value] : more->items())
                if (!entry.contains(name))
                    entry[name] = value;
        }
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
        for (const auto& [name, value] : arguments->items())
            if (name != "messages" && name != "bos_token" && name != "eos_token")  // these may hold control tokens
                variables[name] = value;
    }
    return variables;
}

/// Encodes a rendered prompt piece by piece, and notes which message each token comes from.
class Encoder
{
public:
    Encoder(const Tokenizer& tokenizer, const TracedText& rendered, const std::stop_token& stop)
        : tokenizer_(tokenizer)
        , rendered_(rendered)
        , stop_(stop)
    {
    }

    /// Encodes up to byte `end` as text, in which only the template's own words may be control tokens.
    void text_until(std::size_t end)
    {
        if (end <= at_)
            return;
        const bool after_special = !ids_.empty() && tokenizer_.is_special(ids_.back());
        const auto start = at_ == 0        ? EncodeOptions::Start::Beginning
                           : after_special ? EncodeOptions::Start::AfterSpecial
                                           : EncodeOptions::Start::Middle;
        const std::vector<ByteRange> own = template_words(end);
        EncodeOptions options{EncodeOptions::Specials::Within, start};
        options.within = own;
        options.stop = stop_;
        const std::string_view text = std::string_view(rendered_.bytes()).substr(at_, end - at_);
        for (const Token& token : tokenizer_.encode(text, options)) {
            ids_.push_back(token.id);
            begins_.push_back(at_ + token.begin);
        }
        at_ = end;
    }

    /// Takes these ids for the text up to byte `end`.
    void ids_until(std::size_t end, std::span<const int> ids)
    {
        ids_.insert(ids_.end(), ids.begin(), ids.end());
        begins_.insert(begins_.end(), ids.size(), at_);
        at_ = end;
    }

    /// Returns the prompt. `opened`: where a thought is opened at the end, if it is before that.
    Prompt finish(std::span<const ByteRange> found, std::span<const int> messages, std::size_t opened)
    {
        Prompt prompt;
        const auto first = std::ranges::lower_bound(begins_, opened);
        if (first != begins_.end() && *first == opened)  // between tokens
            prompt.opened = {rendered_.bytes().substr(opened), int(first - begins_.begin())};
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
    /// Returns what the template wrote from here to `end`, counted from here.
    std::vector<ByteRange> template_words(std::size_t end)
    {
        std::vector<ByteRange> words;
        const auto runs = rendered_.runs();
        for (; run_ < runs.size(); ++run_) {
            const std::size_t begin = std::max<std::size_t>(run_ == 0 ? 0 : runs[run_ - 1].end, at_);
            const std::size_t stop = std::min<std::size_t>(runs[run_].end, end);
            if (runs[run_].origin == kTemplateText && begin < stop)
                words.push_back({begin - at_, stop - at_});
            if (runs[run_].end > end)
                break;
        }
        return words;
    }

    const Tokenizer& tokenizer_;
    const TracedText& rendered_;
    const std::stop_token& stop_;
    std::size_t at_ = 0;
    std::size_t run_ = 0;  // of the rendered text, at or before at_
    std::vector<int> ids_;
    std::vector<std::size_t> begins_;  // (ids,) byte in the rendered prompt; never decreasing
};

/// Appends an answer that goes on, when nobody kept its ids: the marks of reasoning in it were control tokens when the
/// model wrote them, and nothing else was.
void append_answer(TracedText& rendered, std::string_view text)
{
    std::size_t at = 0;
    for (const MarkRange& mark : find_reasoning_marks(text)) {
        rendered.append(text.substr(at, mark.begin - at), kOtherText);
        rendered.append(text.substr(mark.begin, mark.end - mark.begin), kTemplateText);
        at = mark.end;
    }
    rendered.append(text.substr(at), kOtherText);
}

/// Returns where at the end of a rendered prompt its template opens a thought, space behind the mark included; else its
/// end.
std::size_t opened_thought(const TracedText& rendered, const Tokenizer& tokenizer)
{
    const std::string_view bytes = rendered.bytes();
    const std::string_view words = bytes.substr(0, bytes.find_last_not_of(" \t\r\n") + 1);
    const std::size_t own = rendered.runs().empty() || rendered.runs().back().origin != kTemplateText ? bytes.size()
                            : rendered.runs().size() == 1                                             ? 0
                                                          : rendered.runs().rbegin()[1].end;
    std::size_t begin = bytes.size();
    const auto try_mark = [&](std::string_view mark) {
        if (words.ends_with(mark) && words.size() - mark.size() >= own)
            begin = std::min(begin, words.size() - mark.size());
    };
    for (const ReasoningMark& mark : kReasoningMarks)
        try_mark(mark.open);
    if (tokenizer.find(RecipientMarks::kEnd) != kNoToken)
        try_mark(RecipientMarks::kHead);
    return begin;
}

bool begins_with_own(const TracedText& rendered, std::string_view word)
{
    return !rendered.runs().empty() && rendered.runs().front().origin == kTemplateText &&
           rendered.runs().front().end >= word.size() && rendered.bytes().starts_with(word);
}

}  // namespace

Prompt PromptBuilder::build_raw(const Request& request) const
{
    Prompt prompt;
    EncodeOptions options{EncodeOptions::Specials::Parse, EncodeOptions::Start::Beginning, true};
    options.stop = stop_;
    if (request.raw_prompt.empty())
        prompt.ids = request.raw_ids;
    else
        for (const Token& token : tokenizer_.encode(request.raw_prompt, options))
            prompt.ids.push_back(token.id);
    prompt.ledger.total_tokens = int(prompt.ids.size());
    return prompt;
}

/// Returns the reply that the model made for this message, as far as templates print it: whole, without white space at
/// its ends, or without the thoughts before it.
const KeptReply* PromptBuilder::kept_reply(const Message& message) const
{
    constexpr std::string_view kThoughtEnd = "</think>";
    if (message.role != "assistant" || message.text.empty())
        return nullptr;
    const std::string_view text = message.text;
    const auto thought = text.rfind(kThoughtEnd);
    const std::string_view said = thought == std::string_view::npos ? text : text.substr(thought + kThoughtEnd.size());
    for (const std::string_view form : std::array{text, stripped(text), stripped(said)})
        for (const KeptReply& reply : replies_)
            if (!form.empty() && reply.text == form)
                return &reply;
    if (message.reasoning.empty())
        return nullptr;
    // The reply was divided into thoughts and text.
    const auto whole = std::ranges::find_if(replies_, [&](const KeptReply& reply) {
        return reply.text.ends_with(stripped(text)) && reply.text.find(message.reasoning) != std::string::npos;
    });
    return whole == replies_.end() ? nullptr : &*whole;
}

Result<Prompt> PromptBuilder::build_from(const Request& request, std::span<const int> kept) const
{
    const bool goes_on = request.continue_last && !kept.empty();
    const auto variables =
        template_variables(request, goes_on ? kept.first(kept.size() - 1) : kept, template_, tokenizer_);
    if (!variables)
        return tl::unexpected(variables.error());
    RenderOptions options;
    options.stop = stop_;
    options.allow_for(kept.size());
    auto rendered = template_.render_traced(*variables, options);
    if (!rendered)
        return tl::unexpected(rendered.error());

    std::vector<ByteRange> found;
    std::vector<const KeptReply*> replies;  // (found,) the ids an answer was made in, if they are known
    RenderedMessages messages(*rendered);
    for (std::size_t m = 0; m < kept.size() - (goes_on ? 1 : 0); ++m) {
        found.push_back(messages.find(TextOrigin(m)));
        replies.push_back(kept_reply(request.messages[std::size_t(kept[m])]));
        const ByteRange whole = replies.back() ? messages.widen(found.back(), replies.back()->text) : ByteRange{};
        if (whole.empty())
            replies.back() = nullptr;
        else
            found.back() = whole;
    }
    std::size_t opened = opened_thought(*rendered, tokenizer_);
    if (goes_on) {
        // The beginning of the answer, where the template has opened its thought.
        const std::string_view text = request.messages[std::size_t(kept.back())].text;
        if (text.starts_with(std::string_view(rendered->bytes()).substr(opened)))
            *rendered = rendered->part(std::string_view(rendered->bytes()).substr(0, opened));
        if (!text.empty())
            opened = std::string::npos;
        // The answer is put behind what the template writes to begin one, since it was made there. Templates may refuse
        // a thought that is cut off, or close it.
        const Message& answer = request.messages[std::size_t(kept.back())];
        found.push_back({rendered->bytes().size(), rendered->bytes().size() + answer.text.size()});
        append_answer(*rendered, answer.text);
        const auto reply = std::find_if(replies_.begin(), replies_.end(), [&](const KeptReply& r) {
            return answer.role == "assistant" && !answer.text.empty() && r.text == answer.text;
        });
        replies.push_back(reply == replies_.end() ? nullptr : &*reply);
    }

    // A template usually writes the beginning-of-text token itself.
    const std::string_view bos = tokenizer_.bos() >= 0 ? tokenizer_.text(tokenizer_.bos()) : std::string_view();
    Encoder encoder(tokenizer_, *rendered, stop_);
    if (tokenizer_.adds_bos() && !bos.empty() && !begins_with_own(*rendered, bos)) {
        const int id = tokenizer_.bos();
        encoder.ids_until(0, std::span(&id, 1));
    }
    for (std::size_t m = 0; m < found.size(); ++m) {
        if (replies[m] || (goes_on && m + 1 == found.size()))
            encoder.text_until(found[m].begin);
        if (replies[m])
            encoder.ids_until(found[m].end, replies[m]->ids);
    }
    encoder.text_until(rendered->bytes().size());
    if (stop_.stop_requested())
        return fail(Error::Code::Cancelled, "the answer was stopped");
    Prompt prompt = encoder.finish(found, kept, opened);
    for (const KeptReply* const reply : replies)
        if (reply)
            prompt.replies.push_back(std::size_t(reply - replies_.data()));
    return prompt;
}

/// Drops the oldest turn that may go: from the first message that is no system message up to the next user message.
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

/// Returns the fewest tokens that the messages of a prompt take in a shorter one, without the template's: at each end
/// of a message one token may have become a part of what is beside it.
static int fewest_tokens(const PromptLedger& ledger, std::span<const int> kept)
{
    int tokens = 0;
    for (const PromptLedger::Entry& message : ledger.messages)
        if (std::ranges::binary_search(kept, message.message))
            tokens += std::max(0, message.tokens.count() - 2);
    return tokens;
}

Result<Prompt> PromptBuilder::build(const Request& request, int limit, int room) const
{
    const auto too_long = [&](int tokens) {
        auto error = fail(Error::Code::ContextFull, "the prompt needs " + std::to_string(tokens) +
                                                        " tokens and the context holds " + std::to_string(limit));
        error.value().prompt_tokens = tokens;
        return error;
    };
    if (request.messages.empty()) {
        if (request.raw_prompt.empty() && request.raw_ids.empty())
            return fail(Error::Code::BadRequest, "the prompt is empty");
        Prompt prompt = build_raw(request);
        if (stop_.stop_requested())
            return fail(Error::Code::Cancelled, "the answer was stopped");
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
        if (!fits && may_drop && drop_oldest_turn(request, kept, dropped)) {
            // Rendering and tokenising all anew takes long, so it is done only where the prompt may fit.
            while (fewest_tokens(prompt->ledger, kept) + room > limit)
                if (!drop_oldest_turn(request, kept, dropped))
                    break;
            continue;
        }
        if (tokens >= limit)
            return too_long(tokens);
        if (prompt->ids.empty())
            return fail(Error::Code::BadRequest, "the prompt is empty");
        prompt->ledger.dropped_messages = std::move(dropped);
        return prompt;
    }
}

}  // namespace engine
