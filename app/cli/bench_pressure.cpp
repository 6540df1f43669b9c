#include "app/cli/bench_pressure.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

double megabytes(std::int64_t bytes)
{
    return double(bytes) / 1e6;
}

/// Returns the GB/s of KV that the CPU attends where it lies.
double attended_gb_s(const engine::PressureRow& row)
{
    return double(row.attended_on_host_bytes_per_token) * row.tok_s / 1e9;
}

nlohmann::ordered_json number(const std::optional<double>& value)
{
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

/// Returns the value as "812.3"; `otherwise` if it is not known.
std::string text(const std::optional<double>& value, const char* otherwise)
{
    char out[32];
    std::snprintf(out, sizeof out, "%.1f", value.value_or(0));
    return value ? out : otherwise;
}

std::string percent(const std::optional<double>& share)
{
    return share ? text(100 * *share, "") + " %" : "unknown";
}

std::optional<double> error_of(const engine::PressureRow& row)
{
    return row.predicted_tok_s ? std::optional(*row.predicted_tok_s / row.tok_s - 1) : std::nullopt;
}

void print_json(const engine::PressureReport& report)
{
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const engine::PressureRow& row : report.rows)
        rows.push_back({{"context_tokens", row.context_tokens},
                        {"tok_s", row.tok_s},
                        {"predicted_tok_s", number(row.predicted_tok_s)},
                        {"prediction_error", number(error_of(row))},
                        {"corrected_tok_s", number(row.corrected_tok_s)},
                        {"vram_used_bytes", row.vram_used_bytes},
                        {"vram_ahead_bytes", row.vram_ahead_bytes},
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
                                         {"spill_tokens", report.spill_tokens
                                                              ? nlohmann::ordered_json(*report.spill_tokens)
                                                              : nlohmann::ordered_json(nullptr)},
                                         {"median_prediction_error", number(report.median_error)},
                                         {"median_corrected_error", number(report.corrected_median_error)},
                                         {"rows", rows}};
    std::printf("%s\n", json.dump(2).c_str());
}

void print_table(const engine::PressureReport& report)
{
    std::printf("%s, %d layers on the device '%s', %d threads, %s, DRAM read %.1f GB/s\n\n", report.model.c_str(),
                report.device_layers, report.device.c_str(), report.threads, report.kernels.c_str(),
                report.dram_read_gb_s);
    std::printf("| context | tok/s | predicted | error | VRAM MB | of MB | blocks device | host | link MB/token | CPU "
                "attention MB/token | "
                "GB/s | left | back |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (const engine::PressureRow& row : report.rows)
        std::printf("| %d | %.1f | %s | %s | %.1f | %.1f | %d | %d | %.2f | %.2f | %.2f | %d | %d |\n",
                    row.context_tokens, row.tok_s, text(row.predicted_tok_s, "").c_str(),
                    percent(error_of(row)).c_str(), megabytes(row.vram_used_bytes), megabytes(row.vram_budget_bytes),
                    row.blocks_device, row.blocks_host, megabytes(row.link_bytes_per_token),
                    megabytes(row.attended_on_host_bytes_per_token), attended_gb_s(row), row.offloads, row.fetches);
    std::printf("\nPredicted from rates alone: median error %s; corrected by the rows before: %s.",
                percent(report.median_error).c_str(), percent(report.corrected_median_error).c_str());
    if (report.spill_tokens)
        std::printf(" The first block was to leave after %d tokens.", *report.spill_tokens);
    std::puts("");
}

void print_csv(const engine::PressureReport& report)
{
    std::puts("context_tokens,tok_s,predicted_tok_s,corrected_tok_s,vram_used_bytes,vram_budget_bytes,blocks_device,"
              "blocks_host,link_bytes_per_token,"
              "attended_on_host_bytes_per_token,offloads,fetches");
    for (const engine::PressureRow& row : report.rows)
        std::printf("%d,%.4f,%s,%s,%lld,%lld,%d,%d,%lld,%lld,%d,%d\n", row.context_tokens, row.tok_s,
                    text(row.predicted_tok_s, "").c_str(), text(row.corrected_tok_s, "").c_str(),
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
