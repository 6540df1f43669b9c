// ModelText renders the chat template of a model and turns text into tokens and back, beside the engine that runs it.
#pragma once

#include "engine/engine.h"
#include "engine/text_tools.h"

#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace server {

/// May be used from any thread.
class ModelText
{
public:
    static engine::Result<std::unique_ptr<ModelText>> open(const std::filesystem::path& model);

    /// Returns the prompt that the engine would make of these messages. `shared`: a limit of time and memory for
    /// several renderings together, or null. Cancelled: `stop` was requested.
    engine::Result<std::string> render(const engine::Request& request, engine::RenderAllowance* shared,
                                       std::stop_token stop) const;

    /// Returns the number of tokens of the prompt that the engine would make for this request. Cancelled: `stop` was
    /// requested.
    engine::Result<int> count_prompt(const engine::Request& request, std::stop_token stop);
    engine::Result<std::vector<int>> tokenize(std::string_view text, const engine::TokenizeOptions& options);
    /// Returns the text of these tokens; ids that do not exist are skipped.
    engine::Result<std::string> detokenize(const std::vector<int>& ids);
    /// Returns what one token adds to a text; control tokens as their text.
    engine::Result<std::string> piece(int id);
    const std::string& chat_template() const { return source_.text; }
    const engine::FillMarks& fill_marks() const { return source_.fill_marks; }

private:
    ModelText(std::filesystem::path path, engine::TemplateSource source)
        : path_(std::move(path))
        , source_(std::move(source))
    {
    }
    engine::Result<std::shared_ptr<const engine::TextCodec>> codec();

    const std::filesystem::path path_;
    const engine::TemplateSource source_;
    std::mutex mutex_;
    std::shared_ptr<const engine::TextCodec> codec_;  // opened when it is first needed
};

}  // namespace server
