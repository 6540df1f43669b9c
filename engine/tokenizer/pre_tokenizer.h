// Cuts text into the words inside which byte pairs are joined.
#pragma once

#include "engine/result.h"
#include "engine/tokenizer/pre_tokenizer_rules.h"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

namespace engine {

/// Holds the patterns of one rule, compiled. Immutable: any thread may call it.
class PreTokenizer
{
public:
    static Result<PreTokenizer> make(const PreTokenizerRule& rule);

    PreTokenizer(PreTokenizer&&) noexcept;
    PreTokenizer& operator=(PreTokenizer&&) noexcept;
    ~PreTokenizer();

    /// Returns where each word ends. The words cover the text; bytes that are not UTF-8 are words by themselves. Ends
    /// early, with longer words, when a stop is asked for.
    std::vector<std::size_t> word_ends(std::string_view text, const std::stop_token& stop = {}) const;

    const PreTokenizerRule& rule() const { return *rule_; }

private:
    class Pattern;

    explicit PreTokenizer(const PreTokenizerRule& rule);

    const PreTokenizerRule* rule_;   // in the table, lives as long as the program
    std::vector<Pattern> patterns_;  // applied in turn, each within the pieces that the ones before have cut
};

}  // namespace engine
