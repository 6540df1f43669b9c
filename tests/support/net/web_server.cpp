#include "tests/support/net/web_server.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

namespace support {

struct WebServer::Tls {
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    std::string certificate;

    Tls()
    {
        EVP_PKEY* const key = EVP_EC_gen("P-256");
        X509* const x509 = X509_new();
        X509_set_version(x509, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
        X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
        X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
        X509_set_pubkey(x509, key);
        X509_NAME* const name = X509_get_subject_name(x509);
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("127.0.0.1"), -1,
                                   -1, 0);
        X509_set_issuer_name(x509, name);
        X509_EXTENSION* const names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
        X509_add_ext(x509, names, -1);
        X509_EXTENSION_free(names);
        X509_sign(x509, key, EVP_sha256());
        SSL_CTX_use_certificate(context, x509);
        SSL_CTX_use_PrivateKey(context, key);
        BIO* const text = BIO_new(BIO_s_mem());
        PEM_write_bio_X509(text, x509);
        char* data = nullptr;
        const long size = BIO_get_mem_data(text, &data);
        certificate.assign(data, std::size_t(size));
        BIO_free(text);
        X509_free(x509);
        EVP_PKEY_free(key);
    }
    ~Tls() { SSL_CTX_free(context); }
};

/// A connection, secured or not.
class WebServer::Stream
{
public:
    Stream(int socket, const Tls* tls)
        : socket_(socket)
        , ssl_(tls ? SSL_new(tls->context) : nullptr)
    {
        if (!ssl_)
            return;
        SSL_set_fd(ssl_, socket);
        good_ = SSL_accept(ssl_) == 1;
    }
    ~Stream() { SSL_free(ssl_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    bool good() const { return good_; }
    int socket() const { return socket_; }
    long read(char* to, int size) { return ssl_ ? SSL_read(ssl_, to, size) : recv(socket_, to, std::size_t(size), 0); }
    bool write(const char* from, std::int64_t size)
    {
        while (size > 0) {
            const long sent = ssl_ ? SSL_write(ssl_, from, int(std::min<std::int64_t>(size, 1 << 20)))
                                   : send(socket_, from, std::size_t(size), MSG_NOSIGNAL);
            if (sent <= 0)
                return false;
            from += sent;
            size -= sent;
        }
        return true;
    }

private:
    int socket_;
    SSL* ssl_;
    bool good_ = true;
};

WebAnswer file_answer(const WebRequest& request, const std::string& file, const std::string& etag)
{
    WebAnswer answer;
    answer.headers = {{"ETag", etag}, {"Accept-Ranges", "bytes"}};
    long long first = 0, last = 0;
    const std::string range = request.header("range"), wanted = request.header("if-range");
    if (std::sscanf(range.c_str(), "bytes=%lld-%lld", &first, &last) != 2 || (!wanted.empty() && wanted != etag)) {
        answer.body = file;
        return answer;
    }
    if (first >= (long long)file.size()) {
        answer.status = 416;
        return answer;
    }
    last = std::min<long long>(last, (long long)file.size() - 1);
    answer.status = 206;
    answer.body = file.substr(std::size_t(first), std::size_t(last - first + 1));
    answer.headers.emplace_back("Content-Range", "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' +
                                                     std::to_string(file.size()));
    return answer;
}

WebServer::WebServer(Handler handler, Scheme scheme)
    : handler_(std::move(handler))
{
    std::signal(SIGPIPE, SIG_IGN);  // SSL_write has no MSG_NOSIGNAL
    if (scheme == Scheme::Https)
        tls_ = std::make_unique<Tls>();
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(socket_, 64) != 0 ||
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        std::abort();
    port_ = ntohs(address.sin_port);
    accepting_ = std::jthread([this] { accept_all(); });
}

WebServer::~WebServer()
{
    ending_ = true;
    shutdown(socket_, SHUT_RDWR);
    accepting_.join();
    {
        const std::lock_guard lock(mutex_);
        for (const int socket : open_)
            shutdown(socket, SHUT_RDWR);
    }
    threads_.clear();
    close(socket_);
}

std::string WebServer::url(const std::string& path, const std::string& host) const
{
    return (tls_ ? "https://" : "http://") + host + ':' + std::to_string(port_) + path;
}

void WebServer::answer_by(Handler handler)
{
    const std::lock_guard lock(mutex_);
    handler_ = std::move(handler);
}

std::vector<WebRequest> WebServer::requests() const
{
    const std::lock_guard lock(mutex_);
    return requests_;
}

std::string WebServer::certificate() const
{
    return tls_ ? tls_->certificate : std::string();
}

void WebServer::accept_all()
{
    while (!ending_) {
        const int socket = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0)
            continue;
        const int at_once = 1;  // else a body waits 40 ms until the client has confirmed the head
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        const std::lock_guard lock(mutex_);
        open_.push_back(socket);
        threads_.emplace_back([this, socket] { serve(socket); });
    }
}

void WebServer::serve(int socket)
{
    Stream stream(socket, tls_.get());
    std::string text;
    for (bool go_on = stream.good(); go_on && !ending_;) {
        std::size_t end = text.find("\r\n\r\n");
        if (end == std::string::npos) {
            char buffer[4096];
            const long got = stream.read(buffer, sizeof buffer);
            if (got <= 0)
                break;
            text.append(buffer, std::size_t(got));
            continue;
        }
        WebRequest request;
        std::size_t line = text.find("\r\n");
        const std::string first = text.substr(0, line);
        const std::size_t space = first.find(' ');
        request.method = first.substr(0, space);
        request.target = first.substr(space + 1, first.rfind(' ') - space - 1);
        while (line < end) {
            const std::size_t next = text.find("\r\n", line + 2);
            const std::string header = text.substr(line + 2, next - line - 2);
            const std::size_t colon = header.find(':');
            std::string name = header.substr(0, colon);
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char c) { return char(std::tolower(c)); });
            if (colon != std::string::npos)
                request.headers[name] = header.substr(header.find_first_not_of(' ', colon + 1));
            line = next;
        }
        text.erase(0, end + 4);
        const auto length = std::size_t(std::atoll(request.header("content-length").c_str()));
        while (text.size() < length) {
            char buffer[4096];
            const long got = stream.read(buffer, sizeof buffer);
            if (got <= 0)
                break;
            text.append(buffer, std::size_t(got));
        }
        request.body = text.substr(0, length);
        text.erase(0, length);
        WebAnswer answer;
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
            answer = handler_(request);
        }
        go_on = send_answer(stream, answer);
    }
    const std::lock_guard lock(mutex_);
    open_.erase(std::find(open_.begin(), open_.end(), socket));
    close(socket);
}

/// Sends an answer. Returns false where the connection is at its end.
bool WebServer::send_answer(Stream& stream, const WebAnswer& answer)
{
    using End = WebAnswer::End;
    std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " As asked\r\n";
    for (const auto& [name, value] : answer.headers)
        head.append(name).append(": ").append(value).append("\r\n");
    if (answer.has_length)
        head += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    head += "\r\n";
    if (!stream.write(head.data(), std::int64_t(head.size())))
        return false;
    const auto whole = std::int64_t(answer.body.size());
    const std::int64_t size = answer.end == End::Whole ? whole : std::min(whole, answer.sent_bytes);
    const std::int64_t piece = answer.piece_bytes;
    for (std::int64_t at = 0; at < size && !ending_; at += piece) {
        const std::int64_t bytes = std::min(piece, size - at);
        if (!stream.write(answer.body.data() + at, bytes))
            return false;
        body_bytes_ += bytes;
        if (answer.pause_ms > 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(answer.pause_ms));
    }
    switch (answer.end) {
    case End::Whole:
        if (!answer.has_length)
            shutdown(stream.socket(), SHUT_RDWR);
        return answer.has_length;
    case End::Close:
        shutdown(stream.socket(), SHUT_RDWR);
        return false;
    case End::Reset: {
        const linger at_once{1, 0};
        setsockopt(stream.socket(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        return false;
    }
    case End::Stall: {
        char nothing = 0;
        stream.read(&nothing, 1);  // until the client or the test has had enough
        return false;
    }
    }
    return false;
}

}  // namespace support
