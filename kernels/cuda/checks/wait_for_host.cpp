#include "kernels/cuda/checks/checks.h"

#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/ops.h"

namespace kernels::cuda {

namespace {

enum Word { Come, GivenUp, Late, Passed, Raised, Words };

/// Returns what the words hold after a flag was raised and a wait has ended, which began with them.
std::vector<int> words_after(DeviceMemory& on, int step, const std::vector<int>& words)
{
    const DevicePtr at = on.put(words), step_at = on.put(std::vector<int>{step});
    const auto word = [&](Word w) { return at + DevicePtr(w) * sizeof(int); };
    on.keep(raise_flag(on.driver(), on.queue(), step_at, word(Raised)));
    on.keep(wait_for_host(on.driver(), on.queue(), {step_at, word(Come), word(Late), word(Passed), /*most_ms*/ 2}));
    return on.get<int>(at, Words);
}

Checked check_flags(const Driver& driver, unsigned)
{
    struct Case {
        const char* name;
        std::vector<int> before, after;
    };
    constexpr int kStep = 7;
    const Case cases[] = {
        {"come before it was waited for", {7, 6, 6, 6, 6}, {7, 6, 6, 7, 7}},
        {"given up", {6, 7, 6, 6, 6}, {6, 7, 6, 7, 7}},
        {"late before", {6, 6, 7, 6, 6}, {6, 6, 7, 7, 7}},
        {"never come", {6, 6, 6, 6, 6}, {6, 6, 7, 7, 7}},
    };
    Checked checked;
    for (const Case& c : cases) {
        DeviceMemory on(driver);
        note(checked, on, share_of_same(words_after(on, kStep, c.before), c.after), c.name);
    }
    return checked;
}

}  // namespace

void add_flag_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"flags between device and host", check_flags});
}

}  // namespace kernels::cuda
