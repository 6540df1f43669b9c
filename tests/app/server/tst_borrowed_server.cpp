// Tests that the window's port answers with the model that is open there and with nothing else, whatever the window
// does meanwhile.
#include "app/server/server.h"
#include "tests/app/server/running_server.h"
#include "tests/support/fake_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QTemporaryDir>

using server_test::Answer;
using server_test::Client;
using server_test::kChatPath;

namespace {

QJsonObject asking(const QString& text, QJsonObject more = {})
{
    more["messages"] = QJsonArray{QJsonObject{{"role", "user"}, {"content", text}}};
    return more;
}

QString words_of(const Answer& answer)
{
    return answer.json()["choices"].toArray().first().toObject()["message"].toObject()["content"].toString();
}

QString refusal_in(const Answer& answer)
{
    return answer.json()["error"].toObject()["message"].toString();
}

/// A window's engine and its port.
class OpenWindow
{
public:
    explicit OpenWindow(std::unique_ptr<engine::Engine> engine, server::ServerOptions options = {})
        : shared(std::move(engine))
        , seat(shared.owner())
        , log(std::make_shared<server::RequestLog>([this] { ++changes; }))
    {
        options.http.port = 0;
        options.grace = {};
        options.log = log;
        server = std::make_unique<server::Server>(shared, std::move(options));
        if (const auto opened = server->open(); !opened)
            qFatal("the server does not start: %s", opened.error().what.c_str());
        port = QByteArray::fromStdString(server->url()).split(':').last().toInt();
        thread = std::jthread([this] { server->run(); });
    }
    ~OpenWindow() { switch_off(); }

    void switch_off()
    {
        if (!server)
            return;
        server->stop();
        thread.join();
        server.reset();
        thread = {};
    }
    bool load(const std::filesystem::path& model)
    {
        engine::LoadRequest request;
        request.model = model;
        request.threads = 1;
        return seat->load(request, {}, {}).has_value();
    }
    Answer get(const QByteArray& path, const QByteArray& headers = {}) const
    {
        return Client(port).ask("GET", path, {}, headers);
    }
    Answer post(const QJsonObject& body, const QByteArray& headers = {}) const
    {
        return Client(port).ask("POST", kChatPath, QJsonDocument(body).toJson(QJsonDocument::Compact), headers);
    }
    QStringList names() const
    {
        QStringList names;
        for (const auto model : get("/v1/models").json()["data"].toArray())
            names.append(model.toObject()["id"].toString());
        return names;
    }

    server::SharedEngine shared;
    std::unique_ptr<engine::Engine> seat;
    std::atomic<int> changes = 0;
    std::shared_ptr<server::RequestLog> log;
    std::unique_ptr<server::Server> server;
    int port = 0;
    std::jthread thread;
};

std::unique_ptr<engine::Engine> slow_engine(const std::shared_ptr<FakeScript>& script)
{
    script->change([](FakeScript::Settings& s) {
        s.words.assign(1000, "word ");
        s.per_token = std::chrono::milliseconds(5);
    });
    return std::make_unique<FakeEngine>(script);
}

}  // namespace

class TestBorrowedServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(folder.isValid());
        QVERIFY(QFile::copy(QString::fromStdString(server_test::guide_model().string()), folder.filePath("one.gguf")));
    }

    void whatIsOpenInTheWindowIsAllThereIs()
    {
        OpenWindow window(engine::make_engine());
        QCOMPARE(window.names(), QStringList());
        const auto none = window.post(asking("Hi"));
        QCOMPARE(none.status, 503);
        QVERIFY(refusal_in(none).contains("no model"));
        QVERIFY(!none.header("Retry-After").isEmpty());

        QVERIFY(window.load(file("one.gguf")));
        QTRY_COMPARE(window.names(), QStringList("one"));
        const auto answer = window.post(asking("What is a KV cache?", {{"max_tokens", 20}, {"temperature", 0}}));
        QCOMPARE(answer.status, 200);
        QVERIFY(words_of(answer).size() > 20);
        QCOMPARE(window.post(asking("Hi", {{"model", "one"}, {"max_tokens", 3}})).status, 200);

        const auto other = window.post(asking("Hi", {{"model", "gpt-9"}}));
        QCOMPARE(other.status, 404);
        QVERIFY(refusal_in(other).contains("gpt-9") && refusal_in(other).contains("'one'"));
        QCOMPARE(window.get("/v1/models/two").status, 404);
        QCOMPARE(window.get("/props").json()["model_alias"].toString(), QString("one"));

        const auto leaves = Client(window.port).ask("POST", "/api/generate", R"({"model": "one", "keep_alive": 0})");
        QCOMPARE(leaves.status, 400);
        QVERIFY(leaves.body.contains("Spillway's window"));
        QCOMPARE(window.names(), QStringList("one"));

        window.seat->unload();
        QTRY_COMPARE(window.names(), QStringList());
        QCOMPARE(window.post(asking("Hi", {{"model", "one"}})).status, 503);
    }

    void theWindowAnswersBesideItsPort()
    {
        OpenWindow window(engine::make_engine());
        QVERIFY(window.load(file("one.gguf")));
        QTRY_COMPARE(window.names(), QStringList("one"));  // the server hears of it a moment later
        engine::Request request;
        request.messages = {{"user", "What is a KV cache?"}};
        request.sampling.seed = 3;
        request.max_tokens = 40;
        const auto alone = window.seat->generate(*window.seat->create_sequence(), request, {}, {});
        QJsonObject asked = asking("Why is it slow?", {{"max_tokens", 40}, {"seed", 5}});
        const QString heard = words_of(window.post(asked));
        std::vector<QString> beside(4);
        {
            std::vector<std::jthread> clients;
            for (QString& said : beside)
                clients.emplace_back([&] { said = words_of(window.post(asked)); });
            for (int i = 0; i < 3; ++i) {
                const auto again = window.seat->generate(*window.seat->create_sequence(), request, {}, {});
                QCOMPARE(again->text, alone->text);
            }
        }
        QVERIFY(!heard.isEmpty());
        for (const QString& said : beside)
            QCOMPARE(said, heard);
    }

    void anotherModelEndsAnAnswerWithASentence()
    {
        OpenWindow window(slow_engine(std::make_shared<FakeScript>()));
        QVERIFY(window.load(file("one.gguf")));
        QTRY_COMPARE(window.names(), QStringList("one"));
        Client client(window.port);
        client.say(Client::request("POST", kChatPath,
                                   QJsonDocument(asking("Hi", {{"stream", true}})).toJson(QJsonDocument::Compact)));
        QVERIFY(client.heard_until("word").contains("word"));
        QVERIFY(window.load(file("one.gguf")));  // with another context, perhaps: it is not the same any more
        const auto answer = client.answer();
        QVERIFY(answer.body.contains("in the window"));
        QTRY_COMPARE(window.names(), QStringList("one"));
        QTRY_VERIFY(window.get("/metrics").body.contains("\nspillway_turns_running 0\n"));
        QCOMPARE(window.log->requests().back().status, 200);
    }

    void switchedOffInMidAnswerItsPortIsFree()
    {
        OpenWindow window(slow_engine(std::make_shared<FakeScript>()));
        QVERIFY(window.load(file("one.gguf")));
        QTRY_COMPARE(window.names(), QStringList("one"));
        Client client(window.port), idle(window.port);
        client.say(Client::request("POST", kChatPath,
                                   QJsonDocument(asking("Hi", {{"stream", true}})).toJson(QJsonDocument::Compact)));
        QVERIFY(client.heard_until("word").contains("word"));
        Client hesitates(window.port);
        hesitates.say("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{");
        QTest::qWait(200);
        QElapsedTimer timer;
        timer.start();
        window.switch_off();
        QVERIFY(timer.elapsed() < 5000);
        const QByteArray rest = client.heard_until("broken off");  // what came is not the whole answer
        QVERIFY(rest.contains("broken off") && !rest.contains("[DONE]"));
        QTcpSocket late;
        late.connectToHost("127.0.0.1", quint16(window.port));
        QVERIFY(!late.waitForConnected(5000));
        QVERIFY(window.log->clients().empty());
        // The engine is the window's as before.
        engine::Request request;
        request.max_tokens = 2;
        request.raw_prompt = "x";
        QVERIFY(window.seat->generate(*window.seat->create_sequence(), request, {}, {}));
    }

    void whoStillWaitsHearsThatItStops()
    {
        server::ServerOptions options;
        options.desk.turns = 1;
        OpenWindow window(slow_engine(std::make_shared<FakeScript>()), options);
        QVERIFY(window.load(file("one.gguf")));
        QTRY_COMPARE(window.names(), QStringList("one"));
        Client answered(window.port), waits(window.port), streams(window.port);
        const auto body = [](bool stream) {
            return QJsonDocument(asking("Hi", {{"stream", stream}})).toJson(QJsonDocument::Compact);
        };
        answered.say(Client::request("POST", kChatPath, body(true)));
        QVERIFY(answered.heard_until("word").contains("word"));
        waits.say(Client::request("POST", kChatPath, body(false)));
        streams.say(Client::request("POST", kChatPath, body(true)));
        QTRY_VERIFY(window.get("/metrics").body.contains("\nspillway_turns_waiting 2\n"));
        QElapsedTimer timer;
        timer.start();
        window.switch_off();
        QVERIFY(timer.elapsed() < 5000);
        for (Client* client : {&waits, &streams}) {
            const auto answer = client->answer();
            QCOMPARE(answer.status, 503);
            QVERIFY(refusal_in(answer).contains("about to stop"));
        }
    }

    void aKeyIsAskedFor()
    {
        server::ServerOptions options;
        options.door.keys = {"secret"};
        OpenWindow window(std::make_unique<FakeEngine>(std::make_shared<FakeScript>()), options);
        QVERIFY(window.load(file("one.gguf")));
        QTRY_COMPARE(window.get("/v1/models", "Authorization: Bearer secret\r\n").status, 200);
        QCOMPARE(window.get("/v1/models").status, 401);
        QCOMPARE(window.post(asking("Hi"), "Authorization: Bearer Secret\r\n").status, 401);
        const auto refused = [&] {
            return std::ranges::count(window.log->requests(), 401, &server::LoggedRequest::status);
        };
        QTRY_COMPARE(refused(), 2);               // what is sent is noted a moment later
        const auto log = window.log->requests();  // of two connections, in either order
        QCOMPARE(std::ranges::count(log, "POST /v1/chat/completions", &server::LoggedRequest::route), 1);
    }

    void aPortThatIsTakenIsSaid()
    {
        OpenWindow window(std::make_unique<FakeEngine>(std::make_shared<FakeScript>()));
        server::ServerOptions options;
        options.http.port = window.port;
        server::Server second(window.shared, options);
        const auto opened = second.open();
        QVERIFY(!opened && opened.error().what.find(std::to_string(window.port)) != std::string::npos);
    }

    void whoAsksWhatIsKept()
    {
        auto script = std::make_shared<FakeScript>();
        OpenWindow window(std::make_unique<FakeEngine>(script));
        QVERIFY(window.load(file("one.gguf")));
        QTRY_COMPARE(window.names(), QStringList("one"));
        QTRY_VERIFY(window.log->clients().empty());
        {
            Client client(window.port);
            QCOMPARE(client.ask("POST", kChatPath, QJsonDocument(asking("one two three")).toJson()).status, 200);
            const auto clients = window.log->clients();
            QCOMPARE(clients.size(), std::size_t(1));
            QCOMPARE(clients[0].client, "127.0.0.1:" + std::to_string(client.socket().localPort()));
            QCOMPARE(clients[0].requests, 1);
            QTRY_VERIFY(!window.log->clients()[0].answered);
        }
        const auto request = window.log->requests().front();
        QCOMPARE(request.model, std::string("one"));
        QVERIFY(request.prompt_tokens >= 0 && request.milliseconds >= 0 && request.number > 0);
        QTRY_VERIFY(window.log->clients().empty());
        QVERIFY(window.changes > 0);
        QCOMPARE(window.get("/" + QByteArray(5000, 'x')).status, 404);
        QVERIFY(window.log->requests().front().route.size() <= server::RequestLog::kLongestRoute);
        for (std::size_t i = 0; i < server::RequestLog::kMost + 5; ++i)
            window.log->answered({});
        QCOMPARE(window.log->requests().size(), server::RequestLog::kMost);
    }

private:
    std::filesystem::path file(const char* name) const { return folder.filePath(name).toStdString(); }
    QTemporaryDir folder;
};

SPILLWAY_TEST(QCoreApplication, TestBorrowedServer)
#include "tst_borrowed_server.moc"
