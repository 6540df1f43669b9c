#include "app/server/server.h"

#include "app/server/api.h"
#include "app/server/large_blocks.h"

namespace server {

Server::Server(std::unique_ptr<engine::Engine> engine, ServerOptions options)
    : options_(std::move(options))
    , models_(options_.folders)
    , desk_(std::move(engine), options_.desk, metrics_)
    , api_(std::make_unique<Api>(desk_, models_, metrics_, options_.door, options_.log))
{
}

Server::Server(SharedEngine& shared, ServerOptions options)
    : options_(std::move(options))
    , models_({})
    , desk_(shared, options_.desk, metrics_,
            [this](std::optional<ModelFile> file) { models_.set_only(std::move(file)); })
    , api_(std::make_unique<Api>(desk_, models_, metrics_, options_.door, options_.log))
{
}

Server::~Server() = default;

engine::Status Server::load(const engine::LoadRequest& request, std::string name, const engine::Listener& listener)
{
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(request.model, unknown);
    models_.add({name, request.model, unknown ? 0 : std::int64_t(bytes)});
    return desk_.load(request, std::move(name), listener);
}

engine::Status Server::open()
{
    // Without a key any program that reaches the port may use the model and read the metrics.
    options_.http.from = options_.door.keys.empty() ? Listener::From::ThisMachine : Listener::From::Anywhere;
    auto http = HttpServer::open(options_.http, *api_);
    if (!http)
        return tl::unexpected(http.error());
    http_ = std::move(*http);
    return {};
}

std::string Server::url() const
{
    return http_->url();
}

void Server::run()
{
    give_large_blocks_back();
    http_->run();
}

/// Takes no new connections, and ends the turns, so that the connections end, too.
void Server::stop()
{
    http_->stop();
    desk_.close(options_.grace);
}

}  // namespace server
