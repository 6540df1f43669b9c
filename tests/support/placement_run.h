// Runs one conversation, a prefill and an answer, on a model that may lie on a device, and keeps what came of it.
#pragma once

#include "engine/tools/token_run.h"
#include "tests/support/models.h"

#include <QtDebug>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

namespace test_support {

using namespace engine;

constexpr int kBlockTokens = 16;
constexpr int kPrefillTokens = 150;
constexpr int kTokens = 400;

inline LoadRequest request_for(const QString& model)
{
    LoadRequest request;
    request.model = (test_support::own_models_folder() + '/' + model + ".gguf").toStdString();
    request.kv_block_tokens = kBlockTokens;
    request.prefill_chunk_tokens = 40;
    request.context_tokens = 512;
    request.threads = 1;
    return request;
}

/// The emulated device with room for this many tokens beside all layers.
inline LoadRequest emulated(const QString& model, int fit_tokens, KvPolicy policy = KvPolicy::Auto)
{
    LoadRequest request = request_for(model);
    request.placement.device = PlacementOptions::Device::Emulated;
    request.placement.emulated.fit_tokens = fit_tokens;
    request.placement.emulated.link_bytes_per_s = 0;
    request.placement.kv_policy = policy;
    return request;
}

inline std::unique_ptr<LoadedModel> load(const LoadRequest& request)
{
    auto model =
        LoadedModel::load(request, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        qWarning("%s", model.error().what.c_str());
    return model ? std::move(*model) : nullptr;
}

inline std::vector<int> some_tokens(const LoadedModel& model)
{
    std::mt19937 random(4711);
    std::vector<int> ids;
    while (int(ids.size()) < kTokens)
        ids.push_back(int(random() % unsigned(model.info().vocabulary)));
    return ids;
}

/// Returns the logits of a row of the last step; what went wrong ends the test.
inline std::vector<float> row_logits(LoadedModel& model, KvSequence& kv, int row)
{
    const auto logits = model.logits(kv, row);
    if (!logits)
        qFatal("%s", logits.error().what.c_str());
    return {logits->begin(), logits->end()};
}

inline bool same_bits(std::span<const float> a, std::span<const float> b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

using Logits = StepLogits;
using Run = TokenRun;

struct Lengths {
    int prefill = kPrefillTokens;
    int all = kTokens;
};

/// Runs a prefill, then one token at a time. `between` is called before each step and may change the placement.
inline Run run(LoadedModel& model, const std::function<void(int)>& between, const Lengths& tokens = {})
{
    const std::vector<int> ids = some_tokens(model);
    return run_tokens(model, std::span(ids).first(std::size_t(tokens.all)), tokens.prefill, between);
}

inline Run run(LoadedModel& model)
{
    return run(model, {});
}

/// Returns the step at which two runs part, counted from the prefill; -1: nowhere.
inline int first_difference(const Logits& a, const Logits& b)
{
    if (a.size() != b.size())
        return int(std::min(a.size(), b.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(float)) != 0)
            return int(i);
    return -1;
}

inline int count(const std::vector<Event>& events, Event::Kind kind)
{
    return int(std::ranges::count(events, kind, &Event::kind));
}

}  // namespace test_support
