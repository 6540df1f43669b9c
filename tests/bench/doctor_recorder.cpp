// Prints what the Doctor knows after the answers of one conversation, for tests/data/recordings. It is not a test.
//   doctor_recorder MODEL|shape:SHAPE [--device D] [--vram V] [--link R] [--layers N] [--kv-policy P] [--threads N]
//   [--other BYTES]
//                   [--experts-on-host N|all] [--answers N] [--tokens N] [--prompt-words N] [--last-words N] [--context
//                   N]
#include "app/pressure/core_watch.h"
#include "app/pressure/doctor_facts.h"
#include "engine/placement_text.h"
#include "engine/shape_model.h"
#include "tests/support/doctor_recording.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string_view>

namespace {

[[noreturn]] void give_up(const engine::Error& error)
{
    std::fprintf(stderr, "%s\n", error.what.c_str());
    std::exit(1);
}

}  // namespace

int main(int argc, char* argv[])
{
    if (argc < 2 || argc % 2 != 0) {
        std::fprintf(stderr, "usage: see the head of doctor_recorder.cpp\n");
        return 2;
    }
    std::map<std::string, std::string> options;
    for (int i = 2; i < argc; i += 2)
        options[argv[i]] = argv[i + 1];
    const auto text = [&](const char* name, const char* otherwise) {
        return options.contains(name) ? options[name] : std::string(otherwise);
    };
    const auto number = [&](const char* name, int otherwise) {
        return options.contains(name) ? std::atoi(options[name].c_str()) : otherwise;
    };

    engine::PlacementText placement;
    placement.device = text("--device", "cpu");
    placement.vram = text("--vram", "");
    placement.link = text("--link", "16GB/s");
    placement.layers = text("--layers", "auto");
    placement.kv_policy = text("--kv-policy", "auto");
    placement.host_experts = text("--experts-on-host", "auto");
    engine::LoadRequest request;
    request.model = argv[1];
    std::optional<engine::ShapeModel> shape;
    if (const std::string_view model = argv[1]; model.starts_with("shape:")) {
        auto made = engine::ShapeModel::make(model.substr(6), std::filesystem::temp_directory_path());
        if (!made)
            give_up(made.error());
        request.model = shape.emplace(std::move(*made)).path();
    }
    request.threads = number("--threads", 0);
    request.context_tokens = number("--context", 0);
    if (auto parsed = engine::parse_placement(placement))
        request.placement = *parsed;
    else
        give_up(parsed.error());

    const auto planner = engine::Planner::open(request.model);
    if (!planner)
        give_up(planner.error());
    const auto rates = planner->measure_rates(request);
    if (!rates)
        give_up(rates.error());
    const auto engine = engine::make_engine();
    const auto model = engine->load(request, {}, {});
    if (!model)
        give_up(model.error());
    if (options.contains("--other")) {
        engine->post(engine::SetOtherPrograms{std::atoll(options["--other"].c_str())});
        engine->poll({});
    }

    const auto sequence = engine->create_sequence();
    engine::Request talk;
    talk.max_tokens = number("--tokens", 64);
    talk.sampling.temperature = 0;
    std::vector<double> earlier;
    for (int answer = 0; answer < number("--answers", 1); ++answer) {
        const bool last = answer + 1 == number("--answers", 1);
        std::string question = "Here is a list of words:";
        for (int word = 0; word < number(last && answer > 0 ? "--last-words" : "--prompt-words", 0); ++word)
            question += " river" + std::to_string(word % 97);
        talk.messages.push_back({"user", question + ". Tell me all about the KV cache and where it lies."});
        CoreWatch watch;
        const engine::Listener listener{.on_telemetry = [&](const engine::Telemetry& t) { watch.onFrame(t); }};
        const auto turn = engine->generate(*sequence, talk, listener, {});
        if (!turn)
            give_up(turn.error());
        talk.messages.push_back({"assistant", turn->text});
        if (!last) {
            earlier.push_back(turn->telemetry.decode_tokens_per_s.value_or(0));
            continue;
        }
        DoctorFacts facts = doctorFacts(turn->telemetry, *model, request);
        facts.waitedS = watch.onEnd(turn->telemetry);
        facts.diskBytes = watch.diskBytes();
        facts.earlier = earlier;
        addPredictions(facts, *planner, request, &*rates);
        std::cout << test_support::to_json(facts).dump(1) << '\n';
    }
    return 0;
}
