// Tests turns of models with every kind of layer: however a conversation came to where it is, its answer is that of a
// conversation which is computed from its beginning.
#include "tests/engine/run/loaded_engine.h"
#include "tests/support/try_often.h"

#include <QtTest>

#include <QTemporaryDir>

#include <chrono>
#include <thread>

using namespace engine;
using namespace test_support;

namespace {

// A gated delta net, Mamba-2, a short convolution, Mamba-2 beside attention, n-grams and streams; without states:
// latent attention, windows, chunks, layers that read the KV of others, latent experts.
const char* const kMixers[] = {"qwen35",    "nemotron_h", "lfm2",   "falcon-h1", "qwen4exp",
                               "deepseek2", "gemma3",     "llama4", "gemma4-e",  "nemotron_h_moe"};
constexpr const char* kRecurrentName = "a-conversation";

LoadRequest recurrent_request(const QString& model, int fit_tokens)
{
    LoadRequest request;
    request.model = (own_models_folder() + '/' + model + ".gguf").toStdString();
    request.kv_block_tokens = 16;
    request.prefill_chunk_tokens = 24;
    request.context_tokens = 512;
    if (fit_tokens > 0) {
        request.placement.device = PlacementOptions::Device::Emulated;
        request.placement.emulated.fit_tokens = fit_tokens;
        request.placement.emulated.link_bytes_per_s = 0;
    }
    return request;
}

std::unique_ptr<Engine> engine_with(const LoadRequest& request)
{
    auto engine = make_engine();
    const auto info = engine->load(request, {}, {});
    if (!info)
        qFatal("%s", info.error().what.c_str());
    return engine;
}

Turn answer_of(Engine& engine, SequenceId sequence, const std::vector<Message>& messages,
               const std::string& saved_as = {})
{
    Request request = chat(messages, 20);
    request.saved_as = saved_as;
    auto turn = engine.generate(sequence, request, {}, {});
    if (!turn)
        qFatal("%s", turn.error().what.c_str());
    return std::move(*turn);
}

/// Returns the answer of a new conversation that begins with these messages.
std::string fresh_answer_of(const LoadRequest& request, const std::vector<Message>& messages)
{
    const auto engine = engine_with(request);
    return answer_of(*engine, *engine->create_sequence(), messages).text;
}

/// Waits until what was posted has been done.
void wait_until_it_is_saved(Engine& engine)
{
    bool saved = false;
    Listener listener;
    listener.on_event = [&](const Event& event) { saved = saved || event.kind == Event::Kind::KvSaved; };
    QTRY_VERIFY_WITH_TIMEOUT((engine.poll(listener), saved), 20'000);
}

}  // namespace

class TestRecurrentTurns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eachWayGivesTheAnswerOfAFreshRun_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("fit_tokens");  // 0: on the cpu
        for (const char* const model : kMixers)
            for (const int fit : {0, 96})
                QTest::addRow("%s, %s", model, fit > 0 ? "emulated" : "cpu") << QString(model) << fit;
    }
    void eachWayGivesTheAnswerOfAFreshRun()
    {
        QFETCH(QString, model);
        QFETCH(int, fit_tokens);
        const LoadRequest request = recurrent_request(model, fit_tokens);
        const auto engine = engine_with(request);
        const SequenceId sequence = *engine->create_sequence();
        const Message system{"system", "You answer with what the sea said to the shore."};
        std::vector<Message> messages{system, {"user", "the third of the tides"}};

        // It goes on.
        const Turn first = answer_of(*engine, sequence, messages);
        QCOMPARE(first.text, fresh_answer_of(request, messages));
        std::vector<Message> longer = messages;
        longer.push_back({"assistant", "that it will come back, as it always did"});
        longer.push_back({"user", "and the shore, what does it say in its turn?"});
        const Turn second = answer_of(*engine, sequence, longer);
        QVERIFY(second.telemetry.reused_tokens > 0);
        const std::string expected = fresh_answer_of(request, longer);
        QCOMPARE(second.text, expected);

        // It is answered again, and branches.
        const Turn again = answer_of(*engine, sequence, longer);
        QCOMPARE(again.text, expected);
        QVERIFY(again.telemetry.reused_tokens >= second.telemetry.reused_tokens);
        const SequenceId branch = *engine->branch(sequence, -1);
        const SequenceId earlier = *engine->branch(sequence, first.prompt.last + 3);
        QCOMPARE(answer_of(*engine, branch, longer).text, expected);
        QCOMPARE(answer_of(*engine, earlier, longer).text, expected);

        // A question is asked in another way; the first conversation is as it was.
        std::vector<Message> edited = messages;
        edited.back().text = "the third of the winds";
        const Turn other = answer_of(*engine, branch, edited);
        QCOMPARE(other.text, fresh_answer_of(request, edited));
        QVERIFY(other.telemetry.reused_tokens > 0);  // the system's message
        QCOMPARE(answer_of(*engine, sequence, longer).text, expected);
    }

    void aStoppedAnswerIsKept_data() { eachWayGivesTheAnswerOfAFreshRun_data(); }

    /// Whenever it is stopped: the next turn computes nothing of it again but its last token.
    void aStoppedAnswerIsKept()
    {
        QFETCH(QString, model);
        QFETCH(int, fit_tokens);
        const auto engine = engine_with(recurrent_request(model, fit_tokens));
        Request request;
        for (int id = 1; id <= 20; ++id)
            request.raw_ids.push_back(id);
        request.sampling.temperature = 0;
        request.max_tokens = 200;
        request.top_logprobs = -1;
        for (int delay_us = 0; delay_us < 3000; delay_us += 50 + delay_us / 4) {
            std::stop_source stop;
            std::jthread stopper;
            Request next = request;
            Listener listener;
            listener.on_token = [&](const TokenLogprobs& token) {
                next.raw_ids.push_back(token.written.id);
                if (next.raw_ids.size() == request.raw_ids.size() + 3)
                    stopper = std::jthread([&stop, delay_us] {
                        std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
                        stop.request_stop();
                    });
            };
            const SequenceId sequence = *engine->create_sequence();
            QVERIFY(engine->generate(sequence, request, listener, stop.get_token()));
            QVERIFY(next.raw_ids.size() > request.raw_ids.size());
            const auto known = int(next.raw_ids.size());
            next.raw_ids.push_back(7);
            next.max_tokens = 1;
            const auto turn = engine->generate(sequence, next, {}, {});
            QVERIFY(turn);
            QVERIFY2(turn->telemetry.reused_tokens >= known - 1,
                     qPrintable(QString("%1 of %2").arg(turn->telemetry.reused_tokens).arg(known)));
            engine->end_sequence(sequence);
        }
    }

    void theMapSaysWhatIsKeptAndWhere_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QList<int>>("states");  // whether each layer has one
        QTest::addColumn<QList<int>>("kv");
        QTest::addRow("qwen35") << "qwen35" << QList<int>{1, 1, 1, 0} << QList<int>{0, 0, 0, 1};
        QTest::addRow("lfm2") << "lfm2" << QList<int>{1, 0, 1} << QList<int>{0, 1, 0};
        QTest::addRow("nemotron_h") << "nemotron_h" << QList<int>{1, 0, 0, 1} << QList<int>{0, 1, 0, 0};
        QTest::addRow("falcon-h1") << "falcon-h1" << QList<int>{1, 1} << QList<int>{1, 1};
    }
    void theMapSaysWhatIsKeptAndWhere()
    {
        QFETCH(QString, model);
        QFETCH(QList<int>, states);
        QFETCH(QList<int>, kv);
        LoadRequest request = recurrent_request(model, 96);
        request.placement.device_layers = 2;
        const auto engine = engine_with(request);
        const Turn turn = answer_of(*engine, *engine->create_sequence(), {{"user", "the third of the tides"}});
        const Telemetry& t = turn.telemetry;
        QVERIFY(t.kv_map);
        const KvMap& map = *t.kv_map;
        QCOMPARE(map.layers, int(states.size()));
        QCOMPARE(map.states.size(), std::size_t(map.layers));
        std::int64_t bytes = 0, on_device = 0;
        for (int l = 0; l < map.layers; ++l) {
            const KvMap::State& state = map.states[std::size_t(l)];
            QCOMPARE(state.bytes > 0, states[l] == 1);
            QCOMPARE(int(state.at), int(states[l] == 1 && l < 2 ? Residency::Device : Residency::Host));
            bytes += state.bytes;
            on_device += state.at == Residency::Device ? state.bytes : 0;
            for (int b = 0; b < map.columns; ++b)
                QCOMPARE(map.place(b, l) != KvMap::Place::None, kv[l] == 1);
        }
        // The newest, and checkpoints.
        QVERIFY(t.state_bytes_host >= 2 * bytes);
        QCOMPARE(t.state_bytes_host % bytes, std::int64_t(0));
        QVERIFY(t.device->state_bytes >= 2 * on_device && t.device->state_bytes < 2 * (on_device + 2 * 256));
        QCOMPARE(t.kv_blocks_host + t.kv_blocks_device, map.columns * int(kv.count(1)));

        // Between turns, too.
        Telemetry moved;
        engine->post(SetDeviceLayers{0});
        Listener listener;
        listener.on_telemetry = [&](const Telemetry& frame) { moved = frame; };
        QTRY_VERIFY((engine->poll(listener), moved.device && moved.device->layers == 0));
        QVERIFY(moved.kv_map);
        for (const KvMap::State& state : moved.kv_map->states)
            QCOMPARE(int(state.at), int(Residency::Host));
    }

    void aSavedConversationGoesOnFromItsState_data() { eachWayGivesTheAnswerOfAFreshRun_data(); }
    void aSavedConversationGoesOnFromItsState()
    {
        QFETCH(QString, model);
        QFETCH(int, fit_tokens);
        const LoadRequest request = recurrent_request(model, fit_tokens);
        const QTemporaryDir folder;
        const SetSavedKv settings{folder.path().toStdString(), std::int64_t(1) << 30};
        std::vector<Message> messages{{"user", "tell me of the tides and of the shore, of the sand and of the foam"}};
        std::string expected;
        {
            const auto engine = engine_with(request);
            engine->post(settings);
            engine->poll({});
            const SequenceId sequence = *engine->create_sequence();
            messages.push_back({"assistant", answer_of(*engine, sequence, messages, kRecurrentName).text});
            wait_until_it_is_saved(*engine);
            messages.push_back({"user", "and of the wind"});
            expected = answer_of(*engine, sequence, messages).text;  // it goes on as if nothing had happened
        }
        const auto engine = engine_with(request);
        engine->post(settings);
        engine->poll({});
        const Turn turn = answer_of(*engine, *engine->create_sequence(), messages, kRecurrentName);
        QVERIFY(turn.telemetry.restored_tokens > 0);
        QCOMPARE(turn.text, expected);
    }
};

QTEST_GUILESS_MAIN(TestRecurrentTurns)
#include "tst_recurrent_turns.moc"
