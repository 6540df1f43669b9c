// ChatTemplate renders chat templates: the Jinja text in a model file that turns a conversation into the prompt the
// model was trained on.
#pragma once

#include "engine/result.h"
#include "engine/template/traced_text.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

namespace jinja {
struct Syntax;
}

/// Used when a model file has no template of its own.
inline constexpr std::string_view kChatMlTemplate =
    "{%- for message in messages -%}\n"
    "    {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt -%}\n"
    "    {{- '<|im_start|>assistant\\n' -}}\n"
    "{%- endif -%}\n";

struct RenderOptions {
    std::optional<std::tm> now = {};  // local time for strftime_now; empty: the clock's

    // A template comes out of a downloaded file: beyond these limits it fails. Real ones stay far below, but those that
    // look through all messages for each message: whoever renders many messages calls allow_for().
    std::int64_t max_steps = 10'000'000;
    std::size_t max_bytes = 128u << 20;      // of all values alive at once
    std::size_t max_text_bytes = 16u << 20;  // of the result, and of each string on the way
    int max_depth = 600;                     // of calls and expressions inside each other
    std::chrono::milliseconds max_time{2000};

    std::stop_token stop = {};  // Error::Code::Cancelled
    /// Gets the number of steps that are left in the end; may be null.
    std::int64_t* steps_left = nullptr;

    /// Raises the limits for this many messages. Some templates, as Gemma 4's, look through all other messages for each
    /// one: the limits are meant for templates, not for long conversations.
    void allow_for(std::size_t messages);
};

/// A parsed template. Never changes, so that any thread may render it; copies share the syntax tree.
class ChatTemplate
{
public:
    static Result<ChatTemplate> parse(const std::string& source);

    /// `variables` is an object: messages, tools, add_generation_prompt, bos_token, eos_token and whatever else the
    /// template takes. What raise_exception says is the error's sentence, word for word.
    Result<std::string> render(const nlohmann::ordered_json& variables, const RenderOptions& options = {}) const;
    /// Does the same, and says where each byte comes from: the content of each of `messages` is known by its index.
    Result<TracedText> render_traced(const nlohmann::ordered_json& variables, const RenderOptions& options = {}) const;

    /// Returns the content of a message as the template takes it: the text, or a list of one part of the kind "text".
    /// Templates of models that also see pictures may take lists only, and write nothing where the content is a text.
    nlohmann::ordered_json content(std::string_view text) const;

    /// Returns what the template reads from outside (and has not set itself), in order of first use: `messages`, and
    /// arguments such as `enable_thinking`.
    const std::vector<std::string>& variables() const { return variables_; }
    /// Returns those of variables() that are for the caller to choose: all but the conversation, its tools and the
    /// model's own tokens.
    std::vector<std::string> arguments() const;

private:
    ChatTemplate(std::shared_ptr<const jinja::Syntax> syntax, std::vector<std::string> variables)
        : syntax_(std::move(syntax))
        , variables_(std::move(variables))
    {
    }

    bool writes(const nlohmann::ordered_json& content) const;

    std::shared_ptr<const jinja::Syntax> syntax_;
    std::vector<std::string> variables_;
    bool takes_parts_only_ = false;
};

}  // namespace engine
