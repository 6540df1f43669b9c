// TracedText is text with its origin: who wrote each part of it, through everything a template does with it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// Says who wrote a text: one of the two below, or the number of the message whose content it is.
using TextOrigin = std::int32_t;
inline constexpr TextOrigin kTemplateText = -1;  // the template itself; the model's own tokens count as that, too
inline constexpr TextOrigin kOtherText = -2;     // anybody else: users, tools and settings

/// Bytes and, run by run, where they come from. At most 4 GiB.
class TracedText
{
public:
    struct Run {
        std::uint32_t end;
        TextOrigin origin;
    };

    TracedText() = default;
    explicit TracedText(std::string bytes, TextOrigin origin = kOtherText)
        : bytes_(std::move(bytes))
    {
        if (origin != kOtherText && !bytes_.empty())
            runs_.push_back({std::uint32_t(bytes_.size()), origin});
    }

    const std::string& bytes() const { return bytes_; }
    /// Returns the runs, which cover the text; neighbours differ. None where all of it is kOtherText, as most texts
    /// are.
    std::span<const Run> runs() const { return runs_; }
    std::size_t bytes_of_runs() const { return runs_.capacity() * sizeof(Run); }

    void append(std::string_view text, TextOrigin origin);
    /// `part` is a view into `source`.
    void append(const TracedText& source, std::string_view part);
    void append(const TracedText& text) { append(text, text.bytes_); }
    TracedText part(std::string_view part) const;
    TracedText repeated(std::int64_t times) const;

    std::string take_bytes() { return std::move(bytes_); }

private:
    std::string bytes_;
    std::vector<Run> runs_;
};

}  // namespace engine
