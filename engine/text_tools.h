// Runs tokenizer and chat template by themselves, without loading a model.
#pragma once

#include "engine/fill_marks.h"
#include "engine/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct Request;

struct TokenizeOptions {
    bool bos = true;            // as the model asks for it; false: none
    bool specials = true;       // special tokens in the text become their ids
    bool goes_on = false;       // from a text before it: no space is put before its first word
    std::stop_token stop = {};  // Error::Code::Cancelled
};

struct TokenizedText {
    std::vector<int> ids;
    std::vector<std::string> warnings;
};

/// Splits a text into the tokens of a model, whose file may be a vocabulary alone.
Result<TokenizedText> tokenize(const std::filesystem::path& model, std::string_view text,
                               const TokenizeOptions& options);

/// Tokenizer and chat template of one model, kept open for many texts. May be used from any thread.
class TextCodec
{
public:
    static Result<std::shared_ptr<const TextCodec>> open(const std::filesystem::path& model);
    virtual ~TextCodec() = default;

    virtual Result<std::vector<int>> encode(std::string_view text, const TokenizeOptions& options) const = 0;
    /// Writes control tokens as their text; an id that does not exist adds nothing.
    virtual Result<std::string> decode(const std::vector<int>& ids) const = 0;
    /// Returns the bytes that decode() writes for one token; not always whole characters.
    virtual Result<std::string> piece(int id) const = 0;
    /// Counts the tokens of the prompt that an engine with this model makes for the request, whether it fits or not.
    /// Cancelled: `stop` was asked for.
    virtual Result<int> count_prompt(const Request& request, std::stop_token stop) const = 0;
};

struct TemplateRequest {
    std::string messages_json;  // an array, or an object of all the template's variables
    bool generation_prompt = true;
    std::optional<std::string> bos, eos;  // else the model's
    std::string tools_json;               // an array; empty: none
    std::string arguments_json;           // an object; empty: none
    std::string now;                      // "2026-07-26T12:00:00"; empty: the clock
    std::stop_token stop;                 // Error::Code::Cancelled
};

/// Holds what is put around a prompt's texts: the chat template of a model file, or ChatML where it has none, and the
/// marks of gaps.
struct TemplateSource {
    std::string text;
    std::string bos, eos;
    FillMarks fill_marks = {};
};
Result<TemplateSource> read_template(const std::filesystem::path& model);

/// What several renderings may take together: no more than a single one may.
struct RenderAllowance {
    std::optional<std::int64_t> steps_left = {};  // empty: nothing was rendered yet
    std::chrono::milliseconds spent{0};
};

/// `shared`: the rendering uses it up, and fails where nothing is left; null: it has an allowance of its own.
Result<std::string> render_template(const TemplateSource& source, const TemplateRequest& request,
                                    RenderAllowance* shared = nullptr);

}  // namespace engine
