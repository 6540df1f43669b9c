// ReadGuard lets a mapped file be read although somebody may cut it off meanwhile.
//
// A page of a mapped file that is no longer there raises SIGBUS (Linux) or an in-page error (Windows) on whichever
// thread touches it. Here that fault puts zeros in place of the rest of the range, so that the computation goes on
// (with nonsense) to its next stop, where its owner asks lost() and gives up with a sentence.
#pragma once

#include <cstddef>
#include <span>

namespace engine {

struct GuardSlot;  // one entry of the process-wide registry

/// Guards one mapped range for as long as it lives: construct after mapping, destroy before unmapping. Movable; lost()
/// may be asked on any thread.
class ReadGuard
{
public:
    ReadGuard() = default;  // guards nothing
    /// `mapped` begins on a page and holds the file to its end. The first guard of the process installs the fault
    /// handler; faults elsewhere go on to the handler that was there before.
    explicit ReadGuard(std::span<const std::byte> mapped);
    ReadGuard(ReadGuard&& other) noexcept;
    ReadGuard& operator=(ReadGuard&& other) noexcept;
    ReadGuard(const ReadGuard&) = delete;
    ReadGuard& operator=(const ReadGuard&) = delete;
    ~ReadGuard();

    /// Says whether a read has found bytes missing; zeros are read there since.
    bool lost() const;

private:
    GuardSlot* slot_ = nullptr;
};

}  // namespace engine
