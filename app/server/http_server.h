// HttpServer answers HTTP requests, each connection on a thread of its own.
#pragma once

#include "app/server/http_message.h"
#include "app/server/http_reader.h"
#include "app/server/socket.h"

#include <atomic>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace server {

struct HttpOptions {
    std::string host = "127.0.0.1";
    int port = 8080;        // 0: a free one
    bool inherits = false;  // use the socket that the system listens on for this program, if there is one
    Listener::From from = Listener::From::ThisMachine;
    HttpLimits limits;
    int connections = 128;  // more are turned away
    // How long a client may take...
    std::chrono::milliseconds head_time = std::chrono::seconds(10);
    std::chrono::milliseconds body_time = std::chrono::seconds(60);   // anew after every 64 KiB
    std::chrono::milliseconds write_time = std::chrono::seconds(20);  // for each piece of an answer, and anew likewise
    std::chrono::milliseconds idle_time = std::chrono::seconds(60);   // until the next request
};

/// Takes the answer to one request: a whole one, or the beginning of a stream and its pieces.
class HttpReply
{
public:
    virtual ~HttpReply() = default;
    /// Sends a whole answer. Once a stream has begun, breaks that off instead.
    virtual void whole(const HttpAnswer& answer) = 0;
    virtual void begin(const HttpAnswer& without_body) = 0;
    /// Sends a piece of a stream. False: the client is gone, or reads too slowly, and gets nothing more.
    virtual bool write(std::string_view piece) = 0;
    virtual bool client_is_gone() = 0;
};

/// Answers requests. Called on the connections' threads, many at a time. Throws only for lack of memory.
class HttpHandler
{
public:
    virtual ~HttpHandler() = default;
    /// Looks at a request before its body is read. An answer: it is sent, and the request is dropped.
    virtual std::optional<HttpAnswer> refuse(const HttpRequest& head) = 0;
    virtual void answer(const HttpRequest& request, HttpReply& reply) = 0;
    /// Returns the answer to a request that is not HTTP, or too large.
    virtual HttpAnswer answer_to_bad(const HttpRefusal& refusal) = 0;

    // These report what else happens; a handler may ignore them.
    virtual void connected(const std::string& /*client*/) {}
    virtual void disconnected(const std::string& /*client*/) {}
    /// The answer from refuse() was sent.
    virtual void refused(const HttpRequest& /*head*/, int /*status*/) {}
};

class HttpServer
{
public:
    /// Opens the server; the port is taken when this returns.
    static engine::Result<std::unique_ptr<HttpServer>> open(HttpOptions options, HttpHandler& handler);
    ~HttpServer();

    std::string url() const;
    int port() const { return listener_.port(); }
    bool reached_from_elsewhere() const { return listener_.reached_from_elsewhere(); }

    /// Accepts connections until stop(), then waits for those that are being answered.
    void run();
    /// Stops run(). May be called from any thread, and by a signal's handler.
    void stop() { stopping_ = true; }

private:
    struct Connection {
        std::atomic<bool> over = false;
        std::jthread thread;
    };

    HttpServer(HttpOptions options, HttpHandler& handler, Listener listener);
    void welcome_next();
    void take(Listener::Accepted accepted);
    void turn_away(Socket socket);
    void talk(Socket& socket, const std::string& client);
    bool answer_one(Socket& socket, HttpReader& reader);
    Socket::Came read_head(Socket& socket, HttpReader& reader, std::string& unread);
    Socket::Came read_body(Socket& socket, HttpReader& reader, std::string& unread);

    HttpOptions options_;
    HttpHandler& handler_;
    Listener listener_;
    std::atomic<bool> stopping_ = false;
    std::list<Connection> connections_;  // of run()'s thread
};

}  // namespace server
