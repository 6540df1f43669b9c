// Turns any grammar and any JSON schema into rules, for libFuzzer: either a text can be held to them, or there is a
// sentence that says why not.
#include "engine/answer_grammar.h"
#include "engine/grammar/token_masks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

/// Up to the first zero byte it is a grammar, or a schema if it begins with '{'; what follows is a text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace engine;
    const std::string input(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(input.find('\0'), input.size());
    std::string rules = input.substr(0, end);
    const bool is_schema = rules.starts_with('{');
    if (is_schema) {
        auto gbnf = gbnf_of_json_schema(rules);
        if (!gbnf)
            return 0;
        rules = std::move(*gbnf);
    }
    auto grammar = Grammar::parse(rules);
    if (!grammar && is_schema)
        std::abort();  // what a schema becomes can be read
    if (!grammar)
        return 0;
    static const auto trie =
        std::make_shared<const TokenTrie>(512, [](int id) { return std::string(id < 256 ? 1 : 2, char(id)); });
    TokenMasks masks(std::move(*grammar), trie);
    auto state = masks.states().start();
    for (std::size_t at = end; at < input.size() && state != GrammarStates::kDead; ++at) {
        const auto mask = masks.next(state);
        const auto byte = std::uint8_t(input[at]);
        state = masks.states().after(state, byte);
        if (mask && !masks.states().gave_up() && (*mask)->allows(byte) != (state != GrammarStates::kDead))
            std::abort();
    }
    return 0;
}
