#include "engine/evaluate.h"

#include "engine/caught.h"
#include "engine/run/loaded_model.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace engine {

namespace {

double log_likelihood(std::span<const float> logits, int id)
{
    const float max = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float v : logits)
        sum += std::exp(double(v) - max);
    return double(logits[std::size_t(id)]) - max - std::log(sum);
}

Status check_tokens(const LoadedModel& model, std::span<const int> tokens)
{
    for (const int id : tokens)
        if (id < 0 || id >= model.info().vocabulary)
            return fail(Error::Code::BadRequest, "the token " + std::to_string(id) + " is not in the vocabulary");
    if (int(tokens.size()) > model.context_tokens())
        return fail(Error::Code::ContextFull, std::to_string(tokens.size()) + " tokens do not fit the context of " +
                                                  std::to_string(model.context_tokens()));
    return {};
}

}  // namespace

Evaluator::Evaluator(std::unique_ptr<LoadedModel> model)
    : model_(std::move(model))
{
}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

Result<Evaluator> Evaluator::open(const LoadRequest& request, const Listener& listener)
try {
    LoadedModel::Progress progress;
    progress.report = [&](const LoadProgress& done) {
        if (listener.on_load)
            listener.on_load(done);
    };
    progress.cancelled = [] { return false; };
    progress.warn = [&](std::string sentence) {
        Event warning;
        warning.sentence = std::move(sentence);
        if (listener.on_event)
            listener.on_event(warning);
    };
    auto model = LoadedModel::load(request, progress);
    if (!model)
        return tl::unexpected(model.error());
    while ((*model)->placement().advance()) {
    }
    return Evaluator(std::move(*model));
} catch (...) {
    return caught("for this model");
}

const ModelInfo& Evaluator::info() const
{
    return model_->info();
}

std::optional<DeviceTelemetry> Evaluator::device() const
{
    return model_->placement().telemetry();
}

Status Evaluator::logits(std::span<const int> tokens, const std::function<bool(int, std::span<const float>)>& on_row)
try {
    if (Status ok = check_tokens(*model_, tokens); !ok)
        return ok;
    KvSequence sequence;
    Status status;
    bool wanted = true;
    for (std::size_t at = 0; at < tokens.size() && status && wanted;) {
        const auto chunk = tokens.subspan(at, std::min(tokens.size() - at, std::size_t(model_->max_rows())));
        status = model_->append(sequence, chunk);
        for (std::size_t row = 0; row < chunk.size() && status && wanted; ++row) {
            const auto logits = model_->logits(sequence, int(row));
            if (logits)
                wanted = on_row(int(at + row), *logits);
            else
                status = tl::unexpected(logits.error());
        }
        at += chunk.size();
    }
    model_->cache().truncate(sequence, 0);
    return status;
} catch (...) {
    return caught("for these tokens");
}

Status Evaluator::logits_together(std::span<const std::vector<int>> texts,
                                  const std::function<bool(int row, std::span<const float>)>& on_row)
try {
    std::vector<int> first_row;
    int rows = 0;
    for (const std::vector<int>& text : texts) {
        if (Status ok = check_tokens(*model_, text); !ok)
            return ok;
        first_row.push_back(rows);
        rows += int(text.size());
    }
    std::vector<KvSequence> sequences(texts.size());
    Status status;
    bool wanted = true;
    while (status && wanted) {
        // Each text that has tokens left gets as many rows of the step as any other.
        std::vector<std::size_t> going;
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (sequences[i].ids.size() < texts[i].size())
                going.push_back(i);
        if (going.empty())
            break;
        const auto most_rows = std::size_t(model_->max_rows());
        going.resize(std::min(going.size(), model_->computes_together() ? most_rows : 1));
        std::vector<RowGroup> groups;
        for (const std::size_t i : going) {
            const auto left = std::span(texts[i]).subspan(sequences[i].ids.size());
            RowGroup group{&sequences[i], left.first(std::min(left.size(), most_rows / going.size()))};
            group.wanted = group.count();
            groups.push_back(group);
        }
        status = model_->append(groups);
        for (std::size_t g = 0; g < groups.size() && status; ++g)
            for (int row = 0; row < groups[g].count() && status && wanted; ++row) {
                const auto logits = model_->logits(*groups[g].sequence, row);
                if (logits)
                    wanted = on_row(first_row[going[g]] + groups[g].first + row, *logits);
                else
                    status = tl::unexpected(logits.error());
            }
    }
    for (KvSequence& sequence : sequences)
        model_->cache().truncate(sequence, 0);
    return status;
} catch (...) {
    return caught("for these tokens");
}

Result<Perplexity> Evaluator::perplexity(std::string_view text, int window, int max_windows,
                                         const std::function<bool(const Perplexity&)>& on_window)
try {
    if (window < 2)
        return fail(Error::Code::BadRequest, "a window must hold at least 2 tokens");
    std::vector<int> ids;
    for (const Token& token :
         model_->tokenizer().encode(text, {EncodeOptions::Specials::AsText, EncodeOptions::Start::Beginning, true}))
        ids.push_back(token.id);
    if (ids.size() < 2)
        return fail(Error::Code::BadRequest, "the text is too short");

    Perplexity out;
    double sum = 0;
    const auto length = std::min(std::size_t(window), ids.size());
    for (std::size_t at = 0; at + length <= ids.size() && (max_windows == 0 || out.windows < max_windows);
         at += length) {
        std::vector<int> tokens(ids.begin() + std::ptrdiff_t(at), ids.begin() + std::ptrdiff_t(at + length));
        if (at > 0 && model_->tokenizer().adds_bos())
            tokens.front() = model_->tokenizer().bos();
        const Status done = logits(tokens, [&](int position, std::span<const float> row) {
            if (std::size_t(position) + 1 < tokens.size())
                sum -= log_likelihood(row, tokens[std::size_t(position) + 1]);
            return true;
        });
        if (!done)
            return tl::unexpected(done.error());
        out.tokens += int(tokens.size()) - 1;
        ++out.windows;
        out.mean_nll = sum / out.tokens;
        out.perplexity = std::exp(out.mean_nll);
        if (on_window && !on_window(out))
            break;
    }
    return out;
} catch (...) {
    return caught("for this text");
}

}  // namespace engine
