#include "tests/support/net/model_hub.h"

#include "app/net/sha256.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

namespace support {

namespace {

using Json = nlohmann::json;

WebAnswer json(const Json& value)
{
    return {200, {{"Content-Type", "application/json"}}, value.dump()};
}

WebAnswer missing(const char* code)
{
    return {404, {{"X-Error-Code", code}}, {}};
}

/// Returns a value of the query. "%20" becomes a space, which is all that the tests' words need.
std::string value_of(const std::string& target, const std::string& name)
{
    std::size_t begin = target.find('?' + name + '=');
    if (begin == std::string::npos)
        begin = target.find('&' + name + '=');
    if (begin == std::string::npos)
        return {};
    begin += name.size() + 2;
    std::string value = target.substr(begin, target.find('&', begin) - begin);
    for (std::size_t space = 0; (space = value.find("%20")) != std::string::npos;)
        value.replace(space, 3, " ");
    return value;
}

}  // namespace

const std::string& ModelHub::commit()
{
    static const std::string commit(40, 'c');
    return commit;
}

ModelHub::ModelHub(std::vector<HubModel> models)
    : models_(std::move(models))
    , server_([this](const WebRequest& request) { return answer(request); })
{
    std::ranges::stable_sort(models_, std::greater(), &HubModel::downloads);
    for (const HubModel& model : models_)
        for (const auto& [path, bytes] : model.files) {
            net::Sha256 sha256;
            sha256.add(std::as_bytes(std::span(*bytes)));
            hashes_[bytes] = sha256.hex();
        }
}

WebAnswer ModelHub::answer(const WebRequest& request)
{
    if (const int pause = answer_pause_ms; pause > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    if (status != 200)
        return {status, {}, {}};
    const std::string& target = request.target;
    if (target.starts_with("/api/models?"))
        return search(target);
    if (target.starts_with("/bytes/"))
        return bytes(request);
    for (const HubModel& model : models_) {
        if (target.starts_with("/api/models/" + model.id + '/'))
            return of_repository(model, target.substr(13 + model.id.size()));
        const std::string resolve = '/' + model.id + "/resolve/" + commit() + '/';
        if (!target.starts_with(resolve))
            continue;
        const std::string path = target.substr(resolve.size());
        if (path == "README.md")
            return model.card.empty() ? missing("EntryNotFound") : WebAnswer{200, {}, model.card};
        if (model.gated && request.header("authorization") != std::string("Bearer ") + kMembersToken)
            return {403, {{"X-Error-Code", "GatedRepo"}}, {}};
        for (const auto& [name, content] : model.files)
            if (name == path)
                return {302, {{"Location", server_.url("/bytes/" + hashes_.at(content))}}, {}};
        return missing("EntryNotFound");
    }
    return missing("RepoNotFound");
}

WebAnswer ModelHub::search(const std::string& target) const
{
    const std::string words = value_of(target, "search"), cursor = value_of(target, "cursor");
    const std::size_t first = cursor.empty() ? 0 : std::stoul(cursor);
    const auto most = std::size_t(page_models);
    Json page = Json::array();
    std::size_t found = 0;
    for (const HubModel& model : models_) {
        if (model.id.find(words) == std::string::npos || found++ < first || page.size() == most)
            continue;
        page.push_back({{"id", model.id}, {"downloads", model.downloads}, {"likes", 7}, {"gated", false}});
        if (model.gated)
            page.back()["gated"] = "manual";
    }
    WebAnswer answer = json(page);
    if (found > first + most)
        answer.headers.emplace_back(
            "Link", "<" + server_.url("/api/models?search=" + words + "&cursor=" + std::to_string(first + most)) +
                        ">; rel=\"next\"");
    return answer;
}

WebAnswer ModelHub::of_repository(const HubModel& model, const std::string& rest) const
{
    if (rest == "refs")
        return json({{"branches", {{{"name", "main"}, {"targetCommit", commit()}}}}, {"tags", Json::array()}});
    if (rest == "revision/" + commit()) {
        Json tags = {"gguf"};
        if (!model.licence.empty())
            tags.push_back("license:" + model.licence);
        return json({{"id", model.id}, {"tags", tags}, {"downloads", model.downloads}, {"gated", model.gated}});
    }
    if (rest != "tree/" + commit() + "?recursive=true")
        return missing("RepoNotFound");
    Json list = Json::array();
    for (const auto& [path, content] : model.files)
        list.push_back({{"type", "file"},
                        {"path", path},
                        {"size", content->size()},
                        {"oid", std::string(40, 'a')},
                        {"lfs", {{"oid", hashes_.at(content)}, {"size", content->size()}}}});
    return json(list);
}

WebAnswer ModelHub::bytes(const WebRequest& request)
{
    for (const auto& [content, hash] : hashes_)
        if (request.target == "/bytes/" + hash) {
            if (bytes_status != 200)
                return {bytes_status, {}, {}};
            WebAnswer answer = file_answer(request, *content, '"' + hash + '"');
            answer.pause_ms = pause_ms;
            if (spoils && !answer.body.empty())
                answer.body.back() ^= 1;
            return answer;
        }
    return missing("EntryNotFound");
}

}  // namespace support
