// long_path() writes a path of any length so that the functions of Windows accept it.
#pragma once

#include <filesystem>
#include <string>

namespace engine {

/// Writes a path as Windows' functions take it. Paths of 260 characters and more get the prefix with which they are no
/// longer cut short: the manifest asks for them, but a machine has to be set to grant it.
std::wstring long_path(const std::filesystem::path& path);

}  // namespace engine
