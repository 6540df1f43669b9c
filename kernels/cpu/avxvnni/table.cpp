#include "kernels/cpu/avxvnni/avxvnni.h"

#include "kernels/cpu/avx2/byte_products.h"
#include "kernels/cpu/avx2/packed_slots.h"

namespace kernels::avxvnni {

CpuKernels improve(const CpuKernels& base, Encoding encoding)
{
    CpuKernels t = base;
    t.name = "avxvnni";
    if (encoding == Encoding::Vex)
        avx2::use_packed_products<avx2::VnniProducts>(t);
    else
        avx2::use_packed_products<avx2::Avx512VnniProducts>(t);
    return t;
}

}  // namespace kernels::avxvnni
