#include "engine/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace engine {

namespace {

/// YaRN (arXiv 2309.00071): low frequencies are interpolated by `factor`, high ones kept, a ramp between.
class YarnRamp
{
public:
    YarnRamp(const RopeScaling& s, int dimensions, double base)
    {
        low_ = std::max(0.0, std::floor(dimension_of(s.yarn_beta_fast, s, dimensions, base)));
        high_ = std::min(dimensions - 1.0, std::ceil(dimension_of(s.yarn_beta_slow, s, dimensions, base)));
    }
    /// Returns the share of the unscaled frequency for pair i.
    double extrapolated(int i) const { return 1.0 - std::clamp((i - low_) / std::max(0.001, high_ - low_), 0.0, 1.0); }

private:
    /// Returns the (fractional) pair that turns `rotations` times within the original context.
    static double dimension_of(double rotations, const RopeScaling& s, int dimensions, double base)
    {
        return dimensions * std::log(s.original_context / (rotations * 2.0 * std::numbers::pi)) /
               (2.0 * std::log(base));
    }
    double low_ = 0, high_ = 0;
};

double yarn_magnitude(const RopeScaling& s)
{
    if (s.factor <= 1.0f)
        return 1.0;
    const auto magnitude = [&](double multiplier) { return 0.1 * multiplier * std::log(double(s.factor)) + 1.0; };
    // Where the file's own factor is this one (OLMo 3's are), a converter has taken it for the whole magnitude.
    if (std::abs(double(s.attn_factor) - magnitude(1.0)) < 1e-4)
        return 1.0;
    // With a multiplier (DeepSeek, Mistral) YaRN's own magnitude is divided out again, and the attention scale stays.
    return s.yarn_log_multiplier != 0.0f ? magnitude(1.0) / magnitude(s.yarn_log_multiplier) : magnitude(1.0);
}

}  // namespace

RopeFrequencies rope_frequencies(const Hyperparameters& h, LayerKind kind, std::span<const float> factors)
{
    const bool local = kind == LayerKind::SlidingWindow && has_local_rope(h);
    const double base = local ? h.rope_base_local : h.rope_base;
    const int n = h.rope_dimensions(kind);
    const RopeScaling& s = h.rope_scaling;

    RopeFrequencies out;
    out.magnitude = s.attn_factor;
    for (int i = 0; i < n / 2; ++i) {
        double radians = std::pow(base, -2.0 * i / n);
        if (!local && i < int(factors.size()) && factors[std::size_t(i)] > 0)
            radians /= factors[std::size_t(i)];
        out.radians_per_token.push_back(radians);
    }
    if (local && h.architecture->local_rope_unscaled)
        out.magnitude = 1.0;
    if (local)  // local layers never reach beyond their window: neither frequencies nor positions are scaled
        return out;
    if (s.kind == RopeScaling::Kind::Linear) {
        for (double& radians : out.radians_per_token)
            radians /= s.factor;
    } else if (s.kind == RopeScaling::Kind::Yarn) {
        const YarnRamp ramp(s, n, base);
        for (int i = 0; i < n / 2; ++i) {
            double& radians = out.radians_per_token[std::size_t(i)];
            const double extrapolated = ramp.extrapolated(i);
            radians = radians * extrapolated + radians / s.factor * (1.0 - extrapolated);
        }
        if (!h.latent)  // else it is in the attention scale
            out.magnitude *= yarn_magnitude(s);
    }
    return out;
}

void rope_table(const RopeFrequencies& f, int first, int count, float* cos, float* sin)
{
    for (int t = 0; t < count; ++t)
        for (const double radians : f.radians_per_token) {
            const double angle = (first + t) * radians;
            *cos++ = float(std::cos(angle) * f.magnitude);
            *sin++ = float(std::sin(angle) * f.magnitude);
        }
}

}  // namespace engine
