// Rotary positions: a thread turns one pair of values of one head, in place.
#include "kernels/cuda/device.h"

using namespace kernels::cuda;

// x: (rows, heads, length), row r at r * x_stride; cos, sin: (rows, pairs). neox: pairs (i, i + pairs); else (2i, 2i +
// 1)
extern "C" __global__ void rope(float* x, int x_stride, int heads, int length, const float* cos, const float* sin,
                                int pairs, int neox)
{
    let_next_begin();
    wait_for_previous();
    const int index = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (index >= heads * pairs)
        return;
    const int row = int(blockIdx.y);
    const int i = index % pairs;
    float* head = x + std::size_t(row) * std::size_t(x_stride) + std::size_t(index / pairs) * std::size_t(length);
    const float c = cos[std::size_t(row) * std::size_t(pairs) + std::size_t(i)];
    const float s = sin[std::size_t(row) * std::size_t(pairs) + std::size_t(i)];
    float& a = head[neox ? i : 2 * i];
    float& b = head[neox ? i + pairs : 2 * i + 1];
    const float turned = a * c - b * s;
    b = a * s + b * c;
    a = turned;
}
EMULATED(rope);
