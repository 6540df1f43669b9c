#include "app/cli/bench_pressure.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

double megabytes(std::int64_t bytes)
{
    return double(bytes) / 1e6;
}

/// GB/s of KV that the CPU attends where it lies.
double attended_gb_s(const engine::PressureRow& row)
{
    return double(row.attended_on_host_bytes_per_token) * row.tok_s / 1e9;
}

void print_json(const engine::PressureReport& report)
{
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const engine::PressureRow& row : report.rows)
        rows.push_back({{"context_tokens", row.context_tokens},
                        {"tok_s", row.tok_s},
                        {"vram_used_bytes", row.vram_used_bytes},
                        {"vram_budget_bytes", row.vram_budget_bytes},
                        {"blocks_device", row.blocks_device},
                        {"blocks_host", row.blocks_host},
                        {"link_bytes_per_token", row.link_bytes_per_token},
                        {"attended_on_host_bytes_per_token", row.attended_on_host_bytes_per_token},
                        {"attended_on_host_gb_s", attended_gb_s(row)},
                        {"offloads", row.offloads},
                        {"fetches", row.fetches}});
    const nlohmann::ordered_json json = {{"model", report.model},
                                         {"device", report.device},
                                         {"device_layers", report.device_layers},
                                         {"threads", report.threads},
                                         {"kernels", report.kernels},
                                         {"dram_read_gb_s", report.dram_read_gb_s},
                                         {"rows", rows}};
    std::printf("%s\n", json.dump(2).c_str());
}

void print_table(const engine::PressureReport& report)
{
    std::printf("%s, %d layers on the device '%s', %d threads, %s, DRAM read %.1f GB/s\n\n", report.model.c_str(),
                report.device_layers, report.device.c_str(), report.threads, report.kernels.c_str(),
                report.dram_read_gb_s);
    std::printf("| context | tok/s | VRAM MB | of MB | blocks device | host | link MB/token | CPU attention MB/token | "
                "GB/s | left | back |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (const engine::PressureRow& row : report.rows)
        std::printf("| %d | %.1f | %.1f | %.1f | %d | %d | %.2f | %.2f | %.2f | %d | %d |\n", row.context_tokens,
                    row.tok_s, megabytes(row.vram_used_bytes), megabytes(row.vram_budget_bytes), row.blocks_device,
                    row.blocks_host, megabytes(row.link_bytes_per_token),
                    megabytes(row.attended_on_host_bytes_per_token), attended_gb_s(row), row.offloads, row.fetches);
}

void print_csv(const engine::PressureReport& report)
{
    std::puts("context_tokens,tok_s,vram_used_bytes,vram_budget_bytes,blocks_device,blocks_host,link_bytes_per_token,"
              "attended_on_host_bytes_per_token,offloads,fetches");
    for (const engine::PressureRow& row : report.rows)
        std::printf("%d,%.4f,%lld,%lld,%d,%d,%lld,%lld,%d,%d\n", row.context_tokens, row.tok_s,
                    (long long)row.vram_used_bytes, (long long)row.vram_budget_bytes, row.blocks_device,
                    row.blocks_host, (long long)row.link_bytes_per_token,
                    (long long)row.attended_on_host_bytes_per_token, row.offloads, row.fetches);
}

}  // namespace

int bench_pressure(engine::LoadRequest load, const engine::PressureRequest& request, const std::string& form)
{
    if (load.context_tokens == 0)
        load.context_tokens = request.most_tokens;
    const auto result = engine::bench_pressure(load, request, [](const engine::PressureRow& row) {
        std::fprintf(stderr, "%d tokens: %.2f tok/s\n", row.context_tokens, row.tok_s);
    });
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
