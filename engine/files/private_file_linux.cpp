// Private files on Linux.
#include "engine/files/private_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace engine {
namespace {

std::string reason(int error)
{
    return std::generic_category().message(error);
}

tl::unexpected<Error> cannot_write(int error)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return fail(Error::Code::CannotWrite, "the disk is full");
    return fail(Error::Code::CannotWrite, "the disk cannot be written (" + reason(error) + ")");
}

}  // namespace

Result<PrivateFile> PrivateFile::open(const std::filesystem::path& path, Access access)
{
    const int flags = access == Access::Read ? O_RDONLY : O_RDWR | O_CREAT;
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return fail(Error::Code::NotFound, "there is no such file");
    if (fd < 0)
        return access == Access::Write ? Result<PrivateFile>(cannot_write(errno))
                                       : fail(Error::Code::CannotRead, "the file cannot be read");
    struct stat info = {};
    PrivateFile file(fd, 0);
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0)
        return fail(Error::Code::CannotRead, "this is no plain file");
    if (access == Access::Write && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0 && ::fchmod(fd, S_IRUSR | S_IWUSR) != 0)
        return cannot_write(errno);
    file.size_ = std::uint64_t(info.st_size);
    return file;
}

bool PrivateFile::read(std::uint64_t offset, std::span<std::byte> to) const
{
    while (!to.empty()) {
        const ssize_t done = ::pread(*handle_, to.data(), to.size(), off_t(offset));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        offset += std::uint64_t(done);
        to = to.subspan(std::size_t(done));
    }
    return true;
}

Status PrivateFile::write(std::uint64_t offset, std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(*handle_, bytes.data(), bytes.size(), off_t(offset));
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return cannot_write(errno);
        offset += std::uint64_t(done);
        bytes = bytes.subspan(std::size_t(done));
        size_ = std::max(size_, offset);
    }
    return {};
}

Status PrivateFile::cut(std::uint64_t size)
{
    if (::ftruncate(*handle_, off_t(size)) != 0)
        return cannot_write(errno);
    size_ = size;
    return {};
}

Status PrivateFile::sync()
{
    return ::fdatasync(*handle_) == 0 ? Status() : cannot_write(errno);
}

Status PrivateFile::sync_part(std::uint64_t offset, std::uint64_t bytes)
{
    constexpr unsigned kWait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (::sync_file_range(*handle_, off_t(offset), off_t(bytes), kWait) == 0)
        return {};
    // The system tells a failure of the disk only once: sync() would not hear of it. What else may go wrong says that
    // this file system has no such call.
    const bool failed = errno == EIO || errno == ENOSPC || errno == EDQUOT;
    return failed ? Status(cannot_write(errno)) : Status();
}

void PrivateFile::close() noexcept
{
    if (handle_)
        ::close(*handle_);
    handle_.reset();
}

}  // namespace engine
