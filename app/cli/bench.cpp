// bench: prefill and decode speed, beside the memory bandwidth of the same run.
#include "app/cli/bench_drafts.h"
#include "app/cli/bench_kernel.h"
#include "app/cli/bench_pressure.h"
#include "app/cli/command.h"
#include "app/cli/draft_options.h"
#include "app/cli/saved_rates.h"

#include "engine/bench.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

struct BenchOptions {
    CommonOptions common;
    engine::BenchRequest bench;
    bool pressure = false, calibrated = false;
    int every_tokens = 512;
    std::string kernel;
    DraftOptions draft = {.mode = "off", .model = {}};
    bool fixed_depth = false;
    std::string text_file;
    float temperature = 0;
    std::string form = "md";
};

template <class T>
nlohmann::ordered_json number(const std::optional<T>& value)
{
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

void print_json(const engine::BenchReport& report)
{
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const engine::BenchRow& row : report.rows)
        rows.push_back({{"test", row.test},
                        {"tokens", row.tokens},
                        {"depth", row.depth},
                        {"conversations", row.conversations},
                        {"rows_per_step", row.step_rows},
                        {"tok_s_median", row.tok_s_median},
                        {"tok_s_min", row.tok_s_min},
                        {"tok_s_max", row.tok_s_max},
                        {"gb_s", row.gb_s},
                        {"bandwidth_share", row.bandwidth_share},
                        {"p99_ms", number(row.p99_ms)},
                        {"depth_ms", number(row.depth_ms)},
                        {"device_peak_bytes", number(row.device_peak_bytes)},
                        {"host_peak_bytes", number(row.host_peak_bytes)},
                        {"expert_cache_bytes", number(row.expert_cache_bytes)},
                        {"expert_hits", number(row.expert_hits)},
                        {"expert_misses", number(row.expert_misses)}});
    nlohmann::ordered_json json = {{"model", report.model},
                                   {"threads", report.threads},
                                   {"kernels", report.kernels},
                                   {"device", report.device},
                                   {"kv_policy", nullptr},
                                   {"device_budget_bytes", number(report.device_budget_bytes)},
                                   {"load_ms", report.load_ms},
                                   {"device_layers", report.device_layers},
                                   {"dram_read_gb_s", report.dram_read_gb_s},
                                   {"device_copy_gb_s", number(report.device_copy_gb_s)},
                                   {"weight_bytes", report.weight_bytes},
                                   {"kv_bytes", report.kv_bytes},
                                   {"state_bytes", report.state_bytes},
                                   {"peak_resident_bytes", number(report.peak_resident_bytes)},
                                   {"rows", rows}};
    if (report.kv_policy)
        json["kv_policy"] = std::string(engine::name_of(*report.kv_policy));
    std::printf("%s\n", json.dump(2).c_str());
}

void print_table(const engine::BenchReport& report)
{
    std::printf("| model | kernels | threads | test | depth | rows a step | tok/s | min | max | GB/s | of memory |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (const engine::BenchRow& row : report.rows) {
        const std::string at_once = row.conversations > 1 ? " x " + std::to_string(row.conversations) : "";
        const std::string rows = row.test == "decode" ? std::to_string(row.step_rows) + at_once : "";
        std::printf("| %s | %s | %d | %s %d | %d | %s | %.2f | %.2f | %.2f |", report.model.c_str(),
                    report.kernels.c_str(), report.threads, row.test.c_str(), row.tokens, row.depth, rows.c_str(),
                    row.tok_s_median, row.tok_s_min, row.tok_s_max);
        if (row.gb_s > 0)
            std::printf(" %.1f | %.0f %% |\n", row.gb_s, 100 * row.bandwidth_share);
        else
            std::printf(" | |\n");
    }
    std::printf("\nDRAM read %.1f GB/s in the same run; load %.0f ms; weights %.2f GB", report.dram_read_gb_s,
                report.load_ms, double(report.weight_bytes) / 1e9);
    if (report.peak_resident_bytes)
        std::printf("; peak resident %.2f GB", double(*report.peak_resident_bytes) / 1e9);
    std::puts("");
    if (report.device_copy_gb_s)
        std::printf("%s: %d layers; a copy within its memory reads and writes %.1f GB/s\n", report.device.c_str(),
                    report.device_layers, *report.device_copy_gb_s);
}

void print_csv(const engine::BenchReport& report)
{
    std::puts("test,tokens,depth,tok_s_median,tok_s_min,tok_s_max,gb_s,bandwidth_share,dram_read_gb_s,conversations,"
              "rows_per_step");
    for (const engine::BenchRow& row : report.rows)
        std::printf("%s,%d,%d,%.4f,%.4f,%.4f,%.3f,%.4f,%.3f,%d,%d\n", row.test.c_str(), row.tokens, row.depth,
                    row.tok_s_median, row.tok_s_min, row.tok_s_max, row.gb_s, row.bandwidth_share,
                    report.dram_read_gb_s, row.conversations, row.step_rows);
}

int pressure(const engine::LoadRequest& load, const BenchOptions& options)
{
    engine::PressureRequest request;
    request.most_tokens = options.bench.depths.back();
    request.every_tokens = options.every_tokens;
    request.decode_tokens = std::min(options.bench.decode_tokens, options.every_tokens / 2);
    if (request.most_tokens < request.every_tokens)
        return report({engine::Error::Code::BadRequest,
                       "--pressure grows to the last depth of -d, which has to be at least the " +
                           std::to_string(request.every_tokens) + " tokens of --every"});
    if (options.calibrated && !(request.rates = saved_rates(load.threads)))
        return report({engine::Error::Code::NotFound,
                       "the rates of this machine are not known for so many threads: run spillway-cli calibrate"});
    return bench_pressure(load, request, options.common.json ? "json" : options.form);
}

int drafts(engine::LoadRequest load, const BenchOptions& options)
{
    if (const engine::Status ok = options.draft.add_to(load); !ok)
        return report(ok.error());
    if (options.text_file.empty())
        return report({engine::Error::Code::BadRequest, "drafts need a text to go on with: -f FILE"});
    auto text = read_text(options.text_file);
    if (!text)
        return report(text.error());
    engine::DraftBenchRequest request;
    request.text = *std::move(text);
    request.tokens = options.bench.decode_tokens;
    request.temperature = options.temperature;
    request.most_drafted = options.draft.most_drafted();
    request.drafters = options.draft.drafters();
    request.depth = options.fixed_depth ? engine::DraftDepth::Fixed : engine::DraftDepth::Adaptive;
    request.pairs = options.bench.repeats;
    return bench_drafts(load, request, options.common.json ? "json" : options.form);
}

int run(BenchOptions& options)
{
    if (!options.kernel.empty())
        return bench_kernel(options.kernel, options.common.load.threads, options.common.json ? "json" : options.form);
    auto request = options.common.request();
    if (!request)
        return report(request.error());
    if (options.pressure)
        return pressure(*request, options);
    if (options.draft.most_drafted() > 0)
        return drafts(*request, options);
    if (request->context_tokens == 0) {
        int deepest = 0;
        for (const int depth : options.bench.depths)
            deepest = std::max(deepest, depth);
        request->context_tokens = deepest + options.bench.most_tokens() + 1;
    }
    const auto result = engine::bench(*request, options.bench, [](const engine::BenchRow& row) {
        std::fprintf(stderr, "%s %d at %d, %d x %d row(s): %.2f tok/s\n", row.test.c_str(), row.tokens, row.depth,
                     row.conversations, row.step_rows, row.tok_s_median);
    });
    if (!result)
        return report(result.error());
    if (options.common.json || options.form == "json")
        print_json(*result);
    else if (options.form == "csv")
        print_csv(*result);
    else
        print_table(*result);
    return kDone;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("bench", "Measure prefill and decode on this machine");
    auto b = std::make_shared<BenchOptions>();
    b->common.add_to(*command)->add_option(
        "--kernel", b->kernel,
        "no model: one kernel by itself, such as Q4_K or attention-q8_0, beside the memory's own speed; or all");
    command->add_option("-p,--n-prompt", b->bench.prefill_tokens, "tokens of the prefill test; 0: none");
    command->add_option("-n,--n-gen", b->bench.decode_tokens, "tokens of the decode test; 0: none");
    command
        ->add_option("-d,--n-depth", b->bench.depths,
                     "tokens that are in the context when a test begins, separated by commas")
        ->delimiter(',');
    command
        ->add_option("--conversations", b->bench.conversations,
                     "how many decode at once, separated by commas: a row for each number, with the tokens of all")
        ->delimiter(',');
    command
        ->add_option("--rows", b->bench.step_rows,
                     "rows that a step of the decode test computes of each conversation, separated by commas: what "
                     "drafts cost")
        ->delimiter(',');
    b->draft.add_to(*command);
    command->add_flag("--draft-fixed", b->fixed_depth,
                      "with --draft: as many as --draft-max says in each step, whether it pays or not");
    command->add_option("-f,--file", b->text_file,
                        "a text to continue, alternately with drafts and without; - is standard input. What drafts "
                        "bring is printed. Like -md it means --draft auto where nothing else is said");
    command->add_option("--temp", b->temperature, "with --draft: temperature of the answers; 0: greedy");
    command->add_option("-r,--repetitions", b->bench.repeats, "runs that are counted");
    command->add_flag("--within-context", b->bench.within_context,
                      "refuse depths beyond the context the model was made for");
    command->add_flag("--pressure", b->pressure,
                      "let one conversation grow to the last depth, and print a row on the way every so often");
    command->add_flag("--calibrated", b->calibrated,
                      "predict --pressure from the rates that calibrate kept, and measure none");
    command->add_option("--every", b->every_tokens, "tokens from row to row of --pressure");
    command->add_option("-o,--output", b->form, "md, json or csv")->check(CLI::IsMember({"md", "json", "csv"}));
    command->callback([b, command, &exit_code] {
        // A draft model, or a text to go on with, is of use only for drafts: either means --draft auto.
        if (command->count("--draft") + command->count("--no-draft") == 0 &&
            !(b->draft.model.empty() && b->text_file.empty()))
            b->draft.mode = "auto";
        exit_code = run(*b);
    });
}

}  // namespace cli
