#include "engine/bench_drafts.h"

#include "engine/caught.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

class DraftBench
{
public:
    DraftBench(Engine& engine, SequenceId sequence, const DraftBenchRequest& request)
        : engine_(engine)
        , sequence_(sequence)
        , request_(request)
    {
    }

    /// Times an answer with drafts and one without. `with_first` says which comes first: the second one finds the
    /// memory warm.
    Result<DraftBenchPair> pair(std::uint64_t seed, bool with_first)
    {
        auto first = answer(seed, with_first), second = answer(seed, !with_first);
        if (!first || !second)
            return tl::unexpected(first ? second.error() : first.error());
        if (first->text != second->text)
            return fail(Error::Code::Internal, "the answer with drafts is another one than without");
        const Telemetry& with = (with_first ? first : second)->telemetry;
        const Telemetry& without = (with_first ? second : first)->telemetry;
        if (!with.decode_tokens_per_s || !without.decode_tokens_per_s)
            return fail(Error::Code::BadRequest, "the answer is too short to be timed: it needs three tokens");
        const DraftModelTelemetry by_model = with.draft_model.value_or(DraftModelTelemetry());
        return DraftBenchPair{.tokens = with.generated_tokens,
                              .with_tok_s = *with.decode_tokens_per_s,
                              .without_tok_s = *without.decode_tokens_per_s,
                              .steps = with.shares ? with.shares->steps : 0,
                              .drafted = with.drafted_tokens,
                              .accepted = with.accepted_tokens,
                              .model_drafted = by_model.drafted_tokens,
                              .model_accepted = by_model.accepted_tokens};
    }

private:
    Result<Turn> answer(std::uint64_t seed, bool drafts)
    {
        Request request;
        request.raw_prompt = request_.text;
        request.sampling.temperature = request_.temperature;
        request.sampling.seed = seed;
        request.max_tokens = request_.tokens;
        request.most_drafted = drafts ? request_.most_drafted : 0;
        request.drafters = request_.drafters;
        request.draft_depth = request_.depth;
        return engine_.generate(sequence_, request, {}, {});
    }

    Engine& engine_;
    SequenceId sequence_;
    const DraftBenchRequest& request_;
};

}  // namespace

Result<DraftBenchReport> bench_drafts(const LoadRequest& load, const DraftBenchRequest& request,
                                      const std::function<void(const DraftBenchPair&)>& on_pair)
try {
    if (request.pairs < 1 || request.text.empty())
        return fail(Error::Code::BadRequest, "a benchmark of drafts needs a text and at least one pair of answers");
    const auto engine = make_engine();
    const auto model = engine->load(load, {}, {});
    if (!model)
        return tl::unexpected(model.error());
    const auto sequence = engine->create_sequence();
    if (!sequence)
        return tl::unexpected(sequence.error());
    DraftBench bench(*engine, *sequence, request);
    DraftBenchReport report;
    report.model = model->name;
    report.draft_model = model->draft_model;
    std::vector<double> gains;
    for (int i = -1; i < request.pairs; ++i) {  // the first one warms up and does not count
        const auto pair = bench.pair(std::uint64_t(i + 2), i % 2 == 0);
        if (!pair)
            return tl::unexpected(pair.error());
        if (i < 0)
            continue;
        report.pairs.push_back(*pair);
        gains.push_back(pair->gain());
        if (on_pair)
            on_pair(*pair);
    }
    std::sort(gains.begin(), gains.end());
    report.median_gain = (gains[(gains.size() - 1) / 2] + gains[gains.size() / 2]) / 2;
    return report;
} catch (...) {
    return caught("for this benchmark");
}

}  // namespace engine
