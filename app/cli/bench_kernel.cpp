#include "app/cli/bench_kernel.h"

#include "app/cli/command.h"
#include "engine/bench.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

void print_json(const engine::KernelReport& report)
{
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const engine::KernelRow& row : report.rows) {
        rows.push_back({{"kernel", row.kernel},
                        {"cache_gb_s", row.cache_gb_s},
                        {"memory_gb_s", row.memory_gb_s},
                        {"dram_read_gb_s", row.dram_read_gb_s},
                        {"bandwidth_share", row.memory_gb_s / row.dram_read_gb_s},
                        {"prompt_gop_s", nullptr}});
        if (row.prompt_gop_s)
            rows.back()["prompt_gop_s"] = *row.prompt_gop_s;
    }
    const nlohmann::ordered_json json = {{"kernels", report.kernels}, {"threads", report.threads}, {"rows", rows}};
    std::printf("%s\n", json.dump(2).c_str());
}

void print_table(const engine::KernelReport& report)
{
    std::printf(
        "| %s, %d threads | from cache, GB/s | from memory, GB/s | DRAM read, GB/s | share | prompt of 512, GOP/s |\n"
        "| --- | --- | --- | --- | --- | --- |\n",
        report.kernels.c_str(), report.threads);
    for (const engine::KernelRow& row : report.rows) {
        std::printf("| %s | %.1f | %.1f | %.1f | %.0f %% |", row.kernel.c_str(), row.cache_gb_s, row.memory_gb_s,
                    row.dram_read_gb_s, 100 * row.memory_gb_s / row.dram_read_gb_s);
        if (row.prompt_gop_s)
            std::printf(" %.0f |\n", *row.prompt_gop_s);
        else
            std::printf(" |\n");
    }
}

void print_csv(const engine::KernelReport& report)
{
    std::puts("kernel,cache_gb_s,memory_gb_s,dram_read_gb_s,bandwidth_share,prompt_gop_s");
    for (const engine::KernelRow& row : report.rows) {
        std::printf("%s,%.3f,%.3f,%.3f,%.4f,", row.kernel.c_str(), row.cache_gb_s, row.memory_gb_s, row.dram_read_gb_s,
                    row.memory_gb_s / row.dram_read_gb_s);
        if (row.prompt_gop_s)
            std::printf("%.2f", *row.prompt_gop_s);
        std::puts("");
    }
}

}  // namespace

int bench_kernel(const std::string& name, int threads, const std::string& form)
{
    const auto result = engine::bench_kernel(name, threads);
    if (!result)
        return report(result.error());
    if (form == "json")
        print_json(*result);
    else if (form == "csv")
        print_csv(*result);
    else
        print_table(*result);
    return kDone;
}

}  // namespace cli
