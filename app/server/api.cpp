#include "app/server/api.h"

#include "app/server/anthropic_messages.h"
#include "app/server/ollama.h"
#include "app/server/openai_chat.h"
#include "app/server/openai_completions.h"
#include "app/server/openai_fields.h"
#include "app/server/openai_responses.h"
#include "app/server/plain_answers.h"
#include "engine/caught.h"

#include <algorithm>

namespace server {

/// A path, and what happens there. One of `turn` and `plain` is there.
struct Api::Route {
    const char* method;
    const char* path;  // ending in '*': whatever begins so
    const Dialect* turn = nullptr;
    PlainAnswer (*plain)(const PlainRequest&) = nullptr;
    const char* type = "application/json";
};

struct Api::Routes {
    OpenAiChat openai_chat;
    OpenAiCompletions openai_completions;
    OpenAiResponses openai_responses;
    AnthropicMessages anthropic;
    OllamaChat ollama_chat;
    OllamaGenerate ollama_generate;
    std::vector<Route> all = {
        {"GET", "/v1/models", nullptr, openai_models},
        {"GET", "/models", nullptr, openai_models},
        {"GET", "/v1/models/*", nullptr, openai_model},
        {"POST", "/v1/chat/completions", &openai_chat},
        {"POST", "/chat/completions", &openai_chat},
        {"POST", "/v1/completions", &openai_completions},
        {"POST", "/v1/embeddings", nullptr, no_embeddings},
        {"POST", "/embeddings", nullptr, no_embeddings},
        {"POST", "/v1/responses", &openai_responses},
        {"POST", "/responses", &openai_responses},
        {"POST", "/v1/messages", &anthropic},
        {"POST", "/v1/messages/count_tokens", nullptr, anthropic_count_tokens},
        {"POST", "/api/chat", &ollama_chat},
        {"POST", "/api/generate", &ollama_generate},
        {"GET", "/api/version", nullptr, ollama_version},
        {"GET", "/api/tags", nullptr, ollama_tags},
        {"POST", "/api/show", nullptr, ollama_show},
        {"POST", "/api/embed", nullptr, no_embeddings},
        {"POST", "/api/embeddings", nullptr, no_embeddings},
        {"GET", "/api/ps", nullptr, ollama_ps},
        {"POST", "/tokenize", nullptr, llama_tokenize},
        {"POST", "/detokenize", nullptr, llama_detokenize},
        {"POST", "/apply-template", nullptr, llama_apply_template},
        {"GET", "/props", nullptr, llama_props},
        {"GET", "/slots", nullptr, llama_slots},
        {"GET", "/metrics", nullptr, metrics_text, "text/plain; version=0.0.4; charset=utf-8"},
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

bool is_method(const char* route, std::string_view method)
{
    return method == route || (method == "HEAD" && std::string_view(route) == "GET");
}

}  // namespace

Api::Api(EngineDesk& desk, Metrics& metrics, DoorOptions door)
    : desk_(desk)
    , metrics_(metrics)
    , door_(std::move(door))
    , routes_(std::make_unique<const Routes>())
{
}

Api::~Api() = default;

/// In whose words an error at this path is said.
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
    for (const Route& route : routes_->all)
        if (is_at(route.path, request.path) && is_method(route.method, request.method)) {
            int status = 500;
            try {
                status = answer_at(route, request, reply);
            } catch (...) {
                reply.whole(answer_to(refusal_of(engine::caught("for this request").value()), dialect_at(request.path),
                                      door_.headers_for(request)));
            }
            metrics_.add_request(route.path, status);
            return;
        }
    reply.whole({200, R"({"status":"ok"})", "application/json", door_.headers_for(request)});  // /health
}

int Api::answer_at(const Route& route, const HttpRequest& request, HttpReply& reply)
{
    const std::vector<HttpHeader> headers = door_.headers_for(request);
    const Dialect& dialect = dialect_at(request.path);
    const auto refuse = [&](const Refusal& refusal) {
        reply.whole(answer_to(refusal, dialect, headers));
        return http_status(refusal.kind);
    };
    const std::shared_ptr<const Served> served = desk_.served();
    if (!served)
        return refuse({Refusal::Kind::Busy, "no model is loaded"});
    const bool empty = request.method != "POST" || (request.body.empty() && !route.turn);
    const auto body = empty ? tl::expected<Json, Refusal>(Json::object()) : parse_body(request.body);
    if (!body)
        return refuse(body.error());
    if (route.plain) {
        const PlainAnswer text = route.plain({desk_, metrics_, *served, *body, request.path});
        if (!text)
            return refuse(text.error());
        reply.whole({200, *text, route.type, headers});
        return 200;
    }
    auto asked = dialect.read(*body, *served);
    if (!asked)
        return refuse(asked.error());
    return reply_with_turn(desk_, dialect, std::move(*asked), headers, reply);
}

HttpAnswer Api::answer_to_bad(const HttpRefusal& refusal)
{
    return {refusal.status, openai_error({refusal.status < 500    ? Refusal::Kind::BadRequest
                                          : refusal.status == 503 ? Refusal::Kind::Busy
                                                                  : Refusal::Kind::Failed,
                                          refusal.sentence})};
}

}  // namespace server
