// SlabPlaces knows which places for KV blocks are free in a device's slabs. As long as a block lies in a slab, all its
// places have one size, so that whatever leaves is a place for the next one. Taking or giving back a place takes the
// logarithm of the number of slabs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace engine {

class SlabPlaces
{
public:
    using Memory = std::byte*;

    /// Adds a slab without blocks. Its memory is not touched here. Throws std::bad_alloc, as take() does.
    void add(Memory memory, std::size_t bytes);
    /// The memory of a slab. remove_empty() forgets the largest slab without blocks, and the caller releases it. None:
    /// all have some.
    struct Range {
        Memory first = nullptr;
        std::size_t bytes = 0;
    };
    std::optional<Range> remove_empty();

    /// Finds a place for the owner's block: in the fullest slab that has one of this size, so that others become empty,
    /// else in one without blocks. Null: there is no place.
    Memory take(std::size_t block_bytes, std::size_t owner);
    /// Gives a place back; says whether its slab is without blocks now.
    bool give_back(Memory place);

    /// Returns how many blocks of this size find a place; not counted further than `enough`.
    std::int64_t places(std::size_t block_bytes, std::int64_t enough) const;
    /// Counts the sizes that blocks have had since there was last no slab.
    int sizes() const { return int(free_.size()); }

    /// Returns the owners of the blocks in the emptiest slab whose blocks all find places in others; no place of its
    /// own is taken until end_emptying(). Empty: there is no such slab. Looks at each slab.
    std::vector<std::size_t> begin_emptying();
    void end_emptying() { emptied_ = nullptr; }

    int slabs() const { return int(slabs_.size()); }

private:
    struct Slab {
        std::size_t bytes = 0;
        std::size_t block_bytes = 0;      // of its places; meaningful as long as there are any
        std::vector<std::uint32_t> free;  // places, the next one last
        std::vector<std::size_t> owners;  // (places,) kNobody where it is free
        bool empty() const { return free.size() == owners.size(); }
    };
    /// Slabs without blocks come first, by their size; then those of each size of block, by how many places are free.
    struct Order {
        std::size_t block_bytes = 0;  // 0: no block is in it
        std::size_t free = 0;         // places, or bytes where no block is in it
        Memory memory = nullptr;
        auto operator<=>(const Order&) const = default;  // NOLINT(modernize-use-nullptr): it sees a 0 there
    };
    using Slabs = std::map<Memory, Slab>;
    static Order order_of(Slabs::const_iterator slab);
    template <class Change>
    void change(Slabs::iterator slab, const Change& change);
    Slabs::iterator find(const Order& least, std::size_t block_bytes);
    static void divide(Slab& slab, std::size_t block_bytes);

    static constexpr std::size_t kNobody = std::size_t(-1);
    Slabs slabs_;
    std::set<Order> order_;
    std::map<std::size_t, std::int64_t> free_;  // places by the size of their block, in slabs that have some
    Memory emptied_ = nullptr;                  // the slab whose places are not taken
};

}  // namespace engine
