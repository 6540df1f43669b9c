// Reference norms, sum, rotation and activations.
#include "kernels/cpu/scalar/scalar.h"

#include <algorithm>
#include <cmath>

namespace kernels::scalar {

void rms_norm(int n, const float* x, const float* weight, float eps, float* out)
{
    double squares = 0.0;
    for (int i = 0; i < n; ++i)
        squares += double(x[i]) * double(x[i]);
    const float scale = float(1.0 / std::sqrt(squares / double(n) + double(eps)));
    for (int i = 0; i < n; ++i)
        out[i] = x[i] * scale * weight[i];
}

void l2_norm(int n, const float* x, float eps, float factor, float* out)
{
    double squares = 0.0;
    for (int i = 0; i < n; ++i)
        squares += double(x[i]) * double(x[i]);
    const float scale = float(double(factor) / std::sqrt(squares + double(eps)));
    for (int i = 0; i < n; ++i)
        out[i] = x[i] * scale;
}

void layer_norm(int n, const float* x, const float* weight, float eps, float* out)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i)
        sum += double(x[i]);
    const double mean = sum / double(n);
    double squares = 0.0;
    for (int i = 0; i < n; ++i)
        squares += (double(x[i]) - mean) * (double(x[i]) - mean);
    const double scale = 1.0 / std::sqrt(squares / double(n) + double(eps));
    for (int i = 0; i < n; ++i)
        out[i] = float((double(x[i]) - mean) * scale) * weight[i];
}

void add(int n, const float* y, float* x)
{
    for (int i = 0; i < n; ++i)
        x[i] += y[i];
}

void rope(bool neox, int n_rot, const float* cos, const float* sin, float* head)
{
    const int pairs = n_rot / 2;
    for (int i = 0; i < pairs; ++i) {
        float& a = head[neox ? i : 2 * i];
        float& b = head[neox ? i + pairs : 2 * i + 1];
        const float rotated = a * cos[i] - b * sin[i];
        b = a * sin[i] + b * cos[i];
        a = rotated;
    }
}

static float sigmoid(float x)
{
    return 1.0f / (1.0f + std::exp(-x));
}

void silu_mul(int n, const float* gate, const float* up, float* out)
{
    for (int i = 0; i < n; ++i)
        out[i] = gate[i] * sigmoid(gate[i]) * up[i];
}

// gelu(x) = x / 2 * (1 + tanh(u)) = x * sigmoid(2 u), u = sqrt(2 / pi) * (x + 0.044715 x^3)
void gelu_mul(int n, const float* gate, const float* up, float* out)
{
    constexpr float kTwoSqrtTwoOverPi = 1.5957691216057308f;
    for (int i = 0; i < n; ++i) {
        const float x = gate[i];
        const float twice_u = kTwoSqrtTwoOverPi * (x + 0.044715f * x * x * x);
        out[i] = x * sigmoid(twice_u) * up[i];
    }
}

void swiglu_oai(int n, const float* gate, const float* up, float alpha, float limit, float* out)
{
    for (int i = 0; i < n; ++i) {
        const float g = std::min(gate[i], limit);
        const float u = std::clamp(up[i], -limit, limit);
        out[i] = g * sigmoid(alpha * g) * (u + 1.0f);
    }
}

void sigmoid_mul(int n, const float* gate, const float* up, float* out)
{
    for (int i = 0; i < n; ++i)
        out[i] = sigmoid(gate[i]) * up[i];
}

void relu_squared(int n, const float* x, float* out)
{
    for (int i = 0; i < n; ++i) {
        const float positive = x[i] < 0.0f ? 0.0f : x[i];  // NaN stays NaN
        out[i] = positive * positive;
    }
}

}  // namespace kernels::scalar
