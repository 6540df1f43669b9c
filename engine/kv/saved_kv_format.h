// Describes the file that keeps one conversation's KV, so that it can be opened again without a prefill.
//
//   header    64 bytes: SavedKvHeader
//   pages     one record for each block of tokens, in order
//               u64    checksum of all that follows in the record; its seed is the chain so far plus the tokens
//               i32    the tokens' ids: as many as rows
//               bytes  of each layer and KV head the block, laid out for this many rows (kernels/kv_block.h)
//             Rows: block_tokens; in the last record the tokens that are left, rounded up to groups of 16.
//   states    of a model with recurrent layers, as many as the header says, of fewer tokens first
//               u64    checksum of the rest; its seed is that of all ids before it
//               u32    after how many tokens it is the state
//               u32    0
//               bytes  of all layers
//   replies   u64    checksum of the rest, with the chain as its seed
//             u32    how many 32-bit words follow: of each reply the number of its ids, then the ids
//
// All numbers are little endian, as in GGUF. The chain is a checksum over all ids before a record and over what the
// file was made with. So a record that was left behind by an older text, or belongs to another file, does not pass.
//
// A file is written in place. While that goes on, its header counts the pages that are there already: whatever ends the
// writing leaves a shorter file, never a wrong one. Pages that hold the same tokens as before are not written again.
//
// Nothing in a file is trusted. Sizes follow from the model that asks, not from the file; a record is checked before
// its bytes are used; and its ids count only as far as they are those of the prompt.
#pragma once

#include "engine/kv/kv_shape.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// Raised when the bytes of a file are laid out in another way.
constexpr std::uint32_t kSavedKvLayout = 1;
/// Raised when the same model makes other keys and values of the same tokens.
constexpr std::uint32_t kSavedKvEngine = 2;

/// Holds what a file was made with: whoever reads it must have the same.
struct SavedKvOrigin {
    std::uint32_t layout = kSavedKvLayout;
    std::uint32_t engine = kSavedKvEngine;
    std::uint64_t model = 0;  // its fingerprint
    std::uint32_t k_type = 0, v_type = 0;
    std::uint32_t block_tokens = 0;
    std::uint32_t layers = 0;
    std::uint64_t shape = 0;  // checksum over what is kept of the heads of all layers
};

struct SavedKvHeader {
    char mark[8] = {};
    SavedKvOrigin origin;
    std::uint32_t tokens = 0;
    std::uint32_t states = 0;
    std::uint64_t checksum = 0;  // of the header before it
};
static_assert(sizeof(SavedKvOrigin) == 40 && sizeof(SavedKvHeader) == 64);

/// Sizes, places and bytes for the KV of one loaded model. A value; any thread may ask.
class SavedKvFormat
{
public:
    /// The most states of one file.
    static constexpr int kMostStates = 2;

    /// `layers`: all with the same formats and block length, one at least. `state_bytes`: of the recurrent layers'
    /// state; 0: none is recurrent.
    SavedKvFormat(std::uint64_t model, std::span<const KvLayerShape> layers, std::size_t state_bytes = 0);

    const SavedKvOrigin& origin() const { return origin_; }
    /// Says whether keys and values are in the types of these blocks.
    bool has_types_of(const kernels::KvBlockLayout& block) const
    {
        return origin_.k_type == std::uint32_t(block.k_type) && origin_.v_type == std::uint32_t(block.v_type);
    }
    int block_tokens() const { return int(origin_.block_tokens); }
    int num_layers() const { return int(layers_.size()); }

    /// Returns the bytes of a record whose block holds this many tokens.
    std::size_t record_bytes(int tokens) const;
    std::uint64_t record_at(int block) const;
    /// Returns the place of a state in a file with this many tokens, and the place of the replies behind this many
    /// states.
    std::uint64_t state_at(int tokens, int state) const;
    std::uint64_t replies_at(int tokens, int states = 0) const { return state_at(tokens, states); }
    std::size_t state_bytes() const { return state_bytes_; }

    SavedKvHeader header(int tokens, int states = 0) const;
    static std::uint64_t header_checksum(const SavedKvHeader& header);

    /// Returns the checksum's chain before the first record, and after one that holds these ids.
    std::uint64_t first_chain() const;
    static std::uint64_t next_chain(std::uint64_t chain, std::span<const int> ids);

    /// Holds what stands before a state's bytes. ids: all before it.
    struct StateMark {
        std::uint64_t checksum = 0;
        std::uint32_t tokens = 0;
        std::uint32_t reserved = 0;
    };
    StateMark mark_of(std::span<const int> ids, std::span<const std::byte> state) const;

    /// Packs one record. ids: (tokens,); blocks: (layers,) each of the first KV head.
    void pack(std::span<const int> ids, std::span<const std::byte* const> blocks, std::uint64_t chain,
              std::vector<std::byte>& record) const;
    /// Returns the bytes of a record that are its ids.
    static std::span<const std::byte> ids_of(std::span<const std::byte> record, int tokens);
    /// Copies the record's bytes into blocks (layers,), once its checksum has been found right. False: it is not.
    bool unpack(std::span<const std::byte> record, int tokens, std::uint64_t chain,
                std::span<std::byte* const> blocks) const;

    static int rows(int tokens);

private:
    template <class Move>
    void each_part(int rows, const Move& move) const;

    std::vector<KvLayerShape> layers_;
    std::size_t state_bytes_;
    SavedKvOrigin origin_;
};

/// The replies of a file: what the model said, in the ids in which it was said.
using SavedReplies = std::vector<std::vector<int>>;

std::vector<std::byte> pack_replies(const SavedReplies& replies, std::uint64_t chain);
/// Returns nothing where the bytes are not whole.
SavedReplies unpack_replies(std::span<const std::byte> bytes, std::uint64_t chain);

}  // namespace engine
