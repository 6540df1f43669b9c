#include "app/server/http_server.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>

namespace server {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kGlance{100};    // between two looks at whether the server stops
constexpr milliseconds kFarewell{500};  // for reading what a client still sends, before the connection closes
constexpr std::size_t kReadBytes = 16 << 10;

std::string head_of(const HttpAnswer& answer, const std::string& framing, bool keeps_alive)
{
    std::string head = "HTTP/1.1 " + std::to_string(answer.status) + ' ' + status_phrase(answer.status) + "\r\n";
    if (answer.status != 204)
        head += "Content-Type: " + answer.content_type + "\r\n";
    for (const HttpHeader& header : answer.headers)
        head += header.name + ": " + header.value + "\r\n";
    // A browser must not guess an answer's type, nor keep it.
    head += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n" + framing;
    return head + (keeps_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n");
}

/// Says until when a text has to be read or written. The time begins anew after every 64 KiB that come through: a
/// large text takes long on a slow network, but whoever sends or reads single bytes must not keep a connection.
class Deadline
{
public:
    explicit Deadline(milliseconds patience)
        : patience_(patience)
        , at_(Clock::now() + patience)
    {
    }
    Clock::time_point at() const { return at_; }
    void came_through(std::size_t bytes)
    {
        bytes_ += bytes;
        if (bytes_ < kEnough_bytes || stops_)
            return;
        bytes_ = 0;
        at_ = Clock::now() + patience_;
    }
    /// Leaves a moment at most, from the first call on.
    void stop()
    {
        if (!std::exchange(stops_, true))
            at_ = std::min(at_, Clock::now() + kFarewell);
    }

private:
    static constexpr std::size_t kEnough_bytes = 64 << 10;

    milliseconds patience_;
    Clock::time_point at_;
    std::size_t bytes_ = 0;  // since the time began
    bool stops_ = false;
};

/// Writes all of the text, unless its time runs out. While the server stops, it gives up earlier, so that a client that
/// does not read cannot hold up its end.
bool write_all(Socket& socket, std::string_view text, milliseconds patience, const std::atomic<bool>& stopping)
{
    Deadline deadline(patience);
    while (!text.empty()) {
        if (stopping)
            deadline.stop();
        const auto left = std::max(std::chrono::ceil<milliseconds>(deadline.at() - Clock::now()), milliseconds(0));
        const auto sent = socket.write(text, std::min(left, kGlance));
        if (!sent || (*sent == 0 && left.count() == 0))
            return false;
        text.remove_prefix(*sent);
        deadline.came_through(*sent);
    }
    return true;
}

/// Writes an answer to a socket, on the connection's thread.
class SocketReply final : public HttpReply
{
public:
    SocketReply(Socket& socket, const HttpRequest& request, milliseconds write_time, const std::atomic<bool>& stopping,
                bool keeps_alive)
        : socket_(socket)
        , write_time_(write_time)
        , stopping_(stopping)
        , body_wanted_(request.method != "HEAD")
        , chunked_(!request.http_1_0)
        , keeps_alive_(keeps_alive)
    {
    }

    void whole(const HttpAnswer& answer) override
    {
        if (streams_) {  // another head would be taken for a piece of the stream
            broken_ = true;
            return;
        }
        begun_ = true;
        const std::string length = "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
        std::string text = head_of(answer, answer.status == 204 ? "" : length, keeps_alive_);
        if (body_wanted_)
            text += answer.body;
        send(text);
    }

    void begin(const HttpAnswer& answer) override
    {
        begun_ = streams_ = true;
        keeps_alive_ = keeps_alive_ && chunked_;  // without chunks the end of the connection ends the stream
        send(head_of(answer, chunked_ ? "Transfer-Encoding: chunked\r\n" : "", keeps_alive_));
    }

    bool write(std::string_view piece) override
    {
        if (piece.empty() || !body_wanted_)
            return !broken_;
        if (!chunked_)
            return send(piece);
        std::array<char, 2 * sizeof(std::size_t) + 1> size{};
        std::snprintf(size.data(), size.size(), "%zx", piece.size());
        return send(std::string(size.data()).append("\r\n").append(piece).append("\r\n"));
    }

    bool client_is_gone() override { return broken_ || socket_.peer_is_gone(); }

    bool begun() const { return begun_; }

    /// Ends the answer. True: the client may send another request.
    bool end()
    {
        if (streams_ && chunked_ && body_wanted_)
            send("0\r\n\r\n");
        return keeps_alive_ && !broken_;
    }

private:
    bool send(std::string_view text)
    {
        broken_ = broken_ || !write_all(socket_, text, write_time_, stopping_);
        return !broken_;
    }

    Socket& socket_;
    milliseconds write_time_;
    const std::atomic<bool>& stopping_;
    bool body_wanted_, chunked_, keeps_alive_;
    bool begun_ = false, streams_ = false, broken_ = false;
};

/// Reports to the handler that a client is connected, and at its own end that it has left.
class Presence
{
public:
    Presence(HttpHandler& handler, const std::string& client)
        : handler_(handler)
        , client_(client)
    {
        handler_.connected(client_);
    }
    ~Presence() { handler_.disconnected(client_); }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;

private:
    HttpHandler& handler_;
    const std::string& client_;
};

}  // namespace

engine::Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpOptions options, HttpHandler& handler)
{
    auto inherited = options.inherits ? Listener::inherited(options.from) : std::nullopt;
    if (!inherited)
        return tl::unexpected(inherited.error());
    auto listener = *inherited ? engine::Result<Listener>(std::move(**inherited))
                               : Listener::open(options.host, options.port, options.from);
    if (!listener)
        return tl::unexpected(listener.error());
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(options), handler, std::move(*listener)));
}

HttpServer::HttpServer(HttpOptions options, HttpHandler& handler, Listener listener)
    : options_(std::move(options))
    , handler_(handler)
    , listener_(std::move(listener))
{
}

HttpServer::~HttpServer()
{
    stop();
}

std::string HttpServer::url() const
{
    if (!listener_.address().empty())
        return "http://" + listener_.address();
    const bool v6 = options_.host.find(':') != std::string::npos;
    return "http://" + (v6 ? "[" + options_.host + "]" : options_.host) + ":" + std::to_string(port());
}

void HttpServer::run()
{
    while (!stopping_) {
        try {
            welcome_next();
        } catch (const std::bad_alloc&) {
            // There was no memory even to turn it away: the connection ends.
        }
    }
    connections_.clear();  // joins each connection's thread
}

void HttpServer::welcome_next()
{
    auto accepted = listener_.accept(kGlance);
    connections_.remove_if([](const Connection& connection) { return connection.over.load(); });
    if (!accepted)
        return;
    if (connections_.size() < std::size_t(options_.connections))
        take(std::move(*accepted));
    else
        turn_away(std::move(accepted->socket));
}

void HttpServer::take(Listener::Accepted accepted)
{
    Connection* connection = nullptr;
    try {
        connection = &connections_.emplace_back();
        connection->thread = std::jthread([this, connection, accepted = std::move(accepted)]() mutable {
            try {
                talk(accepted.socket, accepted.client);
                accepted.socket.finish(kFarewell);
            } catch (const std::exception&) {
                // There was no memory for it: the connection ends.
            }
            accepted.socket = Socket();
            connection->over = true;
        });
    } catch (const std::exception&) {
        if (connection)
            connection->over = true;  // no thread could be had
    }
}

void HttpServer::turn_away(Socket socket)
{
    HttpAnswer answer = handler_.answer_to_bad({503, "too many connections are open"});
    answer.headers.push_back({"Retry-After", "1"});
    const std::string length = "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    write_all(socket, head_of(answer, length, false) + answer.body, milliseconds(0), stopping_);
}

/// Answers the requests of a connection one after the other, until the client or the server ends it.
void HttpServer::talk(Socket& socket, const std::string& client)
{
    const Presence presence(handler_, client);
    std::string unread;
    for (;;) {
        HttpReader reader(options_.limits);
        if (read_head(socket, reader, unread) != Socket::Came::Bytes)
            return;
        reader.request().client = client;
        if (reader.state() == HttpReader::State::Body) {
            const auto refused = handler_.refuse(reader.request());
            if (!refused && reader.request().expects_continue)
                write_all(socket, "HTTP/1.1 100 Continue\r\n\r\n", options_.write_time, stopping_);
            if (!refused && read_body(socket, reader, unread) != Socket::Came::Bytes)
                return;
        }
        if (!answer_one(socket, reader))
            return;
    }
}

bool HttpServer::answer_one(Socket& socket, HttpReader& reader)
{
    const HttpRequest& request = reader.request();
    const bool whole = reader.state() == HttpReader::State::Whole;
    SocketReply reply(socket, request, options_.write_time, stopping_, whole && request.keeps_alive && !stopping_);
    if (reader.state() == HttpReader::State::Refused)
        reply.whole(handler_.answer_to_bad(reader.refusal()));
    else if (const auto refused = handler_.refuse(request)) {
        reply.whole(*refused);
        handler_.refused(request, refused->status);
    } else
        handler_.answer(request, reply);
    if (!reply.begun())
        reply.whole(handler_.answer_to_bad({500, "the request was not answered"}));
    return reply.end();
}

/// Reads the head of a request. Bytes: it is whole, or refused. Otherwise no client waits for an answer.
Socket::Came HttpServer::read_head(Socket& socket, HttpReader& reader, std::string& unread)
{
    auto deadline = Clock::now() + options_.idle_time;
    bool begun = false, stops = false;
    std::array<char, kReadBytes> bytes;
    for (;;) {
        unread.erase(0, reader.feed(unread));
        if (reader.state() != HttpReader::State::Head)
            return Socket::Came::Bytes;
        if (!begun && !reader.empty()) {
            begun = true;
            deadline = Clock::now() + options_.head_time;
        }
        if (stopping_ && !std::exchange(stops, true))
            deadline = std::min(deadline, Clock::now() + kFarewell);
        if (Clock::now() >= deadline || (stopping_ && !begun))
            return Socket::Came::Nothing;
        const Socket::Read read = socket.read(bytes.data(), bytes.size(), kGlance);
        if (read.came == Socket::Came::End || read.came == Socket::Came::Broken)
            return read.came;
        unread.append(bytes.data(), read.bytes);
    }
}

Socket::Came HttpServer::read_body(Socket& socket, HttpReader& reader, std::string& unread)
{
    Deadline deadline(options_.body_time);
    std::array<char, kReadBytes> bytes;
    for (;;) {
        unread.erase(0, reader.feed(unread));
        if (reader.state() != HttpReader::State::Body)
            return Socket::Came::Bytes;
        if (Clock::now() >= deadline.at() || stopping_)
            return Socket::Came::Nothing;
        const Socket::Read read = socket.read(bytes.data(), bytes.size(), kGlance);
        if (read.came == Socket::Came::End || read.came == Socket::Came::Broken)
            return read.came;
        unread.append(bytes.data(), read.bytes);
        deadline.came_through(read.bytes);
    }
}

}  // namespace server
