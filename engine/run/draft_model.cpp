#include "engine/run/draft_model.h"

#include "engine/caught.h"
#include "engine/draft_model.h"
#include "engine/memory_plan.h"
#include "engine/tokenizer/same_vocabulary.h"

#include <algorithm>
#include <utility>

namespace engine {

Status may_draft(const std::filesystem::path& model, const std::filesystem::path& draft)
try {
    const auto info = inspect_model(draft);
    if (!info)
        return fail(info.error().code, "the draft model cannot be used: " + info.error().what);
    if (!info->runnable)
        return fail(Error::Code::Unsupported, "the draft model cannot be used: " + info->obstacle);
    const auto vocabulary_of = [](const std::filesystem::path& path) -> Result<Vocabulary> {
        const auto file = GgufFile::open(path);
        if (!file)
            return tl::unexpected(file.error());
        return read_vocabulary(*file);
    };
    const auto of_model = vocabulary_of(model), of_draft = vocabulary_of(draft);
    if (!of_model || !of_draft)
        return tl::unexpected(of_model ? of_draft.error() : of_model.error());
    return same_vocabulary(*of_model, *of_draft);
} catch (...) {
    return caught("to compare two models");
}

DraftSequence::DraftSequence(DraftModel& of)
    : of_(of)
{
    of_.sequences_.push_back(this);
}

DraftSequence::~DraftSequence()
{
    of_.model_->cache().truncate(kv, 0);
    std::erase(of_.sequences_, this);
}

std::unique_ptr<DraftSequence> DraftSequence::branch(int tokens) const
{
    auto copy = std::make_unique<DraftSequence>(of_);
    copy->kv = of_.model_->cache().branch(kv, std::min(tokens, kv.length()));
    return copy;
}

/// The caches of both models share the memory that is left.
DraftModel::DraftModel(std::unique_ptr<LoadedModel> model, LoadedModel& guessed_for)
    : model_(std::move(model))
    , guessed_for_(guessed_for)
{
    model_->cache().states().ask_for_more([this] { return make_room(); });
    guessed_for_.kv_room().join(model_->cache());
}

DraftModel::~DraftModel()
{
    guessed_for_.kv_room().leave(model_->cache());
}

Result<std::unique_ptr<DraftModel>> DraftModel::load(const LoadRequest& request, LoadedModel& model,
                                                     const LoadedModel::Progress& progress)
{
    LoadedModel::Progress quiet = progress;  // warnings are left out: its chat template, for one, does not matter
    quiet.warn = [](const std::string&) {};
    auto loaded = LoadedModel::load(as_draft(request, model.context_tokens()), quiet);
    if (!loaded)
        return tl::unexpected(loaded.error());
    if (Status ok = same_vocabulary(model.tokenizer().vocabulary(), (*loaded)->tokenizer().vocabulary()); !ok)
        return tl::unexpected(ok.error());
    return std::unique_ptr<DraftModel>(new DraftModel(std::move(*loaded), model));
}

DraftModelTelemetry DraftModel::telemetry() const
{
    const KvCache& cache = model_->cache();
    DraftModelTelemetry t;
    t.weight_bytes = model_->weight_bytes();
    t.kv_bytes = std::int64_t(cache.used_pages()) * std::int64_t(cache.page_bytes()) +
                 std::int64_t(cache.states().used()) * std::int64_t(cache.states().bytes());
    t.scratch_bytes = model_->scratch_bytes();
    return t;
}

bool DraftModel::make_room()
{
    DraftSequence* oldest = nullptr;
    for (DraftSequence* other : sequences_)
        if (other->kv.last_used != uses_ && !other->kv.pages.empty() &&
            (!oldest || other->kv.last_used < oldest->kv.last_used))
            oldest = other;
    if (!oldest)
        return false;
    if (!oldest->kv.checkpoints.empty())
        model_->cache().states().drop_oldest(oldest->kv);
    else
        model_->cache().truncate(oldest->kv, 0);
    return true;
}

void DraftModel::give_up(const Error& error)
{
    if (!std::exchange(given_up_, true))
        complaint_ = "the draft model guesses nothing more: " + error.what;
}

}  // namespace engine
