// Server is the front door of this room: an engine and the port at which programs reach it.
#pragma once

#include "app/server/door.h"
#include "app/server/engine_desk.h"
#include "app/server/http_server.h"
#include "app/server/request_log.h"
#include "app/server/shared_engine.h"

#include <memory>
#include <string>
#include <vector>

namespace server {

struct ServerOptions {
    HttpOptions http;
    DoorOptions door;
    DeskOptions desk;
    std::vector<std::filesystem::path> folders = {};             // of models
    std::chrono::milliseconds grace = std::chrono::seconds(10);  // for turns that run when stop() is called
    std::shared_ptr<RequestLog> log = {};                        // null: no log is kept
};

class Api;

class Server
{
public:
    Server(std::unique_ptr<engine::Engine> engine, ServerOptions options);
    /// Answers with the model that the engine's owner has open, and with no other.
    Server(SharedEngine& shared, ServerOptions options);
    ~Server();

    /// Loads a model and waits for that. Models in ServerOptions::folders are loaded when a request names them.
    engine::Status load(const engine::LoadRequest& request, std::string name, const engine::Listener& listener);

    /// Opens the port. Without a key, an address that other machines can reach is refused.
    engine::Status open();
    std::string url() const;
    /// Answers until stop() is called, which may be on any thread; then ends running turns within ServerOptions::grace.
    void run();
    void stop();

private:
    ServerOptions options_;
    Metrics metrics_;
    Models models_;
    EngineDesk desk_;
    std::unique_ptr<Api> api_;
    std::unique_ptr<HttpServer> http_;
};

}  // namespace server
