// Tests that the server lists the models of its folders, and answers each request with the model that it names.
#include "app/server/models.h"
#include "tests/app/server/running_server.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>

using server::ModelFile;
using server_test::Answer;
using server_test::Client;
using server_test::GateEngine;
using server_test::kChatPath;
using server_test::RunningServer;

namespace {

QJsonObject asking(const QString& model, QJsonObject more = {})
{
    more["model"] = model;
    more["messages"] = QJsonArray{QJsonObject{{"role", "user"}, {"content", "x"}}};
    more["temperature"] = 0;
    more["max_tokens"] = 3;
    return more;
}

QString text_in(const Answer& answer)
{
    const auto choice = answer.json()["choices"].toArray().first().toObject();
    return choice["message"].toObject()["content"].toString();
}

/// A folder of files, most of them empty.
class Folder
{
public:
    void put(const QString& path, const QByteArray& bytes = {}) const
    {
        QDir().mkpath(QFileInfo(folder.filePath(path)).path());
        QFile file(folder.filePath(path));
        if (!file.open(QFile::WriteOnly) || file.write(bytes) < 0)
            qFatal("cannot write %s", qPrintable(path));
    }
    /// A model that says this letter and no more.
    void put_model(const QString& path, const char* letter) const
    {
        QDir().mkpath(QFileInfo(folder.filePath(path)).path());
        support::ChainModel({}).says({support::ChainModel::kGo, letter, "</s>"}).save(at(path));
    }
    std::filesystem::path at(const QString& path) const { return folder.filePath(path).toStdString(); }
    std::filesystem::path path() const { return folder.path().toStdString(); }

    QTemporaryDir folder;
};

QStringList names_in(const Folder& folder)
{
    QStringList names;
    for (const ModelFile& file : server::Models({folder.path()}).all())
        names.append(QString::fromStdString(file.name));
    return names;
}

class ServedFolder
{
public:
    explicit ServedFolder(const Folder& folder, std::chrono::milliseconds idle = {})
        : server_(std::make_unique<server::Server>(engine::make_engine(), options(folder, idle)))
    {
        if (!server_->open())
            qFatal("the server does not start");
        thread_ = std::jthread([this] { server_->run(); });
        port = QByteArray::fromStdString(server_->url()).split(':').last().toInt();
    }
    ~ServedFolder() { server_->stop(); }

    Answer post(const QByteArray& path, const QJsonObject& body) const
    {
        return Client(port).ask("POST", path, QJsonDocument(body).toJson(QJsonDocument::Compact));
    }
    Answer get(const QByteArray& path) const { return Client(port).ask("GET", path); }

    int port = 0;

private:
    static server::ServerOptions options(const Folder& folder, std::chrono::milliseconds idle)
    {
        server::ServerOptions options;
        options.http.port = 0;
        options.folders = {folder.path()};
        options.desk.idle_unload = idle;
        options.desk.load.threads = 1;
        return options;
    }

    std::unique_ptr<server::Server> server_;
    std::jthread thread_;
};

/// Serves a folder of two models, the first of which is loaded and called "guide". The engine takes no more of a file
/// than its name and its template.
RunningServer with_first_of_two(const Folder& folder, std::unique_ptr<GateEngine> engine)
{
    folder.put_model("first.gguf", "a");
    folder.put_model("second.gguf", "b");
    server::ServerOptions options;
    options.folders = {folder.path()};
    engine::LoadRequest load;
    load.model = folder.at("first.gguf");
    return RunningServer(std::move(engine), options, load);
}

}  // namespace

class TestModels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatIsAModelIsListed()
    {
        Folder folder;
        for (const char* path :
             {"one.gguf", "deep/er/two.gguf", "big-00001-of-00003.gguf", "big-00002-of-00003.gguf", "notes.txt",
              "mmproj-one.gguf", ".hidden/three.gguf", "a/twin.gguf", "b/twin.gguf", "half.gguf.part"})
            folder.put(path);
        QFile::link(folder.folder.filePath("nowhere"), folder.folder.filePath("broken.gguf"));
        QCOMPARE(names_in(folder), QStringList({"a/twin", "b/twin", "big", "one", "two"}));
        QCOMPARE(names_in(Folder()), QStringList());
    }

    void namesAreFoundAndNothingElse()
    {
        Folder folder;
        folder.put("one.gguf");
        folder.put("two.gguf");
        server::Models models({folder.path()});
        QCOMPARE(models.find("one")->path, folder.at("one.gguf"));
        QCOMPARE(models.find("two:latest")->name, std::string("two"));
        for (const char* name : {"", "three", "one.gguf", "../one", "/etc/passwd", "ONE"}) {
            const auto found = models.find(name);
            QVERIFY2(!found, name);
            QVERIFY(found.error().sentence.ends_with("one, two"));
        }
        folder.put("three.gguf");  // it came later
        QCOMPARE(models.find("three")->name, std::string("three"));
        QFile::remove(folder.folder.filePath("one.gguf"));
        QVERIFY(!models.find("one"));
    }

    void withoutFoldersEveryNameIsTheOneThatIsThere()
    {
        server::Models models({});
        QVERIFY(!models.find("x"));
        models.add({"guide", "guide.gguf", 1});
        QCOMPARE(models.find("gpt-4o")->name, std::string("guide"));
        QCOMPARE(models.find("")->name, std::string("guide"));
    }

    void eachAnswersWithTheModelItAskedFor()
    {
        Folder folder;
        folder.put_model("first.gguf", "a");
        folder.put_model("second.gguf", "b");
        const ServedFolder server(folder);
        QCOMPARE(server.get("/health").status, 200);
        QCOMPARE(server.get("/props").status, 503);  // nothing is loaded yet
        const auto list = server.get("/v1/models").json()["data"].toArray();
        QCOMPARE(list.size(), 2);
        QCOMPARE(list[0].toObject()["status"].toObject()["value"].toString(), QString("unloaded"));

        QCOMPARE(text_in(server.post(kChatPath, asking("first"))), QString("a"));
        QCOMPARE(server.get("/props").json()["model_alias"].toString(), QString("first"));
        QCOMPARE(text_in(server.post(kChatPath, asking("second"))), QString("b"));
        const auto models = server.get("/v1/models").json()["data"].toArray();
        QCOMPARE(models[1].toObject()["status"].toObject()["value"].toString(), QString("loaded"));
        QVERIFY(models[1].toObject()["meta"].toObject()["n_ctx"].toInt() > 0);
        QCOMPARE(server.get("/v1/models/first").json()["id"].toString(), QString("first"));
        QCOMPARE(server.get("/api/tags").json()["models"].toArray().size(), 2);

        // Many at once, for both.
        std::list<Client> clients;
        for (int i = 0; i < 8; ++i) {
            Client& client = clients.emplace_back(server.port);
            const auto body = QJsonDocument(asking(i % 2 == 0 ? "first" : "second")).toJson(QJsonDocument::Compact);
            client.say(Client::request("POST", kChatPath, body));
        }
        int at = 0;
        for (Client& client : clients)
            QCOMPARE(text_in(client.answer()), QString(at++ % 2 == 0 ? "a" : "b"));
    }

    void whoNamesNoModelThereIsIsToldWhichThereAre()
    {
        Folder folder;
        folder.put_model("first.gguf", "a");
        folder.put_model("second.gguf", "b");
        const ServedFolder server(folder);
        for (const bool streams : {false, true}) {
            const auto answer = server.post(kChatPath, asking("gpt-4o", {{"stream", streams}}));
            QCOMPARE(answer.status, 404);
            QVERIFY(answer.json()["error"].toObject()["message"].toString().contains("first, second"));
        }
        QCOMPARE(server.post(kChatPath, asking("")).status, 400);
        QCOMPARE(server.post("/v1/messages", asking("claude")).json()["error"].toObject()["type"].toString(),
                 QString("not_found_error"));
        QVERIFY(server.post("/api/chat", asking("llama3")).json()["error"].toString().contains("first, second"));
        // What is there need not be fetched.
        QCOMPARE(server.post("/api/pull", {{"model", "first"}}).body, QByteArray("{\"status\":\"success\"}\n"));
        const auto pulled = server.post("/api/pull", {{"name", "llama3"}, {"stream", false}});
        QCOMPARE(pulled.status, 404);
        QVERIFY(pulled.json()["error"].toString().contains("first, second"));
        QCOMPARE(server.get("/v1/models/third").status, 404);
        QCOMPARE(server.post("/v1/embeddings", {{"model", "first"}, {"input", "x"}}).status, 400);
    }

    // As plugins of editors ask, which know llama-server with its single model.
    void whoNamesNoModelGetsTheOneThatWasUsedLast()
    {
        Folder folder;
        folder.put_model("first.gguf", "a");
        folder.put_model("second.gguf", "b");
        const ServedFolder server(folder, std::chrono::milliseconds(100));
        QJsonObject unnamed = asking("");
        const QJsonObject gap{{"input_prefix", "x"}, {"input_suffix", "y"}};
        const auto sentence = [&] {
            return server.post("/infill", gap).json()["error"].toObject()["message"].toString();
        };
        QVERIFY(sentence().contains("first, second"));  // none was used yet
        for (const char* name : {"second", "first"}) {
            const QString letter = QByteArray(name) == "first" ? "a" : "b";
            QCOMPARE(text_in(server.post(kChatPath, asking(name))), letter);
            QCOMPARE(text_in(server.post(kChatPath, unnamed)), letter);
            QCOMPARE(server.post("/completion", {{"prompt", "x"}, {"n_predict", 1}}).json()["model"].toString(),
                     QString(name));
            QVERIFY2(sentence().contains("fill-in-the-middle"), qPrintable(sentence()));  // which it has no marks for
            QTRY_VERIFY_WITH_TIMEOUT(server.get("/api/ps").json()["models"].toArray().isEmpty(),
                                     server_test::kPatience_ms);
            QCOMPARE(text_in(server.post(kChatPath, unnamed)), letter);
        }
        QFile::remove(folder.folder.filePath("first.gguf"));
        QCOMPARE(text_in(server.post(kChatPath, unnamed)), QString("b"));  // the only one there is
    }

    // As clients put it into an address.
    void aNameMayBeEscaped()
    {
        Folder folder;
        for (const char* path : {"a/twin.gguf", "b/twin.gguf", "My Model%.gguf"})
            folder.put(path);
        const ServedFolder server(folder);
        const auto name_at = [&](const char* path) { return server.get(path).json()["id"].toString(); };
        QCOMPARE(name_at("/v1/models/b/twin"), QString("b/twin"));
        QCOMPARE(name_at("/v1/models/b%2Ftwin"), QString("b/twin"));
        QCOMPARE(name_at("/v1/models/b%2ftw%69n"), QString("b/twin"));
        QCOMPARE(name_at("/v1/models/My%20Model%"), QString("My Model%"));
        for (const char* path : {"/v1/models/b%2", "/v1/models/b%-2twin", "/v1/models/b%252Ftwin"})
            QCOMPARE(server.get(path).status, 404);
    }

    void aFileThatIsNoModelIsASentence()
    {
        Folder folder;
        folder.put("broken.gguf", "GGUF and nothing behind it");
        folder.put_model("whole.gguf", "a");
        const ServedFolder server(folder);
        QCOMPARE(text_in(server.post(kChatPath, asking("whole"))), QString("a"));
        for (const bool streams : {false, true}) {
            const auto answer = server.post(kChatPath, asking("broken", {{"stream", streams}}));
            QVERIFY(answer.status == 400 || answer.status == 500);
            QVERIFY(answer.json()["error"].toObject()["message"].toString().size() > 10);
        }
        QVERIFY(server.post("/tokenize", {{"model", "broken"}, {"content", "a"}}).status >= 400);
        QCOMPARE(text_in(server.post(kChatPath, asking("whole"))), QString("a"));
    }

    void aFileIsDescribedWithoutBeingLoaded()
    {
        Folder folder;
        folder.put_model("first.gguf", "a");
        folder.put_model("second.gguf", "b");
        const ServedFolder server(folder);
        const auto show = server.post("/api/show", {{"model", "second"}}).json();
        QCOMPARE(show["details"].toObject()["family"].toString(), QString("llama"));
        QCOMPARE(server.post("/tokenize", {{"model", "first"}, {"content", "a"}}).json()["tokens"].toArray().size(), 1);
        QVERIFY(server.get("/api/ps").json()["models"].toArray().isEmpty());
        // As Continue asks it still.
        QCOMPARE(server.post("/api/show", {{"name", "second:latest"}}).json()["details"].toObject(),
                 show["details"].toObject());
        QCOMPARE(server.post("/v1/embeddings", {{"name", "second"}}).status, 400);  // elsewhere it has one name
        const auto body = asking("second");
        const int counted = server.post("/v1/messages/count_tokens", body).json()["input_tokens"].toInt();
        QVERIFY(server.get("/api/ps").json()["models"].toArray().isEmpty());
        const auto usage = server.post("/v1/chat/completions", body).json()["usage"].toObject();
        QCOMPARE(counted, usage["prompt_tokens"].toInt());
    }

    // What `ollama run` and `ollama stop` ask, and whoever wants a model to be there when it is needed.
    void ollamasClientsLoadAndUnload()
    {
        Folder folder;
        folder.put_model("first.gguf", "a");
        folder.put_model("second.gguf", "b");
        const ServedFolder server(folder);
        const auto loaded = [&] {
            QStringList names;
            for (const auto model : server.get("/api/ps").json()["models"].toArray())
                names.append(model.toObject()["name"].toString().remove(":latest"));
            return names.join(' ');
        };
        const auto loads = server.post("/api/generate", {{"model", "first"}, {"prompt", ""}, {"stream", false}}).json();
        QCOMPARE(loads["done_reason"].toString(), QString("load"));
        QVERIFY(loads["done"].toBool() && loads["response"].isString());
        QCOMPARE(loaded(), QString("first"));
        const auto again = server.post("/api/chat", {{"name", "second"}, {"messages", QJsonArray()}}).json();
        QVERIFY(again["done"].toBool() && again["message"].isObject());
        QCOMPARE(loaded(), QString("second"));
        // Asked to unload a model that is not loaded, the server does nothing; the one that is leaves, and comes again.
        for (const char* model : {"first", "second"}) {
            const auto leaves = server.post("/api/generate", {{"model", model}, {"keep_alive", 0}}).json();
            QCOMPARE(leaves["done_reason"].toString(), QString("unload"));
            QCOMPARE(loaded(), QString(model) == "first" ? QString("second") : QString());
        }
        QCOMPARE(text_in(server.post(kChatPath, asking("second"))), QString("b"));
        QCOMPARE(server.post("/api/generate", {{"model", "third"}}).status, 404);
    }

    void anIdleModelLeavesAndComesAgain()
    {
        Folder folder;
        folder.put_model("first.gguf", "a");
        const ServedFolder server(folder, std::chrono::milliseconds(100));
        for (int i = 0; i < 2; ++i) {
            QCOMPARE(text_in(server.post(kChatPath, asking("first"))), QString("a"));
            QTRY_VERIFY_WITH_TIMEOUT(server.get("/api/ps").json()["models"].toArray().isEmpty(),
                                     server_test::kPatience_ms);
            QVERIFY(!server.get("/metrics").body.contains("spillway_memory_bytes"));
        }
    }

    // As the engine does when another program wrote over the model's file.
    void aModelThatTheEngineClosedIsLoadedAgain()
    {
        struct Closing final : GateEngine {
            engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                                   std::stop_token stop) override
            {
                there = true;
                return GateEngine::load(request, listener, std::move(stop));
            }
            bool loaded() const override { return there; }
            std::vector<engine::TurnId> step(const engine::Listener& listener) override
            {
                auto over = GateEngine::step(listener);
                there = over.empty();
                return over;
            }
            bool there = false;
        };
        auto owned = std::make_unique<Closing>();
        Closing& engine = *owned;
        engine.finish_all();
        const RunningServer server(std::move(owned));
        QCOMPARE(server.post(kChatPath, asking("guide")).status, 200);
        QTRY_VERIFY_WITH_TIMEOUT(server.get("/api/ps").json()["models"].toArray().isEmpty(), 5000);
        QCOMPARE(server.post(kChatPath, asking("guide")).status, 200);
        QCOMPARE(engine.loaded_models.size(), 2);
    }

    void aModelThatManyWaitForIsLoadedOnce()
    {
        struct Slow final : GateEngine {
            engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                                   std::stop_token stop) override
            {
                {
                    std::unique_lock lock(mutex);
                    ++loads;
                    changed.notify_all();
                    if (!changed.wait(lock, stop, [this] { return reads; })) {
                        ++given_up;
                        changed.notify_all();
                        return engine::fail(engine::Error::Code::Cancelled, "loading was cancelled");
                    }
                }
                return GateEngine::load(request, listener, std::move(stop));
            }
            bool reads = true;  // false: loads wait
            int loads = 0, given_up = 0;
        };
        Folder folder;
        auto owned = std::make_unique<Slow>();
        Slow& engine = *owned;
        const RunningServer server = with_first_of_two(folder, std::move(owned));
        const auto let_read = [&](bool reads) {
            const std::lock_guard lock(engine.mutex);
            engine.reads = reads;
            engine.changed.notify_all();
        };
        let_read(false);
        std::list<Client> clients;
        const auto body = QJsonDocument(asking("second")).toJson(QJsonDocument::Compact);
        for (int i = 0; i < 3; ++i) {
            clients.emplace_back(server.port()).say(Client::request("POST", kChatPath, body));
            QVERIFY(engine.wait([&] { return engine.loads == 2; }));
        }
        const auto counts = [&](const char* line) { return server.get("/metrics").body.contains(line); };
        QTRY_VERIFY_WITH_TIMEOUT(counts("\nspillway_turns_waiting 2\n"), server_test::kPatience_ms);
        // The load goes on where the client leaves for whom it was begun.
        clients.pop_front();
        QTRY_VERIFY_WITH_TIMEOUT(counts("status=\"499\"} 1\n"), server_test::kPatience_ms);
        let_read(true);
        engine.finish_all();
        for (Client& client : clients)
            QCOMPARE(client.answer().status, 200);
        QCOMPARE(engine.loads, 2);
        QCOMPARE(engine.loaded_models, QStringList({"first.gguf", "second.gguf"}));

        // It ends where nobody waits for it any more: a client that left does not wait for a second answer, and another
        // client may leave later.
        let_read(false);
        clients.clear();
        for (const int answers : {2, 1}) {
            const auto other = QJsonDocument(asking("guide", {{"n", answers}})).toJson(QJsonDocument::Compact);
            clients.emplace_back(server.port()).say(Client::request("POST", kChatPath, other));
            QVERIFY(engine.wait([&] { return engine.loads == 3; }));
        }
        QTRY_VERIFY_WITH_TIMEOUT(counts("\nspillway_turns_waiting 2\n"), server_test::kPatience_ms);
        clients.pop_front();
        QTRY_VERIFY_WITH_TIMEOUT(counts("status=\"499\"} 2\n"), server_test::kPatience_ms);
        clients.clear();
        QVERIFY(engine.wait([&] { return engine.given_up == 1; }));
    }

    void aTurnIsNotCutShortByWhoeverWantsAnotherModel()
    {
        Folder folder;
        auto owned = std::make_unique<GateEngine>();
        GateEngine& engine = *owned;
        const RunningServer server = with_first_of_two(folder, std::move(owned));
        Client first(server.port()), second(server.port()), third(server.port());
        const auto ask = [](Client& client, const char* model) {
            const auto body = QJsonDocument(asking(model, {{"stream", true}})).toJson(QJsonDocument::Compact);
            client.say(Client::request("POST", kChatPath, body));
        };
        ask(first, "guide");
        QVERIFY(engine.wait([&] { return engine.turns.size() == 1; }));
        ask(second, "second");
        QTRY_VERIFY_WITH_TIMEOUT(server.get("/metrics").body.contains("\nspillway_turns_waiting 1\n"),
                                 server_test::kPatience_ms);
        ask(third, "guide");  // does not pass the one before it
        QTRY_VERIFY_WITH_TIMEOUT(server.get("/metrics").body.contains("\nspillway_turns_waiting 2\n"),
                                 server_test::kPatience_ms);
        QCOMPARE(engine.most_together, 1);
        QCOMPARE(engine.loaded_models, QStringList({"first.gguf"}));
        engine.finish_all();
        for (Client* client : {&first, &second, &third})
            QCOMPARE(client->answer().events().last(), QByteArray("[DONE]"));
        QCOMPARE(engine.loaded_models, QStringList({"first.gguf", "second.gguf", "first.gguf"}));
        QCOMPARE(engine.most_together, 1);
    }
};

SPILLWAY_TEST(QCoreApplication, TestModels)
#include "tst_models.moc"
