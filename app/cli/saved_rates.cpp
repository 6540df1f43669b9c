#include "app/cli/saved_rates.h"

#include "app/cli/system.h"
#include "engine/rates_file.h"

#include <cstdio>

namespace cli {

engine::Result<engine::MachineRates> calibrate(int threads, std::optional<int> gpu)
{
    auto rates = engine::measure_machine_rates(threads, [shown = -1](double share) mutable {
        const int percent = int(100 * share);
        if (stderr_is_terminal() && percent != shown)
            std::fprintf(stderr, "\rmeasuring this machine %3d %%", shown = percent);
        return true;
    });
    if (stderr_is_terminal())
        std::fprintf(stderr, "\r%30s\r", "");
    if (!rates)
        return rates;
    if (gpu) {
        auto measured = engine::measure_cuda_rates(*gpu);
        if (!measured)
            return tl::unexpected(measured.error());
        rates->devices["cuda:" + std::to_string(*gpu)] = std::move(*measured);
    }
    if (const auto kept = engine::RatesFile(data_folder()).keep(*rates); !kept)
        std::fprintf(stderr, "note: %s\n", kept.error().what.c_str());
    return rates;
}

std::optional<engine::MachineRates> saved_rates(int threads)
{
    auto rates = engine::RatesFile(data_folder()).read();
    if (!rates) {
        std::fprintf(stderr, "note: %s; they are measured again\n", rates.error().what.c_str());
        rates = calibrate(threads, {});
    }
    if (!rates || !*rates || !engine::hold_here(**rates, threads))
        return std::nullopt;
    return **rates;
}

}  // namespace cli
