// Gives PCRE2's objects owners. For source files only.
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>

namespace engine {

template <auto free>
struct FreePcre2 {
    template <class T>
    void operator()(T* object) const
    {
        free(object);
    }
};
/// Null where there is no memory, as PCRE2 makes them.
using Pcre2Code = std::unique_ptr<pcre2_code, FreePcre2<pcre2_code_free>>;
using Pcre2MatchData = std::unique_ptr<pcre2_match_data, FreePcre2<pcre2_match_data_free>>;
using Pcre2MatchContext = std::unique_ptr<pcre2_match_context, FreePcre2<pcre2_match_context_free>>;

}  // namespace engine
