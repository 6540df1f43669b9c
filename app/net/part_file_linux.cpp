#include "app/net/part_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace net {

namespace {

tl::unexpected<Failure> cannot_write(const std::filesystem::path& path, int error)
{
    using Kind = Failure::Kind;
    if (error == ENOSPC || error == EDQUOT)
        return fail(Kind::DiskFull, "the disk is full: '" + path.string() + "' has no room to grow");
    return fail(Kind::CannotWrite, "'" + path.string() + "' cannot be written: " + std::strerror(error));
}

/// Says whether the error means that the file system has no locks, as some network file systems. Any other error counts
/// as a lock that another program holds: over a network that is not always reported as EWOULDBLOCK.
bool has_no_locks(int error)
{
    return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

}  // namespace

PartFile::PartFile(Handle handle, std::filesystem::path path)
    : handle_(handle)
    , path_(std::move(path))
{
}

PartFile::PartFile(PartFile&& other) noexcept
    : handle_(other.handle_)
    , open_(std::exchange(other.open_, false))
    , path_(std::move(other.path_))
{
}

PartFile::~PartFile()
{
    close();
}

void PartFile::close() noexcept
{
    if (std::exchange(open_, false))
        ::close(handle_);
}

Result<PartFile> PartFile::open(const std::filesystem::path& path)
{
    // A link is not followed: the file of this name is ours, but one that a link leads to is not.
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0)
        return cannot_write(path, errno);
    PartFile part(file, path);
    // Without locks another program cannot be noticed, so the fetch goes on.
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && !has_no_locks(errno))
        return fail(Failure::Kind::Busy, "another program is fetching '" + path.string() + "' already");
    // The program that held the lock before may just have given the file its final name: then it is no part any more.
    struct stat opened {
    }, named{};
    if (fstat(file, &opened) != 0 || lstat(path.c_str(), &named) != 0 || opened.st_ino != named.st_ino ||
        opened.st_dev != named.st_dev)
        return fail(Failure::Kind::Busy, "another program has just fetched '" + path.string() + "'");
    return part;
}

Status PartFile::reserve(std::int64_t bytes)
{
    if (bytes > 0 && fallocate(handle_, 0, 0, bytes) != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
        return cannot_write(path_, errno);
    if (ftruncate(handle_, bytes) != 0)
        return cannot_write(path_, errno);
    return {};
}

Status PartFile::write(std::int64_t offset, std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = pwrite(handle_, bytes.data(), bytes.size(), offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return cannot_write(path_, written < 0 ? errno : ENOSPC);
        offset += written;
        bytes = bytes.subspan(std::size_t(written));
    }
    return {};
}

Status PartFile::read(std::int64_t offset, std::span<std::byte> to) const
{
    while (!to.empty()) {
        const ssize_t got = pread(handle_, to.data(), to.size(), offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(Failure::Kind::CannotRead, "'" + path_.string() + "' cannot be read");
        offset += got;
        to = to.subspan(std::size_t(got));
    }
    return {};
}

Status PartFile::sync()
{
    if (fdatasync(handle_) != 0)
        return cannot_write(path_, errno);
    return {};
}

Status PartFile::move_to(const std::filesystem::path& target)
{
    if (fsync(handle_) != 0 || rename(path_.c_str(), target.c_str()) != 0)
        return cannot_write(target, errno);
    const std::filesystem::path parent = target.parent_path();
    const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        ::close(folder);
    }
    close();
    return {};
}

std::int64_t PartFile::size() const
{
    struct stat about {
    };
    return fstat(handle_, &about) == 0 ? std::int64_t(about.st_size) : 0;
}

}  // namespace net
