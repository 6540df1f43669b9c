// selftest: whether this machine computes right, and how fast it reads memory.
#include "app/cli/command.h"

#include "engine/selftest.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

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

int run(const std::string& golden, int threads, bool json)
{
    nlohmann::ordered_json checks = nlohmann::ordered_json::array();
    const auto result = engine::selftest(golden, threads, [&](const engine::SelftestCheck& check) {
        if (json)
            checks.push_back(
                {{"name", check.name}, {"outcome", outcome_name(check.outcome)}, {"detail", check.detail}});
        else
            std::printf("%-8s %-32s %s\n", outcome_name(check.outcome), check.name.c_str(), check.detail.c_str());
    });
    if (json)
        std::printf("%s\n", nlohmann::ordered_json{{"passed", result.passed},
                                                   {"failed", result.failed},
                                                   {"skipped", result.skipped},
                                                   {"dram_read_gb_s", result.dram_read_gb_s},
                                                   {"checks", checks}}
                                .dump(2)
                                .c_str());
    else
        std::printf("%d passed, %d failed, %d skipped; DRAM read %.1f GB/s\n", result.passed, result.failed,
                    result.skipped, result.dram_read_gb_s);
    return result.failed == 0 ? kDone : kFailed;
}

}  // namespace

void add_selftest(CLI::App& app, int& exit_code)
{
    struct Options {
        std::string golden;
        int threads = 0;
        bool json = false;
    };
    auto* command = app.add_subcommand("selftest", "Check that this machine computes right");
    auto o = std::make_shared<Options>();
    command->add_option("--golden", o->golden, "folder of reference logits to check against");
    command->add_option("-t,--threads", o->threads, "threads; 0: one per physical core");
    command->add_flag("--json", o->json);
    command->callback([o, &exit_code] { exit_code = run(o->golden, o->threads, o->json); });
}

}  // namespace cli
