// AnswerRules keeps an answer to a grammar: it says which tokens may come next, from the end of the thoughts on.
#pragma once

#include "engine/engine.h"
#include "engine/grammar/token_masks.h"
#include "engine/result.h"
#include "engine/tokenizer/tokenizer.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Owned by a turn, on its thread. Sampled tokens are never taken back, so it only goes forward.
class AnswerRules
{
public:
    /// Makes the rules of a request. Precondition: it has some. `ends`: the tokens that end an answer. BadRequest: the
    /// grammar or the schema cannot be followed, or the beginning of the answer that is there does not follow it.
    static Result<std::unique_ptr<AnswerRules>> make(const Request& request, const Tokenizer& tokenizer,
                                                     const std::shared_ptr<const TokenTrie>& trie,
                                                     const std::vector<int>& ends);

    /// Tells how the template has begun the answer: with a thought, or with nothing.
    void begin_with(std::string_view opened);

    /// Returns which tokens may come next; valid until the next call. None: the answer is over. BadRequest: no token
    /// can follow, or it takes too long to say.
    Result<const TokenMask*> next();
    void take(int id);

private:
    /// Says where the answer is. Before: nothing was said yet, and a thought may come.
    enum class Stage { Before, Thought, BehindThought, Answer };

    AnswerRules(Grammar grammar, const Tokenizer& tokenizer, const std::shared_ptr<const TokenTrie>& trie,
                const std::vector<int>& ends);
    bool speak_of_channels(const Request& request);
    void find_marks();
    Status go_on_with(std::string_view said);
    std::string_view take_thoughts(std::string_view said);
    Status read(std::string_view answer);
    void think(std::string_view more);
    std::size_t end_of_thought(std::size_t known) const;
    bool head_of_answer_ends() const;
    std::string_view answer_in(std::string_view rest);
    const TokenMask& thinking();

    const Tokenizer& tokenizer_;
    std::shared_ptr<const TokenTrie> trie_;
    TokenMasks masks_;
    TokenMasks::State state_;
    Stage stage_ = Stage::Answer;
    std::string thought_;        // its text, marks and all
    bool has_channels_ = false;  // the model says before each part of an answer whether it is a thought
    std::vector<int> opening_;   // tokens that begin a thought
    std::vector<int> blank_;     // tokens that may stand between thought and answer
    TokenMask mixed_;            // of a grammar's tokens and others
    TokenMask thinking_;         // all tokens but those that end an answer
};

}  // namespace engine
