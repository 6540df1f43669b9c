// Api answers requests: it lists the server's paths and passes each request to the code for its path.
#pragma once

#include "app/server/dialect.h"
#include "app/server/door.h"
#include "app/server/http_server.h"
#include "app/server/metrics.h"
#include "app/server/plain_answers.h"
#include "app/server/request_log.h"
#include "app/server/turn_reply.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace server {

/// The functions are called on the connections' threads.
class Api final : public HttpHandler
{
public:
    /// `log` may be null.
    Api(EngineDesk& desk, Models& models, Metrics& metrics, DoorOptions door, std::shared_ptr<RequestLog> log = {});
    ~Api() override;

    std::optional<HttpAnswer> refuse(const HttpRequest& head) override;
    void answer(const HttpRequest& request, HttpReply& reply) override;
    HttpAnswer answer_to_bad(const HttpRefusal& refusal) override;
    void connected(const std::string& client) override;
    void disconnected(const std::string& client) override;
    void refused(const HttpRequest& head, int status) override;

private:
    struct Route;
    struct Routes;

    const Dialect& dialect_at(std::string_view path) const;
    engine::Status ready(const ModelFile& file, Ask& ask, const std::function<bool()>& client_is_gone);
    PlainAnswer answer_plainly(const Route& route, const HttpRequest& request, const Json& body,
                               const std::function<bool()>& client_is_gone);
    tl::expected<ModelFile, Refusal> file_for(const Json& body, std::string_view path);
    tl::expected<std::shared_ptr<const Served>, Refusal> model_for(const Route& route, const Json& body,
                                                                   std::string_view path);
    Replied reply_to(const HttpRequest& request, HttpReply& reply);
    Replied answer_at(const Route& route, const HttpRequest& request, HttpReply& reply);
    std::optional<Refusal> no_route(const HttpRequest& request) const;

    EngineDesk& desk_;
    Models& models_;
    Metrics& metrics_;
    const Door door_;
    const std::shared_ptr<RequestLog> log_;
    std::unique_ptr<const Routes> routes_;
};

}  // namespace server
