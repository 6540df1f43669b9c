// TokenLogprobs says how likely a model found a token that it wrote, and what else it found likely.
#pragma once

#include <string>
#include <vector>

namespace engine {

/// The logarithm is that of the model's own distribution, before temperature, penalties and all that thins it out.
struct LikelyToken {
    int id = 0;
    std::string bytes;  // of the text: half a character may be all of it
    float logprob = 0;
};

struct TokenLogprobs {
    LikelyToken written;
    std::vector<LikelyToken> likeliest;  // best first, among equals the lower id first; `written` may be among them
};

}  // namespace engine
