#include "engine/run/answer_rules.h"

#include "engine/answer_grammar.h"
#include "engine/reasoning_marks.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// How gpt-oss begins the part of an answer that is for the user, before what that part is made of.
constexpr std::string_view kChannel = "<|channel|>", kFinal = "<|channel|>final", kMessage = "<|message|>";

/// Returns a text without the blanks at its beginning.
std::string_view without_blanks(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text;
}

/// Returns an answer without the thoughts before it.
std::string_view behind_thoughts(std::string_view answer)
{
    for (const ReasoningMark& mark : kReasoningMarks)
        if (const auto at = answer.rfind(mark.close); at != std::string_view::npos)
            answer = without_blanks(answer.substr(at + mark.close.size()));
    return answer;
}

/// Says whether a text begins with a mark behind which a model thinks.
bool begins_with_thought(std::string_view text)
{
    return std::ranges::any_of(kReasoningMarks,
                               [text](const ReasoningMark& mark) { return text.starts_with(mark.token); });
}

/// Says whether the parts of an answer have heads, as its model writes them; a client's own words have none.
bool has_heads(std::string_view answer)
{
    return answer.find(kChannel) != std::string_view::npos ||
           answer.find(RecipientMarks::kHead) != std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<AnswerRules>> AnswerRules::make(const Request& request, const Tokenizer& tokenizer,
                                                       const std::shared_ptr<const TokenTrie>& trie,
                                                       const std::vector<int>& ends)
{
    if (!request.grammar.empty() && !request.json_schema.empty())
        return fail(Error::Code::BadRequest, "an answer follows either a grammar or a JSON schema, not both");
    std::string gbnf = request.grammar;
    if (!request.json_schema.empty()) {
        auto of_schema = gbnf_of_json_schema(request.json_schema);
        if (!of_schema)
            return tl::unexpected(of_schema.error());
        gbnf = std::move(*of_schema);
    }
    auto grammar = Grammar::parse(gbnf);
    if (!grammar)
        return tl::unexpected(grammar.error());
    std::unique_ptr<AnswerRules> rules(new AnswerRules(std::move(*grammar), tokenizer, trie, ends));
    if (request.messages.empty())
        return rules;
    if (!rules->speak_of_channels(request))
        rules->find_marks();
    if (request.continue_last)
        if (const Status ok = rules->go_on_with(request.messages.back().text); !ok)
            return tl::unexpected(ok.error());
    return rules;
}

AnswerRules::AnswerRules(Grammar grammar, const Tokenizer& tokenizer, const std::shared_ptr<const TokenTrie>& trie,
                         const std::vector<int>& ends)
    : tokenizer_(tokenizer)
    , trie_(trie)
    , masks_(std::move(grammar), trie, ends)
    , state_(masks_.states().start())
    , mixed_(trie->vocabulary_size())
    , thinking_(trie->vocabulary_size())
{
    for (int id = 0; id < tokenizer.size(); ++id)
        if (std::ranges::find(ends, id) == ends.end())
            thinking_.allow(id);
}

/// Says whether the rules hold for the whole answer and not for its last part: where tools are offered and the rules
/// read the marks of channels. Calls are parts of their own then.
bool AnswerRules::speak_of_channels(const Request& request)
{
    return !request.tools_json.empty() && tokenizer_.find(kChannel) != kNoToken &&
           masks_.states().after(state_, kChannel) != GrammarStates::kDead;
}

/// Finds the marks of thoughts that the vocabulary has as tokens.
void AnswerRules::find_marks()
{
    stage_ = Stage::Before;
    has_channels_ = tokenizer_.find(kMessage) != kNoToken &&
                    (tokenizer_.find(kChannel) != kNoToken || tokenizer_.find(RecipientMarks::kEnd) != kNoToken);
    for (const ReasoningMark& mark : kReasoningMarks)
        if (const int id = tokenizer_.find(mark.token); id != kNoToken)
            opening_.push_back(id);
    for (const std::string_view blank : {"\n", "\n\n"}) {
        const auto tokens = tokenizer_.encode(blank, {EncodeOptions::Specials::AsText, EncodeOptions::Start::Middle});
        if (tokens.size() == 1)
            blank_.push_back(tokens.front().id);
    }
}

/// Takes over what is there of an answer that goes on. Of an empty one nothing is: its thoughts may still come.
Status AnswerRules::go_on_with(std::string_view said)
{
    if (said.empty())
        return {};
    return read(stage_ == Stage::Before ? take_thoughts(said) : said);
}

/// Takes over the thoughts of what was said, the last of which may have been cut off; returns the answer behind them.
std::string_view AnswerRules::take_thoughts(std::string_view said)
{
    std::string_view answer = behind_thoughts(said);
    bool thinks = !has_channels_ && begins_with_thought(without_blanks(answer));
    if (has_channels_ && has_heads(said)) {
        const auto head = said.rfind(kMessage);
        answer = said.substr(head == std::string_view::npos ? 0 : head + kMessage.size());
        thought_ = said.substr(0, said.size() - answer.size());
        thinks = !head_of_answer_ends();
    }
    if (thinks) {
        thought_ = said;
        stage_ = Stage::Thought;
        return {};
    }
    stage_ = answer.empty() ? Stage::BehindThought : Stage::Answer;
    return answer;
}

Status AnswerRules::read(std::string_view answer)
{
    constexpr std::size_t kPieceBytes = 1024;  // fed piece by piece, so that states are forgotten on the way
    masks_.states().allow_more_work();
    for (std::size_t at = 0; at < answer.size(); at += kPieceBytes) {
        state_ = masks_.states().after(masks_.tidy(state_), answer.substr(at, kPieceBytes));
        if (masks_.states().gave_up())
            return fail(Error::Code::BadRequest,
                        "the answer that is to go on can be read in so many ways at once that it takes too long");
        if (state_ == GrammarStates::kDead)
            return fail(Error::Code::BadRequest, "the answer that is to go on does not follow the grammar");
    }
    return {};
}

void AnswerRules::begin_with(std::string_view opened)
{
    if (stage_ != Stage::Before || (opened.empty() && !has_channels_))
        return;
    think(opened);
}

/// Takes more of a thought. It may hold the thought's end and then more: signs take line breaks behind them, or the
/// answer's first sign, into their token.
void AnswerRules::think(std::string_view more)
{
    const std::size_t known = thought_.size();
    thought_ += more;
    stage_ = Stage::Thought;
    const std::size_t end = end_of_thought(known);
    if (end == std::string::npos)
        return;
    const std::string_view answer = answer_in(std::string_view(thought_).substr(end));
    state_ = masks_.states().after(state_, answer);
    stage_ = answer.empty() ? Stage::BehindThought : Stage::Answer;
}

/// Returns where the thought ends, which it does not within its first `known` bytes; npos: it goes on.
std::size_t AnswerRules::end_of_thought(std::size_t known) const
{
    if (has_channels_)
        return head_of_answer_ends() ? thought_.size() : std::string::npos;
    std::size_t end = std::string::npos;
    for (const ReasoningMark& mark : kReasoningMarks) {
        const std::size_t first = known - std::min(known, mark.close.size() - 1);
        if (const auto at = thought_.find(mark.close, first); at != std::string::npos)
            end = std::min(end, at + mark.close.size());
    }
    return end;
}

/// Says whether the head of a part that is for the user ends here. Its last mark is always a token by itself.
bool AnswerRules::head_of_answer_ends() const
{
    if (!thought_.ends_with(kMessage))
        return false;
    const std::size_t channel = thought_.rfind(kChannel);
    if (channel != std::string::npos)
        return std::string_view(thought_).substr(channel).starts_with(kFinal);
    return thought_.ends_with(RecipientMarks::kAnswer);
}

/// Returns what belongs to the answer of a text behind a thought: blanks at its beginning only where the rules read
/// them.
std::string_view AnswerRules::answer_in(std::string_view rest)
{
    return masks_.states().after(state_, rest) != GrammarStates::kDead ? rest : without_blanks(rest);
}

/// Returns which tokens may come next in a thought: those that end the thought within themselves only where the answer
/// may begin with the rest of them.
const TokenMask& AnswerRules::thinking()
{
    if (has_channels_)
        return thinking_;
    bool mixed = false;
    masks_.states().allow_more_work();
    for (const ReasoningMark& mark : kReasoningMarks)
        for (std::size_t begun = 1; begun < mark.close.size(); ++begun) {
            if (!thought_.ends_with(mark.close.substr(0, begun)))
                continue;
            if (!std::exchange(mixed, true))
                mixed_ = thinking_;
            trie_->each_behind(mark.close.substr(begun), [this](int id, std::string_view rest) {
                if (masks_.states().after(state_, answer_in(rest)) == GrammarStates::kDead)
                    mixed_.forbid(id);
            });
        }
    return mixed ? mixed_ : thinking_;
}

Result<const TokenMask*> AnswerRules::next()
{
    if (stage_ == Stage::Thought)
        return &thinking();
    state_ = masks_.tidy(state_);
    auto mask = masks_.next(state_);
    if (!mask)
        return mask;
    if (!(*mask)->any() && !masks_.states().may_end(state_))
        return fail(Error::Code::BadRequest, "none of the model's tokens goes on with the grammar");
    if (stage_ == Stage::Answer)
        return mask;
    mixed_ = **mask;
    for (const int id : stage_ == Stage::Before ? opening_ : blank_)
        mixed_.allow(id);
    return &mixed_;
}

void AnswerRules::take(int id)
{
    const auto is_one_of = [id](const std::vector<int>& ids) { return std::ranges::find(ids, id) != ids.end(); };
    if (stage_ == Stage::Thought || (stage_ == Stage::Before && is_one_of(opening_)))
        return think(tokenizer_.piece(id, true));
    const Stage before = std::exchange(stage_, Stage::Answer);
    const TokenMasks::State after = masks_.states().after(state_, tokenizer_.piece(id));
    if (before == Stage::BehindThought && after == GrammarStates::kDead)
        return;  // a blank line
    state_ = after;
}

}  // namespace engine
