// FetchSettings says where models come from and where they go, as the environment has it.
#pragma once

#include "app/net/kept_token.h"

#include <filesystem>
#include <functional>
#include <string>

namespace net {

struct FetchSettings {
    std::string hub = "https://huggingface.co";  // HF_ENDPOINT: a mirror
    std::string hub_token;                       // HF_TOKEN, or the file that Hugging Face's own tools keep
    KeptToken kept_token;                        // this program's, for where hub_token is empty
    std::string ollama = "https://registry.ollama.ai";
    std::filesystem::path hub_cache;  // HF_HUB_CACHE, HF_HOME/hub, ...; empty: the environment names none
    std::filesystem::path models;     // where other files go; empty: nowhere
};

/// Returns the settings. `variable` returns the value of a variable of the environment; empty: it is not set. `home`:
/// the user's folder, `data`: this program's.
FetchSettings fetch_settings(const std::function<std::string(const char*)>& variable, const std::filesystem::path& home,
                             const std::filesystem::path& data);

}  // namespace net
