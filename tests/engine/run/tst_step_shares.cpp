// Tests that telemetry says what an answer spends its time on: the parts add up to the time that passed, and each is
// large where its cause is.
#include "engine/tools/token_run.h"
#include "tests/engine/run/device_engine.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <chrono>
#include <thread>

using namespace test_support;

namespace {

StepShares shares_of(DeviceEngine& here, int tokens = 200)
{
    const auto turn = here.engine->generate(here.sequence, raw(tokens), here.listener(), {});
    return turn && turn->telemetry.shares ? *turn->telemetry.shares : StepShares();
}

PlacementOptions with_policy(PlacementOptions placement, KvPolicy policy)
{
    placement.kv_policy = policy;
    return placement;
}

}  // namespace

class TestStepShares : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void thePartsAddUpToTheTimeBetweenTokens()
    {
        for (const PlacementOptions& placement : {PlacementOptions(), emulated_device(96)}) {
            DeviceEngine here(placement);
            const auto turn = here.engine->generate(here.sequence, raw(200), here.listener(), {});
            QVERIFY(turn);
            const StepShares& s = *turn->telemetry.shares;
            QCOMPARE(s.steps, 199);
            QVERIFY(s.prefill_s > 0 && s.prefill_s <= *turn->telemetry.ttft_ms / 1e3);
            const double between_tokens_s = turn->telemetry.tpot->mean_ms * s.steps / 1e3;
            // Two clocks, read one after the other at the first and the last token.
            QVERIFY2(std::abs(s.decode_s() - between_tokens_s) < 0.001 * s.steps,
                     qPrintable(QString("%1 s, %2 s").arg(s.decode_s()).arg(between_tokens_s)));
            for (const double part : {s.sampling_s, s.telemetry_s, s.rest_s})
                QVERIFY(part > 0);
        }
    }

    /// What is done when an answer has ended, and the frames that say so, are no part of its tokens' time.
    void theyEndWithTheLastToken()
    {
        DeviceEngine here({});
        Listener listener;
        listener.on_telemetry = [&](const Telemetry& t) {
            if (t.generated_tokens == 8)
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
        };
        const auto turn = here.engine->generate(here.sequence, raw(8), listener, {});
        QVERIFY(turn);
        const StepShares& s = *turn->telemetry.shares;
        QVERIFY(std::abs(s.decode_s() - turn->telemetry.tpot->mean_ms * s.steps / 1e3) < 0.001 * s.steps);
    }

    void beforeTheFirstTokenThereAreNone()
    {
        DeviceEngine here({});
        bool seen = false;
        Listener listener;
        listener.on_telemetry = [&](const Telemetry& t) {
            QCOMPARE(t.shares.has_value(), t.ttft_ms.has_value());
            seen = seen || t.phase == Phase::Prefill;
        };
        QVERIFY(here.engine->generate(here.sequence, raw(4), listener, {}));
        QVERIFY(seen);
    }

    void onTheHostAloneAllIsTheHosts()
    {
        DeviceEngine here({});
        const StepShares s = shares_of(here);
        QVERIFY(s.host_layers_s > 0);
        QCOMPARE(s.device_layers_s, 0.0);
        QCOMPARE(s.host_attention_s, 0.0);
        QCOMPARE(s.kv_link_s.value_or(-1), 0.0);
    }

    void layersCountWhereTheyAreComputed()
    {
        DeviceEngine all(emulated_device(512));
        const StepShares on_device = shares_of(all);
        QVERIFY(on_device.device_layers_s > 0);
        QCOMPARE(on_device.host_layers_s, 0.0);  // nor the output matrix
        QCOMPARE(on_device.host_attention_s, 0.0);

        PlacementOptions placement = emulated_device(512);
        placement.device_layers = 1;
        DeviceEngine one(placement);
        const StepShares mixed = shares_of(one);
        QVERIFY(mixed.device_layers_s > 0);
        QVERIFY(mixed.host_layers_s > mixed.device_layers_s);  // all other layers, and the output matrix
    }

    void kvThatLeftIsAttendedByTheCpuOrWaitedFor()
    {
        DeviceEngine merging(with_policy(emulated_device(64), KvPolicy::Merge));
        const StepShares merge = shares_of(merging, 400);
        QVERIFY(merge.host_attention_s > 0);
        QCOMPARE(*merge.kv_link_s, 0.0);

        PlacementOptions slow = with_policy(emulated_device(64), KvPolicy::Stream);
        constexpr double kLinkBytesPerS = 3e6;
        slow.emulated.link_bytes_per_s = kLinkBytesPerS;
        DeviceEngine streaming(slow);
        const StepShares stream = shares_of(streaming, 400);
        QVERIFY(*stream.kv_link_s > stream.decode_s() / 2);
        QVERIFY(stream.host_attention_s < stream.decode_s() / 100);
        // What has to come through the link takes its time.
        const DeviceTelemetry& device = *streaming.newest.device;
        QVERIFY(device.step_streamed_bytes > 0);
        QVERIFY(*stream.kv_link_s > double(device.step_streamed_bytes) / kLinkBytesPerS);  // the last step's alone
    }

    void whatFramesCostIsCounted()
    {
        DeviceEngine here({});
        int frames = 0;
        Listener slow;
        slow.on_telemetry = [&](const Telemetry& t) {
            frames += t.phase == Phase::Decode && t.generated_tokens < 200 ? 1 : 0;
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
        };
        const auto turn = here.engine->generate(here.sequence, raw(200), slow, {});
        QVERIFY(turn);
        QVERIFY(frames > 0);
        QVERIFY(turn->telemetry.shares->telemetry_s >= 0.003 * frames);
    }

    /// The clock itself: readings are counted, so that what they cost is known on any machine.
    void theClockIsReadAFewTimesAStep()
    {
        for (const bool spills : {false, true}) {
            const auto model = load(spills ? emulated("llama", 64, KvPolicy::Stream) : request_for("llama"));
            QVERIFY(model);
            StepClock& clock = model->clock();
            std::int64_t before = 0, most = 0;
            const Run all = run(*model, [&](int done) {
                if (done > kPrefillTokens)
                    most = std::max(most, clock.readings() - before);
                before = clock.readings();
            });
            QVERIFY(all.status);
            const int layers = model->info().layers;
            // Of a layer that streams, one for each run of blocks besides; there are four slots in the ring.
            const int runs = spills ? kTokens / kBlockTokens : 0;
            QVERIFY2(most > 0 && most <= 6 + 2 * layers * (1 + runs), qPrintable(QString::number(most)));
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestStepShares)
#include "tst_step_shares.moc"
