#include "app/net/byte_ranges.h"

#include <algorithm>

namespace net {

void ByteRanges::add(ByteRange range)
{
    if (range.begin >= range.end)
        return;
    const auto first =
        std::find_if(ranges_.begin(), ranges_.end(), [&](const ByteRange& r) { return r.end >= range.begin; });
    auto last = first;
    for (; last != ranges_.end() && last->begin <= range.end; ++last) {
        range.begin = std::min(range.begin, last->begin);
        range.end = std::max(range.end, last->end);
    }
    ranges_.insert(ranges_.erase(first, last), range);
}

std::optional<ByteRange> ByteRanges::first_gap(std::int64_t from, std::int64_t end, std::int64_t most) const
{
    for (const ByteRange& r : ranges_) {
        if (r.end <= from)
            continue;
        if (r.begin > from) {
            end = std::min(end, r.begin);
            break;
        }
        from = r.end;
    }
    if (from >= end)
        return {};
    return ByteRange{from, std::min(end, from + most)};
}

std::int64_t ByteRanges::prefix() const
{
    return ranges_.empty() || ranges_.front().begin > 0 ? 0 : ranges_.front().end;
}

std::int64_t ByteRanges::total() const
{
    std::int64_t bytes = 0;
    for (const ByteRange& r : ranges_)
        bytes += r.end - r.begin;
    return bytes;
}

}  // namespace net
