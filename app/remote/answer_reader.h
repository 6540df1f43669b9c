// AnswerReader turns the chunks of a streamed answer into text, as a local model would have written it, and numbers.
#pragma once

#include "app/net/failure.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace remote {

/// Counts of tokens, as the server sends them; empty: it has not sent them.
struct Usage {
    std::optional<int> prompt_tokens;
    std::optional<int> cached_tokens;  // of the prompt
    std::optional<int> answer_tokens;
    std::optional<double> prompt_tokens_per_s;
};

/// Takes one chunk after the other, of chats and of continued texts, also an answer that came whole in one piece. A
/// thought that the server sends in a field of its own is put between the marks that the rest of the program reads. One
/// thread; made for one answer.
class AnswerReader
{
public:
    enum class Thought { None, Open };

    /// `host`: for sentences. `before`: whether the answer that is continued was cut off in a thought.
    AnswerReader(std::string host, Thought before)
        : host_(std::move(host))
        , opened_before_(before == Thought::Open)
    {
    }

    /// Returns the text that the chunk adds. A failure: the chunk makes no sense, or says that the server could not go
    /// on.
    net::Result<std::string> add(std::string_view json);

    /// Why the server says the answer ended: "stop", "length", ... Empty: it has not said so yet.
    const std::string& finish_reason() const { return finish_reason_; }
    const Usage& usage() const { return usage_; }
    int pieces() const { return pieces_; }  // chunks with text, which most servers send for each token

private:
    void take_numbers(const nlohmann::json& chunk);
    std::string take_choice(const nlohmann::json& choice);
    std::string thought(const std::string& text);
    std::string answer(const std::string& text);

    std::string host_;
    bool opened_before_;
    bool in_thought_ = false;
    std::string finish_reason_;
    Usage usage_;
    int pieces_ = 0;
};

/// Says whether a text ends within a thought.
AnswerReader::Thought thought_at_end(std::string_view text);

}  // namespace remote
