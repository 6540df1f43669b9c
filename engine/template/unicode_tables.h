// Declares the tables behind unicode.h.
#pragma once

#include <cstddef>

namespace engine::jinja::unicode {

struct Run {
    char32_t first, last;
    int stride;
};
struct MapRun {
    char32_t first, last;
    int stride;
    int difference;  // mapped = c + difference
};
struct Special {
    char32_t from;
    const char* to;
};

extern const Run kAlpha[], kDecimal[], kDigit[], kNumeric[], kUnprintable[], kUpper[], kLower[], kTitle[],
    kCaseIgnorable[];
extern const std::size_t kAlpha_count, kDecimal_count, kDigit_count, kNumeric_count, kUnprintable_count, kUpper_count,
    kLower_count, kTitle_count, kCaseIgnorable_count;
extern const MapRun kToUpper[], kToLower[], kToTitle[];  // kToTitle only where it differs from kToUpper
extern const std::size_t kToUpper_count, kToLower_count, kToTitle_count;
extern const Special kSpecialUpper[], kSpecialTitle[];  // characters that become several
extern const std::size_t kSpecialUpper_count, kSpecialTitle_count;

}  // namespace engine::jinja::unicode
