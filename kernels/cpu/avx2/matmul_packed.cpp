// The products of packed weights, with bytes multiplied by pairs.
#include "kernels/cpu/avx2/interleaved_product.h"
#include "kernels/packed_types.h"

namespace kernels::avx2 {

#define MATMUL_PACKED(Name, ...) template void matmul_packed<Name, PairProducts>(const MatMul&);
SPILLWAY_EACH_PACKED_TYPE(MATMUL_PACKED)
#undef MATMUL_PACKED
#define MATMUL_INTERLEAVED(Name) template void matmul_interleaved<Interleaved##Name, PairProducts>(const MatMul&);
SPILLWAY_EACH_INTERLEAVED_TYPE(MATMUL_INTERLEAVED)
#undef MATMUL_INTERLEAVED
#define INTERLEAVE(Name) template void interleave<Interleaved##Name>(int, int, const std::byte*, std::byte*);
SPILLWAY_EACH_INTERLEAVED_TYPE(INTERLEAVE)
#undef INTERLEAVE

}  // namespace kernels::avx2
