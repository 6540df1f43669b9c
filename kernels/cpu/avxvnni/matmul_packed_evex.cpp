// The products of packed weights with VPDPBUSD in AVX-512's encoding, the only one that some processors know.
#include "kernels/cpu/avx2/interleaved_product.h"
#include "kernels/packed_types.h"

namespace kernels::avx2 {

#define MATMUL_PACKED(Name, ...) template void matmul_packed<Name, Avx512VnniProducts>(const MatMul&);
SPILLWAY_EACH_PACKED_TYPE(MATMUL_PACKED)
#undef MATMUL_PACKED
#define MATMUL_INTERLEAVED(Name) template void matmul_interleaved<Interleaved##Name, Avx512VnniProducts>(const MatMul&);
SPILLWAY_EACH_INTERLEAVED_TYPE(MATMUL_INTERLEAVED)
#undef MATMUL_INTERLEAVED

}  // namespace kernels::avx2
