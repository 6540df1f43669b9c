#include "app/net/model_reference.h"

#include "app/net/url.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace net {

namespace {

using Kind = Failure::Kind;

constexpr std::array<std::string_view, 3> kHub = {"hf.co/", "huggingface.co/", "www.huggingface.co/"};
constexpr std::array<std::string_view, 3> kOllama = {"ollama.com/", "www.ollama.com/", "registry.ollama.ai/"};

bool is_name(std::string_view text)
{
    return !text.empty() && text.size() <= 128 && text.front() != '.' && text.find("..") == std::string_view::npos &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return c < 0x80 && (std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-');
           });
}

bool is_gguf(std::string_view file)
{
    return file.size() > 5 && (file.ends_with(".gguf") || file.ends_with(".GGUF"));
}

std::vector<std::string_view> pieces(std::string_view text, char between)
{
    std::vector<std::string_view> list;
    while (true) {
        const std::size_t end = text.find(between);
        list.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return list;
        text.remove_prefix(end + 1);
    }
}

/// Returns the text with %20 and the like replaced by their characters; an incomplete escape stays as it is.
std::string unescaped(std::string_view text)
{
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0 &&
            std::isxdigit(static_cast<unsigned char>(text[i + 2])) != 0) {
            out += char(digit(text[i + 1]) * 16 + digit(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

tl::unexpected<Failure> not_a_model(std::string_view text)
{
    return fail(Kind::BadRequest,
                "'" + std::string(text) +
                    "' names no model: hf.co/ORG/REPO[:QUANT], ollama.com/NAME[:TAG] and the address of a "
                    ".gguf file do");
}

/// Reads ORG/REPO[:FILE|:QUANT], and what addresses on the hub add: ORG/REPO/resolve/REVISION/FILE.
Result<ModelReference> read_hub(std::string_view typed, std::string_view text)
{
    HubReference hub;
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos) {
        const std::string_view chosen = text.substr(colon + 1);
        if (chosen.empty())
            return not_a_model(typed);
        (is_gguf(chosen) ? hub.file : hub.quant) = chosen;
        text = text.substr(0, colon);
    }
    while (text.ends_with('/'))
        text.remove_suffix(1);
    const auto parts = pieces(text, '/');
    if (parts.size() < 2 || !is_name(parts[0]) || !is_name(parts[1]))
        return not_a_model(typed);
    hub.repository = std::string(parts[0]) + '/' + std::string(parts[1]);
    if (parts.size() > 2) {
        const bool file = parts.size() > 4 && (parts[2] == "resolve" || parts[2] == "blob");
        const bool page = parts.size() == 4 && parts[2] == "tree";
        if ((!file && !page) || !is_name(parts[3]) || colon != std::string_view::npos)
            return not_a_model(typed);
        hub.revision = parts[3];
        if (file)
            hub.file = unescaped(text.substr(std::size_t(parts[4].data() - text.data())));
    }
    if (!hub.file.empty() && (!is_safe_path(hub.file) || !is_gguf(hub.file)))
        return not_a_model(typed);
    return hub;
}

Result<ModelReference> read_ollama(std::string_view typed, std::string_view text)
{
    OllamaReference ollama;
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        ollama.tag = text.substr(colon + 1);
        text = text.substr(0, colon);
    }
    const auto parts = pieces(text, '/');
    if (parts.size() > 2 || !is_name(parts.front()) || !is_name(parts.back()) || !is_name(ollama.tag))
        return not_a_model(typed);
    ollama.name = parts.size() == 1 ? "library/" + std::string(text) : std::string(text);
    return ollama;
}

std::string_view without_query(std::string_view url)
{
    return url.substr(0, url.find_first_of("?#"));
}

}  // namespace

bool is_safe_path(std::string_view path)
{
    const auto safe = [](std::string_view name) {
        return !name.empty() && name != "." && name != ".." && name.size() <= 200 && name.back() != '.' &&
               name.back() != ' ' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
                   return c >= 0x20 && c != 0x7f &&
                          std::string_view("\\:*?\"<>|").find(char(c)) == std::string_view::npos;
               });
    };
    const auto names = pieces(path, '/');
    return std::all_of(names.begin(), names.end(), safe);
}

bool names_a_remote_model(std::string_view text)
{
    const auto begins = [text](std::string_view with) { return text.starts_with(with); };
    return begins("https://") || begins("http://") || std::any_of(kHub.begin(), kHub.end(), begins) ||
           std::any_of(kOllama.begin(), kOllama.end(), begins);
}

Result<ModelReference> read_reference(std::string_view typed)
{
    std::string_view text = typed;
    const bool address = text.starts_with("https://") || text.starts_with("http://");
    if (address)
        text = without_query(text.substr(text.find("//") + 2));
    for (const std::string_view host : kHub)
        if (text.starts_with(host))
            return read_hub(typed, text.substr(host.size()));
    for (const std::string_view host : kOllama)
        if (text.starts_with(host)) {
            text.remove_prefix(host.size());
            return read_ollama(typed, text.starts_with("library/") ? text.substr(8) : text);
        }
    if (address) {
        const std::string file = unescaped(text.substr(text.rfind('/') + 1));
        if (!origin_of(std::string(typed)) || !is_gguf(file) || !is_safe_path(file) ||
            file.find('/') != std::string::npos)
            return not_a_model(typed);
        return LinkReference{std::string(typed), file};
    }
    if (text.find('/') != std::string_view::npos)
        return read_hub(typed, text);
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const std::string_view quant = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (!is_name(name) || (colon != std::string_view::npos && !is_name(quant)))
        return not_a_model(typed);
    return NameReference{std::string(name), std::string(quant)};
}

}  // namespace net
