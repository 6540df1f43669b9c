#include "engine/run/loaded_model.h"

#include "engine/caught.h"
#include "engine/kv/lost_tokens.h"
#include "engine/memory_plan.h"
#include "engine/metrics/host_probe.h"
#include "engine/model/tensor_overrides.h"
#include "engine/plan/model_costs.h"
#include "engine/plan/prefill_chunk.h"
#include "engine/run/turn_end.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <system_error>

namespace engine {

namespace {

// Conversations whose KV may be kept side by side, when there is memory for them.
constexpr int kConversationsInCache = kMostRowsTogether;  // all may be answered at once

Status check(const LoadRequest& request)
{
    if (request.kv_block_tokens < 16 || request.kv_block_tokens % 16 != 0 || request.kv_block_tokens > 4096)
        return fail(Error::Code::BadRequest, "a KV block must hold a multiple of 16 tokens, 4096 at most");
    if (request.prefill_chunk_tokens < 0 || request.prefill_chunk_tokens > 8192)
        return fail(Error::Code::BadRequest, "a prefill chunk must hold 1 to 8192 tokens");
    if (request.context_tokens < 0 || request.context_tokens > 1 << 24)
        return fail(Error::Code::BadRequest, "the context must hold 1 to 16777216 tokens");
    if (request.threads < 0 || request.threads > 1024)
        return fail(Error::Code::BadRequest, "the number of threads must be between 1 and 1024");
    return {};
}

Status check_kv_fits(const std::string& of, std::int64_t kv_bytes, std::int64_t free_bytes)
{
    if (kv_bytes <= free_bytes)
        return {};
    return fail(Error::Code::NoMemory, of + " needs " + std::to_string(kv_bytes >> 20) + " MiB for its KV cache, and " +
                                           std::to_string(free_bytes >> 20) + " MiB are free");
}

/// Returns what all conversations may take of the memory that was free before the weights were read: all but what else
/// is needed.
std::optional<std::int64_t> room_for_kv(const ModelInfo& info, LoadRequest request, const ModelInfo* draft,
                                        std::optional<std::int64_t> free)
{
    request.context_tokens = info.context_in_use;
    const MemoryNeed need = memory_need(info, request, draft);
    if (!free)
        return {};
    return *free - (need.total() - need.kv_bytes - need.state_bytes) - kMemoryMarginBytes;
}

}  // namespace

Result<std::unique_ptr<LoadedModel>> LoadedModel::load(const LoadRequest& request, const Progress& progress)
try {
    if (const auto ok = check(request); !ok)
        return tl::unexpected(ok.error());
    auto info = inspect_model(request.model);
    if (!info)
        return tl::unexpected(info.error());
    if (!info->runnable)
        return fail(Error::Code::Unsupported, info->obstacle);
    auto file = GgufFile::open(request.model);
    if (!file)
        return tl::unexpected(file.error());
    auto h = read_hyperparameters(*file);
    if (!h)
        return tl::unexpected(h.error());

    std::unique_ptr<LoadedModel> model(new LoadedModel(std::move(*file), std::move(*h)));
    model->info_ = std::move(*info);
    if (const auto ok = model->read_text_parts(progress); !ok)
        return tl::unexpected(ok.error());
    auto weights = Weights::read(model->file_, model->h_);
    if (!weights)
        return tl::unexpected(weights.error());
    model->weights_ = std::move(*weights);
    Result<ModelInfo> draft;
    if (!request.draft_model.empty())
        draft = inspect_model(request.draft_model);
    if (!draft)
        return tl::unexpected(draft.error());
    const ModelInfo* const beside = request.draft_model.empty() ? nullptr : &*draft;
    if (const auto ok = model->choose_context(request, beside, progress); !ok)
        return tl::unexpected(ok.error());
    LoadRequest asked = request;
    if (auto options = with_tensor_overrides(request.placement, model->file_))  // if it fails, place_layers() says why
        asked.placement = std::move(*options);
    LoadRequest chosen = request;
    chosen.prefill_chunk_tokens =
        with_prefill_chunk(asked, model->h_, model->info_.context_in_use, model->weights_, host_memory().total_bytes)
            .prefill_chunk_tokens;
    const auto free = host_memory().available_bytes;  // the weights are not read yet
    model->allocate(chosen, beside);
    if (const auto ok = model->bring_weights_in(progress); !ok)
        return tl::unexpected(ok.error());
    model->describe_saved_kv();
    if (const auto ok = model->place_layers(chosen, progress); !ok)
        return tl::unexpected(ok.error());
    model->kv_room_ = std::make_unique<KvRoom>(*model->placement_, room_for_kv(model->info_, chosen, beside, free));
    model->kv_room_->join(*model->cache_);
    return model;
} catch (...) {
    return caught("for this model and context");
}

void LoadedModel::warn(const Progress& progress, std::string sentence)
{
    info_.warnings.push_back(sentence);
    progress.warn(std::move(sentence));
}

/// Reads vocabulary and chat template.
Status LoadedModel::read_text_parts(const Progress& progress)
{
    auto vocabulary = read_vocabulary(file_);
    if (!vocabulary)
        return tl::unexpected(vocabulary.error());
    auto tokenizer = Tokenizer::make(std::move(*vocabulary));
    if (!tokenizer)
        return tl::unexpected(tokenizer.error());
    tokenizer_ = std::move(*tokenizer);
    h_.vocabulary = tokenizer_->size();
    for (const std::string& warning : tokenizer_->warnings())
        warn(progress, warning);

    const auto source = file_.string("tokenizer.chat_template");
    auto parsed = ChatTemplate::parse(std::string(source.value_or(kChatMlTemplate)));
    // Too little memory says nothing about the template: the model is not to answer in another form.
    if (!parsed && source && parsed.error().code != Error::Code::NoMemory) {
        warn(progress,
             "the model's chat template cannot be used (" + parsed.error().what + "); the ChatML form is used instead");
        parsed = ChatTemplate::parse(std::string(kChatMlTemplate));
    }
    if (!parsed)
        return tl::unexpected(parsed.error());
    info_.template_arguments = parsed->arguments();
    chat_template_ = std::make_unique<const ChatTemplate>(std::move(*parsed));
    if (source)
        turn_end_ = turn_end(*chat_template_, *tokenizer_);
    return {};
}

/// Chooses the context. `draft`: will be loaded beside it; null: none.
Status LoadedModel::choose_context(LoadRequest request, const ModelInfo* draft, const Progress& progress)
{
    if (const int most = h_.dense_context; most > 0 && request.context_tokens > most) {
        warn(progress, "of this model " + std::to_string(most) + " tokens of context can be computed; these are used");
        request.context_tokens = most;
    }
    const int wanted = request.context_tokens > 0 ? request.context_tokens : h_.context_length;
    info_.context_in_use = wanted;
    if (wanted > h_.context_length)
        warn(progress, "the context of " + std::to_string(wanted) + " tokens is longer than the " +
                           std::to_string(h_.context_length) + " the model was made for");
    const HostMemory memory = host_memory();
    if (!memory.available_bytes)
        return {};
    // Mapped weights count once they are read; what is mapped already is not in "available".
    if (request.context_tokens == 0) {
        // Somewhat less than there is, since the room is computed again for the copies of the weights.
        const int fits = largest_context(info_, request, *memory.available_bytes - kMemoryMarginBytes * 5 / 4, draft);
        info_.context_in_use = std::max(std::min(wanted, kShortestContext), fits);
        return {};
    }
    return check_kv_fits("a context of " + std::to_string(wanted) + " tokens", memory_need(info_, request).kv_bytes,
                         *memory.available_bytes);
}

bool LoadedModel::has_kv_types(KvType k_type, KvType v_type) const
{
    return cache_->layer(0).block.has_types(kernel_type(k_type), kernel_type(v_type));
}

Status LoadedModel::may_set_kv_types(KvType k_type, KvType v_type) const
{
    if (Status ok = placement_->may_set_kv_types(kernel_type(k_type), kernel_type(v_type)); !ok)
        return ok;
    LoadRequest request;
    request.context_tokens = info_.context_in_use;
    request.kv_block_tokens = cache_->block_tokens();
    request.k_type = kv_type(cache_->layer(0).block.k_type);
    request.v_type = kv_type(cache_->layer(0).block.v_type);
    const std::int64_t now = memory_need(info_, request).kv_bytes;
    request.k_type = k_type;
    request.v_type = v_type;
    const std::int64_t then = memory_need(info_, request).kv_bytes;
    const auto available = host_memory().available_bytes;
    if (then <= now || !available)
        return {};
    const std::int64_t free = *available + cache_->allocated_bytes();
    const double used = double(cache_->used_pages()) * double(cache_->page_bytes());
    if (Status ok = check_kv_fits("a context of " + std::to_string(info_.context_in_use) + " tokens", then, free); !ok)
        return ok;
    return check_kv_fits("what there is of all conversations", std::int64_t(used * double(then) / double(now)), free);
}

Status LoadedModel::set_kv_types(KvType k_type, KvType v_type)
{
    if (has_kv_types(k_type, v_type))
        return {};
    if (Status ok = may_set_kv_types(k_type, v_type); !ok)
        return ok;
    placement_->set_kv_types(kernel_type(k_type), kernel_type(v_type));
    describe_saved_kv();
    return {};
}

void LoadedModel::allocate(const LoadRequest& request, const ModelInfo* draft)
{
    const int rows = std::min(request.prefill_chunk_tokens, info_.context_in_use);
    const int threads = request.threads > 0 ? request.threads : physical_cores();
    cpu_ = std::make_unique<CpuBackend>(h_, rows, request.kv_block_tokens, threads, request.pin_threads);
    decoder_ = std::make_unique<Decoder>(h_, weights_, info_.context_in_use, rows);

    // Page memory is taken when first used. Two pages beside each context: a branch's tail is copied before it is
    // written.
    const int context_pages = (info_.context_in_use + request.kv_block_tokens - 1) / request.kv_block_tokens;
    cache_ = std::make_unique<KvCache>(
        kv_shapes(h_, request), request.kv_block_tokens, kConversationsInCache * (context_pages + 2),
        RecurrentStates(state_floats(h_), kConversationsInCache * (RecurrentStates::kMostOfSequence + 1)));
    LoadRequest in_use = request;
    in_use.context_tokens = info_.context_in_use;
    const MemoryNeed need = memory_need(info_, in_use, draft);
    const auto free = host_memory().available_bytes;
    // Copies for all weights or for none: copies stay in memory, and the file's pages of the other layers would have to
    // share what is left.
    const bool fits = !free || *free >= need.total() + kMemoryMarginBytes;
    std::optional<std::int64_t> keep_free;
    if (fits)
        keep_free = kMemoryMarginBytes + need.kv_bytes + need.scratch_bytes + need.draft_bytes;
    host_weights_ = std::make_unique<HostWeights>(file_, weights_, h_, keep_free);
    placement_ = std::make_unique<ModelPlacement>(ModelOnHost{h_, weights_, *host_weights_, *cpu_, *cache_});
}

/// In some models a context beyond the original one chooses other frequencies, and with them other keys: the
/// fingerprint of saved KV then depends on it.
void LoadedModel::describe_saved_kv()
{
    const std::uint64_t long_context = info_.context_in_use > h_.rope_scaling.original_context;
    const bool depends = h_.rope_scaling.kind == RopeScaling::Kind::LongRope;
    saved_kv_format_ = std::make_shared<const SavedKvFormat>(file_.fingerprint() + (depends ? long_context : 0),
                                                             cache_->layers(), cache_->states().bytes());
}

StepLimits LoadedModel::step_limits() const
{
    const std::int64_t scratch = engine::scratch_bytes(
        h_, weights_, {decoder_->max_rows(), cache_->block_tokens(), cpu_->threads(), AttentionRuns::Several});
    return {decoder_->max_rows(), info_.context_in_use, scratch};
}

Status LoadedModel::change_device(const PlacementOptions& wish, KvInUse in_use)
{
    try {
        const auto options = with_tensor_overrides(wish, file_);
        if (!options)
            return tl::unexpected(options.error());
        return placement_->change_device(*options, step_limits(), std::move(in_use));
    } catch (const std::system_error&) {
        return fail(Error::Code::NoMemory, "the system does not give so many threads");
    } catch (const std::bad_alloc&) {
        return fail(Error::Code::NoMemory, "there is not enough memory for this device");
    }
}

/// Opens the device, and moves the layers there that it is to hold, one after another.
Status LoadedModel::place_layers(const LoadRequest& request, const Progress& progress)
{
    const auto options = with_tensor_overrides(request.placement, file_);
    if (!options)
        return tl::unexpected(options.error());
    if (Status ok = placement_->open(*options, step_limits()); !ok) {
        const bool is_the_devices =
            ok.error().code == Error::Code::DeviceFull || ok.error().code == Error::Code::DeviceLost;
        if (!is_the_devices)
            return ok;
        warn(progress, ok.error().what + "; the model is computed on the cpu");
    }
    if (const auto device = placement_->telemetry())
        info_.device = device->id;
    while (placement_->layers() != placement_->wanted_layers()) {
        if (progress.cancelled())
            return fail(Error::Code::Cancelled, "loading was cancelled");
        placement_->advance();
    }
    while (placement_->ready_host_part())
        if (progress.cancelled())
            return fail(Error::Code::Cancelled, "loading was cancelled");
    if (host_weights_->lack_memory())
        warn(progress,
             "memory is too short to hold the weights as this processor reads them fastest: answers take longer");
    for (Event& event : placement_->take_events())
        if (event.kind != Event::Kind::LayerMove)
            warn(progress, std::move(event.sentence));
    return {};
}

/// Reads the weights through once, so that the first answer does not wait for the disk; skipped where they do not fit.
Status LoadedModel::bring_weights_in(const Progress& progress)
{
    constexpr std::size_t kPiece = 16 << 20, kPage = 4096;
    const auto memory = host_memory();
    const bool fits = !memory.total_bytes || weights_.bytes < *memory.total_bytes * 9 / 10;
    LoadProgress done{0, weights_.bytes};
    for (const GgufTensor& tensor : file_.tensors()) {
        if (is_left_aside(tensor, h_))
            continue;
        for (std::size_t at = 0; at < tensor.bytes.size(); at += kPiece) {
            if (progress.cancelled())
                return fail(Error::Code::Cancelled, "loading was cancelled");
            const auto piece = tensor.bytes.subspan(at, std::min(kPiece, tensor.bytes.size() - at));
            if (fits) {
                file_.prefetch_pages(piece);
                unsigned sum = 0;
                for (std::size_t i = 0; i < piece.size(); i += kPage)
                    sum += std::to_integer<unsigned>(*static_cast<const volatile std::byte*>(&piece[i]));
                (void)sum;
            }
            done.bytes_done += std::int64_t(piece.size());
            progress.report(done);
        }
    }
    return {};
}

std::vector<int> LoadedModel::answer_ends() const
{
    std::vector<int> ends;
    for (int id = 0; id < tokenizer_->size(); ++id)
        if (ends_answer(id))
            ends.push_back(id);
    return ends;
}

const std::shared_ptr<const TokenTrie>& LoadedModel::token_trie(Marks marks)
{
    // Of the special tokens only those that are marks have a text here.
    const auto text_of = [this, marks](int id) {
        const bool left_out = marks == Marks::LeftOut && tokenizer_->is_special(id);
        return ends_answer(id) || left_out ? std::string() : tokenizer_->piece(id);
    };
    auto& trie = marks == Marks::Included ? token_trie_with_marks_ : token_trie_;
    if (!trie)
        trie = std::make_shared<const TokenTrie>(info_.vocabulary, text_of);
    return trie;
}

Status LoadedModel::append(KvSequence& sequence, std::span<const int> tokens, int wanted)
{
    RowGroup group{&sequence, tokens};
    group.wanted = wanted < 0 ? group.count() : wanted;
    return append(std::span(&group, 1));
}

Status LoadedModel::append(std::span<RowGroup> groups)
{
    for (;;) {
        Status done = step(groups);
        if (done || !placement_->has_device())
            return done;
        if (done.error().code == Error::Code::DeviceLost)
            lose_device(done.error());
        else if (done.error().code != Error::Code::DeviceFull || !placement_->give_up_layer())
            return done;
    }
}

Status LoadedModel::step(std::span<RowGroup> groups)
{
    for (RowGroup& group : groups) {
        if (group.again) {  // more may be lost since: the first of all come first
            find_lost(*cache_, *group.sequence);
            group.tokens = std::span(group.sequence->lost).first(group.tokens.size());
        } else if (Status ok = restore_lost(*group.sequence, group.stop); !ok) {
            return ok;
        }
    }
    return compute(groups);
}

/// Computes all lost tokens again. A turn has had that done before, a piece in each of its steps, but for what is lost
/// within a step.
Status LoadedModel::restore_lost(KvSequence& sequence, const std::stop_token& stop)
{
    find_lost(*cache_, sequence);
    while (!sequence.lost.empty()) {
        RowGroup group{&sequence,
                       std::span(sequence.lost).first(std::min(sequence.lost.size(), std::size_t(max_rows())))};
        group.stop = stop;
        group.again = true;
        if (Status ok = compute(std::span(&group, 1)); !ok)
            return ok;  // the tokens that are still lost come first in the next attempt
    }
    return {};
}

Status LoadedModel::compute(std::span<RowGroup> groups)
{
    int rows = 0, drafted = 0;
    for (RowGroup& group : groups) {
        group.first = group.sequence->length();
        group.row = rows;
        rows += group.count();
        if (Status ok = cache_->reserve(*group.sequence, group.first + group.count()); !ok)
            return ok;
        group.drafted_row = -1;
        if (!group.drafted || !cache_->states().any() || drafted + group.count() > kMostRowsTogether)
            continue;
        if (Status ok = cache_->states().keep_before(*group.sequence); !ok)
            return ok;
        group.drafted_row = std::exchange(drafted, drafted + group.count());
    }
    const auto take_tokens_back = [groups] {
        for (const RowGroup& group : groups)
            group.sequence->ids.resize(std::size_t(group.first));  // the step computes them again
    };
    try {
        if (Status done = compute_reserved(groups); !done) {
            take_tokens_back();
            return done;
        }
    } catch (...) {  // nobody knows how much of the step is done
        take_tokens_back();
        spoil_states(groups);
        throw;
    }
    for (const RowGroup& group : groups)
        if (std::vector<int>& lost = group.sequence->lost; group.again)
            lost.erase(lost.begin(), lost.begin() + group.count());
    return file_.still_whole();
}

/// Marks the sequences' recurrent states as spoilt: a step that failed has changed them.
void LoadedModel::spoil_states(std::span<const RowGroup> groups)
{
    for (const RowGroup& group : groups)
        cache_->states().spoil(*group.sequence);
}

/// Computes a step whose pages are reserved. A device computes one sequence at a time.
Status LoadedModel::compute_reserved(std::span<const RowGroup> groups)
{
    const RowGroup& first = groups.front();
    assert(groups.size() == 1 || computes_together());
    const auto nobody_waits = [groups] { return unwanted(groups); };
    if (Status ok = placement_->prepare(*first.sequence, first.first, first.count(), nobody_waits); !ok)
        return ok;
    {
        const ThreadPool::Step working(cpu_->pool(), [groups] { return given_up(groups); });
        decoder_->append(placement_->placement(), {*cache_, groups, placement_->step_device_layers(), clock_});
    }
    Status done = placement_->finish(*first.sequence, first.first, first.count());
    if (done && given_up(groups))  // the results may be incomplete
        done = fail(Error::Code::Cancelled, "the step was stopped");
    if (!done)
        spoil_states(groups);
    last_.assign(groups.begin(), groups.end());
    last_step_lost_ = false;
    return done;
}

void LoadedModel::take_back(KvSequence& sequence, int tokens)
{
    RecurrentStates& states = cache_->states();
    if (!states.any()) {
        cache_->truncate(sequence, tokens);
        return;
    }
    const auto group = std::ranges::find(last_, &sequence, &RowGroup::sequence);
    const bool kept = group != last_.end() && group->drafted_row >= 0 && !last_step_lost_ && states.whole(sequence) &&
                      group->first < tokens && group->first + group->count() == sequence.length();
    if (!kept) {
        const std::vector<int> ids(sequence.ids.begin(), sequence.ids.begin() + tokens);
        const int left = cache_->truncate(sequence, tokens);
        sequence.lost.assign(ids.begin() + left, ids.end());
        return;
    }
    RowGroup stands = *group;
    stands.tokens = group->tokens.first(std::size_t(tokens - group->first));
    group->drafted_row = -1;
    cache_->cut_kv(sequence, tokens);
    const ThreadPool::Step working(cpu_->pool());
    try {
        decoder_->take_states_back(placement_->placement(),
                                   {*cache_, std::span(&stands, 1), placement_->step_device_layers(), clock_});
    } catch (...) {  // the layers' states are of different tokens now
        states.spoil(sequence);
        throw;
    }
}

bool LoadedModel::made_of(const KvSequence& sequence, RowRange rows, std::span<float> out)
{
    if (last_step_lost_)
        return false;
    const ThreadPool::Step working(cpu_->pool());
    decoder_->made_of(placement_->placement(), {row_of(sequence) + rows.first, rows.count}, out);
    // A GPU computes while the host goes on: errors of its kernels show only when the rows are fetched.
    const Status done = placement_->take_status();
    if (!done)
        lose_device(done.error());
    return done.has_value();
}

/// Calls `ask`, which reads results of the last step. Where the device that holds them is lost, computes the step again
/// and calls it once more.
template <class Ask>
auto LoadedModel::with_lost_step_repeated(KvSequence& sequence, const Ask& ask) -> Result<decltype(ask())>
{
    for (;;) {
        if (last_step_lost_)
            if (const Status ok = repeat_last_step(sequence); !ok)
                return tl::unexpected(ok.error());
        const auto logits = ask();
        const Status done = placement_->take_status();
        if (done)
            return logits;
        lose_device(done.error());
    }
}

Result<std::span<const float>> LoadedModel::logits(KvSequence& sequence, int row)
{
    return with_lost_step_repeated(
        sequence, [&] { return decoder_->logits(placement_->placement(), clock_, row_of(sequence) + row); });
}

Result<RowLogits> LoadedModel::logits(KvSequence& sequence, int row, std::optional<int> enough)
{
    return with_lost_step_repeated(
        sequence, [&] { return decoder_->logits(placement_->placement(), clock_, row_of(sequence) + row, enough); });
}

/// Returns the row of the last step at which the sequence's rows begin.
int LoadedModel::row_of(const KvSequence& sequence) const
{
    const auto group = std::ranges::find(last_, &sequence, &RowGroup::sequence);
    return group == last_.end() ? 0 : group->row;
}

/// Computes the last step again after a device was lost; such a step has one sequence's rows.
Status LoadedModel::repeat_last_step(KvSequence& sequence)
{
    const std::vector<int> ids = sequence.ids;
    const int first = last_.empty() ? 0 : last_.front().first;
    const int kept = cache_->truncate(sequence, first);
    sequence.lost.assign(ids.begin() + kept, ids.begin() + first);
    RowGroup group{&sequence, std::span(ids).subspan(std::size_t(first))};
    group.wanted = group.count();
    group.drafted = !last_.empty() && last_.front().drafted;
    return append(std::span(&group, 1));
}

void LoadedModel::lose_device(const Error& error)
{
    last_step_lost_ = true;
    placement_->lose(error);
}

}  // namespace engine
