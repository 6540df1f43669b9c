#include "engine/rates_file.h"

#include "engine/caught.h"
#include "engine/files/private_file.h"
#include "engine/private_folder.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

namespace engine {

namespace fs = std::filesystem;

static constexpr std::uintmax_t kLargestFile = 1 << 20;

RatesFile::RatesFile(const fs::path& data_folder)
    : file_(data_folder.empty() ? fs::path() : data_folder / "machine-rates.json")
{
}

Result<std::optional<MachineRates>> RatesFile::read() const
try {
    std::error_code error;
    if (file_.empty() || !fs::is_regular_file(file_, error))
        return std::nullopt;
    std::string text;
    if (fs::file_size(file_, error) <= kLargestFile) {
        std::ifstream file(file_, std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    auto rates = parse_machine_rates(text);
    if (!rates)
        return tl::unexpected(rates.error());
    return std::move(*rates);
} catch (...) {
    return caught("to read the rates of this machine");
}

static Status write_all(const fs::path& path, const std::string& text)
{
    auto file = PrivateFile::open(path, PrivateFile::Access::Write);
    if (!file)
        return tl::unexpected(file.error());
    if (Status cut = file->cut(0); !cut)
        return cut;
    if (Status written = file->write(0, std::as_bytes(std::span(text))); !written)
        return written;
    return file->sync();
}

/// Keeps all of the rates or nothing: they are written beside the file, and then put in its place.
Status RatesFile::keep(const MachineRates& rates) const
try {
    const auto failed = [] { return fail(Error::Code::CannotWrite, "the rates could not be kept in the profile"); };
    if (file_.empty())
        return failed();
    const auto before = read();
    const MachineRates all = before && *before ? merge(**before, rates) : rates;
    if (!make_private_folder(file_.parent_path()))
        return failed();
    fs::path fresh = file_;
    fresh += ".new";
    std::error_code error;
    if (!write_all(fresh, to_json(all) + '\n'))
        return failed();
    fs::rename(fresh, file_, error);
    return error ? failed() : Status();
} catch (...) {
    return caught("to keep the rates of this machine");
}

MachineRates merge(const MachineRates& before, MachineRates last)
{
    for (const auto& [id, rates] : before.devices)
        last.devices.try_emplace(id, rates);  // each device names what its rates hold for
    if (before.cpu != last.cpu || before.kernels != last.kernels || before.threads != last.threads)
        return last;
    const auto add = [](auto& to, const auto& from, const auto& same) {
        for (const auto& rate : from)
            if (std::ranges::none_of(to, [&](const auto& known) { return same(known, rate); }))
                to.push_back(rate);
    };
    add(last.products, before.products,
        [](const ProductRate& a, const ProductRate& b) { return a.type == b.type && a.row_length == b.row_length; });
    add(last.attention, before.attention, [](const AttentionRate& a, const AttentionRate& b) {
        return a.k_type == b.k_type && a.v_type == b.v_type && a.head_length == b.head_length && a.group == b.group;
    });
    return last;
}

}  // namespace engine
