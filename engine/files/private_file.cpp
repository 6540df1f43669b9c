// Does what private files have in common on all systems: it knows who owns the handle.
#include "engine/files/private_file.h"

#include <utility>

namespace engine {

PrivateFile::PrivateFile(PrivateFile&& other) noexcept
    : handle_(std::exchange(other.handle_, std::nullopt))
    , size_(other.size_)
{
}

PrivateFile& PrivateFile::operator=(PrivateFile&& other) noexcept
{
    std::swap(handle_, other.handle_);
    std::swap(size_, other.size_);
    return *this;
}

PrivateFile::~PrivateFile()
{
    close();
}

}  // namespace engine
