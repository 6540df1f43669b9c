#include "kernels/cpu/dispatch/cpu_features.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

namespace kernels {

// Bits of the XCR0 register: which register files the operating system saves.
static unsigned saved_registers()
{
    unsigned low = 0;
    unsigned high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

CpuFeatures detect_cpu_features()
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    CpuFeatures found;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return found;
    const bool osxsave = c >> 27 & 1;
    const bool avx_fma_f16c = (c >> 28 & 1) && (c >> 12 & 1) && (c >> 29 & 1);
    if (!osxsave || !avx_fma_f16c || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return found;
    const unsigned saved = saved_registers();
    const bool ymm_saved = (saved & 0x06) == 0x06;
    const bool zmm_saved = (saved & 0xe6) == 0xe6;
    found.avx2_set = ymm_saved && (b >> 5 & 1);
    const bool f_dq_bw_vl = (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1) && (b >> 31 & 1);
    const bool vnni = c >> 11 & 1;
    unsigned a1 = 0, b1 = 0, c1 = 0, d1 = 0;
    found.avxvnni_set = found.avx2_set && a >= 1 && __get_cpuid_count(7, 1, &a1, &b1, &c1, &d1) && (a1 >> 4 & 1);
    found.avx512_set = found.avx2_set && zmm_saved && f_dq_bw_vl && vnni;
    const bool tiles_saved = (saved & 0x60000) == 0x60000;
    found.amx_set = found.avx512_set && tiles_saved && (d >> 24 & 1) && (d >> 25 & 1);
    return found;
}

}  // namespace kernels

#else

namespace kernels {

CpuFeatures detect_cpu_features()
{
    return {};
}

}  // namespace kernels

#endif
