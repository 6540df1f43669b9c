// Products with one token's activations.
#include "kernels/cuda/matvec.cuh"

using namespace kernels::cuda;

#define MATVEC(name, Weights) MATVEC_KERNEL(name, Weights, 1)
MATVEC_OF_EACH_TYPE(MATVEC, matvec)
