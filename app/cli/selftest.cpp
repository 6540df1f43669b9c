// selftest: checks whether this machine, and its GPU, computes right, and how fast it reads memory.
#include "app/cli/command.h"

#include "engine/selftest.h"
#include "engine/utf8_path.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace cli {

namespace {

const char* outcome_name(engine::SelftestCheck::Outcome outcome)
{
    switch (outcome) {
    case engine::SelftestCheck::Outcome::Passed:
        return "passed";
    case engine::SelftestCheck::Outcome::Failed:
        return "FAILED";
    case engine::SelftestCheck::Outcome::Skipped:
        return "skipped";
    }
    return "";
}

/// Returns the GPU that is to be checked beside the CPU: N for "cuda:N", none for "cpu".
engine::Result<std::optional<int>> parse_gpu(const std::string& device)
{
    if (device == "emulated")
        return engine::fail(engine::Error::Code::BadRequest,
                            "the emulated device computes with the cpu's kernels, which are checked in any case");
    engine::PlacementText text;
    text.device = device;
    const auto placement = engine::parse_placement(text);
    if (!placement)
        return tl::unexpected(placement.error());
    if (placement->device == engine::PlacementOptions::Device::Cpu)
        return std::optional<int>();
    return std::optional(placement->cuda_ordinal);
}

void print_json(const engine::SelftestReport& result, const nlohmann::ordered_json& checks)
{
    nlohmann::ordered_json json{{"passed", result.passed},   {"failed", result.failed},
                                {"skipped", result.skipped}, {"dram_read_gb_s", result.dram_read_gb_s},
                                {"no_cuda", nullptr},        {"checks", checks}};
    if (!result.no_cuda.empty())
        json["no_cuda"] = result.no_cuda;
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int run(const std::string& golden, const std::string& device, int threads, bool json)
{
    const auto gpu = parse_gpu(device);
    if (!gpu)
        return report(gpu.error());
    nlohmann::ordered_json checks = nlohmann::ordered_json::array();
    const auto result =
        engine::selftest({engine::utf8_path(golden), threads, *gpu}, [&](const engine::SelftestCheck& check) {
            if (json) {
                checks.push_back(
                    {{"name", check.name}, {"outcome", outcome_name(check.outcome)}, {"detail", check.detail}});
                return;
            }
            std::printf("%-8s %-48s %s\n", outcome_name(check.outcome), check.name.c_str(),
                        for_terminal(check.detail).c_str());
            std::fflush(stdout);  // printed before the next check, so that one sees which check hangs
        });
    if (json)
        print_json(result, checks);
    else
        std::printf("%d passed, %d failed, %d skipped; DRAM read %.1f GB/s\n", result.passed, result.failed,
                    result.skipped, result.dram_read_gb_s);
    if (!result.no_cuda.empty())
        return report({engine::Error::Code::Unsupported, "no GPU was checked, since " + result.no_cuda});
    return result.ok() ? kDone : kFailed;
}

}  // namespace

void add_selftest(CLI::App& app, int& exit_code)
{
    struct Options {
        std::string golden, device = "cpu";
        int threads = 0;
        bool json = false;
    };
    auto* command = app.add_subcommand("selftest", "Check that this machine computes right, and its GPU");
    auto o = std::make_shared<Options>();
    command->footer("The exit code is 0 where all that was asked for was checked and is right, 1 otherwise: also where "
                    "there is no\n"
                    "GPU to check, which a sentence says after the checks of the CPU.");
    command->add_option("--golden", o->golden, "folder of reference logits to check against");
    command->add_option("--device", o->device, "cpu, or cuda[:N]: the GPU's kernels and small models on it as well");
    command->add_option("-t,--threads", o->threads, "threads; 0: one per physical core");
    command->add_flag("--json", o->json);
    command->callback([o, &exit_code] { exit_code = run(o->golden, o->device, o->threads, o->json); });
}

}  // namespace cli
