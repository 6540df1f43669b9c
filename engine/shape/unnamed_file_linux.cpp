// A file without a name: the system takes it back with its last descriptor, whatever happens to the program.
#include "engine/files/mapped_file.h"
#include "engine/shape/unnamed_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace engine {

struct UnnamedFile::Open {
    int fd = -1;
    std::filesystem::path folder, path;
    ~Open() { ::close(fd); }
};

namespace {

tl::unexpected<Error> cannot_write(const std::filesystem::path& folder, int error)
{
    if (error == ENOSPC || error == EDQUOT)
        return fail(Error::Code::CannotWrite, "there is no room left in " + path_text(folder));
    return fail(Error::Code::CannotWrite,
                "cannot write a file in " + path_text(folder) + " (" + std::generic_category().message(error) + ")");
}

int open_unnamed(const std::filesystem::path& folder)
{
    if (const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); fd >= 0)
        return fd;
    // Some file systems know no file without a name: this one loses it at once.
    std::string name = (folder / "spillway-shape-XXXXXX").string();
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0)
        ::unlink(name.c_str());
    return fd;
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
    const int fd = open_unnamed(folder);
    if (fd < 0)
        return cannot_write(folder, errno);
    auto open = std::make_unique<Open>();
    open->fd = fd;
    open->folder = folder;
    open->path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd);
    return UnnamedFile(std::move(open));
}

Status UnnamedFile::write(std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t count = ::write(open_->fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return cannot_write(open_->folder, count < 0 ? errno : ENOSPC);
        bytes = bytes.subspan(std::size_t(count));
    }
    return {};
}

Status UnnamedFile::finish()
{
    struct stat facts = {};
    if (::stat(open_->path.c_str(), &facts) != 0)
        return fail(Error::Code::CannotRead, "this system has no /proc, through which the file would be read");
    return {};
}

const std::filesystem::path& UnnamedFile::path() const
{
    return open_->path;
}

}  // namespace engine
