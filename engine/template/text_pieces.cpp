// split, replace and strip.
#include "engine/template/text_pieces.h"

#include "engine/template/output.h"
#include "engine/template/unicode.h"

#include <algorithm>

namespace engine::jinja {

using Pieces = std::vector<std::string_view>;

namespace {

/// Compares a wanted text with places of another one, and counts each byte that it looks at.
class Comparison
{
public:
    Comparison(Heap& heap, std::string_view wanted)
        : heap_(heap)
        , wanted_(wanted)
    {
    }

    bool stands_at(std::string_view text, std::size_t at)
    {
        const auto end = std::mismatch(wanted_.begin(), wanted_.end(), text.begin() + std::ptrdiff_t(at)).first;
        look_at(std::size_t(end - wanted_.begin()) + kAttempt);
        return end == wanted_.end();
    }

    void look_at(std::size_t bytes)
    {
        constexpr std::size_t kPayment = 1024;
        bytes_ += bytes;
        if (bytes_ >= kPayment)
            heap_.budget.spend_on_text(std::exchange(bytes_, 0));
    }

private:
    static constexpr std::size_t kAttempt = 4;  // this many bytes are counted for an attempt besides those it reads

    Heap& heap_;
    std::string_view wanted_;
    std::size_t bytes_ = 0;  // not counted yet
};

}  // namespace

std::size_t find_text(Heap& heap, std::string_view text, std::string_view wanted, std::size_t from)
{
    heap.budget.step();
    if (wanted.empty() || text.size() < wanted.size() || from > text.size() - wanted.size())
        return wanted.empty() && from <= text.size() ? from : std::string_view::npos;
    Comparison comparison(heap, wanted);
    const std::string_view starts = text.substr(0, text.size() - wanted.size() + 1);
    for (std::size_t at = from; at < starts.size(); ++at) {
        const std::size_t start = std::min(starts.find(wanted.front(), at), starts.size());
        comparison.look_at(start - at);
        at = start;
        if (at < starts.size() && comparison.stands_at(text, at))
            return at;
    }
    return std::string_view::npos;
}

std::size_t rfind_text(Heap& heap, std::string_view text, std::string_view wanted)
{
    heap.budget.step();
    if (wanted.size() > text.size())
        return std::string_view::npos;
    Comparison comparison(heap, wanted);
    for (std::size_t at = text.size() - wanted.size() + 1; at-- > 0;)
        if (comparison.stands_at(text, at))
            return at;
    return std::string_view::npos;
}

// Each piece becomes a value later, which is counted; this keeps the list of pieces itself in bounds.
static void add(Heap& heap, Pieces& pieces, std::string_view piece)
{
    heap.budget.step();
    if (pieces.size() == pieces.capacity()) {
        heap.budget.take(pieces.size() * 2 * sizeof(std::string_view));
        heap.budget.give_back(pieces.size() * 2 * sizeof(std::string_view));
    }
    pieces.push_back(piece);
}

Pieces split_text(Heap& heap, std::string_view text, std::string_view separator, std::int64_t most)
{
    if (separator.empty())
        throw TemplateError("empty separator");
    Pieces pieces;
    for (; most != 0; --most) {
        const std::size_t at = find_text(heap, text, separator);
        if (at == std::string_view::npos)
            break;
        add(heap, pieces, text.substr(0, at));
        text.remove_prefix(at + separator.size());
    }
    add(heap, pieces, text);
    return pieces;
}

Pieces rsplit_text(Heap& heap, std::string_view text, std::string_view separator, std::int64_t most)
{
    if (separator.empty())
        throw TemplateError("empty separator");
    Pieces pieces;
    for (; most != 0; --most) {
        const std::size_t at = rfind_text(heap, text, separator);
        if (at == std::string_view::npos)
            break;
        add(heap, pieces, text.substr(at + separator.size()));
        text = text.substr(0, at);
    }
    add(heap, pieces, text);
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
}

Pieces split_space(Heap& heap, std::string_view text, std::int64_t most)
{
    heap.budget.spend_on_text(text.size());
    Pieces pieces;
    for (text = unicode::strip_left(text); !text.empty(); text = unicode::strip_left(text)) {
        if (most-- == 0) {
            add(heap, pieces, text);
            break;
        }
        std::size_t end = 0;
        for (std::size_t after = 0; after < text.size() && !unicode::is_space(unicode::next(text, after));)
            end = after;
        add(heap, pieces, text.substr(0, end));
        text.remove_prefix(end);
    }
    return pieces;
}

Pieces rsplit_space(Heap& heap, std::string_view text, std::int64_t most)
{
    heap.budget.spend_on_text(text.size());
    Pieces pieces;
    for (text = unicode::strip_right(text); !text.empty(); text = unicode::strip_right(text)) {
        if (most-- == 0) {
            add(heap, pieces, text);
            break;
        }
        std::size_t start = text.size();
        for (std::size_t before = start; before > 0 && !unicode::is_space(unicode::previous(text, before));)
            start = before;
        add(heap, pieces, text.substr(start));
        text = text.substr(0, start);
    }
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
}

static bool ends_line(char32_t c)
{
    return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

Pieces split_lines(Heap& heap, std::string_view text, bool keep_ends)
{
    heap.budget.spend_on_text(text.size());
    Pieces pieces;
    std::size_t line = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = at;
        const char32_t c = unicode::next(text, at);
        if (!ends_line(c))
            continue;
        if (c == '\r' && at < text.size() && text[at] == '\n')
            ++at;
        add(heap, pieces, text.substr(line, (keep_ends ? at : end) - line));
        line = at;
    }
    if (line < text.size())
        add(heap, pieces, text.substr(line));
    return pieces;
}

// Puts `by` between any two characters, and before and after them: the empty text stands there.
static TracedText put_between_characters(Heap& heap, const TracedText& source, const TracedText& by, std::int64_t most)
{
    std::string_view text = source.bytes();
    Output out(heap);
    for (std::size_t at = 0; most != 0; --most) {
        out.add(by);
        if (at >= text.size()) {
            text = {};
            break;
        }
        unicode::next(text, at);
        out.add(source, text.substr(0, at));
        text.remove_prefix(at);
        at = 0;
    }
    out.add(source, text);
    return out.take();
}

TracedText replaced(Heap& heap, const TracedText& source, std::string_view old, const TracedText& by, std::int64_t most)
{
    if (old.empty())
        return put_between_characters(heap, source, by, most);
    std::string_view text = source.bytes();
    Output out(heap);
    for (; most != 0; --most) {
        const std::size_t at = find_text(heap, text, old);
        if (at == std::string_view::npos)
            break;
        out.add(source, text.substr(0, at));
        out.add(by);
        text.remove_prefix(at + old.size());
    }
    out.add(source, text);
    return out.take();
}

std::string_view strip_characters(Heap& heap, std::string_view text, std::string_view set, bool left, bool right)
{
    constexpr std::size_t kAtOnce = 4096;             // so that a stop takes effect within millions of characters
    heap.budget.take(set.size() * sizeof(char32_t));  // for as long as this lasts
    heap.budget.give_back(set.size() * sizeof(char32_t));
    std::u32string characters;
    characters.reserve(set.size());
    for (std::size_t at = 0; at < set.size();) {
        if (characters.size() % kAtOnce == 0)
            heap.budget.spend_on_text(std::min(set.size() - at, kAtOnce) * 4);
        characters += unicode::next(set, at);
    }
    const auto is_in_set = [&](char32_t c) {
        heap.budget.spend(std::int64_t(characters.size() / 64) + 1);
        return characters.find(c) != std::u32string::npos;
    };
    for (std::size_t at = 0; left && !text.empty() && is_in_set(unicode::next(text, at)); at = 0)
        text.remove_prefix(at);
    for (std::size_t end = text.size(); right && !text.empty() && is_in_set(unicode::previous(text, end));
         end = text.size())
        text = text.substr(0, end);
    return text;
}

}  // namespace engine::jinja
