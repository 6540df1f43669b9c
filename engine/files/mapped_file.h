// MappedFile maps a whole file as read-only memory.
#pragma once

#include "engine/files/guarded_read.h"
#include "engine/result.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace engine {

/// Maps one file for reading and unmaps it at the end. Any thread may read; one owner, movable. Pages come from the
/// disk when they are first touched, so opening costs nothing. Should the file be cut off meanwhile, zeros are read.
class MappedFile
{
public:
    /// Maps a file, or says in one sentence with its path why it cannot: there is no such file, it is a folder or
    /// empty, there is no permission.
    static Result<MappedFile> open(const std::filesystem::path& path);

    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }

    /// Says whether a read has found that the file had been cut off or could not be read any more. Ask after a
    /// computation that read from it, before its result is believed.
    bool lost() const { return guard_.lost(); }

    /// Gives the RAM of these bytes back, whole pages only. They can still be read and then come from the file again.
    void release(std::size_t offset, std::size_t length) const;

    /// Asks for these bytes to be read ahead. Returns at once.
    void prefetch(std::size_t offset, std::size_t length) const;

private:
    explicit MappedFile(std::span<const std::byte> bytes, void* held = nullptr)
        : bytes_(bytes)
        , held_(held)
        , guard_(bytes)
    {
    }
    void unmap() noexcept;

    std::span<const std::byte> bytes_;  // begins on a page
    void* held_ = nullptr;              // Windows: the open file, which keeps others from writing to it
    ReadGuard guard_;
};

/// Returns the path as UTF-8 for a sentence, on every system.
std::string path_text(const std::filesystem::path& path);

}  // namespace engine
