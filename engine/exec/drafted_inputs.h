// DraftedInputs keeps the inputs of each layer's recurrent parts for the drafted rows of a step. States can then be
// computed again for those rows that are accepted: a state cannot be cut as KV can.
#pragma once

#include "engine/exec/rows.h"
#include "engine/model/hyperparameters.h"

#include <vector>

namespace engine {

class Backend;
struct RowGroup;

/// Lies in the memory in which a backend computes; takes none for a model without states. Row i belongs to
/// RowGroup::drafted_row i; there are kMostRowsTogether at most.
class DraftedInputs
{
public:
    DraftedInputs(const Hyperparameters& h, int max_rows, RowMemory& memory);

    /// Returns the products that the mixer of layer l reads, (rows, columns).
    Rows& mixed(int l) { return mixed_[std::size_t(l)]; }
    /// Returns what the convolution over n-grams of layer l reads, (rows, streams * dim).
    Rows& ngrams(int l) { return ngrams_[std::size_t(l)]; }
    /// Copies the group's rows, if they are drafted, from `given` to `kept`, which is mixed(l) or ngrams(l).
    static void keep(const RowGroup& group, const Rows& given, Rows& kept, Backend& on);
    std::size_t bytes() const;

private:
    std::vector<Rows> mixed_, ngrams_;  // (layers,)
};

}  // namespace engine
