// Besides url.cpp the only file that includes curl.h.
#include "app/net/http_client.h"

#include "app/net/http_status.h"
#include "app/net/url.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <curl/curl.h>
#include <exception>
#include <filesystem>
#include <new>
#include <utility>

namespace net {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReasonBytes = 4096;            // of the body of a failed request, are kept
constexpr std::int64_t kMostRefusedBytes = 64 << 10;  // of that body, are read, so that the connection can be kept

bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool is_success(int status)
{
    return status == 200 || status == 206;
}

std::string_view value_of(const std::vector<HttpHeader>& headers, std::string_view name)
{
    for (const HttpHeader& header : headers)
        if (header.name == name)
            return header.value;
    return {};
}

/// Returns the file of certificates to use: the one that the environment names or, if libcurl's own does not exist
/// because this is another distribution than the one it was built for, the distribution's. Empty: libcurl's own.
std::string certificates()
{
    if (const char* named = std::getenv("SSL_CERT_FILE"); named && *named)
        return named;
    const curl_version_info_data* const info = curl_version_info(CURLVERSION_NOW);
    std::error_code error;
    if (!info->cainfo || std::filesystem::exists(info->cainfo, error))
        return {};
    for (const char* place : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                              "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
        if (std::filesystem::exists(place, error))
            return place;
    return {};
}

/// Says whether the environment names a proxy for this address, with the variables that libcurl reads.
bool goes_to_proxy(const Origin& origin)
{
    const auto value = [](const char* name) {
        const char* const text = std::getenv(name);
        return std::string_view(text ? text : "");
    };
    const auto either = [&](const char* name, const char* other) {
        return value(name).empty() ? value(other) : value(name);
    };
    if (origin.is_this_machine() || has_host(either("no_proxy", "NO_PROXY"), origin.host))
        return false;
    const std::string_view own = origin.scheme == "https" ? either("https_proxy", "HTTPS_PROXY") : value("http_proxy");
    return !own.empty() || !either("all_proxy", "ALL_PROXY").empty();
}

/// Says why a proxy answers in place of the host, or does not connect to it.
Failure failure_of_proxy(int status, const std::string& host)
{
    if (status == 407)
        return {Failure::Kind::NoConnection, "the proxy that the environment names wants a name and a password, as in "
                                             "http://NAME:PASSWORD@PROXY:8080"};
    return {Failure::Kind::NoConnection, "the proxy that the environment names does not connect to " + host +
                                             " (status " + std::to_string(status) + ')'};
}

Failure failure_of(CURLcode code, const Origin& origin)
{
    using Kind = Failure::Kind;
    const std::string host = origin.text();
    // libcurl does not say which of the two it was.
    const std::string asked = goes_to_proxy(origin) ? host + ", or the proxy that the environment names," : host;
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return {Kind::NoConnection, "the name " + host + " cannot be looked up: no network, or no such host"};
    case CURLE_COULDNT_RESOLVE_PROXY:
        return {Kind::NoConnection, "the proxy that the environment names cannot be looked up"};
    case CURLE_PROXY:
        return {Kind::NoConnection, "the proxy that the environment names refuses the connection"};
    case CURLE_COULDNT_CONNECT:
        return {Kind::NoConnection, asked + " refuses the connection"};
    case CURLE_OPERATION_TIMEDOUT:
        return {Kind::NoConnection, asked + " does not answer"};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
        return {Kind::BadCertificate, host + " cannot prove that it is " + host + ": its certificate is not trusted"};
    case CURLE_SSL_CACERT_BADFILE:
        return {Kind::BadCertificate, "this machine's list of trusted certificates cannot be read"};
    case CURLE_SSL_CONNECT_ERROR:
        return {Kind::NoConnection, "no secure connection to " + host + " comes about"};
    case CURLE_PARTIAL_FILE:
        return {Kind::Interrupted, host + " broke off before the end"};
    case CURLE_OUT_OF_MEMORY:
        return {Kind::BadRequest, "there is not enough memory for a connection"};
    default:
        return {Kind::Interrupted, "the connection to " + host + " broke off"};
    }
}

}  // namespace

std::string_view HttpHead::header(std::string_view name) const
{
    return value_of(headers, name);
}

std::string_view HttpHead::first_header(std::string_view name) const
{
    return value_of(first_headers, name);
}

// ---- one request and its answer, as libcurl hands it over ----

struct HttpClient::Hop {
    const HttpLimits limits;
    const HttpReader& reader;
    HttpHead head = {};
    std::string reason = {};         // the beginning of the body of a refusal
    std::int64_t refused_bytes = 0;  // of that body, that have come
    std::int64_t header_bytes = 0;
    bool head_given = false;
    std::optional<Failure> failure = {};
    std::exception_ptr thrown = {};  // kept here, since it must not pass through libcurl
    Clock::time_point last_byte = Clock::now();

    bool stop(Failure why)
    {
        failure = std::move(why);
        return false;
    }

    /// Calls take(*this) where nothing may be thrown, and keeps an exception in `thrown`.
    template <class Take>
    bool guarded(const Take& take) noexcept
    try {
        return take(*this);
    } catch (...) {
        thrown = std::current_exception();
        return false;
    }

    bool take_header(std::string_view line)
    {
        last_byte = Clock::now();
        header_bytes += std::int64_t(line.size());
        if (header_bytes > limits.header_bytes)
            return stop({Failure::Kind::BadAnswer, "the server's answer has no end of headers"});
        while (!line.empty() && (line.back() == '\r' || line.back() == '\n'))
            line.remove_suffix(1);
        if (line.starts_with("HTTP/")) {  // begins anew: a second head follows "100 Continue"
            head.headers.clear();
            const std::size_t space = line.find(' ');
            head.status = 0;
            if (space != std::string_view::npos)
                std::from_chars(line.data() + space + 1, line.data() + line.size(), head.status);
        } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
            std::string name(line.substr(0, colon));
            std::transform(name.begin(), name.end(), name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
            std::string_view value = line.substr(colon + 1);
            while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
                value.remove_prefix(1);
            while (!value.empty() && (value.back() == ' ' || value.back() == '\t'))
                value.remove_suffix(1);
            head.headers.push_back({std::move(name), std::string(value)});
        }
        return true;
    }

    /// Says whether enough was read of a refusal's or a redirect's body: the rest of it is not needed.
    bool is_enough() const { return refused_bytes > kMostRefusedBytes; }

    /// Gives the reader the head, before the first byte or at the end of an answer without any. False: the request
    /// ends.
    bool give_head()
    {
        if (std::exchange(head_given, true) || !is_success(head.status) || !reader.on_head)
            return true;
        if (const Status ok = reader.on_head(head); !ok)
            return stop(ok.error());
        return true;
    }

    bool take_bytes(std::span<const std::byte> bytes)
    {
        last_byte = Clock::now();
        if (!is_success(head.status)) {
            const auto* const text = reinterpret_cast<const char*>(bytes.data());
            reason.append(text, std::min(bytes.size(), kReasonBytes - reason.size()));
            refused_bytes += std::int64_t(bytes.size());
            return !is_enough();  // the body may have no end
        }
        if (!give_head())
            return false;
        if (reader.on_bytes)
            if (const Status ok = reader.on_bytes(bytes); !ok)
                return stop(ok.error());
        return true;
    }
};

/// Holds a connection that is kept from request to request. One thread at a time.
class HttpClient::Line
{
public:
    Line()
        : multi_(curl_multi_init())
        , easy_(curl_easy_init())
    {
        if (!multi_ || !easy_)
            throw std::bad_alloc();
    }
    ~Line()
    {
        curl_easy_cleanup(easy_);
        curl_multi_cleanup(multi_);
    }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    /// Sends a request and hands the answer to `hop`. Returns why it failed; nothing: the answer is complete.
    std::optional<Failure> perform(const HttpRequest& request, const std::string& url, const std::string& token,
                                   Hop& hop, const std::stop_token& stop);
    std::int64_t bytes_sent() const { return number(CURLINFO_REQUEST_SIZE); }

private:
    void set_options(const HttpRequest& request, const std::string& url, Hop& hop, curl_slist* headers);
    CURLcode run(Hop& hop, const std::stop_token& stop);
    std::int64_t number(CURLINFO what) const
    {
        long value = 0;
        curl_easy_getinfo(easy_, what, &value);
        return value;
    }

    CURLM* multi_;
    CURL* easy_;
};

void HttpClient::Line::set_options(const HttpRequest& request, const std::string& url, Hop& hop, curl_slist* headers)
{
    curl_easy_reset(easy_);
    curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy_, CURLOPT_USERAGENT, "spillway/" SPILLWAY_VERSION);
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for a name that is being looked up
#endif
    curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, long(hop.limits.connect.count()));
    curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy_, CURLOPT_NETRC, long(CURL_NETRC_IGNORED));
    if (const auto origin = origin_of(url); origin && origin->is_this_machine())
        curl_easy_setopt(easy_, CURLOPT_PROXY, "");  // no proxy for requests to this machine
    if (const std::string file = certificates(); !file.empty())
        curl_easy_setopt(easy_, CURLOPT_CAINFO, file.c_str());
    if (request.whole)
        curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, long(request.whole->count()));
    if (request.range) {
        const std::string range = std::to_string(request.range->begin) + '-' + std::to_string(request.range->end - 1);
        curl_easy_setopt(easy_, CURLOPT_RANGE, range.c_str());
    }
    if (request.body) {
        curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body->size()));
        curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request.body->c_str());  // not copied: it outlives the request
    }
    constexpr auto kStop = std::size_t(-1);  // 0 would be the count of an empty piece
    using Take = std::size_t (*)(char*, std::size_t, std::size_t, void*);
    const Take take_header = [](char* data, std::size_t, std::size_t count, void* to) {
        return static_cast<Hop*>(to)->guarded([&](Hop& hop) { return hop.take_header({data, count}); }) ? count : kStop;
    };
    const Take take_bytes = [](char* data, std::size_t, std::size_t count, void* to) {
        const std::span bytes(reinterpret_cast<const std::byte*>(data), count);
        return static_cast<Hop*>(to)->guarded([&](Hop& hop) { return hop.take_bytes(bytes); }) ? count : kStop;
    };
    curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, &hop);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &hop);
}

std::optional<Failure> HttpClient::Line::perform(const HttpRequest& request, const std::string& url,
                                                 const std::string& token, Hop& hop, const std::stop_token& stop)
{
    curl_slist* headers = nullptr;
    const auto add = [&headers](const std::string& line) {
        curl_slist* const longer = curl_slist_append(headers, line.c_str());
        if (longer)
            headers = longer;
    };
    for (const HttpHeader& header : request.headers)
        add(header.name + ": " + header.value);
    if (!token.empty())
        add("Authorization: Bearer " + token);
    if (request.body) {
        add("Content-Type: application/json");
        add("Expect:");  // no waiting for "100 Continue", which costs a second with many servers
    }
    set_options(request, url, hop, headers);
    const CURLcode code = run(hop, stop);
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, nullptr);
    curl_slist_free_all(headers);
    if (hop.thrown)
        std::rethrow_exception(hop.thrown);
    if (stop.stop_requested())
        return Failure{Failure::Kind::Cancelled, "stopped"};
    if (hop.failure)
        return hop.failure;
    if (code != CURLE_OK && !hop.is_enough()) {
        const Origin origin = origin_of(url).value_or(Origin());  // follow() has checked that it is an address
        // For https, libcurl first asks a proxy to connect: this is the status of the proxy's answer.
        const std::int64_t connected = number(CURLINFO_HTTP_CONNECTCODE);
        return connected > 0 && connected / 100 != 2 ? failure_of_proxy(int(connected), origin.text())
                                                     : failure_of(code, origin);
    }
    if (!hop.give_head())
        return hop.failure;
    return {};
}

CURLcode HttpClient::Line::run(Hop& hop, const std::stop_token& stop)
{
    if (curl_multi_add_handle(multi_, easy_) != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    CURLcode code = CURLE_OK;
    {
        const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_); });
        hop.last_byte = Clock::now();
        for (int running = 1; running > 0;) {
            if (stop.stop_requested())
                break;
            if (curl_multi_perform(multi_, &running) != CURLM_OK) {
                code = CURLE_RECV_ERROR;  // else what has come so far would count as the whole answer
                break;
            }
            const auto idle = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - hop.last_byte);
            if (running > 0 && idle >= hop.limits.stall) {
                hop.failure = Failure{Failure::Kind::Stalled,
                                      "nothing came for " +
                                          std::to_string(std::max<std::int64_t>(1, hop.limits.stall.count() / 1000)) +
                                          " s, though the connection stands"};
                break;
            }
            if (running > 0)
                curl_multi_poll(multi_, nullptr, 0,
                                int(std::min<std::int64_t>((hop.limits.stall - idle).count(), 1000)), nullptr);
        }
    }
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left))
        if (message->msg == CURLMSG_DONE)
            code = message->data.result;
    curl_multi_remove_handle(multi_, easy_);  // closes the connection if the answer is not complete
    return code;
}

// ---- HttpClient ----

HttpClient::HttpClient(const HttpLimits& limits)
    : limits_(limits)
{
    static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (!ready)
        throw std::bad_alloc();
}

HttpClient::~HttpClient() = default;

Result<HttpHead> HttpClient::get(const HttpRequest& request, const HttpReader& reader, const std::stop_token& stop)
{
    std::unique_ptr<Line> line;
    {
        const std::lock_guard lock(idle_mutex_);
        if (!idle_.empty()) {
            line = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    if (!line)
        line = std::make_unique<Line>();
    auto answer = follow(*line, request, reader, stop);
    const std::lock_guard lock(idle_mutex_);
    idle_.push_back(std::move(line));
    return answer;
}

Result<HttpHead> HttpClient::follow(Line& line, const HttpRequest& request, const HttpReader& reader,
                                    const std::stop_token& stop)
{
    using Kind = Failure::Kind;
    const auto home = origin_of(request.url);
    if (!home)
        return fail(Kind::BadRequest, "'" + request.url + "' is no address of the web");
    std::string url = request.url;
    const bool gives_token = request.token_over == TokenOver::Any || home->scheme == "https" || home->is_this_machine();
    std::string token = gives_token ? request.token : std::string();
    std::vector<HttpHeader> first_headers;
    for (int redirects = 0;; ++redirects) {
        const auto origin = origin_of(url);
        if (!origin)
            return fail(Kind::BadAnswer, home->text() + " leads to what is no address of the web");
        if (home->scheme == "https" && origin->scheme != "https")
            return fail(Kind::BadAnswer, home->text() + " leads to an address that is not secure");
        if (*origin != *home)
            token.clear();  // for good, also if the other origin leads back here
        const std::size_t entry = log_.begin(origin->text(), request.purpose);
        std::int64_t body_bytes = 0;
        const HttpReader counted{[&](const HttpHead& head) -> Status {
                                     HttpHead whole = head;
                                     whole.url = url;
                                     whole.first_headers = redirects == 0 ? head.headers : first_headers;
                                     return reader.on_head ? reader.on_head(whole) : Status();
                                 },
                                 [&](std::span<const std::byte> bytes) -> Status {
                                     body_bytes += std::int64_t(bytes.size());
                                     return reader.on_bytes ? reader.on_bytes(bytes) : Status();
                                 }};
        HttpLimits limits = limits_;
        limits.stall = request.stall.value_or(limits.stall);
        Hop hop{limits, counted};
        auto failure = line.perform(request, url, token, hop, stop);
        log_.count(entry, line.bytes_sent(), hop.header_bytes + body_bytes + hop.refused_bytes);
        if (failure)
            return tl::unexpected(std::move(*failure));
        hop.head.url = url;
        if (redirects == 0)
            first_headers = hop.head.headers;
        hop.head.first_headers = first_headers;
        if (is_success(hop.head.status))
            return std::move(hop.head);
        if (hop.head.status == 407 && goes_to_proxy(*origin))
            return tl::unexpected(failure_of_proxy(407, origin->text()));
        if (!is_redirect(hop.head.status))
            return tl::unexpected(reader.on_refusal ? reader.on_refusal(hop.head, hop.reason)
                                                    : failure_of(hop.head, !token.empty(), hop.reason, request.asked));
        auto next = joined(url, std::string(hop.head.header("location")));
        if (!next || redirects == limits_.redirects)
            return fail(Kind::BadAnswer, home->text() + (next ? " leads around in a circle" : " leads nowhere"));
        // A body for one server must not go to another; and redirects but 307 and 308 ask for a GET without the body.
        if ((request.body || request.stays_there) && origin_of(*next) != home)
            return fail(Kind::BadAnswer, home->text() + " leads to another server, which gets nothing of yours");
        if (request.body && hop.head.status != 307 && hop.head.status != 308)
            return fail(Kind::BadAnswer, home->text() + " leads elsewhere instead of answering");
        url = std::move(*next);
    }
}

Result<HttpAnswer> HttpClient::get_text(const HttpRequest& request, std::size_t most_bytes, const std::stop_token& stop,
                                        HttpReader reader)
{
    std::string body;
    reader.on_bytes = [&](std::span<const std::byte> bytes) -> Status {
        if (bytes.size() > most_bytes - body.size())
            return fail(Failure::Kind::BadAnswer, "the server's answer is longer than such an answer may be");
        body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
    };
    auto head = get(request, reader, stop);
    if (!head)
        return tl::unexpected(std::move(head.error()));
    return HttpAnswer{std::move(*head), std::move(body)};
}

}  // namespace net
