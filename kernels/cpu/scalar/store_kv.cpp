// Writes one token's keys and values into a KV block: the only place where the cache is rounded.
#include "kernels/cpu/scalar/scalar.h"
#include "kernels/half.h"

#include <cmath>
#include <cstring>

namespace kernels::scalar {

// Writes one token's keys or values. place(d): the index of value d, which differs between keys and values.
template <class Place>
static void store(KvType type, int dim, const float* x, std::byte* values, float* scale, Place place)
{
    switch (type) {
    case KvType::F32:
        for (int d = 0; d < dim; ++d)
            reinterpret_cast<float*>(values)[place(d)] = x[d];
        return;
    case KvType::F16:
        for (int d = 0; d < dim; ++d)
            reinterpret_cast<std::uint16_t*>(values)[place(d)] = float_to_half(x[d]);
        return;
    case KvType::Q8_0: {
        float largest = 0.0f;
        for (int d = 0; d < dim; ++d)
            largest = std::fmax(largest, std::fabs(x[d]));
        const bool zero = !(largest > 1e-36f);  // 127 / largest must be finite
        *scale = zero ? 0.0f : largest / 127.0f;
        const float inverse = zero ? 0.0f : 127.0f / largest;
        for (int d = 0; d < dim; ++d) {
            const float scaled = x[d] * inverse;
            reinterpret_cast<std::int8_t*>(values)[place(d)] = std::int8_t(std::isnan(scaled) ? 0 : std::lrint(scaled));
        }
        return;
    }
    }
}

void store_kv(const KvBlockLayout& layout, std::byte* block, int t, const float* k, const float* v)
{
    auto* k_scale = reinterpret_cast<float*>(block + layout.k_scales_offset()) + t;
    auto* v_scale = reinterpret_cast<float*>(block + layout.v_scales_offset()) + t;
    store(layout.k_type, layout.k_dim, k, block, k_scale, [&](int d) { return layout.k_index(t, d); });
    if (!layout.values_in_keys)
        store(layout.v_type, layout.v_dim, v, block + layout.v_offset(), v_scale,
              [&](int d) { return layout.v_index(t, d); });
}

}  // namespace kernels::scalar
