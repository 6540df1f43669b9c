// HyperparameterReader reads `ARCH.key` values of a model file, within bounds, and remembers the first thing that was
// wrong.
#pragma once

#include "engine/gguf/gguf_file.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

// Upper limits far above any model, so that products of these numbers cannot overflow.
inline constexpr int kMaxLayers = int(kMaxLayerElements);
inline constexpr int kMaxDimension = 1 << 20;
inline constexpr int kMaxTokens = 1 << 27;

class HyperparameterReader
{
public:
    /// The file outlives it.
    HyperparameterReader(const GgufFile& file, std::string_view architecture)
        : file_(file)
        , prefix_(std::string(architecture) + ".")
    {
    }

    int required(std::string_view key, int lowest, int highest)
    {
        const auto value = file_.integer(prefix_ + std::string(key));
        if (!value)
            return wrong(prefix_ + std::string(key) + " is missing from the model file");
        return checked(key, *value, lowest, highest);
    }
    int optional(std::string_view key, int otherwise, int lowest, int highest)
    {
        const auto value = file_.integer(prefix_ + std::string(key));
        return value ? checked(key, *value, lowest, highest) : otherwise;
    }
    float number(std::string_view key, float otherwise)
    {
        const auto value = file_.number(prefix_ + std::string(key));
        if (!value)
            return otherwise;
        if (!std::isfinite(*value) || std::abs(*value) > 1e30)
            return float(wrong(prefix_ + std::string(key) + " is not a usable number"));
        return float(*value);
    }
    bool has(std::string_view key) const
    {
        const std::string name = prefix_ + std::string(key);
        return file_.integer(name) || file_.array_length(name);
    }
    /// Reads a factor; where the file says 0 it means that it has none.
    float factor(std::string_view key, float otherwise)
    {
        const float value = number(key, otherwise);
        return value == 0.0f ? otherwise : value;
    }
    std::optional<bool> boolean(std::string_view key) { return file_.boolean(prefix_ + std::string(key)); }
    std::string_view text(std::string_view key) { return file_.string(prefix_ + std::string(key)).value_or(""); }

    /// Reads a list, or one value by itself; empty: the file has neither.
    std::vector<std::int64_t> integers(std::string_view key)
    {
        const std::string name = prefix_ + std::string(key);
        if (const auto value = file_.integer(name))
            return {*value};
        return file_.integers(name, kMaxLayerElements).value_or(std::vector<std::int64_t>());
    }

    /// Reads one value for each layer: a scalar in the file stands for all.
    std::vector<int> per_layer(std::string_view key, int layers, int otherwise, int lowest, int highest)
    {
        if (const auto entries = file_.array_length(prefix_ + std::string(key)).value_or(0);
            entries > kMaxLayerElements) {
            wrong(prefix_ + std::string(key) + " has " + std::to_string(entries) +
                  " entries, more than a model can have layers");
            return std::vector<int>(std::size_t(layers), lowest);
        }
        const auto values = file_.integers(prefix_ + std::string(key));
        if (!values) {
            const int all = optional(key, otherwise, lowest, highest);
            if (all < lowest)
                wrong(prefix_ + std::string(key) + " is missing from the model file");
            return std::vector<int>(std::size_t(layers), std::max(all, lowest));
        }
        if (int(values->size()) < layers) {
            wrong(prefix_ + std::string(key) + " has fewer entries than the model has layers");
            return std::vector<int>(std::size_t(layers), lowest);
        }
        std::vector<int> out;
        for (int l = 0; l < layers; ++l)
            out.push_back(checked(key, (*values)[std::size_t(l)], lowest, highest));
        return out;
    }

    /// Returns which layers slide: named one by one, or all but the last of each `period`.
    std::vector<bool> sliding_layers(int layers, int period)
    {
        constexpr std::string_view kKey = "attention.sliding_window_pattern";
        std::vector<bool> slides =
            file_.booleans(prefix_ + std::string(kKey), kMaxLayerElements).value_or(std::vector<bool>());
        if (slides.empty()) {
            period = optional(kKey, period, 0, kMaxLayers);
            for (int l = 0; l < layers; ++l)
                slides.push_back(period > 0 && l % period < period - 1);
        }
        if (int(slides.size()) < layers)
            wrong(prefix_ + std::string(kKey) + " has fewer entries than the model has layers");
        slides.resize(std::size_t(layers));
        return slides;
    }

    int wrong(std::string sentence)
    {
        if (error_.empty())
            error_ = std::move(sentence);
        return 0;
    }
    const std::string& error() const { return error_; }

private:
    int checked(std::string_view key, std::int64_t value, int lowest, int highest)
    {
        if (value >= lowest && value <= highest)
            return int(value);
        wrong(prefix_ + std::string(key) + " is " + std::to_string(value) + ", outside what a model can have");
        return lowest;
    }

    const GgufFile& file_;
    std::string prefix_;
    std::string error_;
};

}  // namespace engine
