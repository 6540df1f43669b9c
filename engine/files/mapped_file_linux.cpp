// Mapped files on Linux.
#include "engine/files/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace engine {
namespace {

struct OpenFile {
    int fd;
    ~OpenFile() { ::close(fd); }
};

tl::unexpected<Error> cannot_read(const std::filesystem::path& path, int error)
{
    const std::string name = path_text(path);
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return fail(Error::Code::NotFound, name + ": there is no such file");
    case EACCES:
    case EPERM:
        return fail(Error::Code::CannotRead, name + ": no permission to read the file");
    case ENOMEM:
        return fail(Error::Code::NoMemory, name + ": not enough address space to map the file");
    default:
        return fail(Error::Code::CannotRead,
                    name + ": cannot read the file (" + std::generic_category().message(error) + ")");
    }
}

/// The part of [offset, offset + length) inside `bytes`, in whole pages: inward for giving back, outward for asking.
std::span<std::byte> pages(std::span<const std::byte> bytes, std::size_t offset, std::size_t length, bool inward)
{
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t first = std::min(offset, bytes.size());
    const std::size_t last = first + std::min(length, bytes.size() - first);
    const bool to_the_end = last == bytes.size();  // nothing but zeros follows in the last page
    const std::size_t begin = (inward ? first + page - 1 : first) / page * page;
    const std::size_t end = inward && !to_the_end ? last / page * page : last;
    if (begin >= end)
        return {};
    return {const_cast<std::byte*>(bytes.data()) + begin, end - begin};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path)
{
    // Non-blocking, since a pipe without a writer would hold us here for ever.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return cannot_read(path, errno);
    const OpenFile file{fd};

    struct stat info = {};
    if (::fstat(fd, &info) != 0)
        return cannot_read(path, errno);
    if (S_ISDIR(info.st_mode))
        return fail(Error::Code::CannotRead, path_text(path) + ": this is a folder, not a file");
    if (!S_ISREG(info.st_mode))
        return fail(Error::Code::CannotRead, path_text(path) + ": this is not a regular file");
    if (info.st_size <= 0)
        return fail(Error::Code::BadFile, path_text(path) + ": the file is empty");
    if (static_cast<std::uint64_t>(info.st_size) > std::numeric_limits<std::size_t>::max() / 2)
        return cannot_read(path, ENOMEM);

    const auto size = static_cast<std::size_t>(info.st_size);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        return cannot_read(path, errno);
    return MappedFile(std::span(static_cast<const std::byte*>(memory), size));
}

void MappedFile::unmap() noexcept
{
    guard_ = ReadGuard();
    if (!bytes_.empty())
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    bytes_ = {};
}

void MappedFile::release(std::size_t offset, std::size_t length) const
{
    if (const auto range = pages(bytes_, offset, length, true); !range.empty())
        ::madvise(range.data(), range.size(), MADV_DONTNEED);
}

void MappedFile::prefetch(std::size_t offset, std::size_t length) const
{
    if (const auto range = pages(bytes_, offset, length, false); !range.empty())
        ::madvise(range.data(), range.size(), MADV_WILLNEED);
}

}  // namespace engine
