#include "app/server/fill_prompt.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace server {

namespace {

using Ids = std::vector<int>;

constexpr std::size_t kAnyTokens = std::size_t(1) << 30;  // where the context is not known

// No client says what these are called, and models have learned that there are names.
constexpr const char* kProject = "project\n";
constexpr const char* kThisFile = "file\n";

void append(Ids& ids, const Ids& more)
{
    ids.insert(ids.end(), more.begin(), more.end());
}

/// Returns how many tokens the prompt may have, so that a quarter of the context at most is kept for the answer.
std::size_t room_of_prompt(const engine::Request& turn, int context_tokens)
{
    if (context_tokens <= 0)
        return kAnyTokens;
    const int most = std::max(context_tokens / 4, 1);
    const int answer = turn.max_tokens < 0 ? most : std::clamp(turn.max_tokens, 1, most);
    return std::size_t(context_tokens - answer);
}

/// Lays out one gap. All texts are the user's: what looks like a special token in them stays text.
class GapLayout
{
public:
    GapLayout(ModelText& text, const engine::FillMarks& marks, std::stop_token stop)
        : text_(text)
        , marks_(marks)
        , stop_(std::move(stop))
    {
    }

    engine::Result<Ids> lay_out(const Gap& gap, std::size_t room);

private:
    enum class Start { OfText, GoesOn };
    engine::Result<Ids> tokens(const std::string& text, Start start) const;
    engine::Result<Ids> marked(int mark, const std::string& text) const;
    engine::Result<Ids> with_name(const Gap::File& file) const;
    engine::Result<Ids> last_that_fit(const std::vector<Gap::File>& files, std::size_t room) const;

    ModelText& text_;
    const engine::FillMarks marks_;
    const std::stop_token stop_;
};

engine::Result<Ids> GapLayout::tokens(const std::string& text, Start start) const
{
    return text_.tokenize(text, {.bos = false, .specials = false, .goes_on = start == Start::GoesOn, .stop = stop_});
}

/// Returns a text behind a mark; nothing where there is no such mark.
engine::Result<Ids> GapLayout::marked(int mark, const std::string& text) const
{
    if (mark < 0)
        return Ids();
    auto ids = tokens(text, Start::OfText);
    if (ids)
        ids->insert(ids->begin(), mark);
    return ids;
}

/// Returns another file, which a line tells apart where the model has no mark for files.
engine::Result<Ids> GapLayout::with_name(const Gap::File& file) const
{
    const std::string name = file.name.empty() ? "file" : file.name;
    const std::string text = file.text + (file.text.ends_with('\n') ? "" : "\n");
    return marks_.file >= 0 ? marked(marks_.file, name + '\n' + text)
                            : tokens("--- " + name + " ---\n" + text + '\n', Start::GoesOn);
}

/// Returns the last files that fit, with what stands before and behind all of them: programs name a file behind those
/// that were looked at before it. However many there are, none becomes tokens before the first that does not fit.
engine::Result<Ids> GapLayout::last_that_fit(const std::vector<Gap::File>& files, std::size_t room) const
{
    if (files.empty())
        return Ids();
    const bool has_mark = marks_.file >= 0;
    auto all = has_mark ? marked(marks_.repository, kProject) : Ids();
    const auto end = has_mark ? marked(marks_.file, kThisFile) : Ids();
    if (!all || !end)
        return tl::unexpected(!all ? all.error() : end.error());
    std::size_t taken = all->size() + end->size();
    std::vector<Ids> kept;  // the last one first
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
        auto ids = with_name(*file);
        if (!ids)
            return ids;
        taken += ids->size();
        if (taken > room)
            break;
        kept.push_back(std::move(*ids));
    }
    if (kept.empty())
        return Ids();
    for (auto ids = kept.rbegin(); ids != kept.rend(); ++ids)
        append(*all, *ids);
    append(*all, *end);
    return all;
}

engine::Result<Ids> GapLayout::lay_out(const Gap& gap, std::size_t room)
{
    auto ids = text_.tokenize({}, {.bos = true, .specials = false});
    auto before = tokens(gap.before, Start::OfText), after = tokens(gap.after, Start::GoesOn);
    for (const auto* made : {&ids, &before, &after})
        if (!*made)
            return tl::unexpected(made->error());
    constexpr std::size_t kMarks = 3;
    std::size_t left = room - std::min(room, ids->size() + kMarks);
    if (before->size() + after->size() > left) {
        const std::size_t behind = left - std::min(left, after->size());
        const std::size_t taken = std::min(before->size(), std::max(behind, left / 4 * 3));
        before->erase(before->begin(), before->end() - std::ptrdiff_t(taken));
        after->resize(left - taken);
    }
    left -= before->size() + after->size();
    const auto others = last_that_fit(gap.others, left);
    if (!others)
        return tl::unexpected(others.error());

    before->insert(before->begin(), marks_.prefix);
    after->insert(after->begin(), marks_.suffix);
    if (marks_.middle < 0) {  // the files are of the text that is gone on with
        append(*ids, *after);
        before->insert(before->begin() + 1, others->begin(), others->end());
        append(*ids, *before);
        return ids;
    }
    append(*ids, *others);
    append(*ids, *before);
    append(*ids, *after);
    ids->push_back(marks_.middle);
    return ids;
}

}  // namespace

bool has_gaps(const Ask& ask)
{
    return std::ranges::any_of(ask.prompts, [](const RawPrompt& prompt) { return prompt.gap.has_value(); });
}

engine::Status make_tokens_of_gaps(Ask& ask, ModelText& text, int context_tokens, std::stop_token stop)
{
    if (!has_gaps(ask))
        return {};
    const engine::FillMarks marks = text.fill_marks();
    if (!marks.are_there())
        return engine::fail(engine::Error::Code::Unsupported,
                            "this model fills no gaps in a text (fill-in-the-middle): its file has no tokens for that");
    GapLayout layout(text, marks, std::move(stop));
    for (RawPrompt& prompt : ask.prompts) {
        if (!prompt.gap)
            continue;
        auto ids = layout.lay_out(*prompt.gap, room_of_prompt(ask.turn, context_tokens));
        if (!ids)
            return tl::unexpected(ids.error());
        prompt.ids = std::move(*ids);
        prompt.gap.reset();
    }
    return {};
}

}  // namespace server
