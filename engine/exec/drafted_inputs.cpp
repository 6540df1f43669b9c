#include "engine/exec/drafted_inputs.h"

#include "engine/engine.h"
#include "engine/exec/backend.h"

#include <algorithm>

namespace engine {

DraftedInputs::DraftedInputs(const Hyperparameters& h, int max_rows, RowMemory& memory)
{
    const int rows = std::min(max_rows, kMostRowsTogether);
    for (int l = 0; l < int(h.layers.size()); ++l) {
        const LayerParameters& layer = h.layers[std::size_t(l)];
        const int mixed = h.recurrent_input_cols(layer.mixer);
        mixed_.emplace_back(mixed > 0 ? rows : 0, mixed, memory);
        ngrams_.emplace_back(layer.ngrams ? rows : 0, h.streams.count * h.embedding_length, memory);
    }
}

void DraftedInputs::keep(const RowGroup& group, const Rows& given, Rows& kept, Backend& on)
{
    if (group.drafted_row < 0)
        return;
    kept.set_shape(group.drafted_row + group.count(), given.cols());
    on.copy(given.row(group.row), kept.row(group.drafted_row), std::size_t(group.count()) * std::size_t(given.cols()));
}

std::size_t DraftedInputs::bytes() const
{
    std::size_t bytes = 0;
    for (const Rows& rows : mixed_)
        bytes += rows.bytes();
    for (const Rows& rows : ngrams_)
        bytes += rows.bytes();
    return bytes;
}

}  // namespace engine
