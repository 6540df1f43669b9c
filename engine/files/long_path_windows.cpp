#include "engine/files/long_path_windows.h"

#include <windows.h>

namespace engine {
namespace {

/// Absolute, with backslashes, without . and ..: what the prefix wants. Empty: there is none.
std::wstring full_path(const std::wstring& path)
{
    std::wstring full(::GetFullPathNameW(path.c_str(), 0, nullptr, nullptr), L'\0');
    full.resize(::GetFullPathNameW(path.c_str(), DWORD(full.size()), full.data(), nullptr));
    return full;
}

}  // namespace

std::wstring long_path(const std::filesystem::path& path)
{
    std::wstring text = path.wstring();
    if (text.starts_with(LR"(\\?\)") || text.starts_with(LR"(\\.\)"))
        return text;
    const std::wstring full = full_path(text);
    if (full.size() < MAX_PATH)
        return text;
    return full.starts_with(LR"(\\)") ? LR"(\\?\UNC\)" + full.substr(2) : LR"(\\?\)" + full;
}

}  // namespace engine
