#include "engine/tools/token_run.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace engine {

TokenRun run_tokens(LoadedModel& model, std::span<const int> tokens, int prefill,
                    const std::function<void(int)>& between)
{
    TokenRun out;
    KvSequence kv;
    model.placement().begin_turn();
    for (int done = 0; done < int(tokens.size()) && out.status;) {
        if (between)
            between(done);
        model.placement().advance();
        const int left = std::max(1, prefill - done);
        const auto chunk = tokens.subspan(std::size_t(done), std::size_t(std::min(left, model.max_rows())));
        out.status = model.append(kv, chunk);
        done += int(chunk.size());
        if (done >= prefill && out.status) {
            const auto row = model.logits(kv, int(chunk.size()) - 1);
            if (row)
                out.logits.emplace_back(row->begin(), row->end());
            else
                out.status = tl::unexpected(row.error());
        }
        std::ranges::move(model.placement().take_events(), std::back_inserter(out.events));
    }
    model.cache().truncate(kv, 0);
    return out;
}

double relative_difference(const StepLogits& a, const StepLogits& b)
{
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        for (std::size_t j = 0; j < std::min(a[i].size(), b[i].size()); ++j) {
            difference += std::pow(double(a[i][j]) - double(b[i][j]), 2);
            size += std::pow(double(b[i][j]), 2);
        }
    return std::sqrt(difference / size);
}

}  // namespace engine
