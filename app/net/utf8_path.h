// Turns names in UTF-8 into paths and back: Windows' paths are not UTF-8 by themselves.
#pragma once

#include <filesystem>
#include <string>

namespace net {

inline std::filesystem::path utf8_path(const std::string& text)
{
    return std::u8string(text.begin(), text.end());
}

inline std::string utf8_text(const std::filesystem::path& path)
{
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

}  // namespace net
