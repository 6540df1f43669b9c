// PrivateFile reads and writes a file in place that only its owner may open.
#pragma once

#include "engine/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace engine {

/// One open file; closes it at the end. One thread at a time; movable.
class PrivateFile
{
public:
    enum class Access { Read, Write };

    /// Opens a file. One to be written is made when it is not there, and closed to others. What is no plain file, or a
    /// link, is not opened. NotFound, CannotRead.
    static Result<PrivateFile> open(const std::filesystem::path& path, Access access);

    PrivateFile(PrivateFile&& other) noexcept;
    PrivateFile& operator=(PrivateFile&& other) noexcept;
    PrivateFile(const PrivateFile&) = delete;
    PrivateFile& operator=(const PrivateFile&) = delete;
    ~PrivateFile();

    std::uint64_t size() const { return size_; }  // when it was opened, and as it was written since
    /// Reads as many bytes as `to` holds. False: the file is shorter, or cannot be read.
    bool read(std::uint64_t offset, std::span<std::byte> to) const;
    /// Writes the bytes at an offset. CannotWrite: the disk is full, or refuses for another reason; some of the bytes
    /// may be there.
    Status write(std::uint64_t offset, std::span<const std::byte> bytes);
    Status cut(std::uint64_t size);
    /// Brings what was written to the disk.
    Status sync();
    /// Brings a part's bytes to the disk, so that less is left to sync(). Does nothing where the system can do that
    /// only for the whole file.
    Status sync_part(std::uint64_t offset, std::uint64_t bytes);

private:
#ifdef _WIN32
    using Handle = void*;
#else
    using Handle = int;
#endif
    PrivateFile(Handle handle, std::uint64_t size)
        : handle_(handle)
        , size_(size)
    {
    }
    void close() noexcept;

    std::optional<Handle> handle_;
    std::uint64_t size_ = 0;
};

}  // namespace engine
