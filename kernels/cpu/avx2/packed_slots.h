// Fills a table's slots for products of packed weights, whose code AVX2 and AVX-VNNI share except for one instruction.
#pragma once

#include "kernels/cpu/avx2/formats.h"
#include "kernels/cpu/avx2/grid_formats.h"
#include "kernels/cpu/avx2/interleaved_rows.h"
#include "kernels/cpu/avx2/slots.h"
#include "kernels/cpu/avx2/ternary_formats.h"
#include "kernels/packed_types.h"

namespace kernels::avx2 {

/// Sets every packed format's products, with bytes multiplied as Products says.
template <class Products>
void use_packed_products(CpuKernels& t)
{
    auto* matmul = t.matmul.data();
#define MATMUL_PACKED(Name, ...) matmul[int(TensorType::Name)] = matmul_packed<Name, Products>;
    SPILLWAY_EACH_PACKED_TYPE(MATMUL_PACKED)
#undef MATMUL_PACKED
    const auto interleaved = [&t]<class Format>(TensorType type) {
        t.interleave[std::size_t(type)] = interleave<Format>;
        t.matmul_interleaved[std::size_t(type)] = matmul_interleaved<Format, Products>;
    };
#define INTERLEAVED(Name) interleaved.template operator()<Interleaved##Name>(TensorType::Name);
    SPILLWAY_EACH_INTERLEAVED_TYPE(INTERLEAVED)
#undef INTERLEAVED
}

}  // namespace kernels::avx2
