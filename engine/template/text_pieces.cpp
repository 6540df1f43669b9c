// split, replace and strip.
#include "engine/template/text_pieces.h"

#include "engine/template/output.h"
#include "engine/template/unicode.h"

#include <algorithm>

namespace engine::jinja {

using Pieces = std::vector<std::string_view>;

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
    heap.budget.spend_on_text(text.size());
    Pieces pieces;
    for (; most != 0; --most) {
        const std::size_t at = text.find(separator);
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
    heap.budget.spend_on_text(text.size());
    Pieces pieces;
    for (; most != 0; --most) {
        const std::size_t at = text.rfind(separator);
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

// Nothing stands between any two characters, and before and after them.
static std::string put_between_characters(Heap& heap, std::string_view text, std::string_view by, std::int64_t most)
{
    Output out(heap);
    for (std::size_t at = 0; most != 0; --most) {
        out.add(by);
        if (at >= text.size()) {
            text = {};
            break;
        }
        unicode::next(text, at);
        out.add(text.substr(0, at));
        text.remove_prefix(at);
        at = 0;
    }
    out.add(text);
    return out.take();
}

std::string replaced(Heap& heap, std::string_view text, std::string_view old, std::string_view by, std::int64_t most)
{
    heap.budget.spend_on_text(text.size());
    if (old.empty())
        return put_between_characters(heap, text, by, most);
    Output out(heap);
    for (; most != 0; --most) {
        const std::size_t at = text.find(old);
        if (at == std::string_view::npos)
            break;
        out.add(text.substr(0, at));
        out.add(by);
        text.remove_prefix(at + old.size());
    }
    out.add(text);
    return out.take();
}

std::string_view strip_characters(Heap& heap, std::string_view text, std::string_view set, bool left, bool right)
{
    std::u32string characters;
    for (std::size_t at = 0; at < set.size();)
        characters += unicode::next(set, at);
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
