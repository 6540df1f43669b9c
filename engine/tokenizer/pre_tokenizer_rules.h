// Lists how each family of byte-pair models cuts text into words: the meaning of tokenizer.ggml.pre.
#pragma once

#include <span>
#include <string_view>

namespace engine {

/// Says how a word is written in the vocabulary.
enum class WordForm {
    ByteLetters,    // each byte as a letter of GPT-2's alphabet
    EscapedSpaces,  // as it is, spaces as "▁"; what is no token becomes "<0x..>" bytes
};

struct PreTokenizerRule {
    std::span<const std::string_view> names = {};  // values of tokenizer.ggml.pre
    std::string_view thousands = {};  // numbers that are cut into groups of three from the right; before all else
    std::span<const std::string_view> patterns = {};  // PCRE2; each cuts further what the ones before have cut
    WordForm form = WordForm::ByteLetters;
    bool whole_words_first = false;  // a word that is a token is taken as it is, whatever the merges say
    bool add_bos = false;            // where the file does not say
};

/// Returns null where no rule has this name.
const PreTokenizerRule* find_pre_tokenizer_rule(std::string_view name);

const PreTokenizerRule& default_pre_tokenizer_rule();

std::span<const PreTokenizerRule> all_pre_tokenizer_rules();

}  // namespace engine
