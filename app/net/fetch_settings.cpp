#include "app/net/fetch_settings.h"

#include <fstream>

namespace net {

namespace {

constexpr std::streamsize kLongestToken = 4096;  // bytes

std::string token_in(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    std::string text(std::size_t(kLongestToken), '\0');
    in.read(text.data(), kLongestToken);
    text.resize(std::size_t(in.gcount()));
    return text;
}

/// A token is one word; anything else would be a header of its own.
std::string one_word(const std::string& text)
{
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos)
        return {};
    std::string word = text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
    for (const char c : word)
        if (c <= 0x20 || c >= 0x7f)
            return {};
    return word;
}

}  // namespace

FetchSettings fetch_settings(const std::function<std::string(const char*)>& variable, const std::filesystem::path& home,
                             const std::filesystem::path& data)
{
    using Path = std::filesystem::path;
    const auto folder = [&](const char* name) -> Path {
        std::string text = variable(name);
        if (text == "~" || text.starts_with("~/"))
            text.replace(0, 1, home.string());
        const Path path(text);
        return path.is_absolute() ? path : Path();
    };
    FetchSettings settings;
    if (std::string hub = variable("HF_ENDPOINT"); !hub.empty())
        settings.hub = hub;
    if (std::string ollama = variable("SPILLWAY_OLLAMA_REGISTRY"); !ollama.empty())
        settings.ollama = ollama;
    while (settings.ollama.ends_with('/'))
        settings.ollama.pop_back();

    Path hugging_face = folder("HF_HOME");
    if (hugging_face.empty())
        if (Path cache = folder("XDG_CACHE_HOME"); !cache.empty())
            hugging_face = cache / "huggingface";
    if (hugging_face.empty() && !home.empty())
        hugging_face = home / ".cache" / "huggingface";
    settings.hub_cache = folder("HF_HUB_CACHE");
    if (settings.hub_cache.empty() && !hugging_face.empty())
        settings.hub_cache = hugging_face / "hub";

    settings.hub_token = one_word(variable("HF_TOKEN"));
    if (settings.hub_token.empty()) {
        Path file = folder("HF_TOKEN_PATH");
        if (file.empty() && !hugging_face.empty())
            file = hugging_face / "token";
        settings.hub_token = one_word(token_in(file));
    }
    if (!data.empty())
        settings.models = data / "models";
    return settings;
}

}  // namespace net
