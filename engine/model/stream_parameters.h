// StreamParameters describes the residual streams of models that have several side by side, and the embeddings of
// n-grams that some of their layers add.
#pragma once

#include <cstdint>
#include <vector>

namespace engine {

constexpr int kMostStreams = 8;

struct StreamParameters {
    int count = 1;           // residual streams
    int rank = 0;            // values of a row between the two products that mix it; 0: there are none
    bool connected = false;  // by hyper-connections

    bool several() const { return count > 1; }
};

/// Embeddings of the last 2, 3, ... `longest` tokens: a hash of each says which rows of a table.
struct NgramParameters {
    int longest = 0;     // tokens; 0: there are none
    int heads = 0;       // rows for each length
    int row_length = 0;  // values of a row of the table
    int table_rows = 0;
    int taps = 0;  // of the convolution over what a layer makes of them, `longest` tokens apart
    std::vector<std::uint64_t> multipliers;  // (longest,) of the newest token, the one before it, ...
    std::vector<int> offsets, sizes;         // (rows_of_token(),) where each head's rows begin, and how many it has
    std::vector<int> ends;                   // ids that n-grams do not reach across

    int rows_of_token() const { return longest > 0 ? (longest - 1) * heads : 0; }
    int values() const { return rows_of_token() * row_length; }
    /// Returns the taps of the same convolution with zeros between them.
    int spread_taps() const { return (taps - 1) * longest + 1; }
};

}  // namespace engine
