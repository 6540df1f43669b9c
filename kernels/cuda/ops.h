// The CUDA operations the engine may call: launchers that compute a grid and queue a kernel. They answer with what the
// driver said, allocate nothing and wait for nothing, so all of them may be captured in a graph.
//
// Rows of activations are floats; a matrix of them is given by its address and the floats from one row to the next.
// Addresses are multiples of 16 unless said otherwise.
#pragma once

#include "kernels/cuda/driver.h"

namespace kernels::cuda {

/// (rows, columns) floats on the device.
struct Rows {
    DevicePtr at = 0;
    int stride = 0;  // floats
};

// out[r] = x[r] * weight / rms(x[r]). x, out: (rows, dim); weight: (dim,); out may be x
Status rms_norm(const Driver& driver, Queue queue, Rows x, DevicePtr weight, float eps, int rows, int dim, Rows out);

// The same for each of `heads` heads of `length` values by itself, in place. x: (rows, heads, length)
Status norm_heads(const Driver& driver, Queue queue, Rows x, int heads, int length, DevicePtr weight, float eps,
                  int rows);

}  // namespace kernels::cuda
