// SentencePiece: the pair of neighbours with the best score is joined first, of equal ones the leftmost.
#include "engine/tokenizer/spm_encoder.h"

#include "engine/tokenizer/utf8.h"

#include <cmath>
#include <limits>
#include <queue>

namespace engine {

namespace {

/// Joins the characters of one text to tokens: a chain of stretches, of which neighbours are joined.
class SpmMerge
{
public:
    SpmMerge(const EscapedText& text, const Vocabulary& vocabulary, const TokenIndex& index)
        : text_(text)
        , vocabulary_(vocabulary)
        , index_(index)
    {
        const int count = int(text.characters.size());
        links_.reserve(text.characters.size());
        for (int i = 0; i < count; ++i)
            links_.push_back({i - 1, i + 1 < count ? i + 1 : -1, text.characters[std::size_t(i)].end});
        for (int i = 1; i < count; ++i)
            propose(i - 1, i);
    }

    void run(const std::stop_token& stop)
    {
        while (!pairs_.empty() && !stop.stop_requested()) {
            const Pair pair = pairs_.top();
            pairs_.pop();
            Link& left = link(pair.left);
            // Out of date: one of the two has been joined with another neighbour since.
            if (left.end == 0 || left.next != pair.right || link(pair.right).end != pair.end)
                continue;
            left.end = pair.end;
            left.next = link(pair.right).next;
            link(pair.right).end = 0;
            if (left.next >= 0)
                link(left.next).previous = pair.left;
            propose(left.previous, pair.left);
            propose(pair.left, left.next);
        }
    }

    /// Calls f(bytes, origin) for each stretch that is left.
    template <class F>
    void each(F f) const
    {
        for (int i = links_.empty() ? -1 : 0; i >= 0; i = links_[std::size_t(i)].next)
            f(bytes(i, links_[std::size_t(i)].end), text_.characters[std::size_t(i)].origin);
    }

private:
    struct Link {
        int previous = -1;
        int next = -1;
        std::uint32_t end = 0;  // in the escaped bytes; 0: joined to the one before
    };
    struct Pair {
        float score = 0;
        int left = 0;
        int right = 0;
        std::uint32_t end = 0;  // the end of the right one when this was proposed
        bool operator<(const Pair& other) const
        {
            return score < other.score || (score == other.score && left > other.left);
        }
    };

    Link& link(int i) { return links_[std::size_t(i)]; }

    std::string_view bytes(int first, std::uint32_t end) const
    {
        const std::uint32_t begin = text_.characters[std::size_t(first)].begin;
        return std::string_view(text_.bytes).substr(begin, end - begin);
    }

    void propose(int left, int right)
    {
        if (left < 0 || right < 0)
            return;
        const std::uint32_t end = link(right).end;
        const std::string_view joined = bytes(left, end);
        if (joined.size() > kLongestTokenBytes)
            return;
        const int id = index_.find(joined);
        if (id == kNoToken)
            return;
        const float score = vocabulary_.scores.empty() ? 0.0f : vocabulary_.scores[std::size_t(id)];
        // A hostile file may hold NaN, which has no place in an order.
        pairs_.push({std::isnan(score) ? -std::numeric_limits<float>::infinity() : score, left, right, end});
    }

    const EscapedText& text_;
    const Vocabulary& vocabulary_;
    const TokenIndex& index_;
    std::vector<Link> links_;  // one per character
    std::priority_queue<Pair> pairs_;
};

}  // namespace

/// Says whether no token has a "▁" behind anything else: then nothing is ever joined across the beginning of a word.
static bool words_stand_apart(const Vocabulary& vocabulary)
{
    for (const std::string& token : vocabulary.tokens)
        for (std::size_t at = token.find(kEscapedSpace); at != token.npos; at = token.find(kEscapedSpace, at + 1))
            if (at > 0 && !std::string_view(token).substr(0, at).ends_with(kEscapedSpace))
                return false;
    return true;
}

SpmEncoder::SpmEncoder(const Vocabulary& vocabulary, const TokenIndex& index, bool add_space_prefix)
    : vocabulary_(vocabulary)
    , index_(index)
    , add_space_prefix_(add_space_prefix)
    , words_stand_apart_(words_stand_apart(vocabulary))
{
}

void SpmEncoder::encode(std::string_view text, std::size_t base, bool space_due, std::vector<Token>& out,
                        const std::stop_token& stop) const
{
    EscapedText escaped;
    if (space_due && add_space_prefix_)
        escaped.append_character(" ", base);
    for (std::size_t at = 0; at < text.size() && !stop.stop_requested();) {
        const std::string_view character = text.substr(at, utf8_step(text, at));
        // A word at a time keeps everything that is being joined in the cache.
        const bool space = character == " " || character == kEscapedSpace;
        if (space && words_stand_apart_ && !escaped.bytes.ends_with(kEscapedSpace)) {
            encode_escaped(escaped, out, stop);
            escaped.clear();
        }
        escaped.append_character(character, base + at);
        at += character.size();
    }
    encode_escaped(escaped, out, stop);
}

void SpmEncoder::encode_escaped(const EscapedText& text, std::vector<Token>& out, const std::stop_token& stop) const
{
    SpmMerge merge(text, vocabulary_, index_);
    merge.run(stop);
    merge.each([&](std::string_view bytes, std::uint32_t origin) {
        if (const int id = index_.find(bytes); id != kNoToken)
            out.push_back({id, origin});
        else
            append_bytes(bytes, origin, out);
    });
}

void SpmEncoder::append_bytes(std::string_view bytes, std::size_t origin, std::vector<Token>& out) const
{
    const bool space = bytes == kEscapedSpace;  // three bytes here, one in the text
    const std::size_t before = out.size();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const int id = index_.byte_token(static_cast<unsigned char>(bytes[i]));
        if (id == kNoToken) {  // either all bytes of a character are written, or none
            out.resize(before);
            if (vocabulary_.unk != kNoToken)
                out.push_back({vocabulary_.unk, std::uint32_t(origin)});
            return;
        }
        out.push_back({id, std::uint32_t(space ? origin : origin + i)});
    }
}

}  // namespace engine
