// Finds out which of the instruction sets that our kernels are written for this processor has and the operating system
// permits.
#pragma once

namespace kernels {

struct CpuFeatures {
    bool avx2_set = false;     // AVX2, FMA, F16C
    bool avxvnni_set = false;  // AVX-VNNI, on top of the above
    bool avx512_set = false;   // AVX-512 F, BW, VL, DQ and VNNI, on top of avx2_set
    bool amx_set = false;      // AMX's tiles of bytes, on top of avx512_set
};

CpuFeatures detect_cpu_features();

}  // namespace kernels
