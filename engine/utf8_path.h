// Turns text in UTF-8 into paths and back: Windows' paths are not UTF-8 by themselves.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

inline std::filesystem::path utf8_path(std::string_view text)
{
    return std::u8string(text.begin(), text.end());
}

inline std::string utf8_text(const std::filesystem::path& path)
{
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

}  // namespace engine
