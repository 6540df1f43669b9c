// ThisMachine holds what the speed of a model here is foretold and tried with; a test gives its own.
#pragma once

#include "engine/machine_rates.h"
#include "engine/planner.h"

#include <QString>

#include <functional>
#include <memory>

struct ThisMachine {
    using Rates = engine::Result<engine::MachineRates>;
    using GoesOn = std::function<bool(double)>;

    /// Returns what is known of its speed with this many threads; null: nothing.
    std::function<std::shared_ptr<const engine::MachineRates>(int threads)> rates = {};
    /// Measures the rates that a model needs, in a second or two; called on a pool thread. Empty: nothing is measured.
    std::function<Rates(const engine::Planner&, const engine::LoadRequest&, const engine::MachineRates* known,
                        const GoesOn&)>
        measure = {};
    std::function<void(const engine::MachineRates&)> keep = {};
    /// Says whether the machine computes something else, so that what is measured now would be wrong.
    std::function<bool()> busy = {};
    QString program = {};  // spillway-cli, which tries a model; empty: there is none
    QString folder = {};   // where a model that is tried is made
};
