// calibrate: measures how fast this machine is at what a decode step is made of.
#include "app/cli/command.h"
#include "app/cli/saved_rates.h"

#include <cstdio>
#include <memory>
#include <optional>

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
    std::printf("DRAM read %.1f GB/s; KV through a ring %.1f GB/s; small operations %.2f G values/s; "
                "choosing a token %.1f us and %.2f ns for each of the vocabulary\n\n",
                rates.dram_read_bytes_per_s.value_or(0) / 1e9, rates.stream_bytes_per_s.value_or(0) / 1e9,
                rates.values_per_s.value_or(0) / 1e9, rates.token_s.value_or(0) * 1e6,
                rates.choice_s_per_value.value_or(0) * 1e9);
    std::printf("| weights | row length | GB/s from cache | from memory |\n| --- | --- | --- | --- |\n");
    for (const engine::ProductRate& rate : rates.products)
        std::printf("| %s | %d | %.1f | %.1f |\n", rate.type.c_str(), rate.row_length, gb_per_s(rate.curve, kCached),
                    gb_per_s(rate.curve, kFromMemory));
    std::printf("\n| KV | head length | query heads to one | GB/s from cache | from memory |\n"
                "| --- | --- | --- | --- | --- |\n");
    for (const engine::AttentionRate& rate : rates.attention)
        std::printf("| %s | %d | %d | %.1f | %.1f |\n", name_of(rate.k_type).data(), rate.head_length, rate.group,
                    gb_per_s(rate.curve, kCached), gb_per_s(rate.curve, kFromMemory));
}

/// Prints a row with a rate and its share of a copy's rate; nothing where the rate is not known.
void print_rate(const char* what, const std::optional<double>& bytes_per_s, const std::optional<double>& copy)
{
    if (!bytes_per_s)
        return;
    std::printf("| %s | %.1f |", what, *bytes_per_s / 1e9);
    if (copy)
        std::printf(" %.0f %% |\n", 100 * *bytes_per_s / *copy);
    else
        std::puts(" |");
}

void print(const std::string& id, const engine::DeviceRates& rates)
{
    std::printf("\n%s: %s; to the host and back %.1f us", id.c_str(), rates.name.c_str(),
                rates.hand_off_s.value_or(0) * 1e6);
    if (rates.flag_hand_off_s)
        std::printf(", within a graph %.1f us", *rates.flag_hand_off_s * 1e6);
    if (rates.small_kernels_s)
        std::printf("; a layer's small kernels %.1f us", *rates.small_kernels_s * 1e6);
    if (rates.matmul_ops_per_s)
        std::printf("; products of many tokens %.2f Tops/s", *rates.matmul_ops_per_s / 1e12);
    if (rates.blas_ops_per_s)
        std::printf(", by cuBLAS %.2f Tops/s", *rates.blas_ops_per_s / 1e12);
    std::puts("\n\n| | GB/s | of a copy |\n| --- | --- | --- |");
    print_rate("copy within its memory, read and written", rates.copy_bytes_per_s, rates.copy_bytes_per_s);
    print_rate("weights of a decode step", rates.weights_bytes_per_s, rates.copy_bytes_per_s);
    print_rate("attention over f16 KV", rates.attention_bytes_per_s, rates.copy_bytes_per_s);
    print_rate("attention over q8_0 KV", rates.attention_q8_0_bytes_per_s, rates.copy_bytes_per_s);
    print_rate("link to the device", rates.to_device_bytes_per_s, {});
    print_rate("the same from memory that is not page-locked", rates.unlocked_to_device_bytes_per_s, {});
    print_rate("KV streamed to the device", rates.stream_bytes_per_s, {});
    print_rate("link to the host", rates.to_host_bytes_per_s, {});
}

/// Returns the GPU's number; none for the CPU and for an emulated device.
engine::Result<std::optional<int>> gpu_of(const std::string& device)
{
    engine::PlacementText text;
    text.device = device;
    text.vram = "fit:1";  // an emulated device needs a size; it is as fast as the CPU
    const auto placement = engine::parse_placement(text);
    if (!placement)
        return tl::unexpected(placement.error());
    if (placement->device != engine::PlacementOptions::Device::Cuda)
        return std::optional<int>();
    return std::optional(placement->cuda_ordinal);
}

int run(int threads, const std::string& device, bool json)
{
    const auto gpu = gpu_of(device);
    if (!gpu)
        return report(gpu.error());
    const auto rates = calibrate(threads, *gpu);
    if (!rates)
        return report(rates.error());
    if (json)
        std::printf("%s\n", engine::to_json(*rates).c_str());
    else {
        print(*rates);
        for (const auto& [id, measured] : rates->devices)
            print(id, measured);
    }
    return kDone;
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code)
{
    struct Options {
        int threads = 0;
        std::string device = "cpu";
        bool json = false;
    };
    auto* command = app.add_subcommand("calibrate", "Measure what this machine's speed is predicted from");
    auto o = std::make_shared<Options>();
    command->add_option("-t,--threads", o->threads, "threads; 0: one per physical core")->check(CLI::Range(0, 1024));
    command->add_option("--device", o->device, "cpu, or cuda[:N]: the GPU as well");
    command->add_flag("--json", o->json);
    command->callback([o, &exit_code] { exit_code = run(o->threads, o->device, o->json); });
}

}  // namespace cli
