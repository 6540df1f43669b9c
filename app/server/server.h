// Server is the front door of this room: an engine, and the port where programs reach it.
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
    std::chrono::milliseconds grace = std::chrono::seconds(10);  // for turns that run when it is to stop
    std::shared_ptr<RequestLog> log = {};                        // null: nobody shows it
};

class Api;

class Server
{
public:
    Server(std::unique_ptr<engine::Engine> engine, ServerOptions options);
    /// Answers with what the engine's owner has open, and nothing else.
    Server(SharedEngine& shared, ServerOptions options);
    ~Server();

    /// Waits until it is there. Further models are found in ServerOptions::folders, and loaded when they are asked for.
    engine::Status load(const engine::LoadRequest& request, std::string name, const engine::Listener& listener);

    /// Takes the port. An address that other machines reach is refused as long as no key is asked for.
    engine::Status open();
    std::string url() const;
    /// Answers until stop() is called, from any thread; then ends what runs, with some grace.
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
