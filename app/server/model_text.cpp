#include "app/server/model_text.h"

#include "app/server/fields.h"

#include <utility>

namespace server {

engine::Result<std::unique_ptr<ModelText>> ModelText::open(const std::filesystem::path& model)
{
    auto source = engine::read_template(model);
    if (!source)
        return tl::unexpected(source.error());
    return std::unique_ptr<ModelText>(new ModelText(model, std::move(*source)));
}

engine::Result<std::string> ModelText::render(const engine::Request& request, engine::RenderAllowance* shared,
                                              std::stop_token stop) const
{
    Json messages = Json::array();
    for (const engine::Message& message : request.messages) {
        Json entry = {{"role", message.role}, {"content", message.text}};
        if (!message.reasoning.empty())
            entry["reasoning_content"] = message.reasoning;
        if (const Json more = Json::parse(message.more_json, nullptr, false); more.is_object())
            entry.update(more);
        messages.push_back(std::move(entry));
    }
    engine::TemplateRequest wanted;
    wanted.messages_json = text_of(messages);
    wanted.tools_json = request.tools_json;
    wanted.arguments_json = request.template_arguments_json;
    wanted.stop = std::move(stop);
    return engine::render_template(source_, wanted, shared);
}

engine::Result<std::shared_ptr<const engine::TextCodec>> ModelText::codec()
{
    const std::lock_guard lock(mutex_);
    if (!codec_) {
        auto opened = engine::TextCodec::open(path_);
        if (!opened)
            return tl::unexpected(opened.error());
        codec_ = std::move(*opened);
    }
    return codec_;
}

engine::Result<int> ModelText::count_prompt(const engine::Request& request, std::stop_token stop)
{
    const auto opened = codec();
    if (!opened)
        return tl::unexpected(opened.error());
    return (*opened)->count_prompt(request, std::move(stop));
}

engine::Result<std::vector<int>> ModelText::tokenize(std::string_view text, const engine::TokenizeOptions& options)
{
    const auto opened = codec();
    if (!opened)
        return tl::unexpected(opened.error());
    return (*opened)->encode(text, options);
}

engine::Result<std::string> ModelText::detokenize(const std::vector<int>& ids)
{
    const auto opened = codec();
    if (!opened)
        return tl::unexpected(opened.error());
    return (*opened)->decode(ids);
}

engine::Result<std::string> ModelText::piece(int id)
{
    const auto opened = codec();
    if (!opened)
        return tl::unexpected(opened.error());
    return (*opened)->piece(id);
}

}  // namespace server
