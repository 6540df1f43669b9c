#include "engine/model/tensor_overrides.h"

#include "engine/gguf/printable.h"
#include "engine/tokenizer/pcre2_handles.h"

#include <algorithm>
#include <climits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

namespace engine {

namespace {

using DeviceKind = PlacementOptions::Device;
using TensorOverride = PlacementOptions::TensorOverride;

constexpr int kSteps = 5000;  // of one attempt to match; a name has some dozens of characters
constexpr std::size_t kMostPatterns = 64, kLongestPattern = 1000;

/// Holds the compiled patterns.
class Patterns
{
public:
    static Result<Patterns> compile(const std::vector<TensorOverride>& overrides)
    {
        Patterns patterns;
        if (!patterns.data_ || !patterns.context_)
            throw std::bad_alloc();
        if (overrides.size() > kMostPatterns)
            return fail(Error::Code::BadRequest,
                        "there may be " + std::to_string(kMostPatterns) + " tensor overrides at most");
        for (const TensorOverride& to : overrides) {
            int error = 0;
            PCRE2_SIZE at = 0;
            pcre2_code* const code =
                to.pattern.size() > kLongestPattern
                    ? nullptr
                    : pcre2_compile(reinterpret_cast<PCRE2_SPTR>(to.pattern.data()), to.pattern.size(),
                                    PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UTF, &error, &at, nullptr);
            if (!code)
                return fail(Error::Code::BadRequest, "“" + printable(to.pattern) +
                                                         "” is no pattern for tensors: character " +
                                                         std::to_string(at) + " makes no sense there");
            patterns.codes_.emplace_back(code);
        }
        return patterns;
    }

    /// Says which of the patterns is found first in the name; the inner optional is empty where none is, the outer one
    /// where it took too long.
    std::optional<std::optional<std::size_t>> first_in(std::string_view name) const
    {
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            const int found = pcre2_match(codes_[i].get(), reinterpret_cast<PCRE2_SPTR>(name.data()), name.size(), 0, 0,
                                          data_.get(), context_.get());
            if (found >= 0)
                return std::optional(i);
            if (found != PCRE2_ERROR_NOMATCH)
                return std::nullopt;
        }
        return std::optional<std::size_t>();
    }

private:
    Patterns()
    {
        if (!context_)
            return;
        pcre2_set_match_limit(context_.get(), kSteps);
        pcre2_set_depth_limit(context_.get(), kSteps);
        pcre2_set_heap_limit(context_.get(), 1024);  // KiB
    }

    Pcre2MatchData data_{pcre2_match_data_create(1, nullptr)};
    Pcre2MatchContext context_{pcre2_match_context_create(nullptr)};
    std::vector<Pcre2Code> codes_;
};

std::string name_of_device(DeviceKind kind, int ordinal)
{
    return kind == DeviceKind::Cpu        ? "cpu"
           : kind == DeviceKind::Emulated ? "emulated"
                                          : "cuda:" + std::to_string(ordinal);
}

bool is_expert(std::string_view name)
{
    return name.find("_exps.") != std::string_view::npos;
}

/// Returns how the experts of a layer are named in a pattern.
std::string pattern_of_experts(int layer)
{
    return "blk\\." + std::to_string(layer) + "\\.ffn_.*_exps=";
}

/// Holds the overrides for one layer's experts.
struct Asked {
    std::string tensor;  // the first of them
    bool on_host = false;
};

/// Counts the layers, without the blocks behind them, which predict several tokens at once.
int layers_of(const GgufFile& file)
{
    const std::string prefix = std::string(file.string("general.architecture").value_or("")) + '.';
    const auto number = [&](const char* key) {
        return int(std::clamp<std::int64_t>(file.integer(prefix + key).value_or(0), 0, INT_MAX));
    };
    return number("block_count") - number("nextn_predict_layers");
}

}  // namespace

Result<PlacementOptions> with_tensor_overrides(PlacementOptions options, const GgufFile& file)
{
    if (options.tensor_overrides.empty())
        return options;
    const auto patterns = Patterns::compile(options.tensor_overrides);
    if (!patterns)
        return tl::unexpected(patterns.error());
    const std::string device = name_of_device(options.device, options.cuda_ordinal);
    const int layers_in_use = layers_of(file);
    std::map<int, Asked> layers;
    for (const GgufTensor& tensor : file.tensors()) {
        const auto first = patterns->first_in(tensor.name);
        const std::string name = printable(tensor.name);
        if (!first)
            return fail(Error::Code::BadRequest, "a tensor override takes too long to be compared with " + name);
        const TensorOverride* const to = *first ? &options.tensor_overrides[**first] : nullptr;
        if (to && to->device != DeviceKind::Cpu &&
            (to->device != options.device || to->cuda_ordinal != options.cuda_ordinal))
            return fail(Error::Code::BadRequest,
                        name + " cannot lie on " + name_of_device(to->device, to->cuda_ordinal) + ": " +
                            (options.device == DeviceKind::Cpu
                                 ? "the model is computed on the cpu alone; --device names another one"
                                 : "the model's device is " + device));
        if (options.device == DeviceKind::Cpu)
            continue;  // where all else lies, too
        const bool on_host = to && to->device == DeviceKind::Cpu;
        if (!is_expert(tensor.name)) {
            const bool in_layer = tensor.block() >= 0;
            const bool stays_on_host = tensor.name.starts_with("token_embd") || tensor.name.starts_with("per_layer_");
            if (to && on_host != stays_on_host)
                return fail(Error::Code::BadRequest,
                            name + " cannot lie on the " + (on_host ? "cpu" : "device") + " by itself" +
                                (in_layer ? ": a layer's routed experts can (" + pattern_of_experts(tensor.block()) +
                                                "cpu), and whole layers by -ngl"
                                 : on_host ? ": it goes with the last layer (-ngl)"
                                           : ": rows are read from it one at a time"));
            continue;
        }
        if (!tensor.name.ends_with(".weight") || tensor.block() < 0 || tensor.block() >= layers_in_use)
            continue;  // goes along, or is never on a device
        const auto [known, is_new] = layers.try_emplace(tensor.block(), Asked{tensor.name, on_host});
        if (!is_new && known->second.on_host != on_host)
            return fail(Error::Code::BadRequest, name + " cannot lie on the " + (on_host ? "cpu" : "device") +
                                                     " while " + printable(known->second.tensor) +
                                                     " does not: a layer's experts lie together (" +
                                                     pattern_of_experts(tensor.block()) + "cpu)");
    }
    int on_host = 0;
    options.host_experts_first.clear();
    for (const auto& [layer, asked] : layers)
        if (asked.on_host) {
            options.host_experts_first.push_back(layer);
            ++on_host;
        }
    if (!options.host_expert_layers && !layers.empty())
        options.host_expert_layers = on_host;
    return options;
}

}  // namespace engine
