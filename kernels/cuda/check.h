// Checks that a GPU computes right: every kernel on small shapes and their tails, beside the scalar reference on the
// same inputs, within what rounding explains. The tests run it on the emulated GPU, `spillway-cli selftest` on a real
// one.
#pragma once

#include "kernels/cuda/blas.h"
#include "kernels/cuda/driver.h"

#include <functional>
#include <string>
#include <vector>

namespace kernels::cuda {

/// Holds what one kernel did on all its shapes.
struct Checked {
    Status status = Status::Ok;  // of the first call that failed
    double worst = 0;            // largest difference, as a share of the tolerance: above 1 is wrong
    std::string where;           // the shape it was found at

    bool passed() const { return status == Status::Ok && worst <= 1.0; }
};

struct KernelCheck {
    std::string name;  // "product Q4_K"
    std::function<Checked(const Driver& driver, unsigned seed)> run;
};

/// Returns the checks, which together launch every kernel. Each needs a few megabytes of the device, and its context to
/// be current. They throw std::bad_alloc.
const std::vector<KernelCheck>& kernel_checks();

/// Holds what products by cuBLAS, of all types that it is used for, differ from the same in double precision. This
/// check is not among kernel_checks(), since a machine may have no cuBLAS.
struct BlasChecked {
    Checked checked;
    BlasStatus blas_status = BlasStatus::Ok;  // of the first call that failed
    bool passed() const { return checked.passed() && blas_status == BlasStatus::Ok; }
};
BlasChecked check_blas(const Driver& driver, const BlasTable& table, unsigned seed);

}  // namespace kernels::cuda
