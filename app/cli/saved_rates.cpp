#include "app/cli/saved_rates.h"

#include "app/cli/command.h"
#include "app/cli/profile.h"
#include "app/cli/streams.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

namespace cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 1 << 20;

fs::path rates_file()
{
    const fs::path folder = data_folder();
    return folder.empty() ? folder : folder / "machine-rates.json";
}

/// All of it or nothing: written beside the file, then put in its place.
void save(const engine::MachineRates& rates)
{
    const fs::path file = rates_file();
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    fs::path fresh = file;
    fresh += ".new";
    std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
    out << engine::to_json(rates) << '\n';
    out.close();
    if (out && !file.empty())
        fs::rename(fresh, file, error);
    if (!out || file.empty() || error)
        std::fputs("note: the rates could not be kept in the profile\n", stderr);
}

bool has_rates()
{
    std::error_code error;
    return !rates_file().empty() && fs::is_regular_file(rates_file(), error);
}

engine::Result<engine::MachineRates> read_rates()
{
    std::error_code error;
    std::string text;
    if (has_rates() && fs::file_size(rates_file(), error) <= kLargestFile) {
        std::ifstream file(rates_file(), std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    return engine::parse_machine_rates(text);
}

}  // namespace

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
    if (const auto before = read_rates())
        rates->devices = before->devices;  // each says by itself what it holds for
    if (gpu) {
        auto measured = engine::measure_cuda_rates(*gpu);
        if (!measured)
            return tl::unexpected(measured.error());
        rates->devices["cuda:" + std::to_string(*gpu)] = std::move(*measured);
    }
    save(*rates);
    return rates;
}

std::optional<engine::MachineRates> saved_rates(int threads)
{
    if (!has_rates())
        return std::nullopt;
    auto rates = read_rates();
    if (!rates) {
        std::fprintf(stderr, "note: %s; they are measured again\n", rates.error().what.c_str());
        rates = calibrate(threads, {});
    }
    if (!rates || !engine::hold_here(*rates, threads))
        return std::nullopt;
    return *rates;
}

}  // namespace cli
