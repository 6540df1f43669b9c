// PartFile holds a file that is being fetched, written at any place by several threads.
#pragma once

#include "app/net/failure.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace net {

/// One open file, which no other program can open in this way at the same time. Made where it is not there. Reading and
/// writing: any thread.
class PartFile
{
public:
    /// Busy: somebody else fetches it. CannotWrite.
    static Result<PartFile> open(const std::filesystem::path& path);

    PartFile(PartFile&& other) noexcept;
    PartFile& operator=(PartFile&&) = delete;
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;
    ~PartFile();

    /// The file gets this size, and as far as the system can promise it, the room on the disk. DiskFull.
    Status reserve(std::int64_t bytes);
    Status write(std::int64_t offset, std::span<const std::byte> bytes);
    Status read(std::int64_t offset, std::span<std::byte> to) const;
    /// Brings what was written to the disk.
    Status sync();
    /// Gives the finished file another name, under which it is on the disk then. Call it last.
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
