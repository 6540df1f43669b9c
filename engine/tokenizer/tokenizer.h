// Tokenizer turns text into tokens and back, for one model. The front door of this folder.
#pragma once

#include "engine/result.h"
#include "engine/tokenizer/fill_marks.h"
#include "engine/tokenizer/special_matcher.h"
#include "engine/tokenizer/text_encoder.h"
#include "engine/tokenizer/token.h"
#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/token_roles.h"
#include "engine/tokenizer/vocabulary.h"

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct EncodeOptions {
    /// Says whether a control token that is spelled out in the text becomes that token: never, everywhere, or where all
    /// its bytes lie in one of the ranges in `within`. Within is for rendered templates: what a user typed stays text.
    /// User-defined tokens are found in all three.
    enum class Specials { AsText, Parse, Within };
    /// Says where the text stands: SentencePiece models put a space before the first word of a text and after each
    /// special token. Middle: the text continues another one.
    enum class Start { Beginning, AfterSpecial, Middle };

    Specials specials = Specials::AsText;
    Start start = Start::Beginning;
    bool with_bos = false;  // put BOS first, if the model wants one and the text does not begin with it
    std::span<const ByteRange> within = {};  // in order, no two of them touch
    std::stop_token stop = {};               // asked for now and then; what comes back then is not the whole text
};

struct DecodeOptions {
    bool specials = false;     // control tokens as their text; else they leave nothing but the marks of reasoning
    bool at_beginning = true;  // the ids begin a text: the space that encode() put there is taken away
};

/// Encodes and decodes. Immutable once made: all functions may be called from any thread at the same time.
/// Input need not be valid UTF-8: bytes that are not are encoded as bytes, and decode() gives them back. Two things do
/// not come back, as with the models' own tokenizers: SentencePiece spells a space "▁", so that a "▁" in the text
/// becomes one, and the space it puts after a token found in the text stays. Texts are at most 1 GiB long.
class Tokenizer
{
public:
    /// Fails where the kind of vocabulary is not known or it cannot be used at all. What is only odd is a warning.
    static Result<std::unique_ptr<const Tokenizer>> make(Vocabulary vocabulary);

    Tokenizer(const Tokenizer&) = delete;
    Tokenizer& operator=(const Tokenizer&) = delete;

    std::vector<Token> encode(std::string_view text, const EncodeOptions& options = {}) const;

    /// Returns the bytes of the tokens; not always whole characters (see Utf8Stream).
    std::string decode(std::span<const int> ids, const DecodeOptions& options = {}) const;

    /// Returns what one token adds to a text; empty for an id that does not exist. Control tokens add nothing unless
    /// asked for, or marks of reasoning.
    std::string piece(int id, bool specials = false) const;

    /// Returns the token's text as the file has it; empty for an id that does not exist.
    std::string_view text(int id) const;
    /// Returns the token with exactly this text as the file has it, or kNoToken.
    int find(std::string_view text) const { return index_.find(text); }

    int size() const { return int(vocabulary_.tokens.size()); }
    int bos() const { return vocabulary_.bos; }  // or kNoToken
    int eos() const { return vocabulary_.eos; }
    bool adds_bos() const { return vocabulary_.add_bos == Vocabulary::Flag::Yes; }
    /// Says whether the file asks for EOS behind a text. encode() never adds one: here every text goes on.
    bool adds_eos() const { return vocabulary_.add_eos == Vocabulary::Flag::Yes; }

    bool is_end_of_generation(int id) const { return has(id) && roles_[std::size_t(id)].ends_generation; }
    bool is_user_defined(int id) const { return has(id) && roles_[std::size_t(id)].always_parsed; }
    bool is_special(int id) const { return has(id) && roles_[std::size_t(id)].special; }
    FillMarks fill_marks() const { return find_fill_marks(vocabulary_, index_); }

    const Vocabulary& vocabulary() const { return vocabulary_; }
    /// Returns a sentence each, for the user: unknown pattern, missing bytes...
    const std::vector<std::string>& warnings() const { return vocabulary_.warnings; }

private:
    explicit Tokenizer(Vocabulary vocabulary);

    Status settle();
    void settle_ids();
    void settle_bos(bool unsaid);
    Status settle_spm();
    Status settle_bpe();
    void warn(std::string sentence) { vocabulary_.warnings.push_back(std::move(sentence)); }
    bool has(int id) const { return id >= 0 && id < size(); }

    Vocabulary vocabulary_;  // first: what follows refers to its strings
    TokenIndex index_;
    std::vector<TokenRole> roles_;  // by id
    SpecialMatcher matcher_;
    std::unique_ptr<const TextEncoder> encoder_;
    bool space_prefix_ = false;    // encode() puts a space before the first word
    bool spaces_escaped_ = false;  // tokens spell a space "▁"; else bytes are letters of GPT-2's alphabet
};

}  // namespace engine
