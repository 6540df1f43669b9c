// Knows where the `__shared__` variables of kernels lie on the host, so that a block finds in them what a GPU may have
// there, and not what the block before it left.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emulator {

/// The byte that memory holds before it is written: of a float or a half it makes no number.
constexpr std::byte kNeverWritten{0xff};

/// One thread's twins of the variables.
class StaticShared
{
public:
    StaticShared();

    /// After a block: fills with kNeverWritten again what it has written. Each variable is looked at in some places.
    void clean();

    /// Returns how many variables the program has.
    static std::size_t count();

private:
    std::vector<std::span<std::byte>> variables_;
};

}  // namespace emulator
