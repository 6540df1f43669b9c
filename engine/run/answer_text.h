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

    /// `on_text` gets whole characters with which no stop string can begin any more; it may be empty, and lives as long
    /// as this. `trim_start`: the answer's first space is the tokenizer's, not the model's.
    AnswerText(const std::vector<std::string>& stop, bool trim_start, const OnText& on_text);

    /// Takes text as it is with which the prompt ended and which is a part of the answer. It is given out together with
    /// what the first token brings, so that whoever counts calls of on_text counts tokens.
    void begin_with(std::string_view text);
    /// Takes the bytes of one token. True: a stop string ended the answer.
    bool feed(std::string_view piece);
    /// Says what becomes of half a character at the very end. Shown: the model is through with it, and U+FFFD stands
    /// for it. LeftOut: it was cut off, and whoever goes on with the answer begins it anew.
    enum class HalfCharacter { Shown, LeftOut };
    /// Gives what was held back as a possible stop string. One that had come while a longer one could still come ends
    /// the answer now.
    void finish(HalfCharacter half);
    /// Returns, after finish(), how many bytes of half a character were left out.
    int left_out_bytes() const { return utf8_.held_bytes(); }

    /// Notes that the token that was fed last had been drafted. expect_guesses() takes the memory for this many tokens.
    void note_guess();
    void expect_guesses(int tokens) { guessed_.reserve(std::size_t(tokens) / 2 + 1); }
    /// Returns, after finish(), which parts of the text drafted tokens brought.
    std::vector<TextRange> take_guessed();

    bool stopped() const { return stopped_; }
    /// Returns the stop string that ended the answer, once stopped().
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
    std::size_t told_ = 0;            // how much of the text was given
    int newest_ = 0;                  // where the text of the newest token begins
    std::vector<TextRange> guessed_;  // ranges that touch are one
    bool trim_start_;
    bool stopped_ = false;
};

}  // namespace engine
