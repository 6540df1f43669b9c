// Reference attention over one KV block: scores, their exponentials against the block's own maximum, weighted values.
#include "kernels/cpu/scalar/scalar.h"
#include "kernels/half.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernels::scalar {

static constexpr float kEmpty = -std::numeric_limits<float>::infinity();

static float value(KvType type, const std::byte* values, std::size_t index)
{
    switch (type) {
    case KvType::F32:
        return reinterpret_cast<const float*>(values)[index];
    case KvType::F16:
        return half_to_float(reinterpret_cast<const std::uint16_t*>(values)[index]);
    case KvType::Q8_0:
        return float(reinterpret_cast<const std::int8_t*>(values)[index]);
    }
    return 0.0f;
}

// The scale of token t's keys or values; 1 where the format has none.
static float scale(KvType type, const std::byte* scales, int t)
{
    return type == KvType::Q8_0 ? reinterpret_cast<const float*>(scales)[t] : 1.0f;
}

static float score(const AttendBlock& a, const float* q, int t)
{
    const KvBlockLayout& l = a.layout;
    float sum = 0.0f;
    for (int d = 0; d < l.k_dim; ++d)
        sum += q[d] * value(l.k_type, a.block, l.k_index(t, d));
    sum *= scale(l.k_type, a.block + l.k_scales_offset(), t);
    return a.softcap > 0.0f ? a.softcap * std::tanh(sum / a.softcap) : sum;
}

static void attend_head(const AttendBlock& a, int g)
{
    const KvBlockLayout& l = a.layout;
    float* scores = a.scores + std::size_t(g) * std::size_t(l.tokens);
    float* out = a.out + std::size_t(g) * std::size_t(l.v_dim);
    std::fill_n(out, l.v_dim, 0.0f);

    float max = kEmpty;
    for (int t = a.first; t < a.last; ++t) {
        scores[t] = score(a, a.q + std::size_t(g) * std::size_t(l.k_dim), t);
        max = std::max(max, scores[t]);
    }
    float sum = 0.0f;
    for (int t = a.first; t < a.last && max != kEmpty; ++t) {
        const float weight = std::exp(scores[t] - max);
        sum += weight;
        const float scaled = weight * scale(l.v_type, a.block + l.v_scales_offset(), t);
        for (int d = 0; d < l.v_dim; ++d)
            out[d] += scaled * value(l.v_type, a.block + l.v_offset(), l.v_index(t, d));
    }
    a.max[g] = max;
    a.sum[g] = sum;
}

void attend_block(const AttendBlock& a)
{
    for (int g = 0; g < a.group; ++g)
        attend_head(a, g);
}

void merge_partial(int dim, float max, float sum, const float* out, float& acc_max, float& acc_sum, float* acc_out)
{
    if (max == kEmpty)
        return;  // nothing was attended; also keeps -inf - -inf out of the exponentials
    const float joint = std::max(acc_max, max);
    const float keep = acc_max == kEmpty ? 0.0f : std::exp(acc_max - joint);
    const float take = std::exp(max - joint);
    acc_sum = keep == 0.0f ? take * sum : keep * acc_sum + take * sum;
    for (int d = 0; d < dim; ++d)  // an empty accumulator's values may never have been written
        acc_out[d] = keep == 0.0f ? take * out[d] : keep * acc_out[d] + take * out[d];
    acc_max = joint;
}

}  // namespace kernels::scalar
