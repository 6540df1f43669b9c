#include "app/server/api.h"

#include "app/server/anthropic_messages.h"
#include "app/server/call_grammar.h"
#include "app/server/client_watch.h"
#include "app/server/embeddings.h"
#include "app/server/fill_prompt.h"
#include "app/server/llama_completion.h"
#include "app/server/ollama.h"
#include "app/server/openai_chat.h"
#include "app/server/openai_completions.h"
#include "app/server/openai_fields.h"
#include "app/server/openai_responses.h"
#include "app/server/plain_answers.h"
#include "app/server/raw_prompts.h"
#include "app/server/template_fit.h"
#include "engine/caught.h"

#include <algorithm>

namespace server {

constexpr const char* kJsonType = "application/json";

/// Says what happens at a path: `turn` or `plain` answers. Where both are set, `plain` answers the bodies for which
/// `for_plain` is true, or all of them where that is null.
struct Api::Route {
    /// Says which model a plain answer is about. All: all of them, or none. Loaded: the one that is loaded. Next: the
    /// loaded one, else the one that would be loaded. File: a file's model, loaded or not.
    enum class Of { All, Loaded, Next, File };

    const char* method;
    const char* path;  // with '*' at the end: all paths that begin so
    const Dialect* turn = nullptr;
    PlainAnswer (*plain)(const PlainRequest&) = nullptr;
    Of of = Of::All;
    const char* type = kJsonType;
    bool (*for_plain)(const Json& body) = nullptr;
};

struct Api::Routes {
    OpenAiChat openai_chat;
    OpenAiCompletions openai_completions;
    OpenAiResponses openai_responses;
    AnthropicMessages anthropic;
    OllamaChat ollama_chat;
    OllamaGenerate ollama_generate;
    LlamaCompletion llama_completion;
    LlamaInfill llama_infill;
    std::vector<Route> all = {
        {"GET", "/v1/models", nullptr, openai_models},
        {"GET", "/models", nullptr, openai_models},
        {"GET", "/v1/models/*", nullptr, openai_model},
        {"POST", "/v1/chat/completions", &openai_chat},
        {"POST", "/chat/completions", &openai_chat},
        {"POST", "/v1/completions", &openai_completions},
        {"POST", "/v1/embeddings", nullptr, openai_embeddings, Route::Of::File},
        {"POST", "/embeddings", nullptr, openai_embeddings, Route::Of::File},
        {"POST", "/v1/responses", &openai_responses},
        {"POST", "/responses", &openai_responses},
        {"POST", "/v1/chat/completions/input_tokens", &openai_chat, input_tokens, Route::Of::File},
        {"POST", "/chat/completions/input_tokens", &openai_chat, input_tokens, Route::Of::File},
        {"POST", "/v1/responses/input_tokens", &openai_responses, input_tokens, Route::Of::File},
        {"POST", "/responses/input_tokens", &openai_responses, input_tokens, Route::Of::File},
        {"GET", "/v1/responses/*", &openai_responses, kept_response},
        {"DELETE", "/v1/responses/*", &openai_responses, forget_response},
        {"GET", "/responses/*", &openai_responses, kept_response},
        {"DELETE", "/responses/*", &openai_responses, forget_response},
        {"POST", "/v1/messages", &anthropic},
        {"POST", "/v1/messages/count_tokens", &anthropic, input_tokens, Route::Of::File},
        {"POST", "/api/chat", &ollama_chat, ollama_move_model, Route::Of::File, kJsonType, only_moves_model},
        {"POST", "/api/generate", &ollama_generate, ollama_move_model, Route::Of::File, kJsonType, only_moves_model},
        {"GET", "/", nullptr, ollama_heartbeat, Route::Of::All, "text/plain; charset=utf-8"},
        {"GET", "/api/version", nullptr, ollama_version},
        {"GET", "/api/tags", nullptr, ollama_tags},
        {"POST", "/api/show", nullptr, ollama_show, Route::Of::File},
        {"POST", "/api/embed", nullptr, ollama_embed, Route::Of::File},
        {"POST", "/api/embeddings", nullptr, ollama_embeddings, Route::Of::File},
        {"GET", "/api/ps", nullptr, ollama_ps},
        {"POST", "/api/pull", nullptr, ollama_pull, Route::Of::File, "application/x-ndjson"},
        {"POST", "/completion", &llama_completion},
        {"POST", "/completions", &llama_completion},
        {"POST", "/infill", &llama_infill},
        {"POST", "/tokenize", nullptr, llama_tokenize, Route::Of::File},
        {"POST", "/detokenize", nullptr, llama_detokenize, Route::Of::File},
        {"POST", "/apply-template", nullptr, llama_apply_template, Route::Of::File},
        {"GET", "/props", nullptr, llama_props, Route::Of::Next},
        {"GET", "/slots", nullptr, llama_slots, Route::Of::Loaded},
        {"GET", "/metrics", nullptr, metrics_text, Route::Of::All, "text/plain; version=0.0.4; charset=utf-8"},
    };
};

namespace {

bool is_at(const char* route, std::string_view path)
{
    const std::string_view wanted = route;
    if (wanted.ends_with('*'))
        return path.size() >= wanted.size() && path.starts_with(wanted.substr(0, wanted.size() - 1));
    return path == wanted;
}

/// Returns the model that a body names; clients of older versions of Ollama name it in the field `name`.
std::string model_named_in(const Json& body, std::string_view path)
{
    Fields fields(body);
    const auto model = fields.text("model");
    return model || !path.starts_with("/api/") ? model.value_or("") : fields.text("name").value_or("");
}

bool is_method(const char* route, std::string_view method)
{
    return method == route || (method == "HEAD" && std::string_view(route) == "GET");
}

}  // namespace

Api::Api(EngineDesk& desk, Models& models, Metrics& metrics, DoorOptions door, std::shared_ptr<RequestLog> log)
    : desk_(desk)
    , models_(models)
    , metrics_(metrics)
    , door_(std::move(door))
    , log_(std::move(log))
    , routes_(std::make_unique<const Routes>())
{
}

Api::~Api() = default;

/// Returns the dialect in which an error at this path is written.
const Dialect& Api::dialect_at(std::string_view path) const
{
    for (const Route& route : routes_->all)
        if (route.turn && is_at(route.path, path))
            return *route.turn;
    if (path.starts_with("/v1/messages"))
        return routes_->anthropic;
    if (path.starts_with("/api/"))
        return routes_->ollama_chat;
    return routes_->openai_chat;
}

std::optional<HttpAnswer> Api::refuse(const HttpRequest& head)
{
    if (const auto refusal = door_.refusal(head))
        return answer_to(*refusal, dialect_at(head.path), door_.headers_for(head));
    if (Door::is_preflight(head))
        return HttpAnswer{204, {}, {}, door_.headers_for(head)};
    if (const auto refusal = no_route(head))
        return answer_to(*refusal, dialect_at(head.path), door_.headers_for(head));
    return std::nullopt;
}

std::optional<Refusal> Api::no_route(const HttpRequest& request) const
{
    if (is_at("/health", request.path) || is_at("/v1/health", request.path))
        return std::nullopt;
    const auto at_path = [&](const Route& route) { return is_at(route.path, request.path); };
    if (std::ranges::none_of(routes_->all, at_path))
        return Refusal{Refusal::Kind::NotFound, "there is nothing at this path"};
    if (std::ranges::none_of(routes_->all,
                             [&](const Route& r) { return at_path(r) && is_method(r.method, request.method); }))
        return Refusal{Refusal::Kind::WrongMethod, "this path is not there for " + request.method};
    return std::nullopt;
}

void Api::answer(const HttpRequest& request, HttpReply& reply)
{
    if (log_)
        log_->asked(request.client);
    const auto asked = Clock::now();
    const Replied replied = reply_to(request, reply);
    if (log_)
        log_->answered(
            {.client = request.client,
             .route = request.method + ' ' + request.path,
             .model = replied.model,
             .prompt_tokens = replied.prompt_tokens,
             .answer_tokens = replied.answer_tokens,
             .milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - asked).count(),
             .status = replied.status});
}

Replied Api::reply_to(const HttpRequest& request, HttpReply& reply)
{
    for (const Route& route : routes_->all)
        if (is_at(route.path, request.path) && is_method(route.method, request.method)) {
            Replied replied{500};
            try {
                replied = answer_at(route, request, reply);
            } catch (...) {
                reply.whole(answer_to(refusal_of(engine::caught("for this request").value()), dialect_at(request.path),
                                      door_.headers_for(request)));
            }
            metrics_.add_request(route.path, replied.status);
            return replied;
        }
    reply.whole({200, R"({"status":"ok"})", "application/json", door_.headers_for(request)});  // /health
    return {200};
}

void Api::connected(const std::string& client)
{
    if (log_)
        log_->came(client);
}

void Api::disconnected(const std::string& client)
{
    if (log_)
        log_->left(client);
}

void Api::refused(const HttpRequest& head, int status)
{
    if (log_)
        log_->answered({.client = head.client, .route = head.method + ' ' + head.path, .model = {}, .status = status});
}

Replied Api::answer_at(const Route& route, const HttpRequest& request, HttpReply& reply)
{
    const std::vector<HttpHeader> headers = door_.headers_for(request);
    const Dialect& dialect = dialect_at(request.path);
    const auto refuse = [&](const Refusal& refusal) {
        reply.whole(answer_to(refusal, dialect, headers));
        return Replied{http_status(refusal.kind)};
    };
    const bool empty = request.method != "POST" || (request.body.empty() && !route.turn);
    const auto body = empty ? tl::expected<Json, Refusal>(Json::object()) : parse_body(request.body);
    if (!body)
        return refuse(body.error());
    const std::function<bool()> client_is_gone = [&] { return reply.client_is_gone(); };
    if (route.plain && (!route.for_plain || route.for_plain(*body))) {
        const PlainAnswer text = answer_plainly(route, request, *body, client_is_gone);
        if (!text)
            return refuse(text.error());
        reply.whole({200, *text, route.type, headers});
        return {200};
    }
    const auto file = file_for(*body, request.path);
    if (!file)
        return refuse(file.error());
    auto asked = dialect.read(*body, {file->name, {}, nullptr, desk_.unsaid()});
    if (!asked)
        return refuse(asked.error());
    asked->ask.file = *file;
    if (const auto done = ready(*file, asked->ask, client_is_gone); !done)
        return reply.client_is_gone() ? Replied{kClientGone} : refuse(refusal_of(done.error()));
    Replied replied = reply_with_turn(desk_, dialect, std::move(*asked), headers, reply);
    replied.model = file->name;
    return replied;
}

/// Completes a request with the model's tokenizer and template: turns texts into tokens, adds rules for tools, fits the
/// messages to the template. Runs on the connection's thread, so that no other request waits for it. Cancelled: the
/// client has left, or the server stops.
engine::Status Api::ready(const ModelFile& file, Ask& ask, const std::function<bool()>& client_is_gone)
{
    const bool fills = has_gaps(ask);
    if (!depends_on_template(ask.turn) && !has_mixed_prompts(ask) && !fills)
        return {};
    auto served = desk_.served();
    if (!served || served->name != file.name) {
        auto described = models_.described(file);
        if (!described)
            return tl::unexpected(described.error());
        served = std::move(*described);
    }
    if (fills && served->info.context_in_use == 0 && served->text->fill_marks().are_there()) {
        auto loaded = desk_.need(file);  // only then it is known how much fits
        if (!loaded)
            return tl::unexpected(loaded.error());
        served = std::move(*loaded);
    }
    if (engine::Status done = make_tokens_of_mixed(ask, *served->text); !done)
        return done;
    const ClientWatch watch(client_is_gone);
    if (engine::Status done = make_tokens_of_gaps(ask, *served->text, served->info.context_in_use, watch.stop()); !done)
        return done;
    if (engine::Status done = add_call_rules(ask, served->text->chat_template()); !done)
        return done;
    fit_to_template(ask.turn, *served->text, watch.stop());
    if (watch.stop().stop_requested())
        return engine::fail(engine::Error::Code::Cancelled, "the client has left");
    return {};
}

PlainAnswer Api::answer_plainly(const Route& route, const HttpRequest& request, const Json& body,
                                const std::function<bool()>& client_is_gone)
{
    const auto model = model_for(route, body, request.path);
    if (!model)
        return tl::unexpected(model.error());
    return route.plain({desk_, models_, metrics_, model->get(), body, request.path, client_is_gone, route.turn});
}

/// Returns the model that a body names. Many clients of llama-server name none: they get the one that was used last,
/// or, where that one is not there any more, the only one there is.
tl::expected<ModelFile, Refusal> Api::file_for(const Json& body, std::string_view path)
{
    const std::string name = model_named_in(body, path);
    if (const std::string last = name.empty() ? desk_.last_name() : ""; !last.empty())
        if (auto file = models_.find(last))
            return file;
    return models_.find(name);
}

/// Returns the model that a plain answer is about; null only for Of::All.
tl::expected<std::shared_ptr<const Served>, Refusal> Api::model_for(const Route& route, const Json& body,
                                                                    std::string_view path)
{
    const std::shared_ptr<const Served> loaded = desk_.served();
    const bool prefers_loaded = route.of == Route::Of::Loaded || route.of == Route::Of::Next;
    if (route.of == Route::Of::All || (prefers_loaded && loaded))
        return loaded;
    const auto file = file_for(body, path);
    if (route.of == Route::Of::Loaded || (route.of == Route::Of::Next && !file))
        return tl::unexpected(Refusal{Refusal::Kind::Busy, "no model is loaded; the first request for one loads it"});
    if (!file)
        return tl::unexpected(file.error());
    if (loaded && loaded->name == file->name)
        return loaded;
    auto served = models_.described(*file);
    if (!served)
        return tl::unexpected(refusal_of(served.error()));
    return *served;
}

HttpAnswer Api::answer_to_bad(const HttpRefusal& refusal)
{
    return {refusal.status, openai_error({refusal.status < 500    ? Refusal::Kind::BadRequest
                                          : refusal.status == 503 ? Refusal::Kind::Busy
                                                                  : Refusal::Kind::Failed,
                                          refusal.sentence})};
}

}  // namespace server
