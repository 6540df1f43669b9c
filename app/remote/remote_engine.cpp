#include "app/remote/remote_engine.h"

#include "app/remote/address.h"
#include "app/remote/chat_body.h"
#include "app/remote/probe.h"
#include "app/remote/server_failure.h"
#include "app/remote/streamed_answer.h"
#include "engine/caught.h"

#include <algorithm>

namespace remote {

namespace {

using Code = engine::Error::Code;

struct Found {
    Server server;
    RemoteModel model;
    ServerFacts facts;
    engine::ModelInfo info;
};

engine::Result<Found> find_model(ServerBook& book, const std::filesystem::path& path, const std::stop_token& stop)
{
    auto model = model_at(path);
    if (!model)
        return engine::fail(Code::BadRequest, "this is no model of a server");
    auto server = book.find(model->server);
    if (!server)
        return engine::fail(Code::BadRequest, host_of(model->server) + " is none of your servers any more");
    auto facts = probe(book.client(), *server, stop);
    if (!facts)
        return tl::unexpected(error_of(facts.error(), false));
    auto info = info_of(model->server, model->model, *facts);
    if (!info)
        return tl::unexpected(std::move(info.error()));
    return Found{std::move(*server), std::move(*model), std::move(*facts), std::move(*info)};
}

}  // namespace

engine::Result<engine::ModelInfo> inspect_remote_model(ServerBook& book, const std::filesystem::path& path,
                                                       const std::stop_token& stop)
try {
    auto found = find_model(book, path, stop);
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
    model_.reset();
    auto found = find_model(*book_, request.model, stop);
    if (!found)
        return tl::unexpected(std::move(found.error()));
    model_ =
        Model{std::move(found->server), std::move(found->model.model), found->facts.kind, found->info.context_in_use};
    return std::move(found->info);
} catch (...) {
    return engine::caught("for this model");
}

engine::Result<engine::Turn> RemoteEngine::generate(engine::SequenceId sequence, const engine::Request& request,
                                                    const engine::Listener& listener, std::stop_token stop)
try {
    return answer(sequence, request, listener, stop);
} catch (...) {
    return engine::caught("for this answer");
}

engine::Result<engine::Turn> RemoteEngine::answer(engine::SequenceId sequence, const engine::Request& request,
                                                  const engine::Listener& listener, const std::stop_token& stop)
{
    if (!model_)
        return engine::fail(Code::NotLoaded, "no model is open");
    auto body = body_of(request, model_->id, model_->kind);
    if (!body)
        return tl::unexpected(std::move(body.error()));
    // The key may have been changed since, and the server taken out of the list.
    const auto server = book_->find(model_->server.url);
    if (!server)
        return engine::fail(Code::BadRequest, host_of(model_->server.url) + " is none of your servers any more");

    net::HttpRequest http;
    http.url = server->url + path_of(request);
    http.purpose = "answers of a model";
    http.headers = {{"Accept", "text/event-stream"}};
    http.token = server->key;
    http.token_over = net::TokenOver::Any;
    http.body = std::move(*body);
    http.stall = patience_;
    StreamedAnswer streamed(host_of(server->url), request, listener, AnswerNumbers(sequence, model_->context_tokens),
                            model_->context_tokens);
    net::HttpReader reader = streamed.reader();
    reader.on_refusal = [&](const net::HttpHead& head, std::string_view reason) {
        return refusal_of(head, !server->key.empty(), reason);
    };
    const auto head = book_->client().get(http, reader, stop);
    if (stop.stop_requested())
        return streamed.turn(true);
    if (!head && !streamed.done())
        return tl::unexpected(error_of(head.error(), streamed.begun()));
    if (const net::Status whole = streamed.end(); !whole)
        return tl::unexpected(error_of(whole.error(), streamed.begun()));
    return streamed.turn(false);
}

engine::Result<engine::TurnId> RemoteEngine::begin(engine::SequenceId sequence, const engine::Request& request,
                                                   const engine::Listener& listener, std::stop_token stop)
try {
    if (!model_)
        return engine::fail(Code::NotLoaded, "no model is open");
    if (turns_.size() >= std::size_t(engine::kMostRowsTogether))
        return engine::fail(Code::BadRequest, "too many turns run already");
    turns_.push_back({++last_turn_, sequence, request, listener, std::move(stop), {}});
    return last_turn_;
} catch (...) {
    return engine::caught("for this turn");
}

std::vector<engine::TurnId> RemoteEngine::step(const engine::Listener&)
{
    const auto next = std::ranges::find_if(turns_, [](const Begun& turn) { return !turn.result; });
    if (next != turns_.end())
        next->result = generate(next->sequence, next->request, next->listener, next->stop);
    std::vector<engine::TurnId> over;
    for (const Begun& turn : turns_)
        if (turn.result)
            over.push_back(turn.id);
    return over;
}

engine::Result<engine::Turn> RemoteEngine::end(engine::TurnId turn)
{
    const auto found = std::ranges::find(turns_, turn, &Begun::id);
    if (found == turns_.end())
        return engine::fail(Code::BadRequest, "there is no such turn");
    auto result = std::move(found->result);
    turns_.erase(found);
    if (result)
        return std::move(*result);
    engine::Turn stopped;  // before it was asked
    stopped.reason = engine::StopReason::Cancelled;
    return stopped;
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
