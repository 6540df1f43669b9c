// Products with up to eight tokens' activations at a time.
#include "kernels/cuda/matvec.cuh"

using namespace kernels::cuda;

MATVEC_OF_EACH_TYPE(matvec8, kMatvecTokens);
