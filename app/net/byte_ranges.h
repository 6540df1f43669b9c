// ByteRanges knows which bytes of a file are there.
#pragma once

#include "app/net/http_client.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace net {

/// Disjoint ranges in order, none of which touches its neighbour. One thread at a time.
class ByteRanges
{
public:
    void add(ByteRange range);

    /// The first bytes from `from` on that are in no range, `most` of them and none past `end`; empty: there are none.
    std::optional<ByteRange> first_gap(std::int64_t from, std::int64_t end, std::int64_t most) const;
    /// Bytes that are there from the beginning of the file, without a gap.
    std::int64_t prefix() const;
    std::int64_t total() const;
    std::span<const ByteRange> ranges() const { return ranges_; }

private:
    std::vector<ByteRange> ranges_;
};

}  // namespace net
