// Products with one token's activations, of several matrices of one type at once.
#include "kernels/cuda/matvec.cuh"

using namespace kernels::cuda;

#define MATVEC(name, Weights)                                                                                          \
    extern "C" __global__ void __launch_bounds__(kMatvecWarps* kWarp, Weights::kBlocks)                                \
        name(const MatvecArguments a, const MatvecParts parts)                                                         \
    {                                                                                                                  \
        __shared__ Turns<Weights, 1> turns[kMatvecWarps];                                                              \
        const PartOfLaunch of = part_of(a, parts);                                                                     \
        matvec<Weights>(of.a, of.block, turns);                                                                        \
    }                                                                                                                  \
    EMULATED(name)
MATVEC_OF_EACH_TYPE(MATVEC, matvec)
