// SpmEncoder encodes text with a SentencePiece vocabulary (tokenizer.ggml.model "llama"): it joins first the neighbours
// with the best score.
#pragma once

#include "engine/tokenizer/text_encoder.h"
#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/vocabulary.h"

namespace engine {

/// Joins characters to tokens by score; n characters take n log n steps. A character that is no token becomes its
/// bytes, or the unknown token where the vocabulary has no bytes. Refers to vocabulary and index.
class SpmEncoder : public TextEncoder
{
public:
    SpmEncoder(const Vocabulary& vocabulary, const TokenIndex& index, bool add_space_prefix);

    void encode(std::string_view text, std::size_t base, bool space_due, std::vector<Token>& out,
                const std::stop_token& stop) const override;

private:
    void encode_escaped(const EscapedText& text, std::vector<Token>& out, const std::stop_token& stop) const;
    void append_bytes(std::string_view bytes, std::size_t origin, std::vector<Token>& out) const;

    const Vocabulary& vocabulary_;
    const TokenIndex& index_;
    const bool add_space_prefix_;
    const bool words_stand_apart_;
};

}  // namespace engine
