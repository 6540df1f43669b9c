// Reads and writes the rates of this machine in the data folder of a profile: one file for the window and for
// spillway-cli.
#pragma once

#include "engine/machine_rates.h"

#include <filesystem>
#include <optional>

namespace engine {

class RatesFile
{
public:
    /// `data_folder` empty: the environment names none, and nothing is kept.
    explicit RatesFile(const std::filesystem::path& data_folder);

    /// Reads what is kept. Empty: nothing is. BadFile with one sentence for what keep() did not write.
    Result<std::optional<MachineRates>> read() const;
    /// Adds what was measured to what is kept (see merge()); what cannot be read is written anew. CannotWrite.
    Status keep(const MachineRates& rates) const;

private:
    std::filesystem::path file_;
};

/// Returns `last`, and with it what only `before` knows: the rates of other devices, and where processor, kernels and
/// threads are the same, of other products and attentions.
MachineRates merge(const MachineRates& before, MachineRates last);

}  // namespace engine
