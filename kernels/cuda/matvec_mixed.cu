// Products of matrices of two types with the same token, in one launch: files mix such types in one layer.
#include "kernels/cuda/matvec_end.cuh"

using namespace kernels::cuda;

namespace {

template <class First, class Second>
__device__ void matvec_mixed(const MatvecArguments& a, const MatvecParts& parts, const MatvecEnd& end)
{
    using TurnsOfFirst = Turns<First, 1>;
    using TurnsOfSecond = Turns<Second, 1>;
    constexpr std::size_t kBytes =
        sizeof(TurnsOfFirst) > sizeof(TurnsOfSecond) ? sizeof(TurnsOfFirst) : sizeof(TurnsOfSecond);
    __shared__ uint4 turns[kMatvecWarps * kBytes / sizeof(uint4)];  // room for either: a thread block has one type
    static_assert(sizeof turns >= kLongestHead * sizeof(float));
    const PartOfLaunch of = part_of(a, parts, int(blockIdx.x));
    if (of.is_second_type)
        matvec<Second>(of.a, of.block, reinterpret_cast<TurnsOfSecond*>(turns));
    else
        matvec<First>(of.a, of.block, reinterpret_cast<TurnsOfFirst*>(turns));
    if (end.counters)
        end_matvec(end, part_of(a, parts, computed_anew(int(blockIdx.x))), reinterpret_cast<float*>(turns));
}

}  // namespace

#define MATVEC_MIXED(name, First, Second)                                                                              \
    extern "C" __global__ void __launch_bounds__(kMatvecWarps* kWarp, PackedWeights<kernels::Block##First>::kBlocks)   \
        name(const MatvecArguments a, const MatvecParts parts, const __grid_constant__ MatvecEnd end)                  \
    {                                                                                                                  \
        matvec_mixed<PackedWeights<kernels::Block##First>, PackedWeights<kernels::Block##Second>>(a, parts, end);      \
    }                                                                                                                  \
    EMULATED(name)

MATVEC_MIXED(matvec_q3_k_q5_k, Q3_K, Q5_K);
MATVEC_MIXED(matvec_q4_k_q5_k, Q4_K, Q5_K);
MATVEC_MIXED(matvec_q4_k_q6_k, Q4_K, Q6_K);
MATVEC_MIXED(matvec_q5_k_q6_k, Q5_K, Q6_K);
