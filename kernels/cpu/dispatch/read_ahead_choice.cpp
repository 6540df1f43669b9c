#include "kernels/read_ahead_choice.h"

#include "kernels/cpu/read_ahead.h"

#include <algorithm>
#include <array>
#include <vector>

namespace kernels {

namespace {

constexpr std::size_t kPieceBytes = std::size_t(4) << 20;
constexpr int kPieces = 16;
constexpr std::size_t kLeastBytes = kPieces * kPieceBytes;

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

int rows_of_piece(const ManyRows& rows)
{
    const int whole = int(kPieceBytes / row_bytes(rows.type, rows.n)) / kInterleavedRows;
    return std::max(1, whole) * kInterleavedRows;
}

}  // namespace

void choose_read_ahead(const ManyRows& rows, const RowSeconds& seconds)
{
    if (std::size_t(rows.rows) * row_bytes(rows.type, rows.n) < kLeastBytes)
        return;
    const int count = rows_of_piece(rows);
    std::array<std::vector<double>, 2> times;
    for (int piece = 0; piece < kPieces; ++piece) {
        const bool ahead = piece % 2 == 1;
        reads_ahead = ahead;
        times[ahead].push_back(seconds(piece * count, count));
    }
    reads_ahead = median(times[1]) <= median(times[0]);
}

}  // namespace kernels
