// Products with one token's activations, of several matrices of one type at once, and what they end with.
#include "kernels/cuda/matvec_end.cuh"

using namespace kernels::cuda;

#define MATVEC(name, Weights)                                                                                          \
    extern "C" __global__ void __launch_bounds__(kMatvecWarps* kWarp, Weights::kBlocks)                                \
        name(const MatvecArguments a, const MatvecParts parts, const __grid_constant__ MatvecEnd end)                  \
    {                                                                                                                  \
        __shared__ Turns<Weights, 1> turns[kMatvecWarps];                                                              \
        static_assert(sizeof turns >= kLongestHead * sizeof(float));                                                   \
        const PartOfLaunch of = part_of(a, parts, int(blockIdx.x));                                                    \
        matvec<Weights>(of.a, of.block, turns);                                                                        \
        if (end.counters)                                                                                              \
            end_matvec(end, part_of(a, parts, computed_anew(int(blockIdx.x))), reinterpret_cast<float*>(turns));       \
    }                                                                                                                  \
    EMULATED(name)
MATVEC_OF_EACH_TYPE(MATVEC, matvec)
