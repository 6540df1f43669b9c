// companion_kind() says by its name whether a file goes with a model, and what for. All of it is in this header, since
// pages call it also where nothing else of app/net is built.
#pragma once

#include <cctype>
#include <optional>
#include <string>
#include <string_view>

namespace net {

/// Says what a companion is for.
enum class CompanionKind {
    Projector,  // turns pictures, or sounds, into what the model reads
    Drafter,    // layers that guess several tokens ahead
};

/// Returns what a companion is for, by its path in a repository. Nothing: the file may be a model by itself, such as
/// one with "-MTP-" in its name, which has such layers inside.
inline std::optional<CompanionKind> companion_kind(std::string_view path)
{
    std::string lower(path);
    for (char& c : lower)
        c = char(std::tolower(static_cast<unsigned char>(c)));
    const std::size_t slash = lower.rfind('/');
    const std::string_view name = std::string_view(lower).substr(slash + 1);
    const std::string_view folder = std::string_view(lower).substr(0, slash == std::string::npos ? 0 : slash);
    const std::size_t word = name.find("mmproj");  // "mmproj-F16.gguf", "NAME.mmproj-f16.gguf", "NAME-mmproj.gguf"
    if (word == 0 || (word != std::string_view::npos && std::isalnum(static_cast<unsigned char>(name[word - 1])) == 0))
        return CompanionKind::Projector;
    if (name.starts_with("mtp-") || folder == "mtp" || folder.ends_with("/mtp"))
        return CompanionKind::Drafter;
    return std::nullopt;
}

}  // namespace net
