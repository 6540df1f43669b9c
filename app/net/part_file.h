// PartFile holds a file that is being fetched, written at any place by several threads.
#pragma once

#include "app/net/failure.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace net {

/// Holds one open file, which no other PartFile, in any program, can have open at the same time. Reading and writing:
/// any thread.
class PartFile
{
public:
    /// Opens the file, and makes it if there is none. Busy: another program is fetching it. CannotWrite.
    static Result<PartFile> open(const std::filesystem::path& path);

    PartFile(PartFile&& other) noexcept;
    PartFile& operator=(PartFile&&) = delete;
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    ~PartFile();

    /// Gives the file this size and, if the system can do that, its room on the disk. DiskFull.
    Status reserve(std::int64_t bytes);
    Status write(std::int64_t offset, std::span<const std::byte> bytes);
    Status read(std::int64_t offset, std::span<std::byte> to) const;
    /// Brings what was written to the disk.
    Status sync();
    /// Writes all to the disk and renames the finished file. Call it last.
    Status move_to(const std::filesystem::path& target);
    std::int64_t size() const;

private:
#ifdef _WIN32
    using Handle = void*;
#else
    using Handle = int;
#endif
    PartFile(Handle handle, std::filesystem::path path);
    void close() noexcept;

    Handle handle_;
    bool open_ = true;
    std::filesystem::path path_;
};

}  // namespace net
