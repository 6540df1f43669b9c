// StopStrings finds stop strings in streamed text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Cuts streamed text off at the first stop string, however the text is divided. Text is held back only while it may
/// still be the beginning of one. Of several that match, the one that starts first wins, even when a later one is
/// complete before it. Time is linear in the text, per stop string. One thread, owned by a turn.
class StopStrings
{
public:
    struct Released {
        std::string_view text;  // valid until the next call
        bool stopped = false;   // a stop string matched; neither it nor what follows is released
    };

    /// Empty strings are ignored.
    explicit StopStrings(const std::vector<std::string>& strings);

    /// Takes the next piece of text and gives the text that no stop string can cut off any more.
    Released feed(std::string_view text);
    /// Ends the text: gives what was held back.
    Released finish();
    std::string_view held() const { return held_; }
    /// Returns the stop string that matched, once one has.
    const std::string& stopped_by() const { return matchers_[found_].string; }

private:
    /// One stop string and how much of it the text ends with (Knuth, Morris, Pratt).
    struct Matcher {
        std::string string;
        std::vector<std::size_t> fallback;  // [i]: length of the longest beginning of string that string[..i] ends with
        std::size_t matched = 0;
    };

    static Matcher make_matcher(const std::string& string);
    static void step(Matcher& matcher, char c);
    std::size_t take(char c);
    Released release(std::size_t count);

    std::vector<Matcher> matchers_;
    std::string held_;                     // text not released yet
    std::string released_;                 // what the last call's view points to
    std::optional<std::size_t> match_at_;  // where in held_ a complete stop string starts; an earlier one may follow
    std::size_t found_ = 0;                // which of matchers_ that is
    bool stopped_ = false;
};

}  // namespace engine
