#include "app/server/llama_numbers.h"

#include <algorithm>

namespace server {

namespace {

double per_second(int tokens, double seconds)
{
    return seconds > 0 ? tokens / seconds : 0;
}

double ms_each(double seconds, int tokens)
{
    return tokens > 0 ? 1000 * seconds / tokens : 0;
}

}  // namespace

Json llama_timings(const Ended& ended)
{
    const int computed = ended.prompt_tokens - ended.cached_tokens;
    const int later = std::max(ended.answer_tokens - 1, 0);  // the first token comes with the prompt
    Json timings = {{"cache_n", ended.cached_tokens},
                    {"prompt_n", computed},
                    {"prompt_ms", 1000 * ended.prompt_s},
                    {"prompt_per_token_ms", ms_each(ended.prompt_s, computed)},
                    {"prompt_per_second", per_second(computed, ended.prompt_s)},
                    {"predicted_n", ended.answer_tokens},
                    {"predicted_ms", 1000 * ended.answer_s},
                    {"predicted_per_token_ms", ms_each(ended.answer_s, later)},
                    {"predicted_per_second", per_second(later, ended.answer_s)}};
    if (ended.drafted_tokens > 0) {
        timings["draft_n"] = ended.drafted_tokens;
        timings["draft_n_accepted"] = ended.accepted_tokens;
    }
    return timings;
}

Json llama_progress(const Progress& progress)
{
    return {{"total", progress.prompt_tokens},
            {"cache", progress.cached_tokens},
            {"processed", progress.done_tokens},
            {"time_ms", std::int64_t(1000 * progress.seconds)}};
}

}  // namespace server
