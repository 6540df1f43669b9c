#include "app/chat/sampling_control.h"

#include <QJsonValue>

#include <cmath>

namespace {

using Request = engine::Request;
using Value = std::optional<double>;

constexpr double kLargestSeed = 4294967295.0;  // whole numbers that JSON, QML and people carry without loss

// In the order in which they are shown: first those that most people change.
constexpr SamplingControl kControls[] = {
    {"temperature", 0, 5, 2, 0.05, 2, [](const Request& r) { return Value(r.sampling.temperature); },
     [](Request& r, double v) { r.sampling.temperature = float(v); }},
    {"top_p", 0, 1, 1, 0.01, 2, [](const Request& r) { return Value(r.sampling.top_p); },
     [](Request& r, double v) { r.sampling.top_p = float(v); }},
    {"top_k", 0, 1000, 200, 1, 0, [](const Request& r) { return Value(r.sampling.top_k); },
     [](Request& r, double v) { r.sampling.top_k = int(v); }},
    {"min_p", 0, 1, 1, 0.01, 2, [](const Request& r) { return Value(r.sampling.min_p); },
     [](Request& r, double v) { r.sampling.min_p = float(v); }},
    {"repeat_penalty", 0.5, 2, 2, 0.01, 2, [](const Request& r) { return Value(r.sampling.repeat_penalty); },
     [](Request& r, double v) { r.sampling.repeat_penalty = float(v); }},
    {"max_tokens", 1, 1000000, 0, 1, 0,
     [](const Request& r) { return r.max_tokens < 0 ? Value() : Value(r.max_tokens); },
     [](Request& r, double v) { r.max_tokens = int(v); }},
    {"seed", 0, kLargestSeed, 0, 1, 0,
     [](const Request& r) { return r.sampling.seed ? Value(double(*r.sampling.seed)) : Value(); },
     [](Request& r, double v) { r.sampling.seed = std::uint64_t(v); }},
};

}  // namespace

std::span<const SamplingControl> samplingControls()
{
    return kControls;
}

std::optional<double> samplingValue(const QJsonObject& sampling, const SamplingControl& control)
{
    const QJsonValue value = sampling.value(QLatin1String(control.key));
    if (!value.isDouble())
        return {};
    const double number = value.toDouble();
    const bool whole = control.decimals > 0 || number == std::floor(number);
    return number >= control.from && number <= control.to && whole ? std::optional(number) : std::nullopt;
}
