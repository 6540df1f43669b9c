// A named file that the system deletes unless it was finished, and that its owner deletes in the end.
#include "engine/gguf/mapped_file.h"
#include "engine/shape/unnamed_file.h"

#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <algorithm>
#include <string>
#include <system_error>

namespace engine {

struct UnnamedFile::Open {
    HANDLE handle = INVALID_HANDLE_VALUE;
    std::filesystem::path folder, path;
    ~Open()
    {
        if (handle != INVALID_HANDLE_VALUE)
            ::CloseHandle(handle);  // and the system deletes it
        else
            ::DeleteFileW(path.c_str());
    }
};

namespace {

tl::unexpected<Error> cannot_write(const std::filesystem::path& folder, DWORD error)
{
    if (error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL)
        return fail(Error::Code::CannotWrite, "there is no room left in " + path_text(folder));
    return fail(Error::Code::CannotWrite,
                "cannot write a file in " + path_text(folder) + " (Windows error " + std::to_string(error) + ")");
}

/// Whether the file goes when its handle does.
bool set_deletion(HANDLE handle, bool deletes)
{
    FILE_DISPOSITION_INFO info = {};
    info.DeleteFile = deletes ? TRUE : FALSE;
    return ::SetFileInformationByHandle(handle, FileDispositionInfo, &info, sizeof info) != 0;
}

}  // namespace

UnnamedFile::UnnamedFile(std::unique_ptr<Open> open)
    : open_(std::move(open))
{
}
UnnamedFile::UnnamedFile(UnnamedFile&&) noexcept = default;
UnnamedFile& UnnamedFile::operator=(UnnamedFile&&) noexcept = default;
UnnamedFile::~UnnamedFile() = default;

Result<UnnamedFile> UnnamedFile::create(const std::filesystem::path& folder)
{
    static LONG count = 0;
    auto open = std::make_unique<Open>();
    open->folder = folder;
    open->path = folder / ("spillway-shape-" + std::to_string(::GetCurrentProcessId()) + "-" +
                           std::to_string(::InterlockedIncrement(&count)) + ".gguf");
    open->handle = ::CreateFileW(open->path.c_str(), GENERIC_WRITE | DELETE, FILE_SHARE_READ, nullptr, CREATE_ALWAYS,
                                 FILE_ATTRIBUTE_TEMPORARY, nullptr);
    if (open->handle == INVALID_HANDLE_VALUE || !set_deletion(open->handle, true))
        return cannot_write(folder, ::GetLastError());
    return UnnamedFile(std::move(open));
}

Status UnnamedFile::write(std::span<const std::byte> bytes)
{
    constexpr std::size_t kMost = std::size_t(1) << 26;
    while (!bytes.empty()) {
        DWORD count = 0;
        if (!::WriteFile(open_->handle, bytes.data(), DWORD(std::min(bytes.size(), kMost)), &count, nullptr))
            return cannot_write(open_->folder, ::GetLastError());
        bytes = bytes.subspan(count);
    }
    return {};
}

Status UnnamedFile::finish()
{
    if (!set_deletion(open_->handle, false))
        return cannot_write(open_->folder, ::GetLastError());
    ::CloseHandle(open_->handle);
    open_->handle = INVALID_HANDLE_VALUE;
    return {};
}

const std::filesystem::path& UnnamedFile::path() const
{
    return open_->path;
}

}  // namespace engine
