#include "app/remote/remote_engine.h"

#include "app/remote/address.h"
#include "app/remote/chat_body.h"
#include "app/remote/occupancy.h"
#include "app/remote/probe.h"
#include "app/remote/server_failure.h"
#include "app/remote/streamed_answer.h"
#include "engine/caught.h"

#include <algorithm>

namespace remote {

namespace {

using Code = engine::Error::Code;

/// Says whether it is worth asking another server of the same name.
bool another_may_answer(const net::Failure& failure)
{
    return failure.kind != net::Failure::Kind::BadRequest && failure.kind != net::Failure::Kind::Cancelled;
}

engine::Error none_of_yours(const std::string& server)
{
    return {Code::BadRequest, host_of(server) + " is none of your servers any more"};
}

/// Returns the error of the last server that was asked; where there are several, the sentence says that none of them
/// can answer.
engine::Error none_can(const std::vector<ListedServer>& servers, engine::Error last)
{
    if (servers.size() > 1)
        last.what = "none of the " + std::to_string(servers.size()) + " servers named '" + servers.front().name +
                    "' can answer now; the last of them: " + last.what;
    return last;
}

struct Found {
    RemoteModel model;
    engine::ModelInfo info;
};

/// Returns the smallest context of these servers, in tokens, since any of them may answer. 0: none says its context.
int context_of(const std::vector<ListedServer>& servers, const std::string& model)
{
    int context = 0;
    for (const ListedServer& listed : servers) {
        const auto found = std::ranges::find(listed.facts.models, model, &ServedModel::id);
        if (found != listed.facts.models.end() && found->context_tokens > 0)
            context = context == 0 ? found->context_tokens : std::min(context, found->context_tokens);
    }
    return context;
}

engine::Result<Found> find_model(ServerBook& book, const std::filesystem::path& path, secrets::MayAsk may,
                                 const std::stop_token& stop)
{
    auto model = model_at(path);
    if (!model)
        return engine::fail(Code::BadRequest, "this is no model of a server");
    const std::vector<ListedServer> servers = book.for_model(model->server, model->model);
    if (servers.empty())
        return tl::unexpected(none_of_yours(model->server));
    engine::Error error;
    for (const ListedServer& listed : servers) {
        const auto facts = probe(book.client(), book.keys().with_key(listed.server, may, stop), stop);
        if (!facts) {
            error = error_of(facts.error(), false);
            if (!another_may_answer(facts.error()))
                return tl::unexpected(std::move(error));
            continue;
        }
        book.learn(listed.server.url, *facts);
        auto info = info_of(listed.server.url, model->model, *facts);
        if (!info) {
            error = std::move(info.error());
            continue;
        }
        book.set_answering(model->server, 0, listed.server.url);
        const std::vector<ListedServer> together = book.for_model(model->server, model->model);
        info->path = path;
        info->context_tokens = info->context_in_use = context_of(together, model->model);
        for (const ListedServer& other : together)
            if (other.server.url != model->server)
                info->warnings.push_back(host_of(other.server.url) + " has the same name and may answer in its place");
        return Found{std::move(*model), std::move(*info)};
    }
    return tl::unexpected(none_can(servers, std::move(error)));
}

/// Counts the server as asked until this object is destroyed.
class Asking
{
public:
    Asking(ServerChoice& choice, const std::string& url)
        : choice_(choice)
        , url_(url)
    {
    }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    ~Asking() { choice_.asks_no_more(url_); }

private:
    ServerChoice& choice_;
    const std::string& url_;
};

/// Holds the outcome of asking one server for an answer.
struct Attempt {
    net::Result<engine::Turn> turn;
    bool begun = false;  // a part of the answer had come
};

struct Question {
    engine::SequenceId sequence;
    const engine::Request& request;
    const engine::Listener& listener;
    std::string model;
    int context_tokens;
    std::chrono::milliseconds patience;
};

engine::Result<Attempt> ask(net::HttpClient& client, const ListedServer& listed, const Question& question,
                            const std::stop_token& stop)
{
    auto body = body_of(question.request, question.model, listed.facts.kind);
    if (!body)
        return tl::unexpected(std::move(body.error()));
    const Server& server = listed.server;
    net::HttpRequest http;
    http.url = server.url + path_of(question.request);
    http.purpose = "answers of a model";
    http.headers = {{"Accept", "text/event-stream"}};
    http.token = server.key;
    http.token_over = net::TokenOver::Any;
    http.body = std::move(*body);
    http.stall = question.patience;
    StreamedAnswer streamed(host_of(server.url), question.request, question.listener,
                            AnswerNumbers(question.sequence, question.context_tokens), question.context_tokens);
    if (!server.no_key.empty() && !stop.stop_requested())
        return Attempt{tl::unexpected(key_missing(server))};
    net::HttpReader reader = streamed.reader();
    reader.on_refusal = [&](const net::HttpHead& head, std::string_view reason) {
        return refusal_of(head, !server.key.empty(), reason);
    };
    const auto head = client.get(http, reader, stop);
    if (stop.stop_requested())
        return Attempt{streamed.turn(true), streamed.begun()};
    if (!head && !streamed.done())
        return Attempt{tl::unexpected(head.error()), streamed.begun()};
    if (const net::Status whole = streamed.end(); !whole)
        return Attempt{tl::unexpected(whole.error()), streamed.begun()};
    return Attempt{streamed.turn(false), streamed.begun()};
}

}  // namespace

engine::Result<engine::ModelInfo> inspect_remote_model(ServerBook& book, const std::filesystem::path& path,
                                                       secrets::MayAsk may, const std::stop_token& stop)
try {
    auto found = find_model(book, path, may, stop);
    if (!found)
        return tl::unexpected(std::move(found.error()));
    return std::move(found->info);
} catch (...) {
    return engine::caught("for this model");
}

RemoteEngine::RemoteEngine(std::shared_ptr<ServerBook> book, std::chrono::milliseconds patience)
    : book_(std::move(book))
    , patience_(patience)
{
}

engine::Result<engine::ModelInfo> RemoteEngine::load(const engine::LoadRequest& request, const engine::Listener&,
                                                     std::stop_token stop)
try {
    unload();
    auto found = find_model(*book_, request.model, secrets::MayAsk::Yes, stop);
    if (!found)
        return tl::unexpected(std::move(found.error()));
    model_ =
        Model{std::move(found->model.server), std::move(found->model.model), found->info.context_in_use, patience_};
    return std::move(found->info);
} catch (...) {
    return engine::caught("for this model");
}

void RemoteEngine::unload()
{
    turns_.clear();
    model_.reset();
}

engine::Result<engine::Turn> RemoteEngine::generate(engine::SequenceId sequence, const engine::Request& request,
                                                    const engine::Listener& listener, std::stop_token stop)
try {
    if (!model_)
        return engine::fail(Code::NotLoaded, "no model is open");
    return answer(*model_, sequence, request, listener, stop);
} catch (...) {
    return engine::caught("for this answer");
}

engine::Result<engine::Turn> RemoteEngine::answer(const Model& model, engine::SequenceId sequence,
                                                  const engine::Request& request, const engine::Listener& listener,
                                                  const std::stop_token& stop)
{
    // The list is read anew: since the model was opened a key may have changed, or the server may have been removed.
    std::vector<ListedServer> servers = in_turn(book_->for_model(model.server, model.id), sequence, stop);
    if (servers.empty())
        return tl::unexpected(none_of_yours(model.server));
    const Question question{sequence, request, listener, model.id, model.context_tokens, model.patience};
    engine::Error error;
    for (ListedServer& listed : servers) {
        const std::string& url = listed.server.url;
        if (&listed != &servers.front())
            choice_.asks(url, ServerChoice::Clock::now());
        const Asking asking(choice_, url);
        book_->set_answering(model.server, sequence, url);
        listed.server = book_->keys().with_key(std::move(listed.server), secrets::MayAsk::Yes, stop);
        auto attempt = ask(book_->client(), listed, question, stop);
        if (!attempt)
            return tl::unexpected(std::move(attempt.error()));
        if (attempt->turn) {
            choice_.answered(url, sequence);
            return std::move(*attempt->turn);
        }
        const net::Failure& failure = attempt->turn.error();
        error = error_of(failure, attempt->begun);
        if (!another_may_answer(failure))
            return tl::unexpected(std::move(error));
        choice_.failed(url, failure.wait, ServerChoice::Clock::now());
        if (attempt->begun)
            return tl::unexpected(std::move(error));
    }
    return tl::unexpected(none_can(servers, std::move(error)));
}

/// Returns the servers in the order in which they are asked; the first is being asked from now on. A single one is not
/// asked how busy it is.
std::vector<ListedServer> RemoteEngine::in_turn(std::vector<ListedServer> servers, engine::SequenceId sequence,
                                                const std::stop_token& stop)
{
    if (servers.size() == 1)
        choice_.asks(servers.front().server.url, ServerChoice::Clock::now());
    if (servers.size() < 2)
        return servers;
    const std::vector<Occupancy> occupancy = ask_occupancy(book_->client(), servers, choice_, stop);
    std::vector<ListedServer> ordered;
    for (const std::string& url : choice_.choose(occupancy, sequence, ServerChoice::Clock::now()))
        ordered.push_back(*std::ranges::find(servers, url, [](const ListedServer& one) { return one.server.url; }));
    return ordered;
}

engine::Result<engine::TurnId> RemoteEngine::begin(engine::SequenceId sequence, const engine::Request& request,
                                                   const engine::Listener& listener, std::stop_token stop)
try {
    if (!model_)
        return engine::fail(Code::NotLoaded, "no model is open");
    if (turns_.count() >= std::size_t(engine::kMostRowsTogether))
        return engine::fail(Code::BadRequest, "too many turns run already");
    Model model = *model_;
    model.patience *= turns_.count() + 1;
    return turns_.begin(
        [this, model = std::move(model), sequence, request](const engine::Listener& heard,
                                                            const std::stop_token& stopped) {
            return answer(model, sequence, request, heard, stopped);
        },
        listener, stop);
} catch (...) {
    return engine::caught("for this turn");
}

std::vector<engine::TurnId> RemoteEngine::step(const engine::Listener&)
{
    return turns_.step();
}

engine::Result<engine::Turn> RemoteEngine::end(engine::TurnId turn)
try {
    return turns_.end(turn);
} catch (...) {
    return engine::caught("for this turn");
}

engine::Result<int> RemoteEngine::count_tokens(std::string_view, std::stop_token) const
{
    return engine::fail(Code::Unsupported, "what is not sent yet is not counted elsewhere");
}

engine::Result<engine::PromptLedger> RemoteEngine::count_prompt(const engine::Request&, std::stop_token) const
{
    return engine::fail(Code::Unsupported, "what is not sent yet is not counted elsewhere");
}

}  // namespace remote
