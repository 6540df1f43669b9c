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

    settings.hub_token = token_word(variable("HF_TOKEN"));
    if (settings.hub_token.empty()) {
        Path file = folder("HF_TOKEN_PATH");
        if (file.empty() && !hugging_face.empty())
            file = hugging_face / "token";
        settings.hub_token = token_word(token_in(file));
    }
    if (settings.hub_token.empty() && !data.empty())
        settings.kept_token = read_kept_token(kept_token_file(data));
    if (!data.empty())
        settings.models = data / "models";
    return settings;
}

}  // namespace net
