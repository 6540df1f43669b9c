// Tests that requests which are answered side by side disturb each other in nothing, and wait no longer than they have
// to.
#include "tests/app/server/running_server.h"
#include "tests/support/fake_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>

#include <array>
#include <atomic>
#include <list>
#include <random>

using server_test::Client;
using server_test::GateEngine;
using server_test::kChatPath;
using server_test::RunningServer;

namespace {

QJsonObject body_of(const QString& question, const QString& system = {})
{
    QJsonArray messages;
    if (!system.isEmpty())
        messages.append(QJsonObject{{"role", "system"}, {"content", system}});
    messages.append(QJsonObject{{"role", "user"}, {"content", question}});
    return {{"messages", messages}};
}

/// Asks and does not wait for the answer.
void ask(Client& client, const QJsonObject& body)
{
    client.say(Client::request("POST", kChatPath, QJsonDocument(body).toJson(QJsonDocument::Compact)));
}

QString said_in(const server_test::Answer& answer)
{
    QString text = answer.json()["choices"].toArray().first().toObject()["message"].toObject()["content"].toString();
    for (const QByteArray& event : answer.events())
        text += QJsonDocument::fromJson(event)
                    .object()["choices"]
                    .toArray()
                    .first()
                    .toObject()["delta"]
                    .toObject()["content"]
                    .toString();
    return text;
}

server::ServerOptions with_turns(int turns)
{
    server::ServerOptions options;
    options.desk.turns = turns;
    return options;
}

/// A gate engine behind a server, and clients that have asked it.
class Gate
{
public:
    explicit Gate(int turns)
        : server(std::unique_ptr<engine::Engine>(engine), with_turns(turns))
    {
    }
    ~Gate() { engine->finish_all(); }

    Client& ask(const QString& question, const QString& system = {})
    {
        Client& client = clients.emplace_back(server.port());
        ::ask(client, body_of(question, system));
        return client;
    }
    /// Waits until the engine has begun exactly these turns, in this order.
    bool has_begun(const std::string& names)
    {
        return engine->wait([&] { return engine->begun == names; });
    }
    bool waits(int turns) const
    {
        QElapsedTimer timer;
        timer.start();
        const QByteArray line = "\nspillway_turns_waiting " + QByteArray::number(turns) + '\n';
        while (!server.get("/metrics").body.contains(line))
            if (timer.elapsed() > server_test::kPatience_ms)
                return false;
        return true;
    }

    GateEngine* const engine = new GateEngine;
    RunningServer server;
    std::list<Client> clients;
};

}  // namespace

class TestTurnsTogether : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void asManyAsMayRunAtOnceAndTheRestInOrder()
    {
        Gate gate(2);
        gate.ask("a");
        QVERIFY(gate.has_begun("a;"));
        gate.ask("b");
        QVERIFY(gate.has_begun("a;b;"));
        for (const auto& [name, waiting] : {std::pair("c", 1), std::pair("d", 2)}) {
            gate.ask(name);
            QVERIFY(gate.waits(waiting));
        }
        QVERIFY(gate.server.get("/metrics").body.contains("\nspillway_turns_running 2\n"));
        gate.engine->finish("b");
        QVERIFY(gate.has_begun("a;b;c;"));
        gate.engine->finish("a");
        QVERIFY(gate.has_begun("a;b;c;d;"));
        gate.engine->finish_all();
        for (Client& client : gate.clients)
            QCOMPARE(client.answer().status, 200);
        QCOMPARE(gate.engine->most_together, 2);
    }

    void slotsShowWhatRuns()
    {
        Gate gate(3);
        const auto running = [&] {
            int count = 0;
            const auto all = QJsonDocument::fromJson(gate.server.get("/slots").body).array();
            for (const auto& slot : all)
                count += slot.toObject()["is_processing"].toBool() ? 1 : 0;
            return std::pair(int(all.size()), count);
        };
        QCOMPARE(running(), std::pair(3, 0));
        QCOMPARE(gate.server.get("/props").json()["total_slots"].toInt(), 3);
        gate.ask("a");
        gate.ask("b");
        QVERIFY(gate.engine->wait([&] { return gate.engine->turns.size() == 2; }));
        QCOMPARE(running(), std::pair(3, 2));
        gate.engine->finish_all();
        for (Client& client : gate.clients)
            client.answer();
        QTRY_COMPARE_WITH_TIMEOUT(running(), std::pair(3, 0), server_test::kPatience_ms);
    }

    // Newer turns could keep the memory for ever.
    void nobodyOvertakesATurnThatWaitsForMemory()
    {
        Gate gate(3);
        gate.ask("big");
        gate.ask("other");
        QVERIFY(gate.engine->wait([&] { return gate.engine->turns.size() == 2; }));
        {
            const std::lock_guard lock(gate.engine->mutex);
            gate.engine->warns = "big";
            gate.engine->allowed = 2;
        }
        QVERIFY(gate.engine->wait([&] { return gate.engine->allowed == 0; }));
        gate.ask("new");
        QVERIFY(gate.waits(1));
        gate.engine->finish("other");
        QVERIFY(gate.engine->wait([&] { return gate.engine->ended_turns == "other;"; }));
        QVERIFY(gate.waits(1));
        gate.engine->finish("big");
        QVERIFY(gate.engine->wait([&] { return gate.engine->begun.ends_with(";new;"); }));
    }

    void oneThatLeavesTheQueueIsNeverBegun()
    {
        Gate gate(1);
        gate.ask("a");
        QVERIFY(gate.has_begun("a;"));
        gate.ask("left");
        QVERIFY(gate.waits(1));
        gate.clients.pop_back();
        QVERIFY(gate.waits(0));
        gate.ask("b");
        QVERIFY(gate.waits(1));
        gate.engine->finish("a");
        QVERIFY(gate.has_begun("a;b;"));
    }

    // GateEngine refuses a second turn of a conversation that is being answered, as the engine does.
    void theSameConversationTwiceAtOnceIsTwo()
    {
        Gate gate(3);
        const QString system = QString("Be kind. ").repeated(100);
        gate.ask("same", system);
        gate.ask("same", system);
        gate.ask("another", system);
        QVERIFY(gate.engine->wait([&] { return gate.engine->turns.size() == 3; }));
        QCOMPARE(gate.engine->branched_from.size(), std::size_t(2));
        gate.engine->finish_all();
        for (Client& client : gate.clients)
            QCOMPARE(client.answer().status, 200);
        // Each of them is free again.
        gate.ask("same", system);
        QCOMPARE(gate.clients.back().answer().status, 200);
        QCOMPARE(gate.engine->branched_from.size(), std::size_t(2));
    }

    // Counting takes long, and all other answers wait for it.
    void aPromptThatIsTooLongIsNotCountedAgain()
    {
        struct Full final : GateEngine {
            engine::Result<engine::TurnId> begin(engine::SequenceId, const engine::Request&, const engine::Listener&,
                                                 std::stop_token) override
            {
                auto error = engine::fail(engine::Error::Code::ContextFull, "the prompt needs 9000 tokens");
                error.value().prompt_tokens = 9000;
                return error;
            }
            engine::Result<engine::PromptLedger> count_prompt(const engine::Request& request,
                                                              std::stop_token stop) const override
            {
                ++counted;
                return GateEngine::count_prompt(request, std::move(stop));
            }
            mutable std::atomic<int> counted = 0;
        };
        auto owned = std::make_unique<Full>();
        const Full& engine = *owned;
        const RunningServer server(std::move(owned), with_turns(2));
        const auto answer = server.post(kChatPath, body_of("much"));
        QCOMPARE(answer.status, 400);
        QCOMPARE(answer.json()["error"].toObject()["n_prompt_tokens"].toInt(), 9000);
        QCOMPARE(engine.counted.load(), 0);
    }

    void manyClientsAndNoneGetsWhatAnotherAsked()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        auto script = std::make_shared<FakeScript>();
        script->change([](FakeScript::Settings& s) {
            s.echoes = true;
            s.per_token = std::chrono::microseconds(200);
        });
        server::ServerOptions options = with_turns(5);
        options.desk.conversations = 8;
        const RunningServer server(std::make_unique<FakeEngine>(script), options);
        constexpr int kClients = 32, kEach = 6;
        std::atomic<int> answered = 0, wrong = 0;
        {
            std::list<std::jthread> threads;
            for (int c = 0; c < kClients; ++c)
                threads.emplace_back([&, c] {
                    std::mt19937 random(seed + unsigned(c));
                    for (int i = 0; i < kEach; ++i) {
                        QStringList words;
                        for (unsigned w = 1 + random() % 20; w > 0; --w)
                            words.append(QString("w%1-%2-%3").arg(c).arg(i).arg(random() % 100));
                        QJsonObject body = body_of(words.join(' '), QString("s").repeated(300));
                        body["stream"] = random() % 2 == 0;
                        Client client(server.port());
                        ask(client, body);
                        if (random() % 4 == 0) {
                            client.socket().waitForReadyRead(int(random() % 5));
                            continue;  // it goes away
                        }
                        const auto answer = client.answer();
                        wrong += answer.status == 200 && said_in(answer) == words.join(' ') + ' ' ? 0 : 1;
                        ++answered;
                    }
                });
        }
        QCOMPARE(wrong.load(), 0);
        QVERIFY(answered > kClients);
        QTRY_VERIFY_WITH_TIMEOUT(server.get("/metrics").body.contains("\nspillway_turns_running 0\n"),
                                 server_test::kPatience_ms);
        QVERIFY(server.get("/metrics").body.contains("\nspillway_turns_waiting 0\n"));
        QVERIFY(script->live_sequences() <= 8 + 5);
    }

    // The model's numbers do not depend on who else is in a step, so every answer is what it is alone.
    void answersAreThoseOfTheSameRequestsAlone()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        const QString system = QString("You answer questions about a program for language models. ").repeated(6);
        std::vector<QJsonObject> bodies;
        for (const char* question : {"What is a KV cache?", "Why is it slow?", "What is a KV cache?", "Hello!",
                                     "What does offloading do?", "How do I stop an answer?"}) {
            QJsonObject body = body_of(question, bodies.size() % 3 == 2 ? QString() : system);
            body["temperature"] = 1.2;
            body["seed"] = int(seed % 1000 + bodies.size());
            body["max_tokens"] = int(4 + 3 * bodies.size());
            bodies.push_back(body);
        }
        QStringList alone;
        for (const QJsonObject& body : bodies) {
            const RunningServer server(engine::make_engine(), with_turns(1));
            alone.append(said_in(server.post(kChatPath, body)));
            QVERIFY(!alone.last().isEmpty());
        }
        const RunningServer server(engine::make_engine(), with_turns(4));
        std::mt19937 random(seed);
        for (int round = 0; round < 3; ++round) {
            std::list<Client> clients, leaving;
            for (const QJsonObject& body : bodies) {
                QJsonObject streamed = body;
                streamed["stream"] = random() % 2 == 0;
                ask(clients.emplace_back(server.port()), streamed);
                if (random() % 2 == 0)
                    ask(leaving.emplace_back(server.port()), body);
            }
            for (qsizetype i = 0; Client & client : clients) {
                if (random() % 2 == 0 && !leaving.empty())
                    leaving.pop_front();
                QCOMPARE(said_in(client.answer()), alone[i++]);
            }
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestTurnsTogether)
#include "tst_turns_together.moc"
