#include "engine/run/mtp_model.h"

#include "engine/caught.h"
#include "engine/memory_plan.h"
#include "engine/model/mtp_block.h"
#include "engine/plan/model_costs.h"

#include <algorithm>

namespace engine {

namespace {

LoadRequest kv_of(const LoadedModel& model)
{
    LoadRequest request;
    request.kv_block_tokens = model.cache().block_tokens();
    return request;
}

int page_limit(const LoadedModel& model)
{
    const int tokens = model.cache().block_tokens();
    return kMostRowsTogether * ((model.context_tokens() + tokens - 1) / tokens + 2);
}

}  // namespace

MtpSequence::MtpSequence(MtpModel& of)
    : of_(of)
{
    of_.sequences_.push_back(this);
}

MtpSequence::~MtpSequence()
{
    of_.forget(*this);
    std::erase(of_.sequences_, this);
}

std::unique_ptr<MtpSequence> MtpSequence::branch(int tokens) const
{
    auto copy = std::make_unique<MtpSequence>(of_);
    copy->first_ = first_;
    copy->kv_ = of_.cache_.branch(kv_, std::clamp(tokens - first_, 0, kv_.length()));
    return copy;
}

Result<std::unique_ptr<MtpModel>> MtpModel::make(LoadedModel& model)
{
    const ModelParts parts = model.parts();
    auto h = mtp_hyperparameters(parts.h);
    if (!h)
        return std::unique_ptr<MtpModel>();
    auto weights = read_mtp_block(parts.file, *h, int(parts.h.layers.size()), parts.weights);
    if (!weights)
        return tl::unexpected(weights.error());
    return std::unique_ptr<MtpModel>(new MtpModel(model, std::move(*h), std::move(*weights)));
}

MtpModel::MtpModel(LoadedModel& model, Hyperparameters h, Weights weights)
    : model_(model)
    , h_(std::move(h))
    , weights_(std::move(weights))
    , max_rows_(std::min(kMtpRows, model.parts().chunk_tokens))
    , host_weights_(model.parts().file, weights_, h_, kMemoryMarginBytes)
    , cache_(kv_shapes(h_, kv_of(model)), model.cache().block_tokens(), page_limit(model))
    , head_(weights_.head)
    , placement_(host_weights_, model.cpu())
    , decoder_(h_, weights_, model.context_tokens(), max_rows_)
    , guess_(std::size_t(h_.embedding_length))
{
    placement_.place_head(model.cpu(), head_);
    model_.kv_room().join(cache_);
}

MtpModel::~MtpModel()
{
    model_.kv_room().leave(cache_);
}

bool MtpModel::may_pay() const
{
    constexpr int kFewHostLayers = 8;  // at most one layer of this many is on the host
    const int layers = int(model_.parts().h.layers.size());
    const bool on_gpu = !model_.placement().host_waits_for_link();
    return !on_gpu || (layers - model_.placement().layers()) * kFewHostLayers >= layers;
}

void MtpModel::forget(MtpSequence& sequence)
{
    cache_.truncate(sequence.kv_, 0);
    sequence.waiting_.clear();
}

/// Forgets what was noted from `first` on, which is another text's. The last row that is left may have been made with
/// another token than the one that follows now, which costs a guess at most.
void MtpModel::go_to(MtpSequence& sequence, int first)
{
    const int known = position(sequence), end = known + waiting(sequence);
    if (first < sequence.first_ || first > end) {
        forget(sequence);
        sequence.first_ = first;
    } else if (first < known) {
        sequence.waiting_.clear();
        cache_.truncate(sequence.kv_, first - sequence.first_);
    } else {
        sequence.waiting_.resize(std::size_t(first - known) * std::size_t(dim()));
    }
}

void MtpModel::note(MtpSequence& sequence, const KvSequence& kv, RowRange rows, std::span<const int> tokens,
                    const std::stop_token& stop)
{
    if (given_up_ || rows.count == 0)
        return;
    try {
        if (!note_rows(sequence, kv, rows, tokens, stop))
            forget(sequence);
    } catch (...) {
        forget(sequence);
        give_up(caught("for guessing tokens").value());
    }
}

/// Notes rows in pieces, so that no more rows wait than two of its steps have.
Status MtpModel::note_rows(MtpSequence& sequence, const KvSequence& kv, RowRange rows, std::span<const int> tokens,
                           const std::stop_token& stop)
{
    go_to(sequence, rows.first);
    for (int row = 0; row < rows.count; row += max_rows_) {
        const int count = std::min(max_rows_, rows.count - row);
        const std::size_t before = sequence.waiting_.size();
        sequence.waiting_.resize(before + std::size_t(count) * std::size_t(dim()));
        if (!model_.made_of(kv, {row, count}, std::span(sequence.waiting_).subspan(before)))
            return fail(Error::Code::DeviceLost, "what the model has made is lost");
        if (waiting(sequence) > max_rows_)
            if (Status ok = read_waiting(sequence, 1, tokens, stop); !ok)
                return ok;
    }
    return {};
}

/// Reads the waiting rows whose next token is known, all but the last `left`.
Status MtpModel::read_waiting(MtpSequence& sequence, int left, std::span<const int> tokens, const std::stop_token& stop)
{
    while (waiting(sequence) > left) {
        const int at = position(sequence);
        const int count = std::min({max_rows_, waiting(sequence) - left, int(tokens.size()) - 1 - at});
        if (count <= 0)
            break;
        const auto floats = std::ptrdiff_t(count) * dim();
        const std::span<const float> given = std::span(sequence.waiting_).first(std::size_t(floats));
        if (Status ok = append(sequence, tokens.subspan(std::size_t(at) + 1, std::size_t(count)), given, stop); !ok)
            return ok;
        sequence.waiting_.erase(sequence.waiting_.begin(), sequence.waiting_.begin() + floats);
    }
    return {};
}

Result<int> MtpModel::read(MtpSequence& sequence, std::span<const int> tokens, const std::stop_token& stop)
{
    const int missing = int(tokens.size()) - 1 - position(sequence);
    if (missing <= 0 || missing != waiting(sequence))
        return 0;
    if (Status ok = read_waiting(sequence, 0, tokens, stop); !ok)
        return tl::unexpected(ok.error());
    return missing;
}

Status MtpModel::read_guess(MtpSequence& sequence, int token, const std::stop_token& stop)
{
    decoder_.made_of(placement_, {last_row_, 1}, guess_);
    return append(sequence, std::span(&token, 1), guess_, stop);
}

void MtpModel::forget_guesses(MtpSequence& sequence, int tokens)
{
    cache_.truncate(sequence.kv_, std::max(0, tokens - 1 - sequence.first_));
}

Status MtpModel::append(MtpSequence& sequence, std::span<const int> tokens, std::span<const float> given,
                        const std::stop_token& stop)
{
    RowGroup group{&sequence.kv_, tokens};
    group.first = sequence.kv_.length();
    group.wanted = 1;
    group.stop = stop;
    if (Status ok = reserve(sequence, group.first + group.count()); !ok)
        return ok;
    host_weights_.use_layer(0, LayerPart::Whole, model_.cpu().pool());
    head_ = weights_.head;
    if (const ModelParts parts = model_.parts(); head_.output.data == parts.weights.head.output.data)
        head_.output = parts.host_head.output;
    decoder_.given().set_shape(group.count(), dim());
    std::ranges::copy(given, decoder_.given().row(0));
    last_row_ = group.count() - 1;
    const std::span<const RowGroup> groups(&group, 1);
    {
        const ThreadPool::Step working(model_.cpu().pool(), [groups] { return engine::given_up(groups); });
        decoder_.append(placement_, {cache_, groups, 0, clock_});
    }
    if (!engine::given_up(groups))
        return model_.cpu().take_status();
    cache_.truncate(sequence.kv_, group.first);
    return fail(Error::Code::Cancelled, "the step was stopped");
}

/// Makes room for this many tokens, if need be with the memory of conversations that used it longest ago.
Status MtpModel::reserve(MtpSequence& sequence, int tokens)
{
    sequence.kv_.last_used = ++uses_;
    Status done = cache_.reserve(sequence.kv_, tokens);
    while (!done && make_room_for(sequence))
        done = cache_.reserve(sequence.kv_, tokens);
    return done;
}

/// Makes another conversation give up its rows. False: none has any.
bool MtpModel::make_room_for(const MtpSequence& sequence)
{
    MtpSequence* oldest = nullptr;
    for (MtpSequence* const other : sequences_)
        if (other != &sequence && !other->kv_.pages.empty() &&
            (!oldest || other->kv_.last_used < oldest->kv_.last_used))
            oldest = other;
    if (!oldest)
        return false;
    forget(*oldest);
    return true;
}

std::span<const float> MtpModel::logits()
{
    return decoder_.logits(placement_, clock_, last_row_);
}

DraftModelTelemetry MtpModel::telemetry() const
{
    DraftModelTelemetry t;
    t.weight_bytes = weights_.bytes;
    t.kv_bytes = std::int64_t(cache_.used_pages()) * std::int64_t(cache_.page_bytes());
    t.scratch_bytes = std::int64_t(decoder_.scratch_bytes());
    return t;
}

void MtpModel::give_up(const Error& error)
{
    if (!std::exchange(given_up_, true))
        complaint_ = "the block of the model's file that guesses tokens is not used any more: " + error.what;
}

}  // namespace engine
