// Says what each token is for, beyond its text.
#pragma once

#include "engine/tokenizer/token_index.h"
#include "engine/tokenizer/vocabulary.h"

#include <cstdint>
#include <vector>

namespace engine {

struct TokenRole {
    bool special = false;          // made only by a template or on request, never from what a user types
    bool always_parsed = false;    // found in any text before it is cut into words
    bool shown = true;             // part of the text a reader sees
    bool byte = false;             // one raw byte
    bool swallows_space = false;   // white space that follows it in a text belongs to it
    bool ends_generation = false;  // the model has finished its turn
};

/// Returns one role per token: from its type, from the ids that the file names, and from texts that every model uses in
/// the same way. A token that looks like the end of a turn is one, even where the file calls it ordinary: files are
/// wrong about that.
std::vector<TokenRole> assign_roles(const Vocabulary& vocabulary, const TokenIndex& index);

}  // namespace engine
