// Plans what a model takes of each memory and how fast it will talk, before it is loaded: from its file's header and
// the rates of this machine.
#pragma once

#include "engine/engine.h"
#include "engine/machine_rates.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engine {

struct MemoryUse {
    std::int64_t weight_bytes = 0;
    std::int64_t kv_bytes = 0;
    std::int64_t state_bytes = 0;  // of recurrent layers: on the host with all checkpoints
    std::int64_t ring_bytes = 0;
    std::int64_t scratch_bytes = 0;
    std::int64_t total() const { return weight_bytes + kv_bytes + state_bytes + ring_bytes + scratch_bytes; }
};

/// Holds what experts on a device bring, beside the same layers with all of their experts on the host.
struct ExpertsGain {
    std::int64_t bytes = 0;                 // of experts on the device
    double share = 0;                       // of all experts of the model
    int kv_columns_on_host = 0;             // of the conversation, that give way to them
    std::optional<double> saved_s = {};     // of a token's time
    std::optional<double> kv_saved_s = {};  // that these columns would save in their place
};

/// Writes what experts bring: "3.1 GB of experts save 9.3 ms a token, the KV blocks that give way to them would save
/// 2.1 ms". Empty: there are none.
std::string sentence_of(const ExpertsGain& gain);

struct PlanRow {
    int context_tokens = 0;
    bool beyond_training = false;  // more than the model was made for
    MemoryUse host;                // all weights, mapped; the mirror of all KV
    std::optional<MemoryUse> device;
    std::optional<MemoryUse> draft_model;  // on the host, beside what is above
    int device_layers = 0;                 // this many, from the first on
    int host_expert_layers = 0;           // this many of them, from the first on, have their routed experts on the host
    std::int64_t expert_cache_bytes = 0;  // of the device, for copies of these
    std::optional<ExpertsGain> experts;   // of a model with experts that has layers on a device
    double kv_share_on_host = 0;          // of the KV columns of device layers
    bool stops = false;                   // `resident`: this many tokens find no room
    std::optional<double> tok_s;          // decode; empty: a rate is not known, or it stops before
};

struct Plan {
    int layers = 0;
    int device_layers = 0;  // of the first row; of an empty conversation where there is none
    int expert_layers = 0;  // layers of the model that have routed experts
    std::int64_t device_budget_bytes = 0;
    std::int64_t device_watermark_bytes = 0;
    /// Tokens that lie on the device before the first block leaves, or `resident` stops. Empty: no block ever leaves.
    std::optional<int> spill_tokens;
    std::vector<PlanRow> rows;
};

/// Corrects predictions by the ratio of observed to predicted step times: its average, in which newer ones count more.
class PredictionCorrection
{
public:
    void observe(double predicted_s, double observed_s);
    /// Returns by what a predicted time is to be multiplied. Empty: nothing was observed yet.
    std::optional<double> factor() const { return factor_; }

private:
    static constexpr double kWeight = 0.2;  // of the newest
    std::optional<double> factor_;
};

class Planner
{
public:
    /// Reads a file's header.
    static Result<Planner> open(const std::filesystem::path& model);

    /// Makes a plan with a row for each context. The request's model and context do not matter, but for the context the
    /// scratch is made for. BadRequest where the placement makes no sense.
    Result<Plan> plan(const LoadRequest& wish, std::span<const int> contexts, const MachineRates* rates) const;

    /// Measures the rates that this model needs and no others, with the request's threads: more exact than those of the
    /// profile, in a second or two. `on_progress` gets the share that is done and returns false to give up (Cancelled).
    /// NoMemory; what a GPU says.
    Result<MachineRates> measure_rates(const LoadRequest& request,
                                       const std::function<bool(double)>& on_progress = {}) const;

    int context_length() const;  // tokens the model was made for

private:
    struct Model;
    std::shared_ptr<const Model> model_;
};

}  // namespace engine
