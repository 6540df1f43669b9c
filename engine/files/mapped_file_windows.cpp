// Mapped files on Windows. The file is opened so that nobody may write it while we hold it: unlike on Linux it cannot
// be cut off under us. It may be deleted, and we can still read its bytes: a shape model's file, which goes when its
// maker closes it, opens only for those who allow that.
#include "engine/files/long_path_windows.h"
#include "engine/files/mapped_file.h"

#include <windows.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

namespace engine {
namespace {

struct Handle {
    HANDLE handle;
    ~Handle()
    {
        if (handle)
            ::CloseHandle(handle);
    }
    HANDLE give() { return std::exchange(handle, nullptr); }
};

tl::unexpected<Error> cannot_read(const std::filesystem::path& path, DWORD error)
{
    const std::string name = path_text(path);
    std::error_code ignored;
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
        return fail(Error::Code::NotFound, name + ": there is no such file");
    case ERROR_ACCESS_DENIED:
        if (std::filesystem::is_directory(long_path(path), ignored))
            return fail(Error::Code::CannotRead, name + ": this is a folder, not a file");
        return fail(Error::Code::CannotRead, name + ": no permission to read the file");
    case ERROR_SHARING_VIOLATION:
        return fail(Error::Code::CannotRead, name + ": another program is writing the file");
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_COMMITMENT_LIMIT:
        return fail(Error::Code::NoMemory, name + ": not enough address space to map the file");
    default:
        return fail(Error::Code::CannotRead,
                    name + ": cannot read the file (Windows error " + std::to_string(error) + ")");
    }
}

/// The part of [offset, offset + length) inside `bytes`.
std::span<std::byte> part(std::span<const std::byte> bytes, std::size_t offset, std::size_t length)
{
    const std::size_t first = std::min(offset, bytes.size());
    return {const_cast<std::byte*>(bytes.data()) + first, std::min(length, bytes.size() - first)};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path)
{
    const HANDLE opened = ::CreateFileW(long_path(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                        nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (opened == INVALID_HANDLE_VALUE)
        return cannot_read(path, ::GetLastError());
    Handle file{opened};

    if (::GetFileType(opened) != FILE_TYPE_DISK)
        return fail(Error::Code::CannotRead, path_text(path) + ": this is not a regular file");
    LARGE_INTEGER length = {};
    if (!::GetFileSizeEx(opened, &length))
        return cannot_read(path, ::GetLastError());
    if (length.QuadPart <= 0)
        return fail(Error::Code::BadFile, path_text(path) + ": the file is empty");
    if (static_cast<std::uint64_t>(length.QuadPart) > std::numeric_limits<std::size_t>::max() / 2)
        return cannot_read(path, ERROR_NOT_ENOUGH_MEMORY);

    const HANDLE mapped = ::CreateFileMappingW(opened, nullptr, PAGE_READONLY, 0, 0, nullptr);
    if (!mapped)
        return cannot_read(path, ::GetLastError());
    const Handle mapping{mapped};
    const void* memory = ::MapViewOfFile(mapped, FILE_MAP_READ, 0, 0, 0);  // keeps the mapping alive by itself
    if (!memory)
        return cannot_read(path, ::GetLastError());
    return MappedFile(std::span(static_cast<const std::byte*>(memory), static_cast<std::size_t>(length.QuadPart)),
                      file.give());
}

void MappedFile::unmap() noexcept
{
    if (bytes_.empty())
        return;
    const bool replaced = lost();  // then reserved memory has taken the view's place
    guard_ = ReadGuard();
    if (!replaced || !::VirtualFree(const_cast<std::byte*>(bytes_.data()), 0, MEM_RELEASE))
        ::UnmapViewOfFile(bytes_.data());
    ::CloseHandle(held_);
    bytes_ = {};
    held_ = nullptr;
}

void MappedFile::release(std::size_t offset, std::size_t length) const
{
    // Unlocking what is not locked takes it out of the working set: the documented use of this call.
    if (const auto range = part(bytes_, offset, length); !range.empty())
        ::VirtualUnlock(range.data(), range.size());
}

void MappedFile::prefetch(std::size_t offset, std::size_t length) const
{
    const auto range = part(bytes_, offset, length);
    if (range.empty())
        return;
    WIN32_MEMORY_RANGE_ENTRY entry = {range.data(), range.size()};
    ::PrefetchVirtualMemory(::GetCurrentProcess(), 1, &entry, 0);
}

}  // namespace engine
