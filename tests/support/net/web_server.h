// WebServer answers on a free port of this machine as a test wants it to, well or badly.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace support {

struct WebRequest {
    std::string target;                          // path and query, as it was sent
    std::map<std::string, std::string> headers;  // names in lower case
    std::string method = "GET";
    std::string body = {};
    std::string header(const std::string& name) const
    {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
};

struct WebAnswer {
    enum class End {
        Whole,
        Close,  // after `sent_bytes` of the body
        Reset,
        Stall,
    };
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers = {};  // Content-Length comes by itself
    std::string body = {};
    End end = End::Whole;
    std::int64_t sent_bytes = 0;
    int pause_ms = 0;  // between pieces
    int piece_bytes = 16 << 10;
    bool has_length = true;  // false: no Content-Length; the body is all that comes until the connection is closed
};

/// Returns what a server with ranges answers of a file: 200, 206 by Range and If-Range, 416.
WebAnswer file_answer(const WebRequest& request, const std::string& file, const std::string& etag);

/// One thread for each connection; the handler is called by all of them, one at a time.
class WebServer
{
public:
    using Handler = std::function<WebAnswer(const WebRequest&)>;
    enum class Scheme { Http, Https };  // with a certificate that nobody has signed, made on the spot

    explicit WebServer(Handler handler, Scheme scheme = Scheme::Http);
    ~WebServer();
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    int port() const { return port_; }
    /// "http://127.0.0.1:PORT" + path
    std::string url(const std::string& path = {}, const std::string& host = "127.0.0.1") const;
    /// Answers by this handler from now on.
    void answer_by(Handler handler);
    std::vector<WebRequest> requests() const;
    std::int64_t body_bytes() const { return body_bytes_; }  // sent so far
    /// Returns, for Https, what a client that trusts it has to read.
    std::string certificate() const;

private:
    struct Tls;
    class Stream;
    void accept_all();
    void serve(int socket);
    bool send_answer(Stream& stream, const WebAnswer& answer);

    Handler handler_;
    std::unique_ptr<Tls> tls_;
    int socket_ = -1;
    int port_ = 0;
    std::atomic<bool> ending_ = false;
    std::atomic<std::int64_t> body_bytes_ = 0;
    mutable std::mutex mutex_;
    std::vector<WebRequest> requests_;
    std::vector<int> open_;
    std::vector<std::jthread> threads_;
    std::jthread accepting_;
};

}  // namespace support
