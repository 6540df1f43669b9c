// Multiplies weights with many tokens: two panels at a time are filled and multiplied with every token.
#pragma once

#include "kernels/cpu/avx512/tile.h"

namespace kernels::avx512 {

/// Writes the panel of `rows` rows of a product from first_row on, 16 at most.
using FillPanel = void(const MatMul& m, int first_row, int rows, const Panel& panel);

template <class Format>
void fill_rows(const MatMul& m, int first_row, int rows, const Panel& panel);  // instantiated for every format
template <class Format>
void unpack_rows(const MatMul& m, int first_row, int rows, const Panel& panel);  // for every interleaved one

/// Multiplies all rows with all tokens. Kind is the TileKind of the format of the weights.
template <class Kind>
void product_by_panels(const MatMul& m, FillPanel* fill);

/// Multiplies the first `rows` rows of a panel with all tokens. out: the first token's
template <class Kind>
void product_with_panel(const Panel& panel, int rows, const MatMul& m, float* out);

}  // namespace kernels::avx512
