// Measures what an answer spends its time on, what telemetry costs of it, and what its clock does. It is not a test.
//   telemetry_bench MODEL TOKENS [fit:N]
#include "engine/metrics/step_clock.h"
#include "engine/placement_text.h"
#include "engine/run/loaded_model.h"

#include <cstdio>
#include <cstdlib>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void give_up(const engine::Error& error)
{
    std::fprintf(stderr, "%s\n", error.what.c_str());
    std::exit(1);
}

void answer(const engine::LoadRequest& model, int tokens)
{
    const auto engine = engine::make_engine();
    if (const auto info = engine->load(model, {}, {}); !info)
        give_up(info.error());
    engine::Request request;
    request.messages = {{"user", "Tell me all about the KV cache and where it lies."}};
    request.max_tokens = tokens;
    int frames = 0;
    engine::Listener listener;
    listener.on_telemetry = [&](const engine::Telemetry&) { ++frames; };
    const auto turn = engine->generate(*engine->create_sequence(), request, listener, {});
    if (!turn || !turn->telemetry.shares || turn->telemetry.shares->steps == 0)
        give_up(turn ? engine::Error{engine::Error::Code::BadRequest, "the answer has no second token"} : turn.error());
    const engine::StepShares& s = *turn->telemetry.shares;
    const double step_us = 1e6 * s.decode_s() / s.steps;
    std::printf(
        "%d steps of %.0f us: device layers %.1f %%, host layers %.1f %%, link %.1f %%, host attention %.1f %%, "
        "sampling %.1f %%, rest %.2f %%\n",
        s.steps, step_us, 100 * s.device_layers_s / s.decode_s(), 100 * s.host_layers_s / s.decode_s(),
        100 * s.kv_link_s.value_or(0) / s.decode_s(), 100 * s.host_attention_s / s.decode_s(),
        100 * s.sampling_s / s.decode_s(), 100 * s.rest_s / s.decode_s());
    std::printf("telemetry: %d frames, %.0f us each, %.3f %% of the steps\n", frames, 1e6 * s.telemetry_s / frames,
                100 * s.telemetry_s / s.decode_s());
}

/// Prints what a map of 128K tokens and 64 layers costs, by the time that one cell takes here.
void map_cost(const engine::LoadRequest& request)
{
    auto model =
        engine::LoadedModel::load(request, {[](const auto&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        give_up(model.error());
    const int layers = (*model)->cache().num_layers();
    engine::KvSequence sequence;
    sequence.pages.assign(512 * 64 / std::size_t(layers), 0);
    const Clock::time_point start = Clock::now();
    std::size_t cells = 0;
    constexpr int kRepeats = 50;
    for (int i = 0; i < kRepeats; ++i)
        cells += (*model)->placement().kv_map(sequence).cells.size();
    std::printf("KV map of 512 x 64 blocks: %.0f us, made five times a second at most\n",
                1e6 * seconds_since(start) / double(cells) * 512 * 64);
}

void clock_cost()
{
    engine::StepClock clock;
    constexpr int kScopes = 1'000'000;
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kScopes; ++i)
        const engine::StepClock::Scope scope(clock, engine::StepClock::Part::Sampling);
    std::printf("a reading of the clock: %.0f ns\n", 1e9 * seconds_since(start) / double(clock.readings()));
}

}  // namespace

int main(int argc, char* argv[])
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: telemetry_bench MODEL TOKENS [fit:N]\n");
        return 2;
    }
    engine::LoadRequest model;
    model.model = argv[1];
    model.context_tokens = std::atoi(argv[2]) + 256;
    if (argc > 3) {
        engine::PlacementText text;
        text.device = "emulated";
        text.vram = argv[3];
        const auto placement = engine::parse_placement(text);
        if (!placement)
            give_up(placement.error());
        model.placement = *placement;
    }
    answer(model, std::atoi(argv[2]));
    map_cost(model);
    clock_cost();
    return 0;
}
