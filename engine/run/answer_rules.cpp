#include "engine/run/answer_rules.h"

#include "engine/answer_grammar.h"
#include "engine/reasoning_marks.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// How gpt-oss begins the part of an answer that is for the user, before what that part is made of.
constexpr std::string_view kChannel = "<|channel|>", kFinal = "<|channel|>final", kMessage = "<|message|>";

/// Returns an answer without the thoughts before it.
std::string_view behind_thoughts(std::string_view answer)
{
    for (const ReasoningMark& mark : kReasoningMarks)
        if (const auto at = answer.rfind(mark.close); at != std::string_view::npos) {
            answer.remove_prefix(at + mark.close.size());
            answer.remove_prefix(std::min(answer.find_first_not_of(" \n"), answer.size()));
        }
    return answer;
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
    if (request.continue_last && !request.messages.empty()) {
        if (const Status ok = rules->go_on_from(behind_thoughts(request.messages.back().text)); !ok)
            return tl::unexpected(ok.error());
    } else if (!request.messages.empty() && !rules->speak_of_channels(request)) {
        rules->find_marks();
    }
    return rules;
}

AnswerRules::AnswerRules(Grammar grammar, const Tokenizer& tokenizer, const std::shared_ptr<const TokenTrie>& trie,
                         const std::vector<int>& ends)
    : tokenizer_(tokenizer)
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

Status AnswerRules::go_on_from(std::string_view answer)
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
    thought_ = opened;
    stage_ = thought_ends() ? Stage::BehindThought : Stage::Thought;
}

bool AnswerRules::thought_ends() const
{
    if (!has_channels_)
        return std::ranges::any_of(kReasoningMarks,
                                   [this](const ReasoningMark& mark) { return thought_.ends_with(mark.close); });
    if (!thought_.ends_with(kMessage))
        return false;
    const std::size_t channel = thought_.rfind(kChannel);
    if (channel != std::string::npos)
        return std::string_view(thought_).substr(channel).starts_with(kFinal);
    return thought_.ends_with(RecipientMarks::kAnswer);
}

Result<const TokenMask*> AnswerRules::next()
{
    if (stage_ == Stage::Thought)
        return &thinking_;
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
    const Stage before = std::exchange(stage_, Stage::Answer);
    if (before == Stage::Thought || (before == Stage::Before && is_one_of(opening_))) {
        thought_ += tokenizer_.piece(id, true);
        stage_ = thought_ends() ? Stage::BehindThought : Stage::Thought;
        return;
    }
    const TokenMasks::State after = masks_.states().after(state_, tokenizer_.piece(id));
    if (before == Stage::BehindThought && after == GrammarStates::kDead)
        return;  // a blank line
    state_ = after;
}

}  // namespace engine
