#include "app/cli/bench_drafts.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

void print_json(const engine::DraftBenchReport& report)
{
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const engine::DraftBenchPair& pair : report.pairs)
        rows.push_back({{"tokens", pair.tokens},
                        {"tok_s_with", pair.with_tok_s},
                        {"tok_s_without", pair.without_tok_s},
                        {"gain", pair.gain()},
                        {"steps", pair.steps},
                        {"drafted_tokens", pair.drafted},
                        {"accepted_tokens", pair.accepted},
                        {"model_drafted_tokens", pair.model_drafted},
                        {"model_accepted_tokens", pair.model_accepted}});
    nlohmann::ordered_json json = {
        {"model", report.model}, {"draft_model", nullptr}, {"median_gain", report.median_gain}, {"rows", rows}};
    if (!report.draft_model.empty())
        json["draft_model"] = report.draft_model;
    std::printf("%s\n", json.dump(2).c_str());
}

void print_csv(const engine::DraftBenchReport& report)
{
    std::puts("tokens,tok_s_with,tok_s_without,gain,steps,drafted_tokens,accepted_tokens,"
              "model_drafted_tokens,model_accepted_tokens");
    for (const engine::DraftBenchPair& pair : report.pairs)
        std::printf("%d,%.4f,%.4f,%.4f,%d,%d,%d,%d,%d\n", pair.tokens, pair.with_tok_s, pair.without_tok_s, pair.gain(),
                    pair.steps, pair.drafted, pair.accepted, pair.model_drafted, pair.model_accepted);
}

void print_table(const engine::DraftBenchReport& report)
{
    std::puts("| tokens | tok/s with drafts | without | gain | steps | drafted | stood | by the draft model | stood |\n"
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (const engine::DraftBenchPair& pair : report.pairs)
        std::printf("| %d | %.2f | %.2f | %.2f | %d | %d | %d | %d | %d |\n", pair.tokens, pair.with_tok_s,
                    pair.without_tok_s, pair.gain(), pair.steps, pair.drafted, pair.accepted, pair.model_drafted,
                    pair.model_accepted);
    if (!report.draft_model.empty())
        std::printf("\ndraft model: %s", for_terminal(report.draft_model).c_str());
    std::printf("\n%s: median gain %.2f; each pair says the same with drafts and without\n",
                for_terminal(report.model).c_str(), report.median_gain);
}

}  // namespace

int bench_drafts(engine::LoadRequest load, const engine::DraftBenchRequest& request, const std::string& form)
{
    if (load.context_tokens == 0)  // a text has at most as many tokens as bytes
        load.context_tokens = int(std::min<std::size_t>(request.text.size(), 1 << 20)) + request.tokens + 16;
    const auto report = engine::bench_drafts(load, request, [](const engine::DraftBenchPair& pair) {
        std::fprintf(stderr, "%d tokens: %.2f tok/s with drafts, %.2f without; %d of %d stood\n", pair.tokens,
                     pair.with_tok_s, pair.without_tok_s, pair.accepted, pair.drafted);
    });
    if (!report)
        return cli::report(report.error());
    if (form == "json")
        print_json(*report);
    else if (form == "csv")
        print_csv(*report);
    else
        print_table(*report);
    return kDone;
}

}  // namespace cli
