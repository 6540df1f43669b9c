#include "app/net/pull.h"

#include "app/net/gguf_head.h"
#include "app/net/remote_file.h"
#include "app/net/sha256.h"
#include "app/net/url.h"
#include "engine/utf8_path.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace net {

namespace {

using Kind = Failure::Kind;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t kLongestManifest = 4 << 20;
constexpr int kNamesOffered = 5;  // models with a similar name

std::string last_name(const std::string& path)
{
    return path.substr(path.rfind('/') + 1);
}

bool is_here(const FileToFetch& file)
{
    std::error_code error;
    const auto size = fs::file_size(file.target, error);
    return !error && file.bytes && std::int64_t(size) == *file.bytes;
}

/// Returns a member of an object. Null: there is none of this name, or `object` is no object.
const Json* member(const Json& object, const char* key)
{
    if (!object.is_object())
        return nullptr;
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

std::string text_in(const Json& object, const char* key)
{
    const Json* const value = member(object, key);
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

bool wants(const PullRequest& request, const std::string& companion)
{
    return request.companions || std::find(request.with.begin(), request.with.end(), companion) != request.with.end();
}

/// Fails if a file that was asked for by name is gone: another one might not be what the user wants.
Status all_there(const PullRequest& request, const PullPlan& plan)
{
    for (const std::string& name : request.with)
        if (std::none_of(plan.files.begin(), plan.files.end(),
                         [&](const PullFile& file) { return file.companion && file.name == name; }))
            return fail(Kind::NotFound, "there is no " + name + " beside it any more");
    return {};
}

/// Returns those models whose files are all where `target_of` says.
ModelFiles those_here(const ModelFiles& files, const std::function<fs::path(const HubFile&)>& target_of)
{
    const auto is_there = [&](const HubFile& file) {
        std::error_code error;
        return fs::file_size(target_of(file), error) == std::uintmax_t(file.bytes) && !error;
    };
    ModelFiles here;
    for (const ModelChoice& choice : files.choices)
        if (std::all_of(choice.files.begin(), choice.files.end(), is_there))
            here.choices.push_back(choice);
    return here;
}

/// Returns "NAME-TAG", as files of Ollama's registry are called here.
std::string file_stem(const OllamaReference& reference)
{
    std::string name = reference.name.starts_with("library/") ? reference.name.substr(8) : reference.name;
    std::replace(name.begin(), name.end(), '/', '-');
    return name + '-' + reference.tag;
}

/// Says whether the stem tells the name: a user's "a/b" and the library's "a-b" have the same. A '-' in the tag is let
/// pass, since nearly every tag with a quantisation has one.
bool has_own_stem(const OllamaReference& reference)
{
    return reference.name.starts_with("library/") && reference.name.find('-') == std::string::npos;
}

void add_up(PullPlan& plan)
{
    for (PullFile& file : plan.files) {
        file.here = is_here(file.file);
        plan.bytes += file.file.bytes.value_or(0);
        plan.missing_bytes += file.here ? 0 : file.file.bytes.value_or(0);
    }
}

}  // namespace

Result<fs::path> Puller::folder_for(const PullRequest& request) const
{
    const fs::path& folder = request.to.empty() ? settings_.models : request.to;
    if (folder.empty())
        return fail(Kind::BadRequest, "the environment names no folder for models; --to names one");
    return folder;
}

Result<PullPlan> Puller::plan(const PullRequest& request, const std::stop_token& stop)
{
    if (const auto* hub = std::get_if<HubReference>(&request.reference))
        return plan_hub(*hub, request, stop);
    if (const auto* ollama = std::get_if<OllamaReference>(&request.reference))
        return plan_ollama(*ollama, request, stop);
    if (const auto* link = std::get_if<LinkReference>(&request.reference))
        return plan_link(*link, request, stop);
    // Anybody can upload a model under a bare name, so none is chosen: the user has to say whose.
    const auto& name = std::get<NameReference>(request.reference);
    const auto found = search(name.name, kNamesOffered, stop);
    if (!found)
        return tl::unexpected(found.error());
    std::string near;
    for (const FoundModel& model : found->models)
        near += (near.empty() ? "" : ", ") + model.id;
    return fail(Kind::NotFound,
                near.empty() ? "the hub finds nothing for '" + name.name + "'"
                             : "'" + name.name + "' lacks its owner's name; the most fetched of this name are " + near);
}

Result<FoundModels> Puller::search(const std::string& words, int most, const std::stop_token& stop)
{
    return Hub(client_, settings_.hub, settings_.hub_token).search(words, most, stop);
}

Result<PullPlan> Puller::plan_hub(const HubReference& reference, const PullRequest& request,
                                  const std::stop_token& stop)
{
    const Hub hub(client_, settings_.hub, settings_.hub_token);
    auto repository = hub.repository(reference, stop);
    if (!repository)
        return tl::unexpected(repository.error());
    auto chosen = choose(repository->files, reference.file, reference.quant, request.memory_bytes);
    if (!chosen)
        return fail(chosen.error().kind, reference.repository + ": " + chosen.error().what);
    if (request.to.empty() && settings_.hub_cache.empty())
        return fail(Kind::BadRequest, "the environment names no folder for models; --to names one");
    const auto target_of = [&](const HubFile& file) -> fs::path {
        if (!request.to.empty())
            return request.to / engine::utf8_path(last_name(file.path));
        const CachePlace place = cache_place(settings_.hub_cache, repository->id, repository->commit, file);
        return has_its_bytes(place, file.bytes) ? place.name : place.blob;  // without links the name has the bytes
    };
    // The free memory differs from day to day: that is no reason to fetch another size of a model that is here.
    if (request.prefers_here && chosen->why != Chosen::Why::Named)
        if (auto here = choose(those_here(repository->files, target_of), {}, {}, request.memory_bytes);
            here && here->why != Chosen::Why::NoneFits)
            chosen = Chosen{std::move(here->choice), here->why, "it is here already"};

    PullPlan plan{repository->id, chosen->choice.quant, chosen->reason, {}, repository->files.companions, {}, 0, 0,
                  reference,      repository->commit};
    const auto add = [&](const HubFile& file, bool companion) {
        PullFile pulled{{hub.file_url(*repository, file), hub.token(), file.sha256, file.bytes, {}},
                        file.path,
                        {},
                        false,
                        companion};
        pulled.file.name = last_name(file.path);
        pulled.file.target = target_of(file);
        if (request.to.empty())
            pulled.place = cache_place(settings_.hub_cache, repository->id, repository->commit, file);
        plan.files.push_back(std::move(pulled));
    };
    for (const HubFile& file : chosen->choice.files)
        add(file, false);
    for (const HubFile& file : repository->files.companions)
        if (wants(request, file.path))
            add(file, true);
    if (Status there = all_there(request, plan); !there)
        return tl::unexpected(there.error());
    plan.model = plan.files.front().place ? plan.files.front().place->name : plan.files.front().file.target;
    add_up(plan);
    return plan;
}

Result<PullPlan> Puller::plan_ollama(const OllamaReference& reference, const PullRequest& request,
                                     const std::stop_token& stop)
{
    const auto folder = folder_for(request);
    if (!folder)
        return tl::unexpected(folder.error());
    const std::string base = settings_.ollama + "/v2/" + reference.name;
    const std::string blobs = base + "/blobs/";
    const auto answer = client_.get_text({base + "/manifests/" + reference.tag,
                                          "list of files",
                                          {{"Accept", "application/vnd.docker.distribution.manifest.v2+json"}},
                                          {},
                                          {}},
                                         kLongestManifest, stop);
    if (!answer)
        return tl::unexpected(answer.error());
    const Json manifest = Json::parse(answer->body, nullptr, false);
    if (!manifest.is_object() || !manifest.contains("layers") || !manifest["layers"].is_array())
        return fail(Kind::BadAnswer, "the registry's answer cannot be read");
    const bool library = reference.name.starts_with("library/");
    const std::string name = file_stem(reference);

    PullPlan plan;
    plan.title = "ollama.com/" + (library ? reference.name.substr(8) : reference.name) + ':' + reference.tag;
    for (const Json& layer : manifest["layers"]) {
        const std::string type = text_in(layer, "mediaType"), digest = text_in(layer, "digest");
        const Json* const size = member(layer, "size");
        const std::int64_t bytes = size && size->is_number_integer() ? size->get<std::int64_t>() : 0;
        if (type == "application/vnd.ollama.image.adapter")
            plan.note = "Ollama applies an adapter to it, which is not fetched: without it this is another model";
        const bool model = type == "application/vnd.ollama.image.model";
        if (!model && type != "application/vnd.ollama.image.projector")
            continue;
        const std::string sha256 = digest.starts_with("sha256:") ? digest.substr(7) : std::string();
        if (!is_sha256(sha256) || bytes <= 0)
            return fail(Kind::BadAnswer, "the registry's answer cannot be read");
        std::string file = name;
        file += model ? ".gguf" : "-mmproj.gguf";
        if (!model)
            plan.companions.push_back({file, bytes, sha256, {}});
        if (model || wants(request, file))
            plan.files.push_back(
                {{blobs + digest, {}, sha256, bytes, *folder / engine::utf8_path(file)}, file, {}, false, !model});
    }
    std::stable_sort(plan.files.begin(), plan.files.end(),
                     [](const PullFile& a, const PullFile& b) { return a.companion < b.companion; });
    if (plan.files.empty() || plan.files.front().companion)
        return fail(Kind::NotFound, plan.title + " has no model file that could be fetched");
    if (plan.files.size() > 1 && !plan.files[1].companion)
        return fail(Kind::BadAnswer, plan.title + " has several model files, which cannot be put together here");
    if (Status there = all_there(request, plan); !there)
        return tl::unexpected(there.error());
    plan.model = plan.files.front().file.target;
    add_up(plan);
    return plan;
}

Result<PullPlan> Puller::plan_link(const LinkReference& reference, const PullRequest& request,
                                   const std::stop_token& stop)
{
    const auto folder = folder_for(request);
    if (!folder)
        return tl::unexpected(folder.error());
    const auto remote = ask_for_file(client_, reference.url, {}, stop);
    if (!remote)
        return tl::unexpected(remote.error());
    PullPlan plan;
    plan.title = origin_of(reference.url)->text();
    plan.quant = quant_of(reference.file);
    plan.model = *folder / engine::utf8_path(reference.file);
    plan.files.push_back({{reference.url, {}, remote->sha256, remote->bytes, plan.model}, reference.file});
    add_up(plan);
    return plan;
}

std::optional<fs::path> Puller::here(const PullRequest& request) const
{
    if (const auto* hub = std::get_if<HubReference>(&request.reference)) {
        const auto cached = cached_revision(settings_.hub_cache, hub->repository, hub->revision);
        const auto chosen = cached ? choose(group_files(cached->files), hub->file, hub->quant, request.memory_bytes)
                                   : Result<Chosen>(fail(Kind::NotFound, {}));
        return chosen ? std::optional(cached->folder / engine::utf8_path(chosen->choice.files.front().path))
                      : std::nullopt;
    }
    const auto* const ollama = std::get_if<OllamaReference>(&request.reference);
    if (!ollama || !has_own_stem(*ollama) || settings_.models.empty())
        return {};
    fs::path file = settings_.models / engine::utf8_path(file_stem(*ollama) + ".gguf");
    std::error_code error;
    return fs::is_regular_file(file, error) ? std::optional(std::move(file)) : std::nullopt;
}

Result<engine::ModelInfo> Puller::look(const PullPlan& plan, const std::stop_token& stop)
{
    std::vector<RemotePart> parts;
    for (const PullFile& file : plan.files)
        if (!file.companion)
            parts.push_back({file.file.url, file.file.token, last_name(file.name), file.file.bytes.value_or(0)});
    auto model = inspect_remote(client_, parts, stop);
    if (!model)
        return tl::unexpected(model.error());
    return std::move(model->info);
}

Result<Pulled> Puller::fetch(const PullPlan& plan, const FetchLimits& limits,
                             const std::function<void(const PullProgress&)>& on_progress, const std::stop_token& stop)
{
    Pulled pulled;
    std::vector<const FileToFetch*> files;
    for (const PullFile& file : plan.files)
        files.push_back(&file.file);
    if (Status room = room_for(files, limits); !room)  // before hours are spent on the first file
        return tl::unexpected(room.error());
    for (std::size_t i = 0; i < plan.files.size(); ++i) {
        const PullFile& file = plan.files[i];
        const auto progress = [&](const FetchProgress& p) {
            if (on_progress)
                on_progress({i, p});
        };
        const auto fetched = fetch_file(client_, file.file, limits, progress, stop);
        if (!fetched)
            return tl::unexpected(fetched.error());
        if (on_progress)
            on_progress({i, {fetched->bytes, fetched->bytes, fetched->bytes}, true, !fetched->was_there});
        pulled.checked = pulled.checked && fetched->checked;
        if (file.place)
            if (Status ok = name_in_cache(*file.place); !ok)
                return tl::unexpected(ok.error());
    }
    if (Status ok = keep_names(plan); !ok)
        return tl::unexpected(ok.error());
    return pulled;
}

Status Puller::keep_names(const PullPlan& plan)
{
    for (const PullFile& file : plan.files)
        if (file.place)
            if (Status ok = name_in_cache(*file.place); !ok)
                return ok;
    if (!plan.files.front().place)
        return {};
    return keep_revision(settings_.hub_cache, plan.hub.repository, plan.hub.revision, plan.commit);
}

}  // namespace net
