// Tests that a model whose rows are known gives the embeddings that follow from them: it turns a token into the
// direction of that token alone.
#include "engine/engine.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QTemporaryDir>
#include <cmath>
#include <map>

using namespace engine;
using support::ChainModel;

namespace {

enum Pooling : std::uint32_t { Mean = 1, First = 2, Last = 3, Rank = 4 };  // values of ARCH.pooling_type

}  // namespace

class TestEmbedding : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theLastRowIsTheTextsWhereTheFileSaysSo()
    {
        const auto engine = open(ChainModel({}).embeds(Last));
        const auto ab = engine->embed({"ab"}, {});
        QVERIFY2(ab, ab ? "" : ab.error().what.c_str());
        QCOMPARE(directions(*ab), (std::map<std::size_t, double>{{id("b"), 1.0}}));
        QVERIFY(ab->tokens >= 2);
        const auto ended = open(ChainModel({}).embeds(Last, true))->embed({"ab"}, {});
        QCOMPARE(directions(*ended), (std::map<std::size_t, double>{{id("</s>"), 1.0}}));
        QCOMPARE(ended->tokens, ab->tokens + 1);
    }

    void theMeanIsOfAllRowsHoweverTheyAreRead()
    {
        std::vector<int> ids(300, int(id("a")));
        for (std::size_t i = 0; i < ids.size(); i += 3)
            ids[i] = int(id("b"));
        const double length = std::hypot(200.0, 100.0);
        for (const int chunk : {16, 100, 512}) {
            const auto engine = open(ChainModel({}).embeds(Mean), chunk);
            for (int again = 0; again < 4; ++again) {  // in a context of 512 tokens: nothing is left behind
                const auto made = engine->embed({{}, ids}, {});
                QVERIFY2(made, made ? "" : made.error().what.c_str());
                QCOMPARE(made->tokens, 300);
                const auto parts = directions(*made);
                QCOMPARE(parts.size(), std::size_t(2));
                QVERIFY(std::abs(parts.at(id("a")) - 200 / length) < 1e-4);
                QVERIFY(std::abs(parts.at(id("b")) - 100 / length) < 1e-4);
            }
        }
    }

    void aDeviceMakesTheSame()
    {
        for (const auto pooling : {Mean, Last}) {
            LoadRequest request;
            request.placement.device = PlacementOptions::Device::Emulated;
            request.placement.device_layers = 1;
            const auto there = open(ChainModel({}).embeds(pooling), 32, request);
            const auto here = open(ChainModel({}).embeds(pooling), 32);
            const std::vector<int> ids(100, int(id("c")));
            QCOMPARE(there->embed({{}, ids}, {})->values, here->embed({{}, ids}, {})->values);
        }
    }

    void turnsThatRunGoOnAsIfNothingWas()
    {
        const auto engine = open(ChainModel({}).says({ChainModel::kGo, "a", "b", "c", "d", "e", "</s>"}).embeds(Last));
        Request request;
        request.messages = {{"user", "x"}};
        request.sampling.temperature = 0;
        const auto sequence = engine->create_sequence();
        const auto alone = engine->generate(*sequence, request, {}, {});
        QCOMPARE(alone->text, std::string("abcde"));
        const auto turn = engine->begin(*engine->create_sequence(), request, {}, {});
        QVERIFY(turn);
        int steps = 0;
        for (bool over = false; !over; ++steps) {
            over = std::ranges::count(engine->step({}), *turn) > 0;
            QCOMPARE(directions(*engine->embed({"xyz"}, {})), (std::map<std::size_t, double>{{id("z"), 1.0}}));
        }
        QVERIFY(steps > 3);
        QCOMPARE(engine->end(*turn)->text, alone->text);
    }

    void whatCannotBeEmbeddedIsASentence_data()
    {
        QTest::addColumn<int>("pooling");
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::vector<int>>("ids");
        QTest::addColumn<int>("code");
        QTest::newRow("a model that writes")
            << 0 << std::string("a") << std::vector<int>() << int(Error::Code::Unsupported);
        QTest::newRow("its first row") << int(First) << std::string("a") << std::vector<int>()
                                       << int(Error::Code::Unsupported);
        QTest::newRow("ranks") << int(Rank) << std::string("a") << std::vector<int>() << int(Error::Code::Unsupported);
        QTest::newRow("nothing") << int(Last) << std::string() << std::vector<int>() << int(Error::Code::BadRequest);
        QTest::newRow("no token") << int(Last) << std::string() << std::vector<int>{1, 4000}
                                  << int(Error::Code::BadRequest);
        QTest::newRow("below all tokens")
            << int(Last) << std::string() << std::vector<int>{-1} << int(Error::Code::BadRequest);
        QTest::newRow("too long") << int(Last) << std::string(600, 'a') << std::vector<int>()
                                  << int(Error::Code::ContextFull);
    }

    void whatCannotBeEmbeddedIsASentence()
    {
        QFETCH(int, pooling);
        QFETCH(std::string, text);
        QFETCH(std::vector<int>, ids);
        QFETCH(int, code);
        const auto engine = open(ChainModel({}).embeds(std::uint32_t(pooling)));
        const auto made = engine->embed({text, ids}, {});
        QVERIFY(!made);
        QCOMPARE(int(made.error().code), code);
        QVERIFY(!made.error().what.empty());
        if (code == int(Error::Code::ContextFull))
            QVERIFY(made.error().what.find("512") != std::string::npos);
    }

    void itCanBeStopped()
    {
        std::stop_source stop;
        stop.request_stop();
        const auto made = open(ChainModel({}).embeds(Last))->embed({"abc"}, stop.get_token());
        QVERIFY(!made);
        QCOMPARE(int(made.error().code), int(Error::Code::Cancelled));
        QCOMPARE(int(make_engine()->embed({"abc"}, {}).error().code), int(Error::Code::NotLoaded));
    }

private:
    std::unique_ptr<Engine> open(const ChainModel& model, int chunk = 0, LoadRequest request = {})
    {
        request.model = std::filesystem::path(folder_.filePath("chain.gguf").toStdString());
        request.threads = 1;
        request.prefill_chunk_tokens = chunk;
        model.save(request.model);
        auto engine = make_engine();
        const auto info = engine->load(request, {}, {});
        if (!info)
            qFatal("%s", info.error().what.c_str());
        return engine;
    }
    static std::size_t id(const char* token) { return ChainModel({}).id(token); }
    /// Returns the directions in which it points at all.
    static std::map<std::size_t, double> directions(const Embedding& made)
    {
        std::map<std::size_t, double> all;
        for (std::size_t i = 0; i < made.values.size(); ++i)
            if (made.values[i] != 0)
                all[i] = double(made.values[i]);
        return all;
    }

    QTemporaryDir folder_;
};

SPILLWAY_TEST(QCoreApplication, TestEmbedding)
#include "tst_embedding.moc"
