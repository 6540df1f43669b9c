#include "app/net/hub.h"

#include "app/net/sha256.h"
#include "app/net/url.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace net {

namespace {

using Kind = Failure::Kind;
using Json = nlohmann::json;

constexpr std::size_t kLongestAnswer = 16 << 20;
constexpr int kMostPages = 100;  // of a list of files

/// Whom to tell who one is, where the hub wants to know.
Failure explained(Failure failure, bool with_token)
{
    if (!with_token && (failure.kind == Kind::NeedsToken || failure.kind == Kind::NoAccess))
        failure.what += "; HF_TOKEN takes a token";
    return failure;
}

tl::unexpected<Failure> not_understood()
{
    return fail(Kind::BadAnswer, "the hub's answer cannot be read");
}

bool is_commit(std::string_view text)
{
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string text_of(const Json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number_of(const Json& object, const char* key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::optional<HubFile> file_of(const Json& entry)
{
    if (!entry.is_object() || text_of(entry, "type") == "directory")
        return {};
    HubFile file{text_of(entry, "path"), number_of(entry, "size"), {}, text_of(entry, "oid")};
    if (const auto lfs = entry.find("lfs"); lfs != entry.end() && lfs->is_object()) {
        file.sha256 = text_of(*lfs, "oid");
        file.bytes = number_of(*lfs, "size");
        if (!is_sha256(file.sha256))
            return {};
    }
    if (!is_safe_path(file.path) || !(file.sha256.empty() ? is_commit(file.oid) : true))
        return {};
    return file;
}

/// The next page of a list: `<https://...>; rel="next"`.
std::string next_page(std::string_view link)
{
    const std::size_t begin = link.find('<'), end = link.find('>');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin ||
        link.find("rel=\"next\"", end) == std::string_view::npos)
        return {};
    return std::string(link.substr(begin + 1, end - begin - 1));
}

}  // namespace

Hub::Hub(HttpClient& client, std::string endpoint, std::string token)
    : client_(client)
    , endpoint_(std::move(endpoint))
    , token_(std::move(token))
{
    while (endpoint_.ends_with('/'))
        endpoint_.pop_back();
}

std::string Hub::file_url(const HubRepository& repository, const HubFile& file) const
{
    return endpoint_ + '/' + repository.id + "/resolve/" + repository.commit + '/' + escaped_path(file.path);
}

Result<std::string> Hub::commit_of(const HubReference& reference, const std::stop_token& stop) const
{
    if (is_commit(reference.revision))
        return reference.revision;
    const auto answer = client_.get_text(
        {endpoint_ + "/api/models/" + reference.repository + "/refs", "revisions of a repository", {}, token_, {}},
        kLongestAnswer, stop);
    if (!answer)
        return tl::unexpected(explained(answer.error(), !token_.empty()));
    const Json json = Json::parse(answer->body, nullptr, false);
    if (!json.is_object())
        return not_understood();
    for (const char* list : {"branches", "tags", "converts"})
        if (const auto refs = json.find(list); refs != json.end() && refs->is_array())
            for (const Json& ref : *refs)
                if (ref.is_object() && text_of(ref, "name") == reference.revision &&
                    is_commit(text_of(ref, "targetCommit")))
                    return text_of(ref, "targetCommit");
    return fail(Kind::NotFound, reference.repository + " has no revision '" + reference.revision + "'");
}

Result<HubRepository> Hub::repository(const HubReference& reference, const std::stop_token& stop) const
{
    const auto commit = commit_of(reference, stop);
    if (!commit)
        return tl::unexpected(commit.error());
    HubRepository repository{reference.repository, *commit, {}};
    std::vector<HubFile> files;
    std::string url = endpoint_ + "/api/models/" + reference.repository + "/tree/" + *commit + "?recursive=true";
    for (int page = 0; !url.empty(); ++page) {
        const auto answer = client_.get_text({url, "list of files", {}, token_, {}}, kLongestAnswer, stop);
        if (!answer)
            return tl::unexpected(explained(answer.error(), !token_.empty()));
        const Json json = Json::parse(answer->body, nullptr, false);
        if (!json.is_array() || page == kMostPages)
            return not_understood();
        for (const Json& entry : json)
            if (auto file = file_of(entry))
                files.push_back(std::move(*file));
        const std::string next = next_page(answer->head.header("link"));
        // The token goes along, so the list may not send us to somebody else.
        if (!next.empty() && origin_of(next) != origin_of(url))
            return not_understood();
        url = next;
    }
    repository.files = group_files(files);
    return repository;
}

Result<std::vector<FoundModel>> Hub::search(const std::string& words, int most, const std::stop_token& stop) const
{
    const auto answer = client_.get_text({endpoint_ + "/api/models?search=" + escaped_value(words) +
                                              "&filter=gguf&sort=downloads&direction=-1&limit=" + std::to_string(most),
                                          "search",
                                          {},
                                          token_,
                                          {}},
                                         kLongestAnswer, stop);
    if (!answer)
        return tl::unexpected(explained(answer.error(), !token_.empty()));
    const Json json = Json::parse(answer->body, nullptr, false);
    if (!json.is_array())
        return not_understood();
    std::vector<FoundModel> found;
    for (const Json& entry : json) {
        if (!entry.is_object() || text_of(entry, "id").empty())
            continue;
        const auto gated = entry.find("gated");
        found.push_back({text_of(entry, "id"), number_of(entry, "downloads"), number_of(entry, "likes"),
                         gated != entry.end() && (gated->is_string() || (gated->is_boolean() && gated->get<bool>()))});
    }
    return found;
}

}  // namespace net
