// A named file that the system deletes with the last handle to it. Should it not, since the machine lost its power, the
// next file that is made in the folder finds it.
#include "engine/files/long_path_windows.h"
#include "engine/files/mapped_file.h"
#include "engine/shape/unnamed_file.h"

#include <windows.h>

#include <algorithm>
#include <string>
#include <utility>

namespace engine {

namespace {

class Handle
{
public:
    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { close(); }
    bool open(const std::filesystem::path& path, DWORD access, DWORD shared, DWORD what, DWORD flags)
    {
        handle_ = ::CreateFileW(long_path(path).c_str(), access, shared, nullptr, what, flags, nullptr);
        return handle_ != INVALID_HANDLE_VALUE;
    }
    void close()
    {
        if (handle_ != INVALID_HANDLE_VALUE)
            ::CloseHandle(std::exchange(handle_, INVALID_HANDLE_VALUE));
    }
    HANDLE get() const { return handle_; }

private:
    HANDLE handle_ = INVALID_HANDLE_VALUE;
};

}  // namespace

struct UnnamedFile::Open {
    std::filesystem::path folder, path;
    Handle kept;  // closing it deletes the file; until then no one can
    Handle written;
};

namespace {

tl::unexpected<Error> cannot_write(const std::filesystem::path& folder, DWORD error)
{
    if (error == ERROR_DISK_FULL || error == ERROR_HANDLE_DISK_FULL)
        return fail(Error::Code::CannotWrite, "there is no room left in " + path_text(folder));
    return fail(Error::Code::CannotWrite,
                "cannot write a file in " + path_text(folder) + " (Windows error " + std::to_string(error) + ")");
}

constexpr const wchar_t* kNameBegins = L"spillway-shape-";

/// Deletes what ended processes left; files in use cannot be opened to be deleted.
void delete_abandoned(const std::filesystem::path& folder)
{
    WIN32_FIND_DATAW found = {};
    const std::wstring pattern = long_path(folder / (kNameBegins + std::wstring(L"*.gguf")));
    const HANDLE search = ::FindFirstFileW(pattern.c_str(), &found);
    if (search == INVALID_HANDLE_VALUE)
        return;
    do
        ::DeleteFileW(long_path(folder / found.cFileName).c_str());
    while (::FindNextFileW(search, &found));
    ::FindClose(search);
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
    delete_abandoned(folder);
    static LONG count = 0;
    auto open = std::make_unique<Open>();
    open->folder = folder;
    open->path = folder / (kNameBegins + std::to_wstring(::GetCurrentProcessId()) + L"-" +
                           std::to_wstring(::InterlockedIncrement(&count)) + L".gguf");
    if (!open->kept.open(open->path, DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE, CREATE_ALWAYS,
                         FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE) ||
        !open->written.open(open->path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_EXISTING, 0))
        return cannot_write(folder, ::GetLastError());
    return UnnamedFile(std::move(open));
}

Status UnnamedFile::write(std::span<const std::byte> bytes)
{
    constexpr std::size_t kMost = std::size_t(1) << 26;
    while (!bytes.empty()) {
        DWORD count = 0;
        if (!::WriteFile(open_->written.get(), bytes.data(), DWORD(std::min(bytes.size(), kMost)), &count, nullptr))
            return cannot_write(open_->folder, ::GetLastError());
        bytes = bytes.subspan(count);
    }
    return {};
}

Status UnnamedFile::finish()
{
    open_->written.close();
    return {};
}

const std::filesystem::path& UnnamedFile::path() const
{
    return open_->path;
}

}  // namespace engine
