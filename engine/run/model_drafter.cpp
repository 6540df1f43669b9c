#include "engine/run/model_drafter.h"

#include "engine/metrics/clock.h"
#include "engine/run/lack_of_room.h"

#include <algorithm>
#include <utility>

namespace engine {

ModelDrafter::ModelDrafter(const Of& of, const SamplingOptions& sampling, std::stop_token stop)
    : SampledDrafter({of.model, of.sampler, sampling}, of.draft.info().vocabulary, "for the draft model")
    , of_(of)
    , stop_(std::move(stop))
{
}

Result<int> ModelDrafter::catch_up(std::span<const int> tokens, int most)
{
    const int room = of_.draft.model().context_tokens() - int(tokens.size());
    if (room <= 0 || !knows(tokens))
        return 0;
    go_back(tokens);
    of_.draft.use(of_.sequence);
    KvSequence& kv = of_.sequence.kv;
    if (const int missed = int(tokens.size()) - kv.length(); missed > kMostRowsTogether) {
        const std::int64_t start = now_us();
        const Status done = read(tokens);
        set_aside(now_us() - start);
        if (!done)
            return tl::unexpected(done.error());
        if (int(tokens.size()) - kv.length() > kMostRowsTogether)
            return 0;
    }
    if (const Status done = append(tokens.subspan(std::size_t(kv.length()))); !done)
        return tl::unexpected(done.error());
    agreed_ = tokens.size();
    of_.draft.model().cache().states().keep(kv);
    return std::min(most, room);
}

Result<std::span<const float>> ModelDrafter::logits()
{
    return of_.draft.model().logits(of_.sequence.kv, rows_ - 1);
}

/// Leaves the guesses in the KV, since most of them are accepted. But a state cannot be cut: a model that has one goes
/// back at once, and reads the accepted tokens again.
void ModelDrafter::forget_guesses(int tokens)
{
    KvSequence& kv = of_.sequence.kv;
    KvCache& cache = of_.draft.model().cache();
    if (!cache.states().any())
        return;
    cache.truncate(kv, tokens);
    if (!kv.checkpoints.empty() && kv.checkpoints.back().tokens == tokens)
        cache.states().drop_newest(kv);
}

/// Removes from its KV guesses that were not accepted, and what belongs to another version of the conversation.
void ModelDrafter::go_back(std::span<const int> tokens)
{
    KvSequence& kv = of_.sequence.kv;
    KvCache& cache = of_.draft.model().cache();
    const std::size_t most = std::min(kv.ids.size(), tokens.size() - 1);  // the last one is always computed
    std::size_t same = std::min(agreed_, most);
    while (same < most && kv.ids[same] == tokens[same])
        ++same;
    const int intact = cache.intact_tokens(kv);
    same = std::min(same, std::size_t(intact));
    if (same < kv.ids.size() || intact == 0)
        cache.truncate(kv, int(same));
    agreed_ = std::size_t(kv.length());
}

/// Reads some of the tokens that it has missed, in one step.
Status ModelDrafter::read(std::span<const int> tokens)
{
    const std::size_t at = std::size_t(of_.sequence.kv.length());
    const std::size_t left = tokens.size() - at - 1;
    Status done = append(tokens.subspan(at, std::min(left, std::size_t(of_.draft.model().max_rows()))));
    agreed_ = std::size_t(of_.sequence.kv.length());
    if (done && left <= std::size_t(of_.draft.model().max_rows()))
        of_.draft.model().cache().states().keep(of_.sequence.kv);  // the next prompt begins like this one
    return done;
}

Status ModelDrafter::append(std::span<const int> tokens)
{
    RowGroup group{&of_.sequence.kv, tokens};
    group.wanted = 1;
    group.stop = stop_;
    rows_ = group.count();
    Status done = of_.draft.model().append(std::span(&group, 1));
    while (!done && lacks_room(done.error()) && of_.draft.make_room())
        done = of_.draft.model().append(std::span(&group, 1));
    return done;
}

/// Says whether the draft model's vocabulary has all of these tokens: it may lack the last ones of the other.
bool ModelDrafter::knows(std::span<const int> tokens)
{
    const int size = of_.draft.info().vocabulary;
    while (checked_ < tokens.size() && tokens[checked_] < size)
        ++checked_;
    return checked_ == tokens.size();
}

void ModelDrafter::take_failure(const Error& error)
{
    if (error.code == Error::Code::Cancelled)
        return;
    if (!lacks_room(error))
        of_.draft.give_up(error);
    else if (!of_.draft.make_room())
        rest();
}

}  // namespace engine
