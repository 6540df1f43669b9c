// Tests that clients get the embeddings of a model whose rows are known, and a sentence from a model that gives none.
#include "tests/app/server/running_server.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QJsonArray>
#include <QTemporaryDir>
#include <bit>
#include <cmath>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

using server_test::Answer;
using server_test::RunningServer;
using support::ChainModel;

namespace {

/// Loads one model at once where `loads_one`. The next load ends only when it is stopped, and tells `stopped` whether
/// it was.
class EndlessLoads : public server_test::GateEngine
{
public:
    EndlessLoads(bool loads_one, std::promise<void>& begins, std::promise<bool>& stopped)
        : loads_one_(loads_one)
        , begins_(begins)
        , stopped_(stopped)
    {
    }
    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                           std::stop_token stop) override
    {
        if (std::exchange(loads_one_, false))
            return GateEngine::load(request, listener, stop);
        begins_.set_value();
        std::unique_lock lock(mutex);
        changed.wait_for(lock, stop, std::chrono::seconds(10), [] { return false; });
        stopped_.set_value(stop.stop_requested());
        return engine::fail(engine::Error::Code::Cancelled, "loading was stopped");
    }

private:
    bool loads_one_;
    std::promise<void>& begins_;
    std::promise<bool>& stopped_;
};

/// Embeds every text as one number, the first text when the test lets it.
class WaitingEmbeddings : public server_test::GateEngine
{
public:
    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                           std::stop_token stop) override
    {
        auto info = GateEngine::load(request, listener, std::move(stop));
        info->embeds = request.model.filename() == "chain.gguf";
        return info;
    }
    engine::Result<engine::Embedding> embed(const engine::EmbeddingInput&, std::stop_token stop) override
    {
        std::unique_lock lock(mutex);
        embeds = true;
        changed.notify_all();
        if (!changed.wait(lock, stop, [this] { return may_embed; }))
            return engine::fail(engine::Error::Code::Cancelled, "embedding was stopped");
        return engine::Embedding{{1}, 1};
    }

    bool embeds = false, may_embed = false;
};

}  // namespace

class TestEmbeddings : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        engine::LoadRequest load;
        load.model = std::filesystem::path(folder_.filePath("chain.gguf").toStdString());
        ChainModel({}).embeds(1).save(load.model);  // the mean
        server_ = std::make_unique<RunningServer>(engine::make_engine(), server::ServerOptions{}, load);
    }

    void aFileThatWasCutOffAndIsWholeAgainIsLoadedAgain()
    {
#ifdef Q_OS_WIN
        QSKIP("a mapped file cannot be cut off on Windows");
#endif
        engine::LoadRequest load;
        load.model = std::filesystem::path(folder_.filePath("other.gguf").toStdString());
        const ChainModel model = ChainModel({}).embeds(1);
        model.save(load.model);
        const RunningServer server(engine::make_engine(), server::ServerOptions{}, load);
        const auto status = [&] { return server.post("/v1/embeddings", {{"input", "ab"}}).status; };
        QCOMPARE(status(), 200);
        QVERIFY(QFile::resize(QString::fromStdString(load.model.string()), 4096));
        QVERIFY(status() >= 500);
        model.save(load.model);
        QCOMPARE(status(), 200);
    }

    void openAisClientsGetARowForEachText()
    {
        const auto ids =
            server_->post("/tokenize", {{"content", "ab"}, {"add_special", true}}).json()["tokens"].toArray();
        const auto answer =
            server_->post("/v1/embeddings", {{"input", QJsonArray{"ab", "b", ids}}, {"model", "guide"}});
        QCOMPARE(answer.status, 200);
        const auto json = answer.json();
        QCOMPARE(json["object"].toString(), QString("list"));
        const auto data = json["data"].toArray();
        QCOMPARE(data.size(), 3);
        for (int i = 0; i < 3; ++i) {
            QCOMPARE(data[i].toObject()["index"].toInt(), i);
            QCOMPARE(data[i].toObject()["object"].toString(), QString("embedding"));
            QVERIFY(std::abs(length_of(row(data[i])) - 1) < 1e-5);
        }
        QCOMPARE(row(data[2]), row(data[0]));
        QVERIFY(row(data[1]) != row(data[0]));
        const auto a = qsizetype(ChainModel({}).id("a")), b = qsizetype(ChainModel({}).id("b"));
        QVERIFY(row(data[0])[a] > 0.1 && row(data[0])[a] == row(data[0])[b]);
        QVERIFY(row(data[1])[a] == 0 && row(data[1])[b] > 0.1);
        const auto usage = json["usage"].toObject();
        QCOMPARE(usage["prompt_tokens"].toInt(), 3 * int(ids.size()) - 1);
        QCOMPARE(usage["total_tokens"], usage["prompt_tokens"]);
    }

    void base64IsTheSameNumbers()
    {
        const auto numbers = row(server_->post("/v1/embeddings", {{"input", "abc"}}).json()["data"].toArray()[0]);
        const auto json = server_->post("/v1/embeddings", {{"input", "abc"}, {"encoding_format", "base64"}}).json();
        const QByteArray bytes =
            QByteArray::fromBase64(json["data"].toArray()[0].toObject()["embedding"].toString().toLatin1());
        QCOMPARE(bytes.size(), 4 * numbers.size());
        for (qsizetype i = 0; i < numbers.size(); ++i) {
            std::uint32_t bits = 0;
            for (int byte = 3; byte >= 0; --byte)
                bits = bits << 8 | std::uint8_t(bytes[4 * i + byte]);
            QCOMPARE(double(std::bit_cast<float>(bits)), numbers[i]);
        }
    }

    void fewerNumbersHaveLengthOneAgain()
    {
        const auto few =
            row(server_->post("/v1/embeddings", {{"input", "ab"}, {"dimensions", 16}}).json()["data"].toArray()[0]);
        QCOMPARE(few.size(), 16);
        QVERIFY(std::abs(length_of(few) - 1) < 1e-5);
        const auto all =
            row(server_->post("/v1/embeddings", {{"input", "ab"}, {"dimensions", 9999}}).json()["data"].toArray()[0]);
        QVERIFY(all.size() > 16);
    }

    void ollamasClientsGetTheirs()
    {
        const auto wanted = row(server_->post("/v1/embeddings", {{"input", "abc"}}).json()["data"].toArray()[0]);
        const auto several =
            server_->post("/api/embed", {{"model", "guide"}, {"input", QJsonArray{"abc", "a"}}}).json();
        QCOMPARE(several["embeddings"].toArray().size(), 2);
        QCOMPARE(numbers(several["embeddings"].toArray()[0].toArray()), wanted);
        QVERIFY(several["prompt_eval_count"].toInt() >= 4);
        const auto one = server_->post("/api/embeddings", {{"model", "guide"}, {"prompt", "abc"}}).json();
        QCOMPARE(numbers(one["embedding"].toArray()), wanted);
    }

    void ollamasClientsReadWhatItIsFor()
    {
        QCOMPARE(server_->post("/api/show", {{"model", "guide"}}).json()["capabilities"].toArray(),
                 QJsonArray{"embedding"});
    }

    void whatIsWrongIsNamed_data()
    {
        QTest::addColumn<QJsonObject>("body");
        QTest::addColumn<QString>("named");
        QTest::newRow("nothing") << QJsonObject{} << "input";
        QTest::newRow("empty") << QJsonObject{{"input", ""}} << "input";
        QTest::newRow("a list of nothing") << QJsonObject{{"input", QJsonArray{}}} << "input";
        QTest::newRow("an empty one among them") << QJsonObject{{"input", QJsonArray{"a", ""}}} << "input";
        QTest::newRow("texts between tokens") << QJsonObject{{"input", QJsonArray{7, "a"}}} << "input";
        QTest::newRow("no token") << QJsonObject{{"input", QJsonArray{99999}}} << "99999";
        QTest::newRow("no numbers") << QJsonObject{{"input", "a"}, {"dimensions", 0}} << "dimensions";
        QTest::newRow("another format") << QJsonObject{{"input", "a"}, {"encoding_format", "hex"}} << "encoding_format";
        QTest::newRow("too long") << QJsonObject{{"input", QString("ab").repeated(500)}} << "512";
    }

    void whatIsWrongIsNamed()
    {
        QFETCH(QJsonObject, body);
        QFETCH(QString, named);
        const auto answer = server_->post("/v1/embeddings", body);
        QCOMPARE(answer.status, 400);
        QVERIFY2(QString::fromUtf8(answer.body).contains(named), answer.body.constData());
    }

    void aClientThatGoesIsNotEmbeddedFor()
    {
        QJsonArray texts;
        for (int i = 0; i < 2048; ++i)
            texts.append(QString("ab").repeated(200));
        const QByteArray body = QJsonDocument(QJsonObject{{"input", texts}}).toJson(QJsonDocument::Compact);
        {
            server_test::Client client(server_->port());
            client.say(server_test::Client::request("POST", "/v1/embeddings", body));
        }
        const auto refused = [&] {
            return server_->get("/metrics").body.contains("{path=\"/v1/embeddings\",status=\"500\"} 1");
        };
        QTRY_VERIFY_WITH_TIMEOUT(refused(), server_test::kPatience_ms);
    }

    void stoppingDoesNotWaitForManyTexts()
    {
        engine::LoadRequest load;
        load.model = std::filesystem::path(folder_.filePath("chain.gguf").toStdString());
        server::ServerOptions options;
        options.grace = {};
        auto server = std::make_unique<RunningServer>(engine::make_engine(), options, load);
        QJsonArray texts;
        for (int i = 0; i < 2048; ++i)
            texts.append(QString("ab").repeated(200));
        server_test::Client client(server->port());
        client.say(server_test::Client::request(
            "POST", "/v1/embeddings", QJsonDocument(QJsonObject{{"input", texts}}).toJson(QJsonDocument::Compact)));
        server.reset();
        QVERIFY(client.answer().status != 200);
    }

    void aTurnForAnotherModelWaitsForTheLastText()
    {
        server::ServerOptions options;
        options.folders = {folder_.path().toStdString()};
        auto owned = std::make_unique<WaitingEmbeddings>();
        WaitingEmbeddings& engine = *owned;
        engine.finish_all();
        const RunningServer server(std::move(owned), options);
        const auto say = [](server_test::Client& client, const QByteArray& path, const QByteArray& body) {
            client.say(server_test::Client::request("POST", path, body));
        };
        server_test::Client texts(server.port()), chat(server.port()), more_texts(server.port());
        say(texts, "/v1/embeddings", R"({"model": "chain", "input": ["a", "b", "c"]})");
        QVERIFY(engine.wait([&] { return engine.embeds; }));
        say(chat, server_test::kChatPath, R"({"model": "guide", "messages": [{"role": "user", "content": "x"}]})");
        QTRY_VERIFY_WITH_TIMEOUT(server.get("/metrics").body.contains("\nspillway_turns_waiting 1\n"),
                                 server_test::kPatience_ms);
        say(more_texts, "/v1/embeddings", R"({"model": "chain", "input": ["d", "e"]})");
        {
            const std::lock_guard lock(engine.mutex);
            engine.may_embed = true;
            engine.changed.notify_all();
        }
        const Answer first = texts.answer();
        QCOMPARE(first.status, 200);
        QCOMPARE(first.json()["data"].toArray().size(), 3);
        QCOMPARE(chat.answer().status, 200);
        QCOMPARE(more_texts.answer().status, 200);
        // The turn is overtaken by no request that came later.
        QCOMPARE(engine.loaded_models, QStringList({"guide.gguf", "chain.gguf", "guide.gguf", "chain.gguf"}));
    }

    void stoppingDoesNotWaitForTheirModel()
    {
        server::ServerOptions options;
        options.grace = {};
        options.folders = {folder_.path().toStdString()};
        std::promise<void> begins;
        std::promise<bool> stopped;
        auto server = std::make_unique<RunningServer>(std::make_unique<EndlessLoads>(true, begins, stopped), options);
        server_test::Client client(server->port());
        client.say(server_test::Client::request("POST", "/v1/embeddings", R"({"model": "chain", "input": "ab"})"));
        QVERIFY(begins.get_future().wait_for(std::chrono::minutes(1)) == std::future_status::ready);
        server.reset();
        QVERIFY(stopped.get_future().get());
    }

    void stoppingDoesNotWaitForAModelThatTheServerBeginsWith()
    {
        server::ServerOptions options;
        options.http.port = 0;
        std::promise<void> begins;
        std::promise<bool> stopped;
        server::Server server(std::make_unique<EndlessLoads>(false, begins, stopped), options);
        QVERIFY(server.open());
        const std::jthread loads([&] { server.load({}, "chain", {}); });
        QVERIFY(begins.get_future().wait_for(std::chrono::minutes(1)) == std::future_status::ready);
        server.stop();
        QVERIFY(stopped.get_future().get());
    }

    void theWindowsModelGivesThemToo()
    {
        engine::LoadRequest load;
        load.model = std::filesystem::path(folder_.filePath("chain.gguf").toStdString());
        server::SharedEngine shared(engine::make_engine());
        const auto owner = shared.owner();
        QVERIFY(owner->load(load, {}, {}));
        const auto guest = shared.guest([] {});
        QVERIFY(guest->look().model);
        const auto made = guest->embed({"ab"}, {});
        QVERIFY(made);
        QCOMPARE(made->values, owner->embed({"ab"}, {})->values);
        owner->unload();
        QVERIFY(!guest->embed({"ab"}, {}));
    }

    void whereTheWindowsModelGoesMeanwhileEverybodyKnows()
    {
#ifdef Q_OS_WIN
        QSKIP("a mapped file cannot be cut off on Windows");
#endif
        engine::LoadRequest load;
        load.model = std::filesystem::path(folder_.filePath("goes.gguf").toStdString());
        ChainModel({}).embeds(1).save(load.model);
        server::SharedEngine shared(engine::make_engine());
        const auto owner = shared.owner();
        QVERIFY(owner->load(load, {}, {}));
        const auto guest = shared.guest([] {});
        QVERIFY(guest->look().model);
        QVERIFY(QFile::resize(QString::fromStdString(load.model.string()), 4096));
        QVERIFY(!guest->embed({"ab"}, {}));
        QVERIFY(!owner->loaded());
        QVERIFY(!guest->loaded());
        QVERIFY(!guest->look().model);
    }

private:
    static QList<double> numbers(const QJsonArray& array)
    {
        QList<double> all;
        for (const QJsonValue number : array)
            all.append(number.toDouble());
        return all;
    }
    static QList<double> row(const QJsonValue& data)
    {
        return numbers(data.toObject()["embedding"].toArray());
    }
    static double length_of(const QList<double>& row)
    {
        double squares = 0;
        for (const double value : row)
            squares += value * value;
        return std::sqrt(squares);
    }

    QTemporaryDir folder_;
    std::unique_ptr<RunningServer> server_;
};

SPILLWAY_TEST(QCoreApplication, TestEmbeddings)
#include "tst_embeddings.moc"
