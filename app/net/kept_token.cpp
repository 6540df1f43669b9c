#include "app/net/kept_token.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace net {

namespace {

constexpr std::streamsize kLongestFile = 8192;  // bytes

std::string member_of(const nlohmann::json& object, const char* name)
{
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::filesystem::path kept_token_file(const std::filesystem::path& data)
{
    return data.empty() ? data : data / "hub-token.json";
}

KeptToken read_kept_token(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    std::string text(std::size_t(kLongestFile), '\0');
    in.read(text.data(), kLongestFile);
    text.resize(std::size_t(in.gcount()));
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object())
        return {};
    KeptToken kept{token_word(member_of(json, "token")), member_of(json, "tokenId")};
    if (!secrets::is_id(kept.id))
        kept.id.clear();
    if (const auto ids = json.find("unneededIds"); ids != json.end() && ids->is_array())
        for (const auto& id : *ids)
            if (id.is_string() && secrets::is_id(id.get_ref<const std::string&>()))
                kept.unneeded.push_back(id.get<std::string>());
    return kept;
}

std::string text_of(const KeptToken& kept)
{
    return nlohmann::json{{"token", kept.token}, {"tokenId", kept.id}, {"unneededIds", kept.unneeded}}.dump();
}

std::string token_word(const std::string& text)
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

}  // namespace net
