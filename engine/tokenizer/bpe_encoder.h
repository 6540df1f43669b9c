// BpeEncoder encodes text with a byte-pair vocabulary (tokenizer.ggml.model "gpt2", "gemma4"): inside each word it
// joins first the pair that comes first in the list of merges.
#pragma once

#include "engine/tokenizer/merge_table.h"
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/text_encoder.h"
#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/vocabulary.h"

#include <array>

namespace engine {

/// Cuts text into words by the model's pattern and joins each word's letters by rank; n letters take n log n steps.
/// Bytes that are not UTF-8 are encoded as the bytes they are. Refers to vocabulary and index.
class BpeEncoder : public TextEncoder
{
public:
    BpeEncoder(const Vocabulary& vocabulary, const TokenIndex& index, PreTokenizer words);

    void encode(std::string_view text, std::size_t base, bool space_due, std::vector<Token>& out,
                const std::stop_token& stop) const override;

    /// Counts the bytes that this vocabulary cannot write.
    int missing_bytes() const;
    const MergeTable& merges() const { return merges_; }

private:
    class Word;

    void encode_letters(std::string_view piece, std::size_t origin, Word& word, std::vector<Token>& out) const;
    void encode_escaped(std::string_view piece, std::size_t origin, Word& word, EscapedText& escaped,
                        std::vector<Token>& out) const;
    void append_byte(unsigned char byte, std::size_t origin, std::vector<Token>& out) const;

    const Vocabulary& vocabulary_;
    const TokenIndex& index_;
    const PreTokenizer words_;
    const MergeTable merges_;
    std::array<int, 256> byte_ids_;      // the token of one byte, or kNoToken
    std::array<int, 256> byte_symbols_;  // what a byte is before anything is joined, or kNoSymbol
};

}  // namespace engine
