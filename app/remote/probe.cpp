#include "app/remote/probe.h"

#include "app/remote/address.h"
#include "app/remote/json_fields.h"
#include "app/remote/server_failure.h"

#include <algorithm>
#include <chrono>

namespace remote {

namespace {

constexpr std::size_t kLongestAnswer = 8 << 20;
constexpr std::size_t kMostModels = 1000;
constexpr std::size_t kLongestName = 300;
constexpr std::chrono::seconds kPatience{15}, kLongestQuestion{30};

/// Returns a number of tokens; 0: the field is missing or no number.
int tokens_of(const Json& object, const char* name)
{
    return count_of(object, name).value_or(0);
}

std::string version_of(const Json& object, const char* name)
{
    return text_of(object, name).substr(0, kLongestName);
}

net::Result<std::string> text_at(net::HttpClient& client, const Server& server, const char* path, const char* purpose,
                                 const std::stop_token& stop, std::chrono::milliseconds longest = kLongestQuestion)
{
    net::HttpRequest request;
    request.url = server.url + path;
    request.purpose = purpose;
    request.token = server.key;
    request.token_over = net::TokenOver::Any;
    request.stall = kPatience;
    request.whole = longest;
    request.stays_there = true;  // the user has not permitted to ask the server that a redirect leads to
    net::HttpReader reader;
    reader.on_refusal = [&](const net::HttpHead& head, std::string_view body) {
        return refusal_of(head, !server.key.empty(), body);
    };
    auto answer = client.get_text(request, kLongestAnswer, stop, std::move(reader));
    if (!answer)
        return tl::unexpected(std::move(answer.error()));
    return std::move(answer->body);
}

/// Asks one question. An answer that is no JSON object counts as an empty one.
net::Result<Json> ask(net::HttpClient& client, const Server& server, const char* path, const std::stop_token& stop)
{
    const auto text = text_at(client, server, path, "what a server is", stop);
    if (!text)
        return tl::unexpected(text.error());
    Json json = Json::parse(*text, nullptr, false);
    return json.is_object() ? json : Json::object();
}

/// Guesses the program by the owner that it names for its models. Several programs name the same one, so that more
/// questions follow.
Kind kind_by(const std::string& owner)
{
    if (owner == "spillway")
        return Kind::Spillway;
    if (owner == "llamacpp")
        return Kind::LlamaServer;
    if (owner == "vllm")
        return Kind::Vllm;
    if (owner == "sglang")
        return Kind::SgLang;
    if (owner == "library")
        return Kind::Ollama;
    return Kind::Unknown;
}

class Questions
{
public:
    Questions(net::HttpClient& client, const Server& server, const std::stop_token& stop)
        : client_(client)
        , server_(server)
        , stop_(stop)
    {
    }

    /// Returns the answer at a path, where it is an object with this field; else empty.
    Json about(const char* path, const char* field) const
    {
        if (stop_.stop_requested())
            return {};
        auto answer = ask(client_, server_, path, stop_);
        return answer && answer->contains(field) ? std::move(*answer) : Json();
    }

private:
    net::HttpClient& client_;
    const Server& server_;
    const std::stop_token& stop_;
};

void take_context(ServerFacts& facts, int tokens)
{
    for (ServedModel& model : facts.models)
        if (model.context_tokens == 0)
            model.context_tokens = tokens;
}

/// Asks a question that only a program of this kind answers in this way. True: it is one.
bool is_of(Kind kind, const Questions& questions, ServerFacts& facts)
{
    switch (kind) {
    case Kind::Spillway:
        return true;  // no other program names itself so
    case Kind::LlamaServer: {
        const Json props = questions.about("/props", "build_info");
        if (props.is_null())
            return false;
        facts.version = version_of(props, "build_info");
        if (const Json* const settings = field_of(props, "default_generation_settings"))
            take_context(facts, tokens_of(*settings, "n_ctx"));
        return true;
    }
    case Kind::Vllm: {
        const Json version = questions.about("/version", "version");
        facts.version = version_of(version, "version");
        return !version.is_null();
    }
    case Kind::SgLang: {
        const Json info = questions.about("/get_server_info", "version");
        facts.version = version_of(info, "version");
        take_context(facts, tokens_of(info, "context_length"));
        return !info.is_null();
    }
    case Kind::Tgi: {
        const Json info = questions.about("/info", "model_id");
        facts.version = version_of(info, "version");
        take_context(facts, tokens_of(info, "max_total_tokens"));
        return !info.is_null();
    }
    case Kind::Ollama: {
        const Json version = questions.about("/api/version", "version");
        facts.version = version_of(version, "version");
        return !version.is_null();
    }
    case Kind::LmStudio: {
        const Json list = questions.about("/api/v0/models", "data");
        const Json* const models = field_of(list, "data");
        if (!models || !models->is_array())
            return false;
        for (const Json& entry : *models)
            for (ServedModel& model : facts.models)
                if (model.id == text_of(entry, "id")) {
                    const int loaded = tokens_of(entry, "loaded_context_length");
                    model.context_tokens = loaded > 0 ? loaded : tokens_of(entry, "max_context_length");
                }
        return true;
    }
    case Kind::Unknown:
        break;
    }
    return true;
}

}  // namespace

net::Result<ServerFacts> probe(net::HttpClient& client, const Server& server, const std::stop_token& stop)
{
    const std::string host = host_of(server.url);
    if (!server.no_key.empty())
        return tl::unexpected(key_missing(server));
    const auto list = ask(client, server, "/v1/models", stop);
    if (!list) {
        if (list.error().kind == net::Failure::Kind::NotFound)
            return net::fail(net::Failure::Kind::NotFound,
                             host + " answers, but is no server of models: it has no list of them at /v1/models");
        return tl::unexpected(list.error());
    }
    const Json* const data = field_of(*list, "data");
    if (!data || !data->is_array())
        return net::fail(net::Failure::Kind::BadAnswer,
                         host + " answers, but is no server of models: its list of models cannot be read");
    ServerFacts facts;
    std::string owner;
    for (const Json& entry : *data) {
        const std::string id = text_of(entry, "id");
        if (id.empty() || id.size() > kLongestName || facts.models.size() == kMostModels)
            continue;
        ServedModel model{id, tokens_of(entry, "max_model_len")};
        if (const Json* const meta = field_of(entry, "meta"); meta && model.context_tokens == 0)
            model.context_tokens = tokens_of(*meta, "n_ctx");
        if (owner.empty())
            owner = text_of(entry, "owned_by");
        facts.models.push_back(std::move(model));
    }
    const Questions questions(client, server, stop);
    const Kind said = kind_by(owner);
    if (said != Kind::Unknown && is_of(said, questions, facts)) {
        facts.kind = said;
        return facts;
    }
    // LM Studio's question comes before Ollama's: it answers that one, too.
    for (const Kind kind : {Kind::LlamaServer, Kind::LmStudio, Kind::SgLang, Kind::Tgi, Kind::Ollama, Kind::Vllm})
        if (kind != said && is_of(kind, questions, facts)) {
            facts.kind = kind;
            break;
        }
    if (stop.stop_requested())
        return net::fail(net::Failure::Kind::Cancelled, "stopped");
    return facts;
}

net::Result<ServerNumbers> ask_numbers(net::HttpClient& client, const Server& server, const std::stop_token& stop,
                                       std::chrono::milliseconds longest)
{
    const auto page = text_at(client, server, "/metrics", "numbers of a server", stop, longest);
    if (!page)
        return tl::unexpected(page.error());
    ServerNumbers numbers = read_numbers(*page);
    numbers.server = server.url;
    return numbers;
}

engine::Result<engine::ModelInfo> info_of(const std::string& server, const std::string& model, const ServerFacts& facts)
{
    const auto found = std::ranges::find(facts.models, model, &ServedModel::id);
    if (found == facts.models.end())
        return engine::fail(engine::Error::Code::BadRequest, host_of(server) + " has no model '" + model + "'");
    engine::ModelInfo info;
    info.path = path_of(RemoteModel{server, model});
    info.name = model;
    info.context_tokens = info.context_in_use = found->context_tokens;
    info.has_chat_template = true;  // the server renders it
    return info;
}

}  // namespace remote
