// calibrate: how fast this machine is at what a decode step is made of.
#include "app/cli/command.h"
#include "app/cli/saved_rates.h"

#include <cstdio>
#include <memory>

namespace cli {

namespace {

double gb_per_s(const engine::RateCurve& curve, double set_bytes)
{
    return 1e-9 / curve.seconds_per_byte(set_bytes);
}

void print(const engine::MachineRates& rates)
{
    constexpr double kCached = 1 << 20, kFromMemory = 1e9;
    std::printf("%s, kernels %s, %d threads\n\n", rates.cpu.c_str(), rates.kernels.c_str(), rates.threads);
    std::printf("DRAM read %.1f GB/s; KV through a ring %.1f GB/s; small operations %.2f G values/s\n\n",
                rates.dram_read_bytes_per_s.value_or(0) / 1e9, rates.stream_bytes_per_s.value_or(0) / 1e9,
                rates.values_per_s.value_or(0) / 1e9);
    std::printf("| weights | row length | GB/s from cache | from memory |\n| --- | --- | --- | --- |\n");
    for (const engine::ProductRate& rate : rates.products)
        std::printf("| %s | %d | %.1f | %.1f |\n", rate.type.c_str(), rate.row_length, gb_per_s(rate.curve, kCached),
                    gb_per_s(rate.curve, kFromMemory));
    std::printf("\n| KV | head length | query heads to one | GB/s from cache | from memory |\n"
                "| --- | --- | --- | --- | --- |\n");
    for (const engine::AttentionRate& rate : rates.attention)
        std::printf("| %s | %d | %d | %.1f | %.1f |\n", kv_type_name(rate.k_type), rate.head_length, rate.group,
                    gb_per_s(rate.curve, kCached), gb_per_s(rate.curve, kFromMemory));
}

int run(int threads, bool json)
{
    const auto rates = calibrate(threads);
    if (!rates)
        return report(rates.error());
    if (json)
        std::printf("%s\n", engine::to_json(*rates).c_str());
    else
        print(*rates);
    return kDone;
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code)
{
    struct Options {
        int threads = 0;
        bool json = false;
    };
    auto* command = app.add_subcommand("calibrate", "Measure what this machine's speed is predicted from");
    auto o = std::make_shared<Options>();
    command->add_option("-t,--threads", o->threads, "threads; 0: one per physical core")->check(CLI::Range(0, 1024));
    command->add_flag("--json", o->json);
    command->callback([o, &exit_code] { exit_code = run(o->threads, o->json); });
}

}  // namespace cli
