// Products with up to eight tokens' activations at a time.
#include "kernels/cuda/matvec.cuh"

using namespace kernels::cuda;

#define MATVEC8(name, Weights) MATVEC_KERNEL(name, Weights, kMatvecTokens)
MATVEC_OF_EACH_TYPE(MATVEC8, matvec8)
