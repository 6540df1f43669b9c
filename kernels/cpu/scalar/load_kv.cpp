// Reads one token's keys and values from a KV block.
#include "kernels/cpu/scalar/scalar.h"
#include "kernels/half.h"

#include <cstdint>

namespace kernels::scalar {

// Reads one token's keys or values. place(d): the index of value d, which differs between keys and values.
template <class Place>
static void load(KvType type, int dim, const std::byte* values, const float* scale, float* x, Place place)
{
    switch (type) {
    case KvType::F32:
        for (int d = 0; d < dim; ++d)
            x[d] = reinterpret_cast<const float*>(values)[place(d)];
        return;
    case KvType::F16:
        for (int d = 0; d < dim; ++d)
            x[d] = half_to_float(reinterpret_cast<const std::uint16_t*>(values)[place(d)]);
        return;
    case KvType::Q8_0:
        for (int d = 0; d < dim; ++d)
            x[d] = *scale * float(reinterpret_cast<const std::int8_t*>(values)[place(d)]);
        return;
    }
}

void load_kv(const KvBlockLayout& layout, const std::byte* block, int t, float* k, float* v)
{
    const auto* k_scale = reinterpret_cast<const float*>(block + layout.k_scales_offset()) + t;
    const auto* v_scale = reinterpret_cast<const float*>(block + layout.v_scales_offset()) + t;
    load(layout.k_type, layout.k_dim, block, k_scale, k, [&](int d) { return layout.k_index(t, d); });
    load(layout.v_type, layout.v_dim, block + layout.v_offset(), v_scale, v,
         [&](int d) { return layout.v_index(t, d); });
}

}  // namespace kernels::scalar
