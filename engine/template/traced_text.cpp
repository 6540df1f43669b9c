#include "engine/template/traced_text.h"

#include <algorithm>

namespace engine {

void TracedText::append(std::string_view text, TextOrigin origin)
{
    if (text.empty())
        return;
    if (runs_.empty() && origin != kOtherText && !bytes_.empty())
        runs_.push_back({std::uint32_t(bytes_.size()), kOtherText});
    bytes_ += text;
    if (runs_.empty() && origin == kOtherText)
        return;
    if (!runs_.empty() && runs_.back().origin == origin)
        runs_.back().end = std::uint32_t(bytes_.size());
    else
        runs_.push_back({std::uint32_t(bytes_.size()), origin});
}

void TracedText::append(const TracedText& source, std::string_view part)
{
    if (source.runs_.empty() || part.empty())
        return append(part, kOtherText);
    const auto begin = std::size_t(part.data() - source.bytes_.data());
    const std::size_t end = begin + part.size();
    auto run = std::upper_bound(source.runs_.begin(), source.runs_.end(), begin,
                                [](std::size_t at, const Run& r) { return at < r.end; });
    for (std::size_t at = begin; at < end; ++run) {
        const std::size_t stop = std::min<std::size_t>(run->end, end);
        append(part.substr(at - begin, stop - at), run->origin);
        at = stop;
    }
}

TracedText TracedText::part(std::string_view part) const
{
    TracedText text;
    text.append(*this, part);
    return text;
}

TracedText TracedText::repeated(std::int64_t times) const
{
    if (times <= 0 || bytes_.empty())
        return {};
    const std::size_t bytes = bytes_.size() * std::size_t(times);
    TracedText text;
    text.bytes_.reserve(bytes);
    text.append(*this);
    while (text.bytes_.size() < bytes) {  // doubled: little, repeated often, is copied in few large pieces
        const TracedText so_far = text;
        text.append(so_far, std::string_view(so_far.bytes_).substr(0, bytes - so_far.bytes_.size()));
    }
    return text;
}

}  // namespace engine
