// Tests that HttpClient keeps a token with its host, checks certificates, counts whom it asked, ends when it is stopped
// and reads addresses rightly.
#include "app/net/byte_ranges.h"
#include "app/net/http_client.h"
#include "app/net/http_status.h"
#include "app/net/remote_file.h"
#include "app/net/sha256.h"
#include "app/net/url.h"
#include "tests/support/net/web_server.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <random>

#ifdef __linux__
#include <dlfcn.h>

static std::atomic<bool> curl_has_no_memory = false;

/// In the place of libcurl's.
extern "C" int curl_multi_perform(void* multi, int* running)
{
    if (curl_has_no_memory)
        return 3;  // CURLM_OUT_OF_MEMORY
    static const auto own = reinterpret_cast<int (*)(void*, int*)>(::dlsym(RTLD_NEXT, "curl_multi_perform"));
    return own(multi, running);
}
#endif

namespace {

using support::WebAnswer;
using support::WebRequest;
using support::WebServer;

WebAnswer redirect(const std::string& to)
{
    return {302, {{"Location", to}}, {}, WebAnswer::End::Whole, 0, 0};
}

}  // namespace

class TestHttpClient : public QObject
{
    Q_OBJECT

    net::HttpClient m_client;

    net::Result<net::HttpAnswer> get(const std::string& url, const std::string& token = {})
    {
        return m_client.get_text({url, "test", {}, token, {}}, 1000, {});
    }

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "no_proxy",
                                 "NO_PROXY", "SSL_CERT_FILE"})
            qunsetenv(name);
    }

    void tokensStayAtHome()
    {
        WebServer stranger([](const WebRequest&) { return WebAnswer{200, {}, "there"}; });
        WebServer home([&](const WebRequest& request) {
            if (request.target == "/away")
                return redirect(stranger.url("/file"));
            if (request.target == "/other-name")
                return redirect(home.url("/here", "localhost"));
            if (request.target == "/moved")
                return redirect("/here");
            return WebAnswer{200, {}, "here"};
        });
        const auto tokens = [](const WebServer& server) {
            std::vector<std::string> sent;
            for (const WebRequest& request : server.requests())
                sent.push_back(request.header("authorization"));
            return sent;
        };
        const std::string bearer = "Bearer secret";
        QCOMPARE(get(home.url("/away"), "secret")->body, std::string("there"));
        QCOMPARE(tokens(stranger), std::vector<std::string>{""});
        QCOMPARE(tokens(home), std::vector<std::string>{bearer});

        QCOMPARE(get(home.url("/moved"), "secret")->body, std::string("here"));
        QCOMPARE(tokens(home), (std::vector<std::string>{bearer, bearer, bearer}));
        QVERIFY(get(home.url("/other-name"), "secret"));  // the same machine by another name is somebody else
        QCOMPARE(tokens(home).back(), std::string());

        // A stranger that leads back home does not get the token spent there.
        stranger.answer_by([&](const WebRequest&) { return redirect(home.url("/here")); });
        QCOMPARE(get(home.url("/away"), "secret")->body, std::string("here"));
        QCOMPARE(tokens(home).back(), std::string());
        for (const std::string& token : tokens(stranger))
            QCOMPARE(token, std::string());
    }

    void tokensAreNotSentInTheClear()
    {
        // No server is asked: a proxy would see the token, which is why a proxy is what looks for it here.
        WebServer proxy([](const WebRequest&) { return WebAnswer{200, {}, "seen"}; });
        qputenv("http_proxy", proxy.url().c_str());
        const auto answer = get("http://example.invalid/", "secret");
        qunsetenv("http_proxy");
        QVERIFY(answer);
        QCOMPARE(proxy.requests().size(), std::size_t(1));
        QCOMPARE(proxy.requests()[0].target, std::string("http://example.invalid/"));
        QCOMPARE(proxy.requests()[0].header("authorization"), std::string());
    }

    void redirectsEnd()
    {
        WebServer server([](const WebRequest&) { return redirect("/again"); });
        QCOMPARE(get(server.url("/")).error().kind, net::Failure::Kind::BadAnswer);
        QCOMPARE(server.requests().size(), std::size_t(9));
        for (const char* place : {"file:///etc/passwd", "ftp://127.0.0.1/", "http://user:word@127.0.0.1/", ""}) {
            server.answer_by([&](const WebRequest&) { return redirect(place); });
            QCOMPARE(get(server.url("/")).error().kind, net::Failure::Kind::BadAnswer);
        }
        QCOMPARE(get("file:///etc/passwd").error().kind, net::Failure::Kind::BadRequest);
        QCOMPARE(get("http://127.0.0.1/\r\nX: y").error().kind, net::Failure::Kind::BadRequest);
    }

    void believesNoUnknownCertificate()
    {
        WebServer server([](const WebRequest&) { return WebAnswer{200, {}, "secure"}; }, WebServer::Scheme::Https);
        const auto none = get(server.url("/"), "secret");
        QVERIFY(!none);
        QCOMPARE(none.error().kind, net::Failure::Kind::BadCertificate);
        QVERIFY(server.requests().empty());

        QTemporaryDir folder;
        const QString file = folder.filePath("certificate.pem");
        std::ofstream(file.toStdString()) << server.certificate();
        qputenv("SSL_CERT_FILE", file.toUtf8());
        const auto answer = get(server.url("/"), "secret");
        QVERIFY2(answer, answer ? "" : answer.error().what.c_str());
        QCOMPARE(answer->body, std::string("secure"));
        QCOMPARE(server.requests().back().header("authorization"), std::string("Bearer secret"));

        // A server that was asked by HTTPS may not lead to an address without it.
        WebServer open([](const WebRequest&) { return WebAnswer{200, {}, "open"}; });
        server.answer_by([&](const WebRequest&) { return redirect(open.url("/")); });
        QCOMPARE(get(server.url("/")).error().kind, net::Failure::Kind::BadAnswer);
        QVERIFY(open.requests().empty());
        qunsetenv("SSL_CERT_FILE");
    }

    void saysWhatCannotBeReached()
    {
        int port = 0;
        {
            const WebServer gone([](const WebRequest&) { return WebAnswer{}; });
            port = gone.port();
        }
        const auto none = get("http://127.0.0.1:" + std::to_string(port) + "/");
        QVERIFY(!none);
        QCOMPARE(none.error().kind, net::Failure::Kind::NoConnection);
        QVERIFY(none.error().what.find("refuses") != std::string::npos);
    }

    void saysWhatAProxyDoes_data()
    {
        QTest::addColumn<QByteArray>("url");
        QTest::addColumn<int>("status");  // 0: no proxy is there
        QTest::addColumn<QByteArray>("sentence");
        const QByteArray wants("the proxy that the environment names wants a name and a password, as in "
                               "http://NAME:PASSWORD@PROXY:8080");
        QTest::newRow("it asks who is there") << QByteArray("http://hub.invalid/") << 407 << wants;
        QTest::newRow("it asks, for https") << QByteArray("https://hub.invalid/") << 407 << wants;
        QTest::newRow("it connects to nobody")
            << QByteArray("https://hub.invalid/") << 403
            << QByteArray("the proxy that the environment names does not connect to hub.invalid (status 403)");
        QTest::newRow("it is not there")
            << QByteArray("https://hub.invalid/") << 0
            << QByteArray("hub.invalid, or the proxy that the environment names, refuses the connection");
#ifdef __linux__  // elsewhere there may be no such address
        QTest::newRow("it is not asked") << QByteArray("http://127.0.0.2:1/") << 0
                                         << QByteArray("127.0.0.2:1 refuses the connection");
#endif
    }
    void saysWhatAProxyDoes()
    {
        QFETCH(QByteArray, url);
        QFETCH(int, status);
        QFETCH(QByteArray, sentence);
        auto proxy = std::make_unique<WebServer>([status](const WebRequest&) { return WebAnswer{status, {}, {}}; });
        const QByteArray address = QByteArray::fromStdString(proxy->url());
        if (status == 0)
            proxy.reset();
        for (const char* name : {"http_proxy", "https_proxy"})
            qputenv(name, address);
        qputenv("no_proxy", "127.0.0.2");
        net::HttpClient client;
        const auto none = client.get_text({url.toStdString(), "test"}, 1000, {});
        for (const char* name : {"http_proxy", "https_proxy", "no_proxy"})
            qunsetenv(name);
        QVERIFY(!none);
        QCOMPARE(none.error().kind, net::Failure::Kind::NoConnection);
        QCOMPARE(QByteArray::fromStdString(none.error().what), sentence);
    }

    void aServersOwn407IsNoProxys()
    {
        WebServer server([](const WebRequest&) { return WebAnswer{407, {}, {}}; });
        const auto none = get(server.url("/"));
        QVERIFY(!none);
        QVERIFY2(none.error().what.find("proxy") == std::string::npos, none.error().what.c_str());
    }

    void someGoPastTheProxy_data()
    {
        QTest::addColumn<QByteArray>("list");
        QTest::addColumn<QByteArray>("host");
        QTest::addColumn<bool>("has");
        const QByteArray hub("hub.example.org");
        QTest::newRow("none") << QByteArray() << hub << false;
        QTest::newRow("all") << QByteArray("*") << hub << true;
        QTest::newRow("itself") << QByteArray("other.org,hub.example.org") << hub << true;
        QTest::newRow("its domain") << QByteArray("example.org") << hub << true;
        QTest::newRow("its domain with a dot") << QByteArray("other.org, .Example.ORG ,") << hub << true;
        QTest::newRow("the end of a name") << QByteArray("ample.org") << hub << false;
        QTest::newRow("a longer name") << QByteArray("my.hub.example.org") << hub << false;
        QTest::newRow("dots and commas") << QByteArray(" ., ,,") << hub << false;
        QTest::newRow("an address") << QByteArray("10.0.0.1,fe80::1") << QByteArray("[fe80::1]") << true;
    }
    void someGoPastTheProxy()
    {
        QFETCH(QByteArray, list);
        QFETCH(QByteArray, host);
        QFETCH(bool, has);
        QCOMPARE(net::has_host(list.toStdString(), host.toStdString()), has);
    }

    void answersHaveAnEnd()
    {
        WebServer server([](const WebRequest&) { return WebAnswer{200, {}, std::string(1001, 'x')}; });
        QCOMPARE(get(server.url("/")).error().kind, net::Failure::Kind::BadAnswer);
        server.answer_by([](const WebRequest&) { return WebAnswer{200, {}, std::string(1000, 'x')}; });
        QVERIFY(get(server.url("/")));
        server.answer_by([](const WebRequest&) {
            return WebAnswer{200,
                             {{"X-Long", std::string(90'000, 'x')},
                              {"X-More", std::string(90'000, 'x')},
                              {"X-Most", std::string(90'000, 'x')}},
                             "short"};
        });
        QVERIFY(!get(server.url("/")));
    }

    // A refusal is not read to its end, neither for its words nor for where it leads.
    void doesNotReadARefusalToItsEnd_data()
    {
        QTest::addColumn<int>("status");
        QTest::newRow("refused") << 404;
        QTest::newRow("leads elsewhere") << 302;
    }
    void doesNotReadARefusalToItsEnd()
    {
        QFETCH(int, status);
        constexpr std::size_t kBytes = 32 << 20;
        WebServer server([&](const WebRequest& request) -> WebAnswer {
            if (request.target == "/here")
                return {200, {}, "here"};
            return {status, {{"Location", "/here"}}, std::string(kBytes, 'x')};
        });
        net::HttpClient client;
        const auto answer = client.get_text({server.url("/"), "test"}, 1000, {});
        QCOMPARE(bool(answer), status == 302);
        if (!answer)
            QCOMPARE(answer.error().kind, net::Failure::Kind::NotFound);
        const std::int64_t received = client.connections().connections().at(0).bytes_received;
        QVERIFY2(received > 64 << 10 && received < 1 << 20, qPrintable(QString::number(received)));
        QVERIFY(server.body_bytes() < std::int64_t(kBytes));
    }

    void countsWhoWasAsked()
    {
        WebServer second([](const WebRequest&) { return WebAnswer{200, {}, std::string(500, 'x')}; });
        WebServer first([&](const WebRequest&) { return redirect(second.url("/")); });
        net::HttpClient client;
        for (int i = 0; i < 2; ++i)
            QVERIFY(client.get_text({first.url("/"), "test"}, 1000, {}));
        const auto connections = client.connections().connections();
        QCOMPARE(connections.size(), std::size_t(2));
        QCOMPARE(connections[0].host, "127.0.0.1:" + std::to_string(first.port()));
        QCOMPARE(connections[1].host, "127.0.0.1:" + std::to_string(second.port()));
        QCOMPARE(connections[1].requests, 2);
        QCOMPARE(connections[1].purpose, std::string("test"));
        QVERIFY(connections[1].bytes_received > 1000 && connections[1].bytes_received < 1400);
        QVERIFY(connections[1].bytes_sent > 50);
        QVERIFY(connections[1].first <= connections[1].last);
    }

    void stopsAtOnce()
    {
        WebServer server([](const WebRequest&) {
            WebAnswer answer{200, {}, "half"};
            answer.end = WebAnswer::End::Stall;
            answer.sent_bytes = 2;
            return answer;
        });
        std::stop_source stop;
        net::HttpReader reader;
        reader.on_bytes = [&](std::span<const std::byte>) -> net::Status {
            std::jthread([stop]() mutable { stop.request_stop(); }).detach();
            return {};
        };
        const auto none = m_client.get({server.url("/"), "test"}, reader, stop.get_token());
        QVERIFY(!none);
        QCOMPARE(none.error().kind, net::Failure::Kind::Cancelled);
    }

    // What came until then is not to be taken for the whole.
    void anAnswerIsNotWholeWhereCurlFails()
    {
#ifdef __linux__
        WebServer server([](const WebRequest&) { return WebAnswer{200, {}, "half", WebAnswer::End::Stall, 2}; });
        net::HttpReader reader;
        reader.on_bytes = [](std::span<const std::byte>) -> net::Status {
            curl_has_no_memory = true;
            return {};
        };
        const auto answer = m_client.get({server.url("/"), "test"}, reader, {});
        curl_has_no_memory = false;
        QVERIFY(!answer);
        QCOMPARE(answer.error().kind, net::Failure::Kind::Interrupted);
#endif
    }

    void readsAddresses()
    {
        QCOMPARE(net::origin_of("HTTPS://Hub.Example:443/a")->text(), std::string("hub.example"));
        QCOMPARE(net::origin_of("http://a:8080/x"), (net::Origin{"http", "a", "8080"}));
        QVERIFY(net::origin_of("http://a/") != net::origin_of("https://a/"));
        for (const char* none : {"", "a/b", "ftp://a/", "http://", "http://a b/", "http://me@a/", "javascript:1"})
            QVERIFY2(!net::origin_of(none), none);
        QCOMPARE(net::joined("http://a/b/c?d", "../e"), std::optional<std::string>("http://a/e"));
        QCOMPARE(net::joined("http://a/b", "//c/d"), std::optional<std::string>("http://c/d"));
        QCOMPARE(net::escaped_path("a b/ü?#%.gguf"), std::string("a%20b/%C3%BC%3F%23%25.gguf"));
        QCOMPARE(net::escaped_value("a/b&c"), std::string("a%2Fb%26c"));
    }

    void readsWhatServersSay()
    {
        using namespace std::chrono;
        const auto now = sys_days(year(2026) / 10 / 21) + 7h + 27min + 30s;
        QCOMPARE(net::retry_after("120", now), 120s);
        QCOMPARE(net::retry_after("Wed, 21 Oct 2026 07:28:00 GMT", now), 30s);
        QCOMPARE(net::retry_after("Wed, 21 Oct 2025 07:28:00 GMT", now), 0s);
        for (const char* none : {"", "soon", "-5", "Wed, 41 Oct 2026 07:28:00 GMT", "Wed, 21 ctN 2026 07:28:00 GMT"})
            QCOMPARE(net::retry_after(none, now), 0s);
        QCOMPARE(net::rate_limit_wait("\"api\";r=0;t=55"), 55s);
        QCOMPARE(net::rate_limit_wait("\"api\"; t=7 ; r=0, \"resolvers\";r=0;t=12, \"pages\";r=3;t=200"), 12s);
        for (const char* none :
             {"", "\"api\";r=1;t=55", "\"api\";r=0", "\"api\";t=5", "r=0,t=5", "\"api\";r=x;t=5", ";;,,;="})
            QCOMPARE(net::rate_limit_wait(none), 0s);
        const auto range = net::content_range("bytes 5-9/20");
        QVERIFY(range && range->range.begin == 5 && range->range.end == 10 && range->total == 20);
        for (const char* none : {"", "bytes */20", "bytes 5-20/20", "bytes 9-5/20", "bytes 5-9/*", "items 5-9/20"})
            QVERIFY2(!net::content_range(none), none);
    }

    void hashesAsTheStandardSays()
    {
        net::Sha256 sha256;
        const std::string text = "abc";  // FIPS 180-4's example
        sha256.add(std::as_bytes(std::span(text).first(1)));
        sha256.add(std::as_bytes(std::span(text).subspan(1)));
        QCOMPARE(sha256.hex(), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    }

    // The ranges are compared with a plain list of bytes.
    void rangesAreRight()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        for (int round = 0; round < 200; ++round) {
            net::ByteRanges ranges;
            std::vector<bool> there(60);
            for (int i = 0; i < 12; ++i) {
                const auto begin = std::int64_t(random() % 60),
                           end = begin + std::int64_t(random() % std::size_t(61 - begin));
                ranges.add({begin, end});
                std::fill(there.begin() + begin, there.begin() + end, true);
                QCOMPARE(ranges.total(), std::int64_t(std::count(there.begin(), there.end(), true)));
                QCOMPARE(ranges.prefix(), std::int64_t(std::find(there.begin(), there.end(), false) - there.begin()));
                const auto from = std::int64_t(random() % 60), most = std::int64_t(1 + random() % 10);
                const auto gap = ranges.first_gap(from, 60, most);
                const auto first = std::find(there.begin() + from, there.end(), false);
                QCOMPARE(gap.has_value(), first != there.end());
                if (!gap)
                    continue;
                QCOMPARE(gap->begin, std::int64_t(first - there.begin()));
                const auto next = std::find(first, there.end(), true);
                QCOMPARE(gap->end, std::min(gap->begin + most, std::int64_t(next - there.begin())));
                for (std::size_t r = 1; r < ranges.ranges().size(); ++r)
                    QVERIFY(ranges.ranges()[r - 1].end < ranges.ranges()[r].begin);
            }
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestHttpClient)
#include "tst_http_client.moc"
