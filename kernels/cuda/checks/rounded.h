// RoundedCheck gives an operation room for its result in 8 bits, and compares that with what the reference makes of the
// result.
#pragma once

#include "kernels/cpu.h"
#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace kernels::cuda {

class RoundedCheck
{
public:
    /// `n`: a multiple of 32
    RoundedCheck(DeviceMemory& on, int rows, int n)
        : on_(on)
        , rows_(rows)
        , n_(n)
        , stride_(activation_row_bytes(Activation::Q8, n))
        , out_(on.put(untouched()))
        , residual_(on.put(untouched()))
    {
    }
    Rounded to() const { return {{out_, stride_}, residual_}; }

    /// Returns the largest error as a share of what is allowed. values: (rows, n), the operation's result. The rounded
    /// rows must be the very bytes of the reference; together with the residual they must be right to half a step of
    /// the residual's. Rows that are left out must be as they were.
    double error(const std::vector<float>& values, std::span<const int> left_out = {}) const
    {
        std::vector<std::byte> expected = untouched();
        const auto is_left_out = [&](int r) { return std::ranges::find(left_out, r) != left_out.end(); };
        for (int r = 0; r < rows_; ++r)
            if (!is_left_out(r))
                all_cpu_kernels().front().quantize_q8(n_, &values[std::size_t(r * n_)],
                                                      &expected[std::size_t(r) * stride_]);
        const auto rounded = on_.get<std::byte>(out_, expected.size());
        const auto residual = on_.get<std::byte>(residual_, expected.size());
        double worst = share_of_same(rounded, expected);
        for (int r = 0; r < rows_; ++r)
            for (int i = 0; i < n_ && !is_left_out(r); ++i) {
                const Value kept = value(rounded, r, i), lost = value(residual, r, i);
                worst = std::max(worst, share_of(kept.step / 127 * 0.51, kept.value + lost.value,
                                                 double(values[std::size_t(r * n_ + i)])));
            }
        return worst;
    }

private:
    struct Value {
        double value, step;
    };
    Value value(const std::vector<std::byte>& rows, int r, int i) const
    {
        const std::byte* row = &rows[std::size_t(r) * stride_];
        float scale;
        std::memcpy(&scale, row + Q8Layout(n_).scale + std::size_t(i / 32) * sizeof scale, sizeof scale);
        return {double(std::int8_t(row[i])) * double(scale), double(scale)};
    }
    std::vector<std::byte> untouched() const
    {
        return std::vector<std::byte>(stride_ * std::size_t(rows_), std::byte(0x5a));
    }

    DeviceMemory& on_;
    const int rows_, n_;
    const std::size_t stride_;
    const DevicePtr out_, residual_;
};

}  // namespace kernels::cuda
