// Does what mapped files have in common on all systems: it knows who owns the mapping.
#include "engine/files/mapped_file.h"

#include <utility>

namespace engine {

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {}))
    , held_(std::exchange(other.held_, nullptr))
    , guard_(std::move(other.guard_))
{
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept
{
    std::swap(bytes_, other.bytes_);
    std::swap(held_, other.held_);
    std::swap(guard_, other.guard_);
    return *this;
}

MappedFile::~MappedFile()
{
    unmap();
}

std::string path_text(const std::filesystem::path& path)
{
    const std::u8string text = path.u8string();  // string() would throw on Windows where the code page lacks a letter
    return {text.begin(), text.end()};
}

}  // namespace engine
