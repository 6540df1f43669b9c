// The products of packed weights, with bytes multiplied by pairs.
#include "kernels/cpu/avx2/packed_product.h"
#include "kernels/packed_types.h"

namespace kernels::avx2 {

#define MATMUL_PACKED(Name, ...) template void matmul_packed<Name, PairProducts>(const MatMul&);
SPILLWAY_EACH_PACKED_TYPE(MATMUL_PACKED)
#undef MATMUL_PACKED

}  // namespace kernels::avx2
