// Tests that `auto` measures again, changes what travels and judges the change during an answer on a GPU whose machine
// is not as its rates say.
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace test_support;

namespace {

/// Returns rates by which the CPU attends faster than any does, and all else takes no time.
std::shared_ptr<const MachineRates> hopeful_rates()
{
    MachineRates rates = *even_rates();
    constexpr double kNoTime = 1e18;
    rates.dram_read_bytes_per_s = kNoTime;
    rates.values_per_s = kNoTime;
    rates.wake_s = rates.token_s = rates.choice_s_per_value = 0;
    rates.attention = {{KvType::F16, KvType::F16, 64, 64, RateCurve({{1e6, 1e12}})}};
    DeviceRates& device = rates.devices.at("cuda:0");
    device.weights_bytes_per_s = device.attention_bytes_per_s = kNoTime;
    device.small_kernels_s = 0;
    device.to_device_bytes_per_s = 3e11;
    return std::make_shared<const MachineRates>(std::move(rates));
}

struct Answer {
    std::vector<Event> adapted;
    std::vector<std::pair<std::int64_t, std::int64_t>> kv;  // what travelled and what the CPU attended, by frame
    Turn turn;
};

Answer answer(const LoadRequest& request, int tokens)
{
    Answer answer;
    const auto engine = make_engine();
    Listener listener;
    listener.on_event = [&](const Event& event) {
        if (event.kind == Event::Kind::Adapted)
            answer.adapted.push_back(event);
    };
    listener.on_telemetry = [&](const Telemetry& frame) {
        if (frame.device && frame.generated_tokens > 1)
            answer.kv.emplace_back(frame.device->step_streamed_bytes, frame.device->step_attended_on_host_bytes);
    };
    if (const auto info = engine->load(request, listener, {}); !info)
        qFatal("%s", info.error().what.c_str());
    Request ask;
    ask.raw_ids.assign(200, 5);
    ask.max_tokens = tokens;
    ask.ignore_end = true;
    ask.sampling.temperature = 0;
    auto turn = engine->generate(*engine->create_sequence(), ask, listener, {});
    if (!turn)
        qFatal("%s", turn.error().what.c_str());
    answer.turn = std::move(*turn);
    return answer;
}

}  // namespace

class TestCudaAdaptation : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void autoLooksAgain()
    {
        Gpu gpu;
        LoadRequest request = leaving_after(96, KvPolicy::Auto);
        request.placement.rates = hopeful_rates();
        const Answer here = answer(request, 2 * Adaptation::kLookEvery + 8);
        QCOMPARE(here.turn.answer.count(), 2 * Adaptation::kLookEvery + 8);
        QCOMPARE(here.adapted.size(), std::size_t(2));
        for (const Event& event : here.adapted) {
            qInfo("%s", event.sentence.c_str());
            QVERIFY(event.adaptation.has_value());
            QVERIFY(event.adaptation->expected_s < event.adaptation->before_s);
        }
        QVERIFY(here.adapted[0].sentence.starts_with("auto divides the KV in RAM anew"));
        QVERIFY(!here.adapted[0].adaptation->measured_s);
        QVERIFY(here.adapted[1].adaptation->measured_s.has_value());
        // The CPU is slower than it was taken to be: more travels from then on.
        QVERIFY(!here.kv.empty());
        std::int64_t most = 0;
        for (const auto& [streamed, attended] : here.kv)
            most = std::max(most, streamed);
        QVERIFY2(most > 2 * here.kv.front().first,
                 qPrintable(QString("%1 of %2").arg(most).arg(here.kv.front().first)));
    }

    // A fixed policy is somebody's wish.
    void aFixedPolicyStays()
    {
        for (const KvPolicy policy : {KvPolicy::Merge, KvPolicy::Stream}) {
            Gpu gpu;
            LoadRequest request = leaving_after(96, policy);
            request.placement.rates = hopeful_rates();
            QVERIFY(answer(request, Adaptation::kLookEvery + 8).adapted.empty());
        }
    }

    // Nothing is known of the machine: nothing is foretold.
    void withoutRatesNothingChanges()
    {
        Gpu gpu;
        QVERIFY(answer(leaving_after(96, KvPolicy::Auto), Adaptation::kLookEvery + 8).adapted.empty());
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestCudaAdaptation)
#include "tst_cuda_adaptation.moc"
