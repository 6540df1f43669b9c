// Tests that the history behind the pressure panel's charts has the engine's own numbers and stays bounded.
#include "app/pressure/pressure_monitor.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>

namespace {

engine::Telemetry historyFrame(double seconds, int contextTokens, int generatedTokens)
{
    engine::Telemetry frame;
    frame.time_us = std::int64_t(seconds * 1e6);
    frame.context_tokens = contextTokens;
    frame.generated_tokens = generatedTokens;
    return frame;
}

engine::DeviceTelemetry device()
{
    engine::DeviceTelemetry device;
    device.id = "emulated";
    device.total_bytes = 1000;
    device.other_programs_bytes = 150;
    device.budget_bytes = 800;
    device.watermark_bytes = 760;
    device.weight_bytes = 300;
    device.kv_bytes = 200;
    device.ring_bytes = 20;
    device.scratch_bytes = 30;
    device.kv_ahead_bytes = 7;
    return device;
}

}  // namespace

class TestPressureHistory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aDevicesBytesAddUp()
    {
        engine::Telemetry frame;
        QVERIFY(!MemoryReading::ofDevice(frame).known);
        frame.device = device();
        const MemoryReading reading = MemoryReading::ofDevice(frame);
        QVERIFY(reading.known);
        QCOMPARE(reading.weights, 300.0);
        QCOMPARE(reading.kv, 200.0);
        QCOMPARE(reading.scratch, 57.0);
        QCOMPARE(reading.others, 150.0);
        QCOMPARE(reading.free, 243.0);  // of the budget; 293 of the whole
        frame.device->budget_bytes = 0;
        const MemoryReading without = MemoryReading::ofDevice(frame);
        QCOMPARE(without.used() + without.others + without.free, without.total);
        QCOMPARE(reading.used(), double(frame.device->used_bytes()));
        QCOMPARE(reading.budget, 800.0);
        QCOMPARE(reading.watermark, 760.0);
    }

    void copiesOfExpertsAreNotWeights()
    {
        engine::Telemetry frame;
        frame.device = device();
        frame.device->weight_bytes = 380;
        frame.device->expert_cache_bytes = 80;
        const MemoryReading reading = MemoryReading::ofDevice(frame);
        QCOMPARE(reading.weights, 300.0);
        QCOMPARE(reading.experts, 80.0);
        QCOMPARE(reading.free, 163.0);
        QCOMPARE(reading.used(), double(frame.device->used_bytes()));
    }

    void statesAreNotKv()
    {
        engine::Telemetry frame;
        frame.device = device();
        frame.device->state_bytes = 40;
        frame.ram_total_bytes = 1000;
        frame.ram_available_bytes = 400;
        frame.kv_bytes_host = 60;
        frame.state_bytes_host = 70;
        const MemoryReading there = MemoryReading::ofDevice(frame), here = MemoryReading::ofHost(frame);
        QCOMPARE(there.kv, 200.0);
        QCOMPARE(there.state, 40.0);
        QCOMPARE(there.free, 203.0);
        QCOMPARE(there.used(), double(frame.device->used_bytes()));
        QCOMPARE(here.kv, 60.0);
        QCOMPARE(here.state, 70.0);
        QCOMPARE(here.used(), 130.0);
    }

    void theHostsBytesAreOursOthersAndFree()
    {
        engine::Telemetry frame;
        QVERIFY(!MemoryReading::ofHost(frame).known);  // unknown is not zero
        frame.ram_total_bytes = 1000;
        frame.ram_available_bytes = 400;
        frame.process_resident_bytes = 250;
        frame.weight_bytes_host = 100;
        frame.kv_bytes_host = 60;
        const MemoryReading reading = MemoryReading::ofHost(frame);
        QVERIFY(reading.known);
        QCOMPARE(reading.others, 350.0);  // 600 are taken, 250 of them by this program
        QCOMPARE(reading.free, 490.0);
    }

    void aDraftModelIsAmongOurs()
    {
        engine::Telemetry frame;
        frame.ram_total_bytes = 1000;
        frame.ram_available_bytes = 400;
        frame.weight_bytes_host = 100;
        frame.draft_model = engine::DraftModelTelemetry{0, 0, 20, 5, 3};
        const MemoryReading reading = MemoryReading::ofHost(frame);
        QCOMPARE(reading.weights, 120.0);
        QCOMPARE(reading.kv, 5.0);
        QCOMPARE(reading.scratch, 3.0);
    }

    void aSpeedIsThatOfTheTokensSinceThePointBefore()
    {
        PressureHistory history;
        history.add(1, historyFrame(1.0, 100, 0));  // a long prompt is no slow token
        history.add(1, historyFrame(5.0, 101, 1));
        QVERIFY(history.runs().back().points.empty());
        history.add(1, historyFrame(5.5, 111, 11));
        history.add(1, historyFrame(7.5, 121, 21));
        const auto& points = history.runs().back().points;
        QCOMPARE(points.size(), size_t(2));
        QCOMPARE(points[0].contextTokens, 111);
        QCOMPARE(points[0].tokensPerSecond, 20.0);
        QCOMPARE(points[1].tokensPerSecond, 5.0);
    }

    /// Otherwise a text that repeats itself would look like a faster machine than was predicted.
    void whereTokensAreDraftedTheStepsWithoutDraftsSayTheSpeed()
    {
        PressureHistory history;
        history.add(1, historyFrame(1, 100, 1));
        engine::Telemetry frame = historyFrame(2, 160, 61);
        frame.drafted_tokens = frame.accepted_tokens = 40;
        frame.plain_steps = {10, 0.5};
        history.add(1, frame);
        frame = historyFrame(3, 220, 121);  // drafted ones only
        frame.drafted_tokens = 100;
        frame.plain_steps = {10, 0.5};
        history.add(1, frame);
        frame = historyFrame(4, 240, 141);
        frame.drafted_tokens = 100;
        frame.plain_steps = {18, 1.3};
        history.add(1, frame);
        frame = historyFrame(5, 250, 151);  // none any more
        frame.drafted_tokens = 100;
        frame.plain_steps = {28, 2.3};
        history.add(1, frame);
        const auto& points = history.runs().back().points;
        QCOMPARE(points.size(), size_t(3));
        QCOMPARE(points[0].tokensPerSecond, 20.0);
        QVERIFY(std::abs(points[1].tokensPerSecond - 10) < 1e-9);
        QCOMPARE(points[1].contextTokens, 240);
        QCOMPARE(points[2].tokensPerSecond, 10.0);

        history.add(2, historyFrame(6, 10, 1));
        frame = historyFrame(6.01, 40, 31);
        frame.decode_tokens_per_s = 3000;
        frame.drafted_tokens = 30;
        frame.plain_steps = {2, 0.005};
        history.finish(2, frame);
        QCOMPARE(history.runs().back().points.back().tokensPerSecond, 400.0);
    }

    void aHitRateIsOfTheTokensSinceThePointBefore()
    {
        PressureHistory history;
        const auto add = [&](quint64 turn, int generated, std::int64_t hits, std::int64_t misses) {
            engine::Telemetry frame = historyFrame(generated, 100 + generated, generated);
            frame.device = device();
            frame.device->cached_experts = 4;
            frame.device->expert_hits = hits;
            frame.device->expert_misses = misses;
            history.add(turn, frame);
            return frame;
        };
        // What the prompt read, and what was read before since the model was loaded, gives no point.
        add(1, 0, 500, 500);
        add(1, 1, 900, 700);
        QVERIFY(history.runs().back().experts.empty());
        add(1, 5, 910, 720);  // too few tokens
        QVERIFY(history.runs().back().experts.empty());
        add(1, 9, 930, 710 + 20);
        add(1, 17, 930, 730);  // nothing was read of them
        add(1, 25, 990, 750);
        const auto& points = history.runs().back().experts;
        QCOMPARE(points.size(), size_t(2));
        QCOMPARE(points[0].contextTokens, 109);
        QCOMPARE(points[0].hits, 30.0);
        QCOMPARE(points[0].misses, 30.0);
        QCOMPARE(points[0].share(), 0.5);
        QCOMPARE(points[1].contextTokens, 125);
        QCOMPARE(points[1].share(), 0.75);

        // Another device counts from nothing.
        add(1, 33, 3, 5);
        QCOMPARE(points.size(), size_t(2));
        add(1, 41, 5, 11);
        QCOMPARE(points.size(), size_t(3));
        QCOMPARE(points[2].share(), 0.25);

        // The next answer begins with its own first token.
        add(2, 1, 100, 100);
        QVERIFY(history.runs().back().experts.empty());
        // A short one has one point.
        const engine::Telemetry last = add(2, 4, 103, 101);
        QVERIFY(history.runs().back().experts.empty());
        history.finish(2, last);
        QCOMPARE(history.runs().back().experts.size(), size_t(1));
        QCOMPARE(history.runs().back().experts[0].share(), 0.75);
    }

    void withoutCopiesThereIsNoHitRate()
    {
        PressureHistory history;
        for (int i = 0; i < 40; ++i) {
            engine::Telemetry frame = historyFrame(i, 100 + i, i);
            frame.device = device();
            frame.device->expert_misses = 8 * i;  // as where all of them are in RAM
            history.add(1, frame);
        }
        QVERIFY(history.runs().back().experts.empty());
        engine::Telemetry host = historyFrame(50, 150, 50);  // on no device
        history.finish(1, host);
        QVERIFY(history.runs().back().experts.empty());
    }

    void manyHitRatesBecomeFewerAndNothingIsLost()
    {
        PressureHistory history;
        engine::Telemetry frame = historyFrame(0, 0, 1);
        frame.device = device();
        frame.device->cached_experts = 4;
        constexpr int kPoints = PressureHistory::kMostPoints + 100;
        for (int i = 0; i <= kPoints; ++i) {
            frame.generated_tokens = 1 + 8 * i;
            frame.context_tokens = 8 * i;
            frame.time_us += 1'000'000;
            frame.device->expert_hits = 3 * i;
            frame.device->expert_misses = i;
            history.add(1, frame);
        }
        const auto read = [](const PressureHistory& of) {
            double all = 0;
            for (const PressureHistory::ExpertPoint& point : of.runs().back().experts)
                all += point.hits + point.misses;
            return all;
        };
        QVERIFY(history.runs().back().experts.size() <= size_t(PressureHistory::kMostPoints));
        QCOMPARE(read(history), 4.0 * kPoints);
        const PressureHistory kept = history.thinned();
        QVERIFY(kept.runs().back().experts.size() <= 128);
        QCOMPARE(read(kept), 4.0 * kPoints);
        QCOMPARE(kept.runs().back().experts.back().contextTokens, 8 * kPoints);
        QCOMPARE(kept.runs().back().experts.front().share(), 0.75);
    }

    void guessesAreCountedInPointsOfAFewDrafts()
    {
        PressureHistory history;
        const auto frame = [](int context, int drafted, int accepted) {
            engine::Telemetry frame = historyFrame(context / 10.0, context, context);
            frame.drafted_tokens = drafted;
            frame.accepted_tokens = accepted;
            return frame;
        };
        history.add(1, frame(1, 0, 0));
        history.add(1, frame(20, 15, 15));  // too few yet
        history.add(1, frame(40, 40, 20));
        history.add(1, frame(60, 60, 21));
        history.add(1, frame(80, 72, 33));
        history.add(1, frame(90, 80, 33));
        QCOMPARE(history.runs().back().guesses.size(), size_t(2));
        history.finish(1, frame(95, 80, 33));
        const auto& points = history.runs().back().guesses;
        QCOMPARE(points.size(), size_t(3));
        QCOMPARE(points[0].contextTokens, 40);
        QCOMPARE(points[0].drafted, 40);
        QCOMPARE(points[0].accepted, 20);
        QCOMPARE(points[1].contextTokens, 80);
        QCOMPARE(points[1].drafted, 32);
        QCOMPARE(points[1].accepted, 13);
        QCOMPARE(points[2].drafted, 8);
        QCOMPARE(points[2].accepted, 0);
        history.finish(2, frame(200, 4, 4));  // the next answer counts from nothing
        QCOMPARE(history.runs().back().guesses.size(), size_t(1));
        QCOMPARE(history.runs().back().guesses[0].drafted, 4);
        history.finish(3, frame(210, 0, 0));
        QVERIFY(history.runs().back().guesses.empty());

        int drafted = 0;
        for (int i = 1; i <= 10'000; ++i)
            history.add(4, frame(300 + i, i * 32, i * 16));
        QVERIFY(history.runs().back().guesses.size() <= size_t(PressureHistory::kMostPoints));
        const PressureHistory kept = history.thinned();
        QVERIFY(kept.runs().back().guesses.size() <= 128);
        for (const auto& point : kept.runs().back().guesses)
            drafted += point.drafted;
        QCOMPARE(drafted, 320'000);  // thinned, and none is lost
    }

    /// A server may count what stood before what was drafted.
    void noMoreGuessesStandThanWereMade()
    {
        PressureHistory history;
        engine::Telemetry frame = historyFrame(1, 40, 40);
        frame.drafted_tokens = 35;
        frame.accepted_tokens = 28;
        history.add(1, frame);
        frame.drafted_tokens = frame.accepted_tokens = 38;
        history.finish(1, frame);
        const auto& guesses = history.runs().back().guesses;
        QCOMPARE(guesses.size(), size_t(2));
        QCOMPARE(guesses[1].drafted, 3);
        QCOMPARE(guesses[1].accepted, 3);
    }

    /// An event may come late, as one that was sent while another program was answered.
    void anEventFromBeforeTheFirstFrameIsAtItsTime()
    {
        const engine::Event offload{.kind = engine::Event::Kind::Offload, .time_us = 1'000'000, .sentence = {}};
        PressureHistory history;
        history.add(1, historyFrame(2, 40, 40));
        history.add(offload);
        QCOMPARE(history.marks().last().seconds, 0.0);
        history.add(1, historyFrame(5, 41, 41));
        history.pickUp();
        history.add(2, historyFrame(2, 41, 1));
        history.add(offload);
        QCOMPARE(history.marks().last().seconds, history.samples().last().seconds);
    }

    void aShortAnswerHasOnePoint()
    {
        PressureHistory history;
        history.add(1, historyFrame(1, 10, 1));
        engine::Telemetry last = historyFrame(1.01, 14, 5);
        last.decode_tokens_per_s = 400;
        history.finish(1, last);
        QCOMPARE(history.runs().back().points.size(), size_t(1));
        QCOMPARE(history.runs().back().points[0].tokensPerSecond, 400.0);
        QCOMPARE(history.runs().back().points[0].contextTokens, 14);
        QCOMPARE(history.samples().last().contextTokens, 14);  // what a memory holds is drawn up to there, too
    }

    void itStaysBounded()
    {
        PressureHistory history;
        for (int i = 0; i < 40'000; ++i) {
            engine::Telemetry frame = historyFrame(i, i, i + 1);
            frame.device = device();
            frame.device->kv_bytes = i;
            history.add(1, frame);
            history.add(engine::Event{.kind = engine::Event::Kind::Offload, .time_us = frame.time_us, .sentence = {}});
        }
        QVERIFY(history.samples().size() > PressureHistory::kMostSamples / 2);
        QVERIFY(history.samples().size() <= PressureHistory::kMostSamples);
        QCOMPARE(history.samples().last().device.kv, 39'999.0);
        QCOMPARE(history.samples()[0].device.kv, 0.0);  // thinned, not cut
        QVERIFY(history.runs().back().points.size() <= size_t(PressureHistory::kMostPoints));
        QVERIFY(history.runs().back().points.front().contextTokens < 100);  // thinned, not cut
        QCOMPARE(history.runs().back().points.back().contextTokens, 39'999);
        QCOMPARE(history.marks().size(), qsizetype(PressureHistory::kMostMarks));
        for (quint64 turn = 2; turn < 200; ++turn)
            history.add(turn, historyFrame(50'000 + double(turn), 5, 1));
        QCOMPARE(history.runs().size(), size_t(PressureHistory::kMostRuns));
    }

    void overTokensItIsTheNewestThatCounts()
    {
        PressureHistory history;
        QVERIFY(history.samplesOverTokens().empty());
        for (int i = 0; i < 10; ++i)
            history.add(1, historyFrame(i, 100 * i, i));
        for (int i = 0; i < 5; ++i)
            history.add(2, historyFrame(20 + i, 350 + 10 * i, i));  // another version of what followed
        QCOMPARE(history.samples().size(), qsizetype(15));
        QCOMPARE(history.samplesOverTokens(), (std::vector<qsizetype>{0, 1, 2, 3, 10, 11, 12, 13, 14}));
        history.add(2, historyFrame(30, 390, 5));  // nothing is said, and time goes by
        QCOMPARE(history.samplesOverTokens().back(), qsizetype(15));
        history.add(3, historyFrame(40, 0, 0));  // from the beginning
        QCOMPARE(history.samplesOverTokens(), std::vector<qsizetype>{16});
        history.clear();
        QVERIFY(history.samplesOverTokens().empty());
    }

    void theFlowIsWhatWasReadAndMoved()
    {
        engine::Telemetry before = historyFrame(1, 100, 10), now = historyFrame(2, 120, 30);
        for (engine::Telemetry* frame : {&before, &now}) {
            frame->phase = engine::Phase::Decode;
            frame->device = device();
            frame->weight_bytes_host = 50;
            frame->weight_bytes_device = 300;
            frame->kv_bytes_device = 200;
            frame->shares.emplace();
        }
        now.device->to_device_bytes = 4096;
        now.device->step_attended_on_host_bytes = 10;
        now.shares->device_layers_s = 0.2;
        now.shares->host_attention_s = 0.7;
        now.shares->rest_s = 0.1;
        PipelineReading flow = PipelineReading::between(before, now, true);
        QCOMPARE(flow.phase, int(PipelineReading::Decode));
        QCOMPARE(flow.compute.toDouble(), 20.0);
        QCOMPARE(flow.link.toDouble(), 4096.0);
        QCOMPARE(flow.vram.toDouble(), 20.0 * 500);
        QCOMPARE(flow.ram.toDouble(), 20.0 * 60);
        QVERIFY(!flow.disk.isValid());
        QCOMPARE(flow.bottleneck, int(PipelineReading::Ram));

        now.accepted_tokens = 15;  // in five steps
        flow = PipelineReading::between(before, now, true);
        QCOMPARE(flow.compute.toDouble(), 20.0);
        QCOMPARE(flow.vram.toDouble(), 5.0 * 500);
        QCOMPARE(flow.ram.toDouble(), 5.0 * 60);

        flow = PipelineReading::between(before, now, false);  // not every expert is read
        QVERIFY(!flow.vram.isValid());
        QCOMPARE(flow.compute.toDouble(), 20.0);

        now.shares->rest_s = 3;
        QCOMPARE(PipelineReading::between(before, now, true).phase, int(PipelineReading::Offload));
        QCOMPARE(PipelineReading::between(now, now, true).phase, int(PipelineReading::Idle));  // no time between them
    }

    void nothingFlowsAfterAnAnswerThatFailed()
    {
        PressureMonitor monitor;
        monitor.onModelReady({});
        for (const double seconds : {1.0, 1.5}) {
            engine::Telemetry frame = historyFrame(seconds, int(100 + 20 * seconds), int(20 * seconds));
            frame.phase = engine::Phase::Decode;
            frame.shares.emplace().device_layers_s = seconds;
            monitor.onFrame(1, frame);
        }
        QCOMPARE(monitor.pipeline().phase, int(PipelineReading::Decode));
        monitor.onFailed(1);
        QCOMPARE(monitor.pipeline().phase, int(PipelineReading::Idle));
    }

    void theMonitorSaysWhatTheEngineSaid()
    {
        PressureMonitor monitor;
        QSignalSpy changed(&monitor, &PressureMonitor::changed);
        engine::ModelInfo model;
        model.context_in_use = 4096;
        monitor.onModelReady(model);
        QVERIFY(monitor.hasModel());
        QCOMPARE(monitor.contextLimit(), 4096);
        QVERIFY(!monitor.ttftMs().isValid());
        changed.clear();

        engine::Turn turn;
        turn.telemetry = historyFrame(3, 50, 20);
        turn.telemetry.device = device();
        turn.telemetry.ttft_ms = 12.5;
        turn.telemetry.tpot = engine::TokenTimes{10, 9, 30};
        turn.telemetry.prefill_tokens_per_s = 800;
        for (int i = 0; i < 50; ++i)
            monitor.onFrame(1, turn.telemetry);
        monitor.onFinished(1, turn);
        QTRY_VERIFY(!changed.isEmpty());
        QVERIFY(changed.size() <= 2);  // however many frames come
        QCOMPARE(monitor.deviceName(), "emulated");
        QCOMPARE(monitor.ttftMs().toDouble(), 12.5);
        QCOMPARE(monitor.tpotP99Ms().toDouble(), 30.0);
        QCOMPARE(monitor.ttftHistory(), QList<double>{12.5});
        QCOMPARE(monitor.tpotHistory(), QList<double>{10});
        QCOMPARE(monitor.prefillHistory(), QList<double>{800});

        // Between turns the numbers of the last answer stay; where the bytes lie is new.
        engine::Telemetry moved;
        moved.device = device();
        moved.device->kv_bytes = 5;
        monitor.onPlacement(moved);
        QCOMPARE(monitor.device().kv, 5.0);
        QCOMPARE(monitor.ttftMs().toDouble(), 12.5);

        monitor.onModelGone();
        QVERIFY(!monitor.hasModel());
        QVERIFY(!monitor.device().known);
        QVERIFY(monitor.ttftHistory().isEmpty());
        QVERIFY(monitor.history().samples().isEmpty());
    }
};

SPILLWAY_TEST(QApplication, TestPressureHistory)
#include "tst_pressure_history.moc"
