#include "engine/placement_text.h"

#include "engine/caught.h"
#include "engine/gguf/printable.h"
#include "engine/run/placement_checks.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace engine {

namespace {

constexpr std::array<std::pair<std::string_view, KvPolicy>, 5> kPolicies = {{{"resident", KvPolicy::Resident},
                                                                             {"stream", KvPolicy::Stream},
                                                                             {"merge", KvPolicy::Merge},
                                                                             {"auto", KvPolicy::Auto},
                                                                             {"cpu-decode", KvPolicy::CpuDecode}}};

constexpr std::array<std::pair<std::string_view, double>, 9> kUnits = {{{"", 1},
                                                                        {"B", 1},
                                                                        {"KB", 1e3},
                                                                        {"MB", 1e6},
                                                                        {"GB", 1e9},
                                                                        {"KiB", 0x1p10},
                                                                        {"MiB", 0x1p20},
                                                                        {"GiB", 0x1p30},
                                                                        {"TiB", 0x1p40}}};

tl::unexpected<Error> wrong(std::string_view word, const char* wanted)
{
    return fail(Error::Code::BadRequest, "'" + std::string(word) + "' is not " + wanted);
}

Result<int> parse_count(std::string_view text, const char* wanted)
{
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        return wrong(text, wanted);
    return value;
}

/// Reads "2.5GB" as bytes; "" after `suffix` was taken away.
Result<double> parse_amount(std::string_view text, std::string_view suffix, const char* wanted)
{
    const std::string_view whole = text;
    if (text.ends_with(suffix))
        text.remove_suffix(suffix.size());
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit = text.substr(std::size_t(end - text.data()));
    for (const auto& [name, factor] : kUnits)
        if (error == std::errc() && unit == name && std::isfinite(value) && value >= 0 && value * factor < 0x1p62)
            return value * factor;
    return wrong(whole, wanted);
}

}  // namespace

Result<std::int64_t> parse_bytes(std::string_view text)
try {
    const auto amount = parse_amount(text, "", "a size such as 64MiB");
    if (!amount)
        return tl::unexpected(amount.error());
    return std::int64_t(*amount);
} catch (...) {
    return caught("to read a size");
}

std::string_view name_of(KvPolicy policy)
{
    for (const auto& [name, value] : kPolicies)
        if (value == policy)
            return name;
    return {};
}

static Status parse_device(std::string_view name, PlacementOptions& options)
{
    if (name == "cpu")
        return {};
    if (name == "emulated") {
        options.device = PlacementOptions::Device::Emulated;
        return {};
    }
    if (name != "cuda" && !name.starts_with("cuda:"))
        return fail(Error::Code::Unsupported, "the device '" + std::string(name) +
                                                  "' is not known; this version has 'cpu', 'cuda' and 'emulated'");
    options.device = PlacementOptions::Device::Cuda;
    if (name == "cuda")
        return {};
    const auto ordinal = parse_count(name.substr(5), "the number of a CUDA device");
    if (!ordinal)
        return tl::unexpected(ordinal.error());
    options.cuda_ordinal = *ordinal;
    return {};
}

namespace {

struct Memory {
    std::int64_t bytes = 0;
    int fit_tokens = 0;
};

/// Reads "64MiB", "fit:1024", or nothing.
Result<Memory> parse_memory(std::string_view text)
{
    if (text.empty())
        return Memory();
    if (text.starts_with("fit:")) {
        const auto tokens = parse_count(text.substr(4), "a number of tokens that are to fit");
        if (!tokens)
            return tl::unexpected(tokens.error());
        return Memory{0, *tokens};
    }
    const auto bytes = parse_bytes(text);
    if (!bytes)
        return tl::unexpected(bytes.error());
    return Memory{*bytes, 0};
}

}  // namespace

/// Returns the device to which an override sends tensors, in our words or llama.cpp's. Empty: it is no device.
static std::optional<PlacementOptions::TensorOverride> device_of_override(std::string_view name)
{
    using Device = PlacementOptions::Device;
    std::string lower;
    for (const char c : name)
        lower.push_back(c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c);
    if (lower == "cpu" || lower == "cuda_host")
        return PlacementOptions::TensorOverride{{}, Device::Cpu, 0};
    if (lower == "emulated")
        return PlacementOptions::TensorOverride{{}, Device::Emulated, 0};
    if (!lower.starts_with("cuda"))
        return std::nullopt;
    std::string_view number = std::string_view(lower).substr(4);
    if (number.starts_with(':'))
        number.remove_prefix(1);
    if (number.empty() && lower == "cuda")
        return PlacementOptions::TensorOverride{{}, Device::Cuda, 0};
    int ordinal = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
    if (number.empty() || error != std::errc() || end != number.data() + number.size() || ordinal < 0)
        return std::nullopt;
    return PlacementOptions::TensorOverride{{}, Device::Cuda, ordinal};
}

/// "blk\.1\.ffn_.*_exps\.=CPU,exps=CUDA0": a comma ends what names a device, since patterns may have some.
static Status parse_overrides(std::string_view text, PlacementOptions& options)
{
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        for (end = begin;;) {
            end = std::min(text.find(',', end), text.size());
            const std::string_view piece = text.substr(begin, end - begin);
            const std::size_t equals = piece.rfind('=');
            const auto to =
                equals == piece.npos || equals == 0 ? std::nullopt : device_of_override(piece.substr(equals + 1));
            if (to) {
                options.tensor_overrides.push_back(
                    {std::string(piece.substr(0, equals)), to->device, to->cuda_ordinal});
                break;
            }
            if (end == text.size())
                return fail(Error::Code::BadRequest, "“" + printable(piece) +
                                                         "” is no tensor override: REGEX=cpu, REGEX=cuda:0 or "
                                                         "REGEX=emulated");
            ++end;
        }
    }
    return {};
}

Result<PlacementOptions> parse_placement(const PlacementText& text)
try {
    PlacementOptions options;
    if (Status ok = parse_device(text.device, options); !ok)
        return tl::unexpected(ok.error());

    const auto vram = parse_memory(text.vram), budget = parse_memory(text.vram_budget);
    if (!vram || !budget)
        return tl::unexpected(vram ? budget.error() : vram.error());
    options.emulated.vram_bytes = vram->bytes;
    options.emulated.fit_tokens = vram->fit_tokens;
    options.vram_budget_bytes = budget->bytes;
    options.budget_fit_tokens = budget->fit_tokens;
    if (options.device == PlacementOptions::Device::Emulated && options.emulated.vram_bytes == 0 &&
        options.emulated.fit_tokens == 0)
        return fail(Error::Code::BadRequest,
                    "an emulated device needs a size: --vram 64MiB, or --vram fit:1024 for room for 1024 tokens");
    const auto link = parse_amount(text.link, "/s", "a speed such as 16GB/s");
    if (!link)
        return tl::unexpected(link.error());
    options.emulated.link_bytes_per_s = *link;

    if (text.layers != "auto") {
        const auto layers = parse_count(text.layers, "a number of layers, or auto");
        if (!layers)
            return tl::unexpected(layers.error());
        options.device_layers = *layers;
    }
    if (text.host_experts == "all") {
        options.host_expert_layers = PlacementOptions::kAllLayers;
    } else if (text.host_experts != "auto") {
        const auto layers =
            parse_count(text.host_experts, "a number of layers whose experts stay on the host, all, or auto");
        if (!layers)
            return tl::unexpected(layers.error());
        options.host_expert_layers = *layers;
    }
    if (Status ok = parse_overrides(text.override_tensor, options); !ok)
        return tl::unexpected(ok.error());
    if (text.expert_cache == "auto") {
        options.expert_cache_bytes = std::nullopt;
    } else if (!text.expert_cache.empty()) {
        const auto bytes = parse_bytes(text.expert_cache);
        if (!bytes)
            return tl::unexpected(bytes.error());
        options.expert_cache_bytes = *bytes;
    }
    const KvPolicy* policy = nullptr;
    for (const auto& [name, value] : kPolicies)
        if (name == text.kv_policy)
            policy = &value;
    if (!policy)
        return wrong(text.kv_policy, "one of resident, stream, merge, auto, cpu-decode");
    options.kv_policy = *policy;
    options.kv_offload_share = text.kv_offload_percentage / 100;
    if (const Status ok = check(options); !ok)
        return tl::unexpected(ok.error());
    if (text.no_kv_offload)
        options.kv_offload_share = 1.0;
    return options;
} catch (...) {
    return caught("to read the placement");
}

}  // namespace engine
