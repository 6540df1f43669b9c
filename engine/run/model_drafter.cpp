#include "engine/run/model_drafter.h"

#include "engine/caught.h"
#include "engine/metrics/clock.h"

#include <algorithm>
#include <utility>

namespace engine {

ModelDrafter::ModelDrafter(const Of& of, const SamplingOptions& sampling, std::stop_token stop)
    : of_(of)
    , sampler_(as_guessed(sampling), of.draft.info().vocabulary, 0)
    , stop_(std::move(stop))
{
    guessed_.reserve(kMostRowsTogether);
}

std::span<const int> ModelDrafter::next(std::span<const int> tokens, int most)
{
    aside_us_ = 0;
    guessed_.clear();
    if (off_ || of_.draft.given_up() || most <= 0)
        return {};
    try {
        if (const Status done = guess(tokens, most); !done)
            take_failure(done.error());
    } catch (...) {
        take_failure(caught("for the draft model").value());
    }
    return guessed_;
}

Status ModelDrafter::guess(std::span<const int> tokens, int most)
{
    const int room = of_.draft.model().context_tokens() - int(tokens.size());
    if (room <= 0 || !knows(tokens))
        return {};
    go_back(tokens);
    of_.draft.use(of_.sequence);
    KvSequence& kv = of_.sequence.kv;
    if (const int missed = int(tokens.size()) - kv.length(); missed > kMostRowsTogether) {
        const std::int64_t start = now_us();
        Status done = read(tokens);
        aside_us_ = now_us() - start;
        if (!done || int(tokens.size()) - kv.length() > kMostRowsTogether)
            return done;
    }
    if (Status done = append(tokens.subspan(std::size_t(kv.length()))); !done)
        return done;
    agreed_ = tokens.size();
    of_.draft.model().cache().states().keep(kv);
    sampler_.draw_as(of_.sampler);
    most = std::min(most, room);
    Status done;
    while (done) {
        const auto logits = of_.draft.model().logits(kv, rows_ - 1);
        if (!logits)
            return tl::unexpected(logits.error());
        const int id = sampler_.sample(*logits, kv.ids);
        if (id >= of_.model.info().vocabulary || of_.model.ends_answer(id))
            break;
        guessed_.push_back(id);
        if (int(guessed_.size()) == most)
            break;
        done = append(std::span(&id, 1));
    }
    forget_guesses();
    return done;
}

/// A state cannot be cut: a model that has one goes back at once, and reads again what stands.
void ModelDrafter::forget_guesses()
{
    KvSequence& kv = of_.sequence.kv;
    KvCache& cache = of_.draft.model().cache();
    if (!cache.states().any())
        return;
    cache.truncate(kv, int(agreed_));
    if (!kv.checkpoints.empty() && kv.checkpoints.back().tokens == int(agreed_))
        cache.states().drop_newest(kv);
}

/// What it has guessed and does not stand leaves its KV, and what is of another version of the conversation.
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

/// A step of what it has missed.
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
    return of_.draft.model().append(std::span(&group, 1));
}

/// A vocabulary may lack the last tokens of the other.
bool ModelDrafter::knows(std::span<const int> tokens)
{
    const int size = of_.draft.info().vocabulary;
    while (checked_ < tokens.size() && tokens[checked_] < size)
        ++checked_;
    return checked_ == tokens.size();
}

void ModelDrafter::take_failure(const Error& error)
{
    guessed_.clear();
    if (error.code == Error::Code::Cancelled)
        return;
    const bool lacks_room = error.code == Error::Code::ContextFull || error.code == Error::Code::NoMemory;
    if (!lacks_room)
        of_.draft.give_up(error);
    else
        off_ = !of_.draft.make_room_for(of_.sequence);
}

}  // namespace engine
