// Tests that the port answers its clients although others are slow, many or gone.
#include "app/server/http_server.h"
#include "app/server/socket.h"
#include "tests/app/server/client.h"
#include "tests/support/open_files_limit.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <thread>

using namespace std::chrono_literals;
using server::HttpAnswer;
using server::HttpOptions;
using server::HttpServer;
using server_test::Client;

namespace {

constexpr qsizetype kLarge_bytes = 48 << 20;  // far more than the system keeps for a connection

/// Says what it was asked; /stream sends a piece, then waits until the client is gone; /large sends much at once.
class EchoHandler : public server::HttpHandler
{
public:
    std::optional<HttpAnswer> refuse(const server::HttpRequest& head) override
    {
        return head.path == "/closed" ? std::optional(HttpAnswer{403, "closed"}) : std::nullopt;
    }
    void answer(const server::HttpRequest& request, server::HttpReply& reply) override
    {
        if (request.path == "/stream") {
            reply.begin({200, {}, "text/plain"});
            reply.write("begun");
            while (!reply.client_is_gone())
                std::this_thread::sleep_for(5ms);
            gone.set_value();
        } else if (request.path == "/flood") {
            reply.begin({200, {}, "text/plain"});
            const std::string piece(1 << 20, 'x');
            while (reply.write(piece)) {
            }
            gone.set_value();
        } else if (request.path == "/large") {
            reply.whole({200, std::string(std::size_t(kLarge_bytes), 'x'), "text/plain"});
        } else if (request.path == "/broken") {
            reply.begin({200, {}, "text/plain"});
            reply.write("begun");
            reply.whole({500, "failed", "text/plain"});
        } else if (request.path != "/nothing") {
            reply.whole({200, request.method + ' ' + request.body, "text/plain"});
        }
    }
    HttpAnswer answer_to_bad(const server::HttpRefusal& refusal) override
    {
        if (memory_is_full.exchange(false))
            throw std::bad_alloc();
        return {refusal.status, refusal.sentence};
    }

    std::promise<void> gone;
    std::atomic<bool> memory_is_full = false;
};

class Port
{
public:
    explicit Port(HttpOptions options = {})
    {
        options.port = 0;
        server_ = std::move(*HttpServer::open(options, handler));
        thread_ = std::jthread([this] { server_->run(); });
    }
    ~Port() { server_->stop(); }
    int number() const { return server_->port(); }

    EchoHandler handler;

private:
    std::unique_ptr<HttpServer> server_;
    std::jthread thread_;
};

}  // namespace

class TestHttpServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void answersOneAfterTheOtherOnOneConnection()
    {
        Port port;
        Client client(port.number());
        for (int i = 0; i < 20; ++i)
            QCOMPARE(client.ask("POST", "/", QByteArray::number(i)).body, "POST " + QByteArray::number(i));
        client.say(Client::request("POST", "/", "a") + Client::request("POST", "/", "b"));
        QCOMPARE(client.answer().body, QByteArray("POST a"));
        QCOMPARE(client.answer().body, QByteArray("POST b"));
    }

    void aHeadIsAnsweredBeforeItsBodyIsRead()
    {
        Port port;
        Client client(port.number());
        client.say("POST /closed HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
        QCOMPARE(client.answer().status, 403);
        client.heard_until("nothing more");
        QCOMPARE(client.socket().state(), QAbstractSocket::UnconnectedState);
    }

    void aBodyIsAskedForWhereTheClientWaits()
    {
        Port port;
        Client client(port.number());
        client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        QVERIFY(client.heard_until("\r\n\r\n").startsWith("HTTP/1.1 100 Continue"));
        client.say("hi");
        QVERIFY(client.heard_until("POST hi").contains("200 OK"));
    }

    void whatNobodyAnswersIsAnError()
    {
        Port port;
        QCOMPARE(Client(port.number()).ask("GET", "/nothing").status, 500);
    }

    void aStreamThatFailsBreaksOff()
    {
        Port port;
        Client client(port.number());
        client.say(Client::request("GET", "/broken"));
        const QByteArray heard = client.heard_until("0\r\n\r\n");
        QVERIFY2(heard.endsWith("5\r\nbegun\r\n") && heard.count("HTTP/1.1") == 1, heard);
        QCOMPARE(client.socket().state(), QAbstractSocket::UnconnectedState);
    }

    void aBodyIsLeftOutForHead()
    {
        Port port;
        Client client(port.number());
        client.say(Client::request("HEAD", "/"));
        QVERIFY(client.heard_until("\r\n\r\n").contains("Content-Length: 5"));
        client.forget();
        QCOMPARE(client.ask("GET", "/").body, QByteArray("GET "));
    }

    void slowHeadsEnd()
    {
        HttpOptions options;
        options.head_time = 200ms;
        Port port(options);
        Client client(port.number());
        client.say("GET / HTTP/1.1\r\nHo");
        QCOMPARE(client.answer().status, 0);
        QCOMPARE(client.socket().state(), QAbstractSocket::UnconnectedState);
    }

    void slowBodiesEnd()
    {
        HttpOptions options;
        options.body_time = 200ms;
        Port port(options);
        Client client(port.number());
        client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc");
        QCOMPARE(client.answer().status, 0);
        QCOMPARE(client.socket().state(), QAbstractSocket::UnconnectedState);
    }

    void idleConnectionsEnd()
    {
        HttpOptions options;
        options.idle_time = 200ms;
        Port port(options);
        Client client(port.number());
        QCOMPARE(client.ask("GET", "/").status, 200);
        client.heard_until("nothing more");
        QCOMPARE(client.socket().state(), QAbstractSocket::UnconnectedState);
    }

    void clientsThatGoAreNoticed()
    {
        Port port;
        auto gone = port.handler.gone.get_future();
        {
            Client client(port.number());
            client.say(Client::request("GET", "/stream"));
            client.heard_until("begun");
        }
        QVERIFY(gone.wait_for(std::chrono::milliseconds(server_test::kPatience_ms)) == std::future_status::ready);
    }

    void clientsThatDoNotReadAreLeft()
    {
        HttpOptions options;
        options.write_time = 200ms;
        Port port(options);
        auto gone = port.handler.gone.get_future();
        Client client(port.number());
        client.socket().setReadBufferSize(1);
        client.say(Client::request("GET", "/flood"));
        QVERIFY(gone.wait_for(std::chrono::milliseconds(server_test::kPatience_ms)) == std::future_status::ready);
    }

    // The whole takes far longer than the time that a client may take without reading.
    void clientsThatReadSlowlyGetAll()
    {
        HttpOptions options;
        options.write_time = 1s;
        Port port(options);
        Client client(port.number());
        client.socket().setReadBufferSize(kLarge_bytes / 60);
        client.say(Client::request("GET", "/large"));
        qsizetype came = 0;
        while (came < kLarge_bytes && client.socket().waitForReadyRead(server_test::kPatience_ms)) {
            came += client.socket().readAll().size();
            QTest::qSleep(50);
        }
        QVERIFY2(came >= kLarge_bytes, qPrintable(QString::number(came)));
    }

    void clientsThatSendSlowlySendAll()
    {
        HttpOptions options;
        options.body_time = 700ms;
        Port port(options);
        Client client(port.number());
        constexpr int kPieces = 30;
        const QByteArray piece(64 << 10, 'x');
        client.say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + QByteArray::number(kPieces * piece.size()) +
                   "\r\n\r\n");
        for (int i = 0; i < kPieces; ++i) {
            client.say(piece);
            QTest::qSleep(50);
        }
        const auto answer = client.answer();
        QCOMPARE(answer.status, 200);
        QCOMPARE(answer.body.size(), kPieces * piece.size() + 5);
    }

    void clientsThatDoNotReadDoNotHoldUpTheEnd()
    {
        auto port = std::make_unique<Port>();  // which gives each of them 20 s
        Client client(port->number());
        client.socket().setReadBufferSize(1);
        client.say(Client::request("GET", "/flood"));
        QVERIFY(!client.heard_until("200").isEmpty());
        QTest::qWait(300);  // until what the system keeps is full
        QElapsedTimer timer;
        timer.start();
        port.reset();
        QVERIFY2(timer.elapsed() < 3500, qPrintable(QString::number(timer.elapsed())));
    }

    void clientsThatHesitateInAHeadDoNotHoldUpTheEnd()
    {
        HttpOptions options;
        options.head_time = 60s;
        auto port = std::make_unique<Port>(options);
        Client client(port->number());
        QCOMPARE(client.ask("GET", "/").status, 200);  // it is being listened to
        client.say("GET / HTTP/1.1\r\nHo");
        QTest::qWait(300);  // until the server has seen it
        QElapsedTimer timer;
        timer.start();
        port.reset();
        QVERIFY2(timer.elapsed() < 30000, qPrintable(QString::number(timer.elapsed())));
    }

    void tooManyConnectionsAreTurnedAway()
    {
        HttpOptions options;
        options.connections = 2;
        Port port(options);
        Client first(port.number()), second(port.number());
        QCOMPARE(first.ask("GET", "/").status, 200);
        QCOMPARE(second.ask("GET", "/").status, 200);
        Client third(port.number());
        const auto answer = third.answer();
        QCOMPARE(answer.status, 503);
        QVERIFY(!answer.header("Retry-After").isEmpty());
        first.socket().abort();
        // The place is free as soon as the server has seen that it is. Once is enough: Qt asks again what it found to
        // be true, and the answered client may still have the place.
        int status = 0;
        QTRY_VERIFY_WITH_TIMEOUT(status == 200 || (status = Client(port.number()).ask("GET", "/").status) == 200,
                                 server_test::kPatience_ms);
    }

    void turningAwayWithoutMemoryIsNoEnd()
    {
        HttpOptions options;
        options.connections = 0;
        Port port(options);
        port.handler.memory_is_full = true;
        QCOMPARE(Client(port.number()).answer().status, 0);
        QCOMPARE(Client(port.number()).answer().status, 503);
    }

    void whereNoFileCanBeOpenedItWaits()
    {
#ifdef __linux__
        auto listener = server::Listener::open("127.0.0.1", 0, server::Listener::From::ThisMachine);
        QVERIFY(listener);
        Client client(listener->port());
        QElapsedTimer timer;
        timer.start();
        {
            const OpenFilesLimit limit;
            QVERIFY(!listener->accept(50ms));
        }
        QVERIFY2(timer.elapsed() >= 50, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(listener->accept(std::chrono::milliseconds(server_test::kPatience_ms)));
#endif
    }

    void aPortIsTakenOnce()
    {
        Port port;
        HttpOptions options;
        options.port = port.number();
        EchoHandler handler;
        const auto second = HttpServer::open(options, handler);
        QVERIFY(!second);
        QVERIFY(second.error().what.find(std::to_string(port.number())) != std::string::npos);
    }

    void otherMachinesAreOptIn()
    {
        EchoHandler handler;
        HttpOptions options;
        options.port = 0;
        for (const char* host : {"0.0.0.0", "::"}) {
            options.host = host;
            QVERIFY(!HttpServer::open(options, handler));
        }
        options.host = "localhost";
        QVERIFY(HttpServer::open(options, handler));
    }
};

SPILLWAY_TEST(QCoreApplication, TestHttpServer)
#include "tst_http_server.moc"
