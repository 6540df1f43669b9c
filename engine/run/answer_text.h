// AnswerText turns the tokens of an answer into text as they come, and ends it at a stop string.
#pragma once

#include "engine/engine.h"
#include "engine/sampling/stop_strings.h"
#include "engine/tokenizer/utf8_stream.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

class AnswerText
{
public:
    using OnText = std::function<void(std::string_view)>;

    /// `on_text` is given whole characters that no stop string can begin with any more; it may be empty, and lives as
    /// long as this. `trim_start`: the answer's first space is the tokenizer's, not the model's.
    AnswerText(const std::vector<std::string>& stop, bool trim_start, const OnText& on_text);

    /// Takes as it is what the prompt ended with and is a part of the answer. It is given together with what the first
    /// token brings: who counts what is given counts tokens.
    void begin_with(std::string_view text);
    /// Takes the bytes of one token. True: a stop string ended the answer.
    bool feed(std::string_view piece);
    /// Gives what was held back as a possible stop string, and half a character at the very end. A stop string that had
    /// come while a longer one could still come ends the answer now.
    void finish();

    /// The token that was fed last had been drafted. Memory for so many tokens is taken by expect_guesses().
    void note_guess();
    void expect_guesses(int tokens) { guessed_.reserve(std::size_t(tokens) / 2 + 1); }
    /// Returns, after finish(), what such tokens brought of the text.
    std::vector<TextRange> take_guessed();

    bool stopped() const { return stopped_; }
    /// Once it is: the string that ended it.
    const std::string& stopped_by() const { return stops_.stopped_by(); }
    const std::string& text() const { return text_; }

private:
    int reach() const;
    void give(std::string_view text);
    void put(std::string_view text);
    void tell();

    const OnText& on_text_;
    Utf8Stream utf8_;
    StopStrings stops_;
    std::string text_;
    std::size_t told_ = 0;            // so much of it was given
    int newest_ = 0;                  // where what the last token brought begins
    std::vector<TextRange> guessed_;  // ranges that touch are one
    bool trim_start_;
    bool stopped_ = false;
};

}  // namespace engine
