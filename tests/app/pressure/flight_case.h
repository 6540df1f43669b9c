// Gives tests of the flight recorder a store with two conversations, and answers that a monitor hears of.
#pragma once

#include "app/pressure/pressure_monitor.h"
#include "tests/app/store/store_case.h"

namespace test_support {

inline engine::Telemetry frameAt(double seconds, int contextTokens, int generatedTokens)
{
    engine::Telemetry frame;
    frame.time_us = std::int64_t(seconds * 1e6);
    frame.context_tokens = contextTokens;
    frame.context_limit = 4096;
    frame.generated_tokens = generatedTokens;
    frame.device.emplace();
    frame.device->id = "emulated";
    frame.device->total_bytes = 1'000'000;
    frame.device->budget_bytes = 900'000;
    frame.device->kv_bytes = 10 * contextTokens;
    return frame;
}

inline engine::Event offload(int first, double seconds)
{
    return {.kind = engine::Event::Kind::Offload,
            .cause = engine::Event::Cause::Watermark,
            .time_us = std::int64_t(seconds * 1e6),
            .bytes = 4096,
            .blocks = 6,
            .tokens = {first, first + 256},
            .duration_us = 17,
            .sentence = {}};
}

inline engine::ModelInfo model(const char* name)
{
    engine::ModelInfo info;
    info.name = name;
    info.context_in_use = 4096;
    return info;
}

/// Lets a monitor hear of an answer of 40 tokens that begins at a context, with one block that leaves the device.
inline void answer(PressureMonitor& monitor, quint64 turn, const QString& conversation, double seconds, int from)
{
    monitor.recorder().begin(turn, conversation);
    monitor.recorder().place(conversation, {{0, {0, 100}}, {1, {100, 200}}, {2, {200, 4096}}});
    engine::Turn last;
    for (int token = 1; token <= 40; ++token) {
        last.telemetry = frameAt(seconds + 0.05 * token, from + token, token);
        monitor.onFrame(turn, last.telemetry);
    }
    monitor.onEvent(offload(0, seconds + 2));
    last.telemetry.ttft_ms = 12.5;
    last.telemetry.tpot = engine::TokenTimes{50, 49, 70};
    last.telemetry.decode_tokens_per_s = 20;
    monitor.onFinished(turn, last);
}

/// Gives each function a new store with two conversations, and monitors on it.
class FlightCase : public StoreCase
{
protected:
    /// Makes a monitor as the program has it, which shows a conversation.
    std::unique_ptr<PressureMonitor> monitorOn(const QString& conversation)
    {
        auto monitor = std::make_unique<PressureMonitor>();
        monitor->recorder().setStore(store.get());
        show(*monitor, conversation);
        return monitor;
    }
    /// Shows a conversation, and waits until what was kept of it is there.
    static void show(PressureMonitor& monitor, const QString& conversation)
    {
        monitor.recorder().show(conversation);
        QVERIFY(QTest::qWaitFor([&] { return !monitor.recorder().readsShown(); }));
    }
};

}  // namespace test_support
