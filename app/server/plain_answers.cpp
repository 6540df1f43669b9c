#include "app/server/plain_answers.h"

#include "app/server/client_watch.h"
#include "app/server/dialect.h"
#include "app/server/llama_samplers.h"
#include "app/server/openai_fields.h"
#include "app/server/template_fit.h"
#include "engine/utf8_path.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace server {

namespace {

Json model_object(const Served& served)
{
    const engine::ModelInfo& info = served.info;
    return {{"id", served.name},
            {"object", "model"},
            {"created", 0},
            {"owned_by", "spillway"},
            {"meta",
             {{"n_ctx", info.context_in_use},
              {"n_ctx_train", info.context_tokens},
              {"n_embd", info.embedding_length},
              {"n_params", info.parameters},
              {"n_vocab", info.vocabulary},
              {"size", info.file_bytes}}}};
}

/// Describes a file in llama-server's form, with whether it is loaded.
Json listed(const ModelFile& file, const Served* loaded)
{
    const bool there = loaded && loaded->name == file.name;
    Json entry = there ? model_object(*loaded)
                       : Json{{"id", file.name},
                              {"object", "model"},
                              {"created", 0},
                              {"owned_by", "spillway"},
                              {"meta", {{"size", file.bytes}}}};
    entry["status"] = {{"value", there ? "loaded" : "unloaded"}};
    return entry;
}

template <class Value>
PlainAnswer answer_of(const char* name, const engine::Result<Value>& value)
{
    if (!value)
        return tl::unexpected(refusal_of(value.error()));
    return text_of(Json::object({{name, *value}}));
}

/// Returns an id and its text, or its bytes where these alone are no valid text.
std::string with_piece(int id, const std::string& piece)
{
    try {
        return Json::object({{"id", id}, {"piece", piece}}).dump();
    } catch (const Json::type_error&) {
        return text_of({{"id", id}, {"piece", std::vector<unsigned char>(piece.begin(), piece.end())}});
    }
}

/// Answers with each id and its piece. The answer is put together as text: for a long prompt a tree of JSON would take
/// gigabytes.
PlainAnswer with_pieces(ModelText& text, const std::vector<int>& ids)
{
    std::string all = "{\"tokens\":[";
    for (const int id : ids) {
        const auto piece = text.piece(id);
        if (!piece)
            return tl::unexpected(refusal_of(piece.error()));
        all.append(all.ends_with('[') ? "" : ",").append(with_piece(id, *piece));
    }
    all += "]}";
    return all;
}

/// Returns a path with its escapes decoded: "%2F" is "/". Text that is no escape stays.
std::string unescaped(std::string_view path)
{
    std::string text;
    for (; !path.empty(); path.remove_prefix(1)) {
        unsigned byte = 0;
        const char* const end = path.data() + std::min<std::size_t>(path.size(), 3);
        if (path.front() == '%' && end - path.data() == 3 &&
            std::from_chars(path.data() + 1, end, byte, 16).ptr == end) {
            text += char(byte);
            path.remove_prefix(2);
        } else {
            text += path.front();
        }
    }
    return text;
}

std::string without_generation_prompt(const std::string& template_arguments)
{
    Json arguments = template_arguments.empty() ? Json::object() : Json::parse(template_arguments, nullptr, false);
    arguments["add_generation_prompt"] = false;
    return text_of(arguments);
}

}  // namespace

PlainAnswer openai_models(const PlainRequest& request)
{
    Json all = Json::array();
    for (const ModelFile& file : request.models.all())
        all.push_back(listed(file, request.served));
    return text_of({{"object", "list"}, {"data", std::move(all)}});
}

PlainAnswer openai_model(const PlainRequest& request)
{
    const std::string_view said = std::string_view(request.path).substr(std::string_view("/v1/models/").size());
    const std::string name = unescaped(said);
    for (const std::string_view called : {said, std::string_view(name)})
        for (const ModelFile& file : request.models.all())
            if (file.name == called)
                return text_of(listed(file, request.served));
    return tl::unexpected(Refusal{Refusal::Kind::NotFound, "there is no model '" + name + "' here", "model"});
}

PlainAnswer input_tokens(const PlainRequest& request)
{
    const auto asked = request.dialect->read(request.body, *request.served);
    if (!asked)
        return tl::unexpected(asked.error());
    const ClientWatch watch(request.client_is_gone);
    engine::Request turn = asked->ask.turn;
    fit_to_template(turn, *request.served->text, watch.stop());
    return answer_of("input_tokens", request.served->text->count_prompt(turn, watch.stop()));
}

PlainAnswer llama_tokenize(const PlainRequest& request)
{
    Fields fields(request.body);
    const std::string text = fields.text("content").value_or("");
    const bool bos = fields.flag("add_special").value_or(false), specials = fields.flag("parse_special").value_or(true);
    const bool pieces = fields.flag("with_pieces").value_or(false);
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    const auto ids = request.served->text->tokenize(text, {bos, specials});
    return pieces && ids ? with_pieces(*request.served->text, *ids) : answer_of("tokens", ids);
}

PlainAnswer llama_detokenize(const PlainRequest& request)
{
    Fields fields(request.body);
    std::vector<int> ids;
    if (const Json* tokens = fields.array("tokens"))
        for (const Json& token : *tokens)
            ids.push_back(token.is_number_integer() && token >= 0 && token < std::numeric_limits<int>::max()
                              ? token.get<int>()
                              : -1);
    if (std::ranges::find(ids, -1) != ids.end())
        fields.refuse("tokens", "must be an array of ids");
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    return answer_of("content", request.served->text->detokenize(ids));
}

PlainAnswer llama_apply_template(const PlainRequest& request)
{
    Fields fields(request.body);
    Ask ask;
    read_template_arguments(fields, ask.turn);
    read_tools(fields, ask);
    read_messages(fields, ask.turn);
    if (!fields.flag("add_generation_prompt").value_or(true))
        ask.turn.template_arguments_json = without_generation_prompt(ask.turn.template_arguments_json);
    if (fields.refusal())
        return tl::unexpected(*fields.refusal());
    const ClientWatch watch(request.client_is_gone);
    fit_to_template(ask.turn, *request.served->text, watch.stop());
    return answer_of("prompt", request.served->text->render(ask.turn, nullptr, watch.stop()));
}

PlainAnswer llama_props(const PlainRequest& request)
{
    const engine::ModelInfo& info = request.served->info;
    const Json settings = {{"n_ctx", info.context_in_use > 0 ? info.context_in_use : info.context_tokens},
                           {"params", said_sampling(request.desk.unsaid().sampling)}};
    return text_of({{"default_generation_settings", settings},
                    {"total_slots", request.desk.turn_slots().size()},
                    {"model_alias", request.served->name},
                    {"model_path", engine::utf8_text(info.path.filename())},  // clients do not need to know its folder
                    {"is_sleeping", request.desk.served() == nullptr},
                    {"modalities", {{"vision", false}, {"audio", false}}},
                    {"chat_template", request.served->text->chat_template()},
                    {"has_chat_template", info.has_chat_template}});
}

PlainAnswer llama_slots(const PlainRequest& request)
{
    Json slots = Json::array();
    for (const EngineDesk::Slot& slot : request.desk.turn_slots())
        slots.push_back({{"id", slots.size()},
                         {"n_ctx", request.served->info.context_in_use},
                         {"is_processing", slot.running},
                         {"n_past", slot.context_tokens},
                         {"n_prompt_tokens", slot.prompt_tokens},
                         {"n_prompt_tokens_cache", slot.cached_tokens},
                         {"n_decoded", slot.answer_tokens}});
    return text_of(slots);
}

PlainAnswer metrics_text(const PlainRequest& request)
{
    const EngineDesk::Queue queue = request.desk.queue();
    return request.metrics.text(queue.running, queue.waiting);
}

}  // namespace server
