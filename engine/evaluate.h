// Shows what a model computes, token by token: logits and perplexity.
#pragma once

#include "engine/engine.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace engine {

struct Perplexity {
    double mean_nll = 0;  // negative log-likelihood per token, nats
    double perplexity = 0;
    int tokens = 0;  // scored
    int windows = 0;
};

class LoadedModel;

class Evaluator
{
public:
    static Result<Evaluator> open(const LoadRequest& request, const Listener& listener);
    Evaluator(Evaluator&&) noexcept;
    Evaluator& operator=(Evaluator&&) noexcept;
    ~Evaluator();

    const ModelInfo& info() const;
    /// Returns what lies on a device now; empty: nothing does.
    std::optional<DeviceTelemetry> device() const;

    /// Gives on_row the logits after each token, in order: position, (vocabulary,). A returned false ends it.
    Status logits(std::span<const int> tokens, const std::function<bool(int, std::span<const float>)>& on_row);

    /// Does the same for several texts, each a sequence of its own, which are computed in the same steps where the
    /// model does that. Rows are counted through all texts, one after another, and come in the order in which they are
    /// computed.
    Status logits_together(std::span<const std::vector<int>> texts,
                           const std::function<bool(int row, std::span<const float>)>& on_row);

    /// Returns the mean NLL of a text over windows of `window` tokens, each begun anew with BOS where the model has
    /// one. Every token but a window's first is scored. `max_windows` 0: all; a rest shorter than a window is left out
    /// unless it is the only one.
    Result<Perplexity> perplexity(std::string_view text, int window, int max_windows,
                                  const std::function<bool(const Perplexity&)>& on_window);

private:
    explicit Evaluator(std::unique_ptr<LoadedModel> model);
    std::unique_ptr<LoadedModel> model_;
};

}  // namespace engine
