// ByteRanges says which bytes of a file have come.
#pragma once

#include "app/net/http_client.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace net {

/// Holds disjoint ranges in order, none of which touches its neighbour. One thread at a time.
class ByteRanges
{
public:
    void add(ByteRange range);

    /// Returns the first bytes from `from` on that are in no range, `most` at most, none past `end`; nothing: all are.
    std::optional<ByteRange> first_gap(std::int64_t from, std::int64_t end, std::int64_t most) const;
    /// Returns how many bytes have come from the beginning of the file on, up to the first gap.
    std::int64_t prefix() const;
    std::int64_t total() const;
    std::span<const ByteRange> ranges() const { return ranges_; }

private:
    std::vector<ByteRange> ranges_;
};

}  // namespace net
