// Measures the time to the first token of a long conversation that is opened again, with its saved KV and without.
//   saved_kv_bench MODEL TOKENS FOLDER [f16|q8_0]
#include "engine/engine.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

[[noreturn]] void give_up(const engine::Error& error)
{
    std::fprintf(stderr, "%s\n", error.what.c_str());
    std::exit(1);
}

/// Returns a prompt of about this many tokens.
std::string prompt_of(const engine::Engine& engine, int tokens)
{
    std::string text;
    for (int i = 0; engine.count_tokens(text, {}).value_or(tokens) < tokens; ++i)
        for (int j = 0; j < 5; ++j)
            text += "The river " + std::to_string(i * 5 + j) + " flows to the sea, and the town lies beside it. ";
    return text;
}

/// Prints how long one start of the program and one token of an answer take.
void answer(const engine::LoadRequest& model, const engine::SetSavedKv& saved, int tokens, const char* what)
{
    const auto engine = engine::make_engine();
    engine->post(saved);
    const Clock::time_point start = Clock::now();
    if (const auto info = engine->load(model, {}, {}); !info)
        give_up(info.error());
    const double load_ms = ms_since(start);
    engine::Request request;
    request.raw_prompt = prompt_of(*engine, tokens);
    request.max_tokens = 1;
    request.sampling.temperature = 0;
    request.saved_as = "bench";
    engine::Listener listener;
    double restore_ms = 0;
    listener.on_event = [&](const engine::Event& event) {
        if (event.kind == engine::Event::Kind::KvRestored)
            restore_ms = double(event.duration_us) / 1e3;
    };
    const auto turn = engine->generate(*engine->create_sequence(), request, listener, {});
    if (!turn)
        give_up(turn.error());
    std::printf("%-20s load %6.0f ms, prompt %5d tokens, %5d of them from the disk in %5.0f ms, first token %8.0f ms\n",
                what, load_ms, turn->prompt.count(), turn->telemetry.restored_tokens, restore_ms,
                turn->telemetry.ttft_ms.value_or(0));
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char* argv[])
{
    if (argc < 4) {
        std::fprintf(stderr, "usage: saved_kv_bench MODEL TOKENS FOLDER [f16|q8_0]\n");
        return 2;
    }
    engine::LoadRequest model;
    model.model = argv[1];
    model.context_tokens = std::atoi(argv[2]) + 2048;
    if (argc > 4 && std::string(argv[4]) == "q8_0")
        model.k_type = model.v_type = engine::KvType::Q8_0;
    const engine::SetSavedKv saved{argv[3], std::int64_t(8) << 30};
    answer(model, saved, std::atoi(argv[2]), "without a file");
    const auto file = saved.folder / "bench.kv";
    std::printf("%-20s %.1f MB\n", "the file", double(std::filesystem::file_size(file)) / 1e6);
    for (int i = 0; i < 3; ++i)
        answer(model, saved, std::atoi(argv[2]), "with the file");
    std::filesystem::remove(file);
    return 0;
}
