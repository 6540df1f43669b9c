#include "kernels/read_ahead_choice.h"

#include "kernels/cpu/read_ahead.h"

#include <algorithm>
#include <array>
#include <vector>

namespace kernels {

// The part of the time without prefetching that prefetching must save to be used: where weights come from a cache, it
// costs time.
static constexpr double kLeastGain = 0.03;

void choose_read_ahead(TensorType type, int pieces, const PieceSeconds& seconds)
{
    if (pieces == 0)
        return;
    std::atomic<bool>& slower = slower_for_reading_ahead[std::size_t(type)];
    std::vector<std::array<double, 2>> times(static_cast<std::size_t>(pieces));  // without, with
    for (int pass = 0; pass < 2; ++pass)
        for (int piece = 0; piece < pieces; ++piece) {
            const bool ahead = (piece + pass) % 2 == 1;
            slower = !ahead;
            times[std::size_t(piece)][ahead] = seconds(piece);
        }
    const auto gains = std::ranges::count_if(
        times, [](const std::array<double, 2>& of_piece) { return of_piece[1] < (1 - kLeastGain) * of_piece[0]; });
    slower = 2 * gains <= pieces;
}

}  // namespace kernels
