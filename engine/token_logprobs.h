// TokenLogprobs says how likely a model found a token that it wrote, and what else it found likely.
#pragma once

#include <string>
#include <vector>

namespace engine {

/// `logprob` is of the model's own distribution, before temperature, penalties and all that leaves tokens out.
struct LikelyToken {
    int id = 0;
    std::string bytes;  // what it adds to the text: not always whole characters
    float logprob = 0;
};

struct TokenLogprobs {
    LikelyToken written;
    std::vector<LikelyToken> likeliest;  // best first, among equals the lower id first; `written` may be among them
};

}  // namespace engine
