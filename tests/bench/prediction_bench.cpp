// Prints what is predicted of small models beside what they then do, as an answer of the engine. It is not a test.
//   prediction_bench [THREADS [REPEATS [GUIDE]]]
// Rates are measured just before each answer, so that a pair saw the same machine; a step is the median of an answer's,
// which other programs disturb least. Medians of the pairs are printed.
#include "engine/engine.h"
#include "engine/planner.h"
#include "engine/shape_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kAnswerTokens = 160;
constexpr int kPromptWords = 60;
constexpr int kFewestTokens = 24;  // whose median says something

[[noreturn]] void give_up(const engine::Error& error)
{
    std::fprintf(stderr, "%s\n", error.what.c_str());
    std::exit(1);
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

struct Pair {
    int context = 0;
    double predicted = 0, measured = 0;  // tokens a second
    double ratio() const { return predicted / measured; }
};

/// Returns the last frame of an answer. The guide answers with some sentences; a model of noise writes on and on.
engine::Telemetry answer(const engine::LoadRequest& model, unsigned seed)
{
    const auto engine = engine::make_engine();
    const auto info = engine->load(model, {}, {});
    if (!info)
        give_up(info.error());
    engine::Request request;
    if (info->has_chat_template)
        request.messages = {{"user", "Tell me all about the KV cache and where it lies."}};
    else
        for (int i = 0; i < kPromptWords; ++i)
            request.raw_prompt += "the ";
    request.max_tokens = kAnswerTokens;
    request.sampling.seed = seed;
    std::string heard;
    engine::Listener listener;
    listener.on_text = [&](std::string_view text) { heard += text; };
    listener.on_telemetry = [](const engine::Telemetry&) {};
    const auto turn = engine->generate(*engine->create_sequence(), request, listener, {});
    if (!turn)
        give_up(turn.error());
    return turn->telemetry;
}

Pair pair_of(const engine::LoadRequest& model, unsigned seed)
{
    const auto planner = engine::Planner::open(model.model);
    const auto rates = planner ? planner->measure_rates(model) : tl::unexpected(planner.error());
    if (!rates)
        give_up(rates.error());
    const engine::Telemetry t = answer(model, seed);
    if (!t.tpot || t.generated_tokens < kFewestTokens)
        return {};
    const std::array contexts = {t.context_tokens - t.generated_tokens / 2};
    const auto plan = planner->plan(model, contexts, &*rates);
    if (!plan || !plan->rows.front().tok_s)
        give_up(plan ? engine::Error{engine::Error::Code::BadRequest, "a rate is missing"} : plan.error());
    return {contexts.front(), *plan->rows.front().tok_s, 1000 / t.tpot->p50_ms};
}

/// Prints a row and returns its error, |predicted / measured - 1|.
double row_of(const std::string& name, const engine::LoadRequest& model, int repeats)
{
    std::vector<double> predicted, measured, ratios;
    int context = 0;
    for (int i = 0; i < repeats; ++i) {
        const Pair pair = pair_of(model, unsigned(i + 1));
        if (pair.context == 0)
            continue;  // it ended too soon
        context = pair.context;
        predicted.push_back(pair.predicted);
        measured.push_back(pair.measured);
        ratios.push_back(pair.ratio());
    }
    if (ratios.empty())
        give_up({engine::Error::Code::BadRequest, name + " said nothing"});
    std::printf("| %s | %d | %.1f | %.1f | %.2f | %.2f - %.2f |\n", name.c_str(), context, median(predicted),
                median(measured), median(ratios), *std::ranges::min_element(ratios), *std::ranges::max_element(ratios));
    std::fflush(stdout);
    return std::abs(median(ratios) - 1);
}

}  // namespace

int main(int argc, char** argv)
{
    engine::LoadRequest model;
    model.threads = argc > 1 ? std::atoi(argv[1]) : 0;
    const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
    std::puts("| model | context | predicted, tok/s | measured | ratio | of single pairs |\n"
              "| --- | --- | --- | --- | --- | --- |");
    std::vector<double> errors;
    model.context_tokens = 2048;
    model.model = argc > 3 ? argv[3] : "resources/guide-model/guide.gguf";
    errors.push_back(row_of("guide", model, repeats));
    for (const char* shape : {"tiny-llama:q8_0", "tiny-gemma3:q8_0", "qwen2.5-0.5b:q8_0", "qwen3-0.6b:q4_k_m"}) {
        const auto made = engine::ShapeModel::make(shape, std::filesystem::temp_directory_path());
        if (!made)
            give_up(made.error());
        model.model = made->path();
        errors.push_back(row_of(shape, model, repeats));
    }
    std::printf("\nMedian error: %.1f %%\n", 100 * median(errors));
    return 0;
}
