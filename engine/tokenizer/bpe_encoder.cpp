// Byte-pair encoding of the words of a text.
#include "engine/tokenizer/bpe_encoder.h"

#include "engine/tokenizer/byte_alphabet.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace engine {

/// Turns one word from letters into tokens. Used for one word after the other, so that its memory is taken once.
class BpeEncoder::Word
{
public:
    struct Link {
        int symbol = kNoSymbol;
        int previous = -1;
        int next = -1;
        std::uint32_t begin = 0;   // in the word's bytes
        std::uint32_t end = 0;     // 0: joined to the one before
        std::uint32_t origin = 0;  // in the whole text
    };

    Word(const MergeTable& merges, const std::stop_token& stop)
        : merges_(merges)
        , stop_(stop)
    {
    }

    void clear() { links_.clear(); }

    void add(int symbol, std::uint32_t begin, std::uint32_t end, std::uint32_t origin)
    {
        const int i = int(links_.size());
        if (i > 0)
            links_.back().next = i;
        links_.push_back({symbol, i - 1, -1, begin, end, origin});
    }

    void join()
    {
        pairs_.clear();
        for (int i = 1; i < int(links_.size()); ++i)
            propose(i - 1, i);
        while (!pairs_.empty() && !stop_.stop_requested()) {
            std::pop_heap(pairs_.begin(), pairs_.end());
            const Pair pair = pairs_.back();
            pairs_.pop_back();
            Link& left = link(pair.left);
            // Out of date: one of the two has been joined with another neighbour since.
            if (left.next != pair.right || left.symbol != pair.left_symbol ||
                link(pair.right).symbol != pair.right_symbol)
                continue;
            join(pair, left);
        }
    }

    template <class F>
    void each(F f) const
    {
        for (int i = links_.empty() ? -1 : 0; i >= 0; i = links_[std::size_t(i)].next)
            f(links_[std::size_t(i)]);
    }

private:
    struct Pair {
        int rank = 0;
        int left = 0;
        int right = 0;
        int left_symbol = kNoSymbol;
        int right_symbol = kNoSymbol;
        int result = kNoSymbol;
        bool operator<(const Pair& other) const  // for a heap with the best on top
        {
            return rank > other.rank || (rank == other.rank && left > other.left);
        }
    };

    Link& link(int i) { return links_[std::size_t(i)]; }

    void propose(int left, int right)
    {
        if (left < 0 || right < 0)
            return;
        const int left_symbol = link(left).symbol;
        const int right_symbol = link(right).symbol;
        if (left_symbol == kNoSymbol || right_symbol == kNoSymbol)
            return;
        const MergeTable::Merge* merge = merges_.find(left_symbol, right_symbol);
        if (!merge)
            return;
        pairs_.push_back({merge->rank, left, right, left_symbol, right_symbol, merge->result});
        std::push_heap(pairs_.begin(), pairs_.end());
    }

    void join(const Pair& pair, Link& left)
    {
        Link& right = link(pair.right);
        left.symbol = pair.result;
        left.end = right.end;
        left.next = right.next;
        if (left.next >= 0)
            link(left.next).previous = pair.left;
        right = {};  // without a symbol, proposals for it are out of date
        propose(left.previous, pair.left);
        propose(pair.left, left.next);
    }

    const MergeTable& merges_;
    const std::stop_token& stop_;
    std::vector<Link> links_;
    std::vector<Pair> pairs_;  // a heap
};

BpeEncoder::BpeEncoder(const Vocabulary& vocabulary, const TokenIndex& index, PreTokenizer words)
    : vocabulary_(vocabulary)
    , index_(index)
    , words_(std::move(words))
    , merges_(vocabulary, index)
{
    for (int byte = 0; byte < 256; ++byte) {
        const auto letter = byte_letter(static_cast<unsigned char>(byte));
        const bool letters = words_.rule().form == WordForm::ByteLetters;
        byte_ids_[std::size_t(byte)] =
            letters ? index.find(letter) : index.byte_token(static_cast<unsigned char>(byte));
        byte_symbols_[std::size_t(byte)] = letters ? merges_.symbol(letter) : kNoSymbol;
    }
}

int BpeEncoder::missing_bytes() const
{
    // 13 bytes are never part of UTF-8, and some vocabularies rightly leave them out.
    int missing = 0;
    for (int byte = 0; byte < 256; ++byte)
        missing += byte_ids_[std::size_t(byte)] == kNoToken && byte != 0xc0 && byte != 0xc1 && byte < 0xf5;
    return missing;
}

void BpeEncoder::encode(std::string_view text, std::size_t base, bool, std::vector<Token>& out,
                        const std::stop_token& stop) const
{
    Word word(merges_, stop);
    EscapedText escaped;  // of one word
    std::size_t begin = 0;
    for (const std::size_t end : words_.word_ends(text, stop)) {
        if (stop.stop_requested())
            return;
        const std::string_view piece = text.substr(begin, end - begin);
        if (words_.rule().form == WordForm::ByteLetters)
            encode_letters(piece, base + begin, word, out);
        else
            encode_escaped(piece, base + begin, word, escaped, out);
        begin = end;
    }
}

void BpeEncoder::encode_letters(std::string_view piece, std::size_t origin, Word& word, std::vector<Token>& out) const
{
    if (words_.rule().whole_words_first && piece.size() <= kLongestTokenBytes) {
        std::string letters;
        for (const char c : piece)
            letters.append(byte_letter(static_cast<unsigned char>(c)));
        if (const int id = index_.find(letters); id != kNoToken) {
            out.push_back({id, std::uint32_t(origin)});
            return;
        }
    }
    word.clear();
    for (std::size_t i = 0; i < piece.size(); ++i)
        word.add(byte_symbols_[static_cast<unsigned char>(piece[i])], std::uint32_t(i), std::uint32_t(i + 1),
                 std::uint32_t(origin + i));
    word.join();
    word.each([&](const Word::Link& link) {
        if (merges_.is_token(link.symbol)) {
            out.push_back({link.symbol, link.origin});
            return;
        }
        for (std::uint32_t i = link.begin; i < link.end; ++i)
            append_byte(static_cast<unsigned char>(piece[i]), origin + i, out);
    });
}

void BpeEncoder::encode_escaped(std::string_view piece, std::size_t origin, Word& word, EscapedText& escaped,
                                std::vector<Token>& out) const
{
    escaped.clear();
    escaped.append(piece, origin);
    const std::string_view bytes = escaped.bytes;
    // Runs of newlines are tokens that no merge makes.
    if (words_.rule().whole_words_first || piece.find_first_not_of('\n') == piece.npos)
        if (const int id = index_.find(bytes); id != kNoToken) {
            out.push_back({id, std::uint32_t(origin)});
            return;
        }
    word.clear();
    for (const auto& c : escaped.characters)
        word.add(merges_.symbol(bytes.substr(c.begin, c.end - c.begin)), c.begin, c.end, c.origin);
    word.join();
    word.each([&](const Word::Link& link) {
        if (merges_.is_token(link.symbol)) {
            out.push_back({link.symbol, link.origin});
            return;
        }
        for (std::uint32_t i = link.begin; i < link.end; ++i)
            append_byte(static_cast<unsigned char>(bytes[i]), link.origin, out);
    });
}

void BpeEncoder::append_byte(unsigned char byte, std::size_t origin, std::vector<Token>& out) const
{
    if (const int id = byte_ids_[byte]; id != kNoToken) {
        out.push_back({id, std::uint32_t(origin)});
        return;
    }
    if (vocabulary_.unk != kNoToken) {
        out.push_back({vocabulary_.unk, std::uint32_t(origin)});
        return;
    }
    // U+FFFD shows at least that there was something here.
    for (const unsigned char replacement : {0xef, 0xbf, 0xbd})
        if (const int id = byte_ids_[replacement]; id != kNoToken)
            out.push_back({id, std::uint32_t(origin)});
}

}  // namespace engine
