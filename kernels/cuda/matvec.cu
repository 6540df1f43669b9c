// Products with one token's activations.
#include "kernels/cuda/matvec.cuh"

using namespace kernels::cuda;

MATVEC_OF_EACH_TYPE(matvec, 1);
