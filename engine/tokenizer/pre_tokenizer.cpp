// The patterns that cut text into words, run by PCRE2.
#include "engine/tokenizer/pre_tokenizer.h"

#include "engine/tokenizer/pcre2_handles.h"
#include "engine/tokenizer/utf8.h"

#include <string>
#include <utility>

namespace engine {

namespace {

/// Part of a text. Only valid UTF-8 is searched.
struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool utf8 = true;
};

/// Holds what one thread needs to match.
struct Matching {
    Pcre2MatchData data{pcre2_match_data_create(1, nullptr)};
    Pcre2MatchContext context{pcre2_match_context_create(nullptr)};

    Matching()
    {
        if (!context)
            return;
        pcre2_set_match_limit(context.get(), 20'000'000);  // steps of one attempt
        pcre2_set_heap_limit(context.get(), 64 * 1024);    // KiB
    }
};

// PCRE2 counts U+180E as white space, Unicode and the models' tokenizers do not: the classes are written out.
constexpr std::string_view kSpaces =
    R"(\t-\r\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

/// Writes \s and \S as classes; \s may stand inside one.
std::string with_spaces_written_out(std::string_view pattern)
{
    std::string out;
    bool in_class = false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
        if (c == '\\' && (next == 's' || next == 'S')) {
            const std::string_view open = in_class ? "" : next == 's' ? "[" : "[^";
            out.append(open).append(kSpaces).append(in_class ? "" : "]");
            ++i;
        } else if (c == '\\') {
            out.append(pattern.substr(i++, 2));
        } else {
            in_class = in_class ? c != ']' : c == '[';
            out.push_back(c);
        }
    }
    return out;
}

std::size_t characters(std::string_view text)
{
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); at += utf8_step(text, at))
        ++count;
    return count;
}

/// Adds all groups of three characters, counted from the right, but the last; returns where that one begins.
template <class Add>
std::size_t after_groups_of_three(std::string_view text, std::size_t begin, std::size_t end, Add add)
{
    std::size_t left = characters(text.substr(begin, end - begin));
    while (left > 3) {
        const std::size_t group = left % 3 ? left % 3 : 3;
        const std::size_t first = begin;
        for (std::size_t i = 0; i < group; ++i)
            begin += utf8_step(text, begin);
        add(first, begin);
        left -= group;
    }
    return begin;
}

std::vector<Piece> pieces_by_validity(std::string_view text)
{
    std::vector<Piece> pieces;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Look look = look_at_utf8(text, at);
        const bool utf8 = look.kind == Utf8Look::Kind::Character;
        if (pieces.empty() || pieces.back().utf8 != utf8)
            pieces.push_back({at, at, utf8});
        at += look.bytes;
        pieces.back().end = at;
    }
    return pieces;
}

}  // namespace

/// Holds one compiled pattern.
class PreTokenizer::Pattern
{
public:
    static Result<Pattern> compile(std::string_view text)
    {
        const std::string pattern = with_spaces_written_out(text);
        int error = 0;
        PCRE2_SIZE at = 0;
        Pattern result;
        result.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                         PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY, &error, &at, nullptr));
        if (!result.code_)
            return fail(Error::Code::Internal, "a word pattern does not compile, at character " + std::to_string(at));
        pcre2_jit_compile(result.code_.get(), PCRE2_JIT_COMPLETE);  // where it fails, the interpreter does the work
        return result;
    }

    /// Cuts `piece` of the text: what matches is a piece, and what lies between two matches is one.
    /// thousands: what matches is cut once more, into groups of three characters from the right.
    void cut(std::string_view text, Piece piece, bool thousands, const Matching& with, std::vector<Piece>& out,
             const std::stop_token& stop) const
    {
        // A look-ahead takes the end of a piece for the end of the text, as in the models' own tokenizers.
        const std::string_view subject = text.substr(piece.begin, piece.end - piece.begin);
        const auto add = [&](std::size_t begin, std::size_t end) {
            if (begin < end)
                out.push_back({piece.begin + begin, piece.begin + end});
        };
        std::size_t done = 0;
        for (std::size_t from = 0; from < subject.size() && !stop.stop_requested();) {
            if (!match(subject, from, with))
                break;
            const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(with.data.get());
            if (ends[1] <= from) {  // an empty match would never end
                from += utf8_step(subject, from);
                continue;
            }
            add(done, ends[0]);
            const std::size_t end = ends[1];
            std::size_t begin = ends[0];
            if (thousands)
                begin = after_groups_of_three(subject, begin, end, add);
            add(begin, end);
            done = from = end;
        }
        add(done, subject.size());
    }

private:
    /// Finds the next match. False also where the pattern gives up (a limit): the rest of the piece is then one word,
    /// and nothing is lost.
    bool match(std::string_view subject, std::size_t from, const Matching& with) const
    {
        // Without this each call would check the whole subject again.
        std::uint32_t options = PCRE2_NO_UTF_CHECK;
        const auto run = [&] {
            return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), from, options,
                               with.data.get(), with.context.get());
        };
        int found = run();
        if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
            options |= PCRE2_NO_JIT;
            found = run();
        }
        return found >= 0;  // 0: more groups than asked for
    }

    Pcre2Code code_;
};

PreTokenizer::PreTokenizer(const PreTokenizerRule& rule)
    : rule_(&rule)
{
}

PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;
PreTokenizer::~PreTokenizer() = default;

Result<PreTokenizer> PreTokenizer::make(const PreTokenizerRule& rule)
{
    PreTokenizer words(rule);
    std::vector<std::string_view> texts(rule.patterns.begin(), rule.patterns.end());
    if (!rule.thousands.empty())
        texts.insert(texts.begin(), rule.thousands);
    for (const std::string_view text : texts) {
        auto pattern = Pattern::compile(text);
        if (!pattern)
            return tl::unexpected(pattern.error());
        words.patterns_.push_back(std::move(*pattern));
    }
    return words;
}

std::vector<std::size_t> PreTokenizer::word_ends(std::string_view text, const std::stop_token& stop) const
{
    std::vector<Piece> pieces = pieces_by_validity(text);
    const Matching matching;
    if (matching.data && matching.context) {
        bool thousands = !rule_->thousands.empty();
        for (const Pattern& pattern : patterns_) {
            std::vector<Piece> cut;
            for (const Piece& piece : pieces)
                if (piece.utf8)
                    pattern.cut(text, piece, thousands, matching, cut, stop);
                else
                    cut.push_back(piece);
            pieces = std::move(cut);
            thousands = false;
        }
    }
    std::vector<std::size_t> ends;
    ends.reserve(pieces.size());
    for (const Piece& piece : pieces)
        ends.push_back(piece.end);
    return ends;
}

}  // namespace engine
