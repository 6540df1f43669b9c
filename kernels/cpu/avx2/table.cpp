#include "kernels/cpu/avx2/avx2.h"

namespace kernels::avx2 {

CpuKernels improve(const CpuKernels& base)
{
    CpuKernels t = base;
    t.name = "avx2";
    return t;
}

}  // namespace kernels::avx2
