// UTF-8 walking and Python's character properties.
#include "engine/template/unicode.h"

#include "engine/template/conversion.h"
#include "engine/template/unicode_tables.h"

#include <algorithm>

namespace engine::jinja::unicode {

// ---- UTF-8 ----

static bool is_continuation(std::string_view text, std::size_t at)
{
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

// Returns the bytes of the character at `at`: 1 for ASCII and for anything malformed.
static std::size_t sequence_length(std::string_view text, std::size_t at)
{
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
    for (std::size_t i = 1; i < size; ++i)
        if (!is_continuation(text, at + i))
            return 1;
    return size;
}

std::int64_t length(std::string_view text)
{
    std::int64_t count = 0;
    for (std::size_t at = 0; at < text.size(); at += sequence_length(text, at))
        ++count;
    return count;
}

char32_t next(std::string_view text, std::size_t& at)
{
    const std::size_t size = sequence_length(text, at);
    const auto lead = static_cast<unsigned char>(text[at]);
    char32_t c = size == 1 ? lead : lead & (0x7f >> size);
    for (std::size_t i = 1; i < size; ++i)
        c = (c << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3f);
    at += size;
    return c;
}

char32_t previous(std::string_view text, std::size_t& end)
{
    std::size_t start = end - 1;
    while (start > 0 && end - start < 4 && is_continuation(text, start))
        --start;
    if (start + sequence_length(text, start) != end)
        start = end - 1;
    end = start;
    return next(text, start);
}

void append(std::string& text, char32_t c)
{
    if (c >= 0xd800 && c < 0xe000)
        c = 0xfffd;  // half a surrogate pair has no UTF-8
    if (c < 0x80) {
        text += char(c);
    } else if (c < 0x800) {
        text += char(0xc0 | (c >> 6));
        text += char(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        text += char(0xe0 | (c >> 12));
        text += char(0x80 | ((c >> 6) & 0x3f));
        text += char(0x80 | (c & 0x3f));
    } else {
        text += char(0xf0 | (c >> 18));
        text += char(0x80 | ((c >> 12) & 0x3f));
        text += char(0x80 | ((c >> 6) & 0x3f));
        text += char(0x80 | (c & 0x3f));
    }
}

std::size_t byte_of(std::string_view text, std::int64_t index)
{
    std::size_t at = 0;
    for (; index > 0 && at < text.size(); --index)
        at += sequence_length(text, at);
    return at;
}

// ---- properties ----

static bool in_table(char32_t c, const Run* table, std::size_t count)
{
    const Run* end = table + count;
    const Run* run = std::lower_bound(table, end, c, [](const Run& r, char32_t value) { return r.last < value; });
    return run != end && c >= run->first && (c - run->first) % char32_t(run->stride) == 0;
}

static char32_t mapped(char32_t c, const MapRun* table, std::size_t count)
{
    const MapRun* end = table + count;
    const MapRun* run = std::lower_bound(table, end, c, [](const MapRun& r, char32_t value) { return r.last < value; });
    if (run == end || c < run->first || (c - run->first) % char32_t(run->stride) != 0)
        return c;
    return char32_t(std::int64_t(c) + run->difference);
}

static const char* special(char32_t c, const Special* table, std::size_t count)
{
    const Special* end = table + count;
    const Special* found =
        std::lower_bound(table, end, c, [](const Special& s, char32_t value) { return s.from < value; });
    return found != end && found->from == c ? found->to : nullptr;
}

bool is_space(char32_t c)
{
    if (c < 0x80)
        return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_alpha(char32_t c)
{
    return in_table(c, kAlpha, kAlpha_count);
}
bool is_decimal(char32_t c)
{
    return in_table(c, kDecimal, kDecimal_count);
}
bool is_digit(char32_t c)
{
    return is_decimal(c) || in_table(c, kDigit, kDigit_count);
}
bool is_numeric(char32_t c)
{
    return is_digit(c) || in_table(c, kNumeric, kNumeric_count);
}
bool is_printable(char32_t c)
{
    return c < 0x7f ? c >= 0x20 : !in_table(c, kUnprintable, kUnprintable_count);
}
bool is_upper(char32_t c)
{
    return in_table(c, kUpper, kUpper_count);
}
bool is_lower(char32_t c)
{
    return in_table(c, kLower, kLower_count);
}
bool is_title(char32_t c)
{
    return in_table(c, kTitle, kTitle_count);
}

// ---- case ----

static bool is_cased(char32_t c)
{
    return is_upper(c) || is_lower(c) || is_title(c);
}

static void append_upper(std::string& out, char32_t c)
{
    if (c < 0x80)
        out += char(c >= 'a' && c <= 'z' ? c - 32 : c);
    else if (const char* text = special(c, kSpecialUpper, kSpecialUpper_count))
        out += text;
    else
        append(out, mapped(c, kToUpper, kToUpper_count));
}

static void append_title(std::string& out, char32_t c)
{
    if (const char* text = special(c, kSpecialTitle, kSpecialTitle_count)) {
        out += text;
        return;
    }
    const char32_t title = mapped(c, kToTitle, kToTitle_count);
    if (title != c || is_title(c))
        append(out, title);
    else
        append_upper(out, c);
}

// Says whether a capital sigma ends a word, so that it becomes the final form. start and end are its own bytes.
static bool is_final_sigma(std::string_view text, std::size_t start, std::size_t end)
{
    constexpr int kFarthest = 64;  // marks between two letters; also keeps a run of sigmas linear
    bool letter_before = false;
    for (int i = 0; start > 0 && i < kFarthest; ++i) {
        const char32_t c = previous(text, start);
        if (in_table(c, kCaseIgnorable, kCaseIgnorable_count))
            continue;
        letter_before = is_cased(c);
        break;
    }
    for (int i = 0; letter_before && end < text.size() && i < kFarthest; ++i) {
        const char32_t c = next(text, end);
        if (in_table(c, kCaseIgnorable, kCaseIgnorable_count))
            continue;
        return !is_cased(c);
    }
    return letter_before;
}

static void append_lower(std::string& out, std::string_view text, std::size_t start, std::size_t end, char32_t c)
{
    if (c < 0x80)
        out += char(c >= 'A' && c <= 'Z' ? c + 32 : c);
    else if (c == 0x130)
        out += "i\xcc\x87";
    else if (c == 0x3a3)
        append(out, is_final_sigma(text, start, end) ? 0x3c2 : 0x3c3);
    else
        append(out, mapped(c, kToLower, kToLower_count));
}

std::string upper(std::string_view text, Conversion& conversion)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        conversion.reached(at, out.size());
        append_upper(out, next(text, at));
    }
    return out;
}

std::string lower(std::string_view text, Conversion& conversion)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        conversion.reached(at, out.size());
        const std::size_t start = at;
        const char32_t c = next(text, at);
        append_lower(out, text, start, at, c);
    }
    return out;
}

std::string capitalize(std::string_view text, Conversion& conversion)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        conversion.reached(at, out.size());
        const std::size_t start = at;
        const char32_t c = next(text, at);
        if (start == 0)
            append_title(out, c);
        else
            append_lower(out, text, start, at, c);
    }
    return out;
}

std::string title(std::string_view text, Conversion& conversion)
{
    std::string out;
    bool inside_word = false;
    for (std::size_t at = 0; at < text.size();) {
        conversion.reached(at, out.size());
        const std::size_t start = at;
        const char32_t c = next(text, at);
        if (inside_word)
            append_lower(out, text, start, at, c);
        else
            append_title(out, c);
        inside_word = is_cased(c);
    }
    return out;
}

std::string title_of_words(std::string_view text, bool (*separates)(char32_t), Conversion& conversion)
{
    std::string out;
    bool starts = true;
    std::size_t rest = 0;  // the word behind its first character: what follows that is made lower case separately
    for (std::size_t at = 0; at < text.size();) {
        conversion.reached(at, out.size());
        const std::size_t start = at;
        const char32_t c = next(text, at);
        const bool separator = separates(c);
        if (separator)
            out += text.substr(start, at - start);
        else if (starts)
            append_upper(out, c);
        else
            append_lower(out, text.substr(rest), start - rest, at - rest, c);
        if (starts)
            rest = at;
        starts = separator;
    }
    return out;
}

std::string swapcase(std::string_view text, Conversion& conversion)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        conversion.reached(at, out.size());
        const std::size_t start = at;
        const char32_t c = next(text, at);
        if (is_upper(c))
            append_lower(out, text, start, at, c);
        else
            append_upper(out, c);
    }
    return out;
}

std::string_view strip_left(std::string_view text)
{
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t after = at;
        if (!is_space(next(text, after)))
            break;
        at = after;
    }
    return text.substr(at);
}

std::string_view strip_right(std::string_view text)
{
    std::size_t end = text.size();
    while (end > 0) {
        std::size_t before = end;
        if (!is_space(previous(text, before)))
            break;
        end = before;
    }
    return text.substr(0, end);
}

}  // namespace engine::jinja::unicode
