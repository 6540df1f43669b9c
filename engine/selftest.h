// "Check my machine": kernels against their reference, goldens where there are some, memory bandwidth.
#pragma once

#include "engine/result.h"

#include <filesystem>
#include <functional>
#include <string>

namespace engine {

struct SelftestCheck {
    enum class Outcome { Passed, Failed, Skipped };
    std::string name;
    Outcome outcome = Outcome::Passed;
    std::string detail;  // a figure, or why it failed
};

struct SelftestReport {
    int passed = 0, failed = 0, skipped = 0;
    double dram_read_gb_s = 0;
};

/// `goldens`: a folder of NAME.gguf, NAME.json, NAME.f32 (logits of a float32 reference); empty: none.
SelftestReport selftest(const std::filesystem::path& goldens, int threads,
                        const std::function<void(const SelftestCheck&)>& on_check);

}  // namespace engine
