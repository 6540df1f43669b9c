#include "app/net/hub.h"

#include "app/net/sha256.h"
#include "app/net/url.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace net {

namespace {

using Kind = Failure::Kind;
using Json = nlohmann::json;

constexpr std::size_t kLongestAnswer = 16 << 20;
constexpr std::size_t kLongestCard = 1 << 20;
constexpr int kMostPages = 100;  // of a list of files

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

bool is_gated(const Json& model)
{
    const auto gated = model.find("gated");
    return gated != model.end() && (gated->is_string() || (gated->is_boolean() && gated->get<bool>()));
}

/// Returns the licence, which the hub gives as a tag such as `license:mit`, in whatever way the publisher has written
/// it.
std::string licence_of(const Json& model)
{
    constexpr std::string_view mark = "license:";
    if (const auto tags = model.find("tags"); tags != model.end() && tags->is_array())
        for (const Json& tag : *tags)
            if (tag.is_string() && tag.get_ref<const std::string&>().starts_with(mark))
                return tag.get_ref<const std::string&>().substr(mark.size());
    return {};
}

/// Returns the text of a card without the block of metadata that it may begin with.
std::string card_text(std::string text)
{
    if (!text.starts_with("---\n") && !text.starts_with("---\r\n"))
        return text;
    const std::size_t end = text.find("\n---", 3);
    if (end == std::string::npos)
        return text;
    const std::size_t line_end = text.find('\n', end + 1);
    return line_end == std::string::npos ? std::string() : text.substr(line_end + 1);
}

/// Returns the address of a list's next page, from a header such as `<https://...>; rel="next"`; empty: there is none.
std::string next_page(std::string_view link)
{
    const std::size_t begin = link.find('<'), end = link.find('>');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin ||
        link.find("rel=\"next\"", end) == std::string_view::npos)
        return {};
    return std::string(link.substr(begin + 1, end - begin - 1));
}

/// Returns how long to wait before the same is asked again; nothing: it is not asked again. A busy hub that does not
/// say how long it will be busy is not waited for.
std::optional<std::chrono::milliseconds> pause_behind(const Failure& failure, int tries, const HubPatience& patience)
{
    if (tries >= patience.tries)
        return {};
    if (failure.kind == Kind::Interrupted)
        return patience.pause * (1 << (tries - 1));
    if (!may_pass(failure.kind) || failure.wait.count() == 0 || failure.wait > patience.longest_wait)
        return {};
    return failure.wait;
}

/// Waits. False: it was stopped.
bool wait_for(std::chrono::milliseconds pause, const std::stop_token& stop)
{
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any nothing;
    nothing.wait_for(lock, stop, pause, [] { return false; });
    return !stop.stop_requested();
}

}  // namespace

Hub::Hub(HttpClient& client, std::string endpoint, std::string token, const HubPatience& patience)
    : client_(client)
    , endpoint_(std::move(endpoint))
    , token_(std::move(token))
    , patience_(patience)
{
    while (endpoint_.ends_with('/'))
        endpoint_.pop_back();
}

std::string Hub::page_url(const HubReference& reference) const
{
    const bool usual = reference.revision == HubReference().revision;
    return endpoint_ + '/' + reference.repository + (usual ? "" : "/tree/" + escaped_path(reference.revision));
}

std::string Hub::file_url(const HubRepository& repository, const HubFile& file) const
{
    return endpoint_ + '/' + repository.id + "/resolve/" + repository.commit + '/' + escaped_path(file.path);
}

Result<HttpAnswer> Hub::ask(const std::string& url, const char* purpose, const std::stop_token& stop) const
{
    HttpReader reader;
    reader.on_head = [](const HttpHead& head) -> Status {
        if (head.header("content-type").starts_with("text/html"))
            return fail(Kind::BadAnswer,
                        "a page for people came in place of the hub's answer; a network that wants you to "
                        "sign in first, as in a hotel, may have sent it");
        return {};
    };
    HttpRequest request{url, purpose, {}, token_, {}};
    request.asked = Asked::Page;
    return ask_patiently(request, kLongestAnswer, reader, stop);
}

Result<HttpAnswer> Hub::ask_patiently(const HttpRequest& request, std::size_t most_bytes, const HttpReader& reader,
                                      const std::stop_token& stop) const
{
    for (int tries = 1;; ++tries) {
        auto answer = client_.get_text(request, most_bytes, stop, reader);
        const auto pause = answer ? std::nullopt : pause_behind(answer.error(), tries, patience_);
        if (!pause)
            return answer;
        if (!wait_for(*pause, stop))
            return fail(Kind::Cancelled, "stopped");
    }
}

Result<std::string> Hub::commit_of(const HubReference& reference, const std::stop_token& stop) const
{
    if (is_commit(reference.revision))
        return reference.revision;
    const auto answer =
        ask(endpoint_ + "/api/models/" + reference.repository + "/refs", "revisions of a repository", stop);
    if (!answer)
        return tl::unexpected(answer.error());
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
        const auto answer = ask(url, "list of files", stop);
        if (!answer)
            return tl::unexpected(answer.error());
        const Json json = Json::parse(answer->body, nullptr, false);
        if (!json.is_array() || page == kMostPages)
            return not_understood();
        for (const Json& entry : json)
            if (auto file = file_of(entry))
                files.push_back(std::move(*file));
        const std::string next = next_page(answer->head.header("link"));
        // The token is sent to the next page, too, so that must not be another server's.
        if (!next.empty() && origin_of(next) != origin_of(url))
            return not_understood();
        url = next;
    }
    repository.files = group_files(files);
    return repository;
}

Result<FoundModels> Hub::search(const std::string& words, int most, const std::stop_token& stop) const
{
    return search_on(endpoint_ + "/api/models?search=" + escaped_value(words) +
                         "&filter=gguf&sort=downloads&direction=-1&limit=" + std::to_string(most),
                     stop);
}

Result<FoundModels> Hub::search_on(const std::string& next, const std::stop_token& stop) const
{
    if (origin_of(next) != origin_of(endpoint_))
        return not_understood();
    const auto answer = ask(next, "search", stop);
    if (!answer)
        return tl::unexpected(answer.error());
    const Json json = Json::parse(answer->body, nullptr, false);
    if (!json.is_array())
        return not_understood();
    FoundModels found;
    for (const Json& entry : json)
        if (entry.is_object() && !text_of(entry, "id").empty())
            found.models.push_back(
                {text_of(entry, "id"), number_of(entry, "downloads"), number_of(entry, "likes"), is_gated(entry)});
    // A page without models is the last one, whatever its header says; and the token must not go to another server.
    const std::string after = next_page(answer->head.header("link"));
    if (!found.models.empty() && after != next && origin_of(after) == origin_of(endpoint_))
        found.next = after;
    return found;
}

Result<HubCard> Hub::card(const HubRepository& repository, const std::stop_token& stop) const
{
    const auto about =
        ask(endpoint_ + "/api/models/" + repository.id + "/revision/" + repository.commit, "facts of a model", stop);
    if (!about)
        return tl::unexpected(about.error());
    const Json json = Json::parse(about->body, nullptr, false);
    if (!json.is_object())
        return not_understood();
    HubCard card{licence_of(json), {}, is_gated(json), number_of(json, "downloads"), number_of(json, "likes")};
    HttpRequest request{file_url(repository, {"README.md", 0, {}, {}}), "text about a model", {}, token_, {}};
    const auto text = ask_patiently(request, kLongestCard, {}, stop);
    // A user who may not read the text can still see the files. Only if the hub does not answer any more, this fails.
    if (!text && (may_pass(text.error().kind) || text.error().kind == Kind::Cancelled))
        return tl::unexpected(text.error());
    if (text)
        card.text = card_text(text->body);
    return card;
}

}  // namespace net
