// Server is the front door of this room: an engine, and the port where programs reach it.
#pragma once

#include "app/server/door.h"
#include "app/server/engine_desk.h"
#include "app/server/http_server.h"

#include <memory>
#include <string>

namespace server {

struct ServerOptions {
    HttpOptions http;
    DoorOptions door;
    DeskOptions desk;
    std::chrono::milliseconds grace = std::chrono::seconds(10);  // for turns that run when it is to stop
};

class Api;

class Server
{
public:
    Server(std::unique_ptr<engine::Engine> engine, ServerOptions options);
    ~Server();

    engine::Status load(const engine::LoadRequest& request, std::string name, const engine::Listener& listener)
    {
        return desk_.load(request, std::move(name), listener);
    }

    /// Takes the port. An address that other machines reach is refused as long as no key is asked for.
    engine::Status open();
    std::string url() const;
    /// Answers until stop() is called, from any thread; then ends what runs, with some grace.
    void run();
    void stop();

private:
    ServerOptions options_;
    Metrics metrics_;
    EngineDesk desk_;
    std::unique_ptr<Api> api_;
    std::unique_ptr<HttpServer> http_;
};

}  // namespace server
