// Private files on Windows: the rights are those of the user's profile.
#include "engine/files/long_path_windows.h"
#include "engine/files/private_file.h"

#include <windows.h>

#include <algorithm>

namespace engine {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t(1) << 30;

tl::unexpected<Error> cannot_write(DWORD error)
{
    if (error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL)
        return fail(Error::Code::CannotWrite, "the disk is full");
    return fail(Error::Code::CannotWrite, "the disk cannot be written (error " + std::to_string(error) + ")");
}

OVERLAPPED place(std::uint64_t offset)
{
    OVERLAPPED at = {};
    at.Offset = DWORD(offset & 0xffffffff);
    at.OffsetHigh = DWORD(offset >> 32);
    return at;
}

}  // namespace

Result<PrivateFile> PrivateFile::open(const std::filesystem::path& path, Access access)
{
    const bool write = access == Access::Write;
    // Others may delete it meanwhile: it is then gone once it is closed.
    const HANDLE handle = ::CreateFileW(long_path(path).c_str(), GENERIC_READ | (write ? GENERIC_WRITE : 0),
                                        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                        write ? OPEN_ALWAYS : OPEN_EXISTING,
                                        FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
    if (handle == INVALID_HANDLE_VALUE) {
        const DWORD error = ::GetLastError();
        if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND)
            return fail(Error::Code::NotFound, "there is no such file");
        return write ? Result<PrivateFile>(cannot_write(error))
                     : fail(Error::Code::CannotRead, "the file cannot be read");
    }
    PrivateFile file(handle, 0);
    BY_HANDLE_FILE_INFORMATION info = {};
    if (::GetFileType(handle) != FILE_TYPE_DISK || !::GetFileInformationByHandle(handle, &info) ||
        (info.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) != 0)
        return fail(Error::Code::CannotRead, "this is no plain file");
    file.size_ = (std::uint64_t(info.nFileSizeHigh) << 32) | info.nFileSizeLow;
    return file;
}

bool PrivateFile::read(std::uint64_t offset, std::span<std::byte> to) const
{
    while (!to.empty()) {
        OVERLAPPED at = place(offset);
        DWORD done = 0;
        if (!::ReadFile(*handle_, to.data(), DWORD(std::min(to.size(), kMostAtOnce)), &done, &at) || done == 0)
            return false;
        offset += done;
        to = to.subspan(done);
    }
    return true;
}

Status PrivateFile::write(std::uint64_t offset, std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        OVERLAPPED at = place(offset);
        DWORD done = 0;
        if (!::WriteFile(*handle_, bytes.data(), DWORD(std::min(bytes.size(), kMostAtOnce)), &done, &at) || done == 0)
            return cannot_write(::GetLastError());
        offset += done;
        bytes = bytes.subspan(done);
        size_ = std::max(size_, offset);
    }
    return {};
}

Status PrivateFile::cut(std::uint64_t size)
{
    FILE_END_OF_FILE_INFO end = {};
    end.EndOfFile.QuadPart = LONGLONG(size);
    if (!::SetFileInformationByHandle(*handle_, FileEndOfFileInfo, &end, sizeof end))
        return cannot_write(::GetLastError());
    size_ = size;
    return {};
}

Status PrivateFile::sync()
{
    return ::FlushFileBuffers(*handle_) ? Status() : cannot_write(::GetLastError());
}

Status PrivateFile::sync_part(std::uint64_t /*offset*/, std::uint64_t /*bytes*/)
{
    return {};
}

void PrivateFile::close() noexcept
{
    if (handle_)
        ::CloseHandle(*handle_);
    handle_.reset();
}

}  // namespace engine
