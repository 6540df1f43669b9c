#include "app/server/models.h"

#include "app/server/engine_desk.h"
#include "engine/utf8_path.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace server {

namespace fs = std::filesystem;

std::optional<std::string> model_name(const fs::path& path)
{
    if (path.extension() != ".gguf")
        return std::nullopt;
    std::string name = engine::utf8_text(path.stem());
    if (name.find("mmproj") != std::string::npos)  // such a file reads pictures for a model and is none itself
        return std::nullopt;
    constexpr std::string_view kPart = "-00001-of-00000";
    const auto is_like = [](char c, char like) {
        return like >= '0' && like <= '9' ? c >= '0' && c <= '9' : c == like;
    };
    if (name.size() > kPart.size()) {
        const std::string_view end = std::string_view(name).substr(name.size() - kPart.size());
        if (std::ranges::equal(end, kPart, is_like)) {
            if (!end.starts_with("-00001-"))
                return std::nullopt;
            name.resize(name.size() - kPart.size());
        }
    }
    return name;
}

std::string client_name(const fs::path& path)
{
    return model_name(path).value_or(engine::utf8_text(path.stem()));
}

namespace {

constexpr int kDeepestFolder = 8;
constexpr int kMostEntries = 100'000;  // of a walk, since a folder may be a whole disk
constexpr std::size_t kMostNamed = 40;

/// Adds the models below a folder; what cannot be read is passed over.
void add_files_below(const fs::path& folder, std::vector<ModelFile>& files)
{
    std::error_code error;
    auto walk = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
    for (int seen = 0; !error && walk != fs::recursive_directory_iterator() && seen < kMostEntries;
         walk.increment(error), ++seen) {
        std::error_code ignored;
        const bool hidden = engine::utf8_text(walk->path().filename()).starts_with('.');
        if (walk->is_directory(ignored) && (hidden || walk.depth() + 1 >= kDeepestFolder))
            walk.disable_recursion_pending();
        const auto name = hidden ? std::nullopt : model_name(walk->path());
        if (name && walk->is_regular_file(ignored))
            files.push_back({*name, walk->path(), std::int64_t(walk->file_size(ignored))});
    }
}

/// Adds the folder to the names of files with the same name; of files whose names are still the same only the first is
/// kept.
void tell_apart(std::vector<ModelFile>& files)
{
    std::ranges::sort(files, {}, [](const ModelFile& file) { return std::tie(file.name, file.path); });
    std::vector<std::string> twice;
    for (std::size_t i = 1; i < files.size(); ++i)
        if (files[i].name == files[i - 1].name)
            twice.push_back(files[i].name);
    for (ModelFile& file : files)
        if (std::ranges::find(twice, file.name) != twice.end())
            file.name = engine::utf8_text(file.path.parent_path().filename()) + '/' + file.name;
    std::ranges::stable_sort(files, {}, &ModelFile::name);
    const auto same = [](const ModelFile& a, const ModelFile& b) { return a.name == b.name; };
    files.erase(std::unique(files.begin(), files.end(), same), files.end());
}

std::string names_of(const std::vector<ModelFile>& files)
{
    std::string names;
    for (std::size_t i = 0; i < std::min(files.size(), kMostNamed); ++i)
        names += (i > 0 ? ", " : "") + files[i].name;
    return files.empty() ? "there are none" : names + (files.size() > kMostNamed ? " and others" : "");
}

}  // namespace

Models::Models(std::vector<fs::path> folders)
    : folders_(std::move(folders))
{
}

void Models::add(ModelFile file)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(added_, [&](const ModelFile& other) { return other.name == file.name; });
    added_.push_back(std::move(file));
}

void Models::set_only(std::optional<ModelFile> file)
{
    const std::lock_guard lock(mutex_);
    borrowed_ = true;
    added_.clear();
    listed_.clear();
    described_.clear();
    if (file)
        added_.push_back(std::move(*file));
}

std::vector<ModelFile> Models::all()
{
    std::vector<ModelFile> files;
    for (const fs::path& folder : folders_)
        add_files_below(folder, files);
    tell_apart(files);
    const std::lock_guard lock(mutex_);
    for (const ModelFile& own : added_) {
        std::erase_if(files, [&](const ModelFile& file) { return file.name == own.name || file.path == own.path; });
        files.push_back(own);
    }
    std::ranges::sort(files, {}, &ModelFile::name);
    return listed_ = std::move(files);
}

tl::expected<ModelFile, Refusal> Models::find(std::string_view name)
{
    const auto known = [&] {
        const std::lock_guard lock(mutex_);
        return listed_;
    }();
    std::error_code error;
    if (const auto file = find_among(known, name); file && fs::exists(file->path, error))
        return *file;
    const std::vector<ModelFile> files = all();
    if (const auto file = find_among(files, name))
        return *file;
    if (borrowed_ && files.empty())
        return tl::unexpected(Refusal{Refusal::Kind::Busy, "no model of this computer is open in Spillway's window"});
    if (borrowed_)
        return tl::unexpected(Refusal{Refusal::Kind::NotFound,
                                      "the model '" + std::string(name.substr(0, 200)) + "' is not open here: '" +
                                          files.front().name +
                                          "' is, and only in Spillway's window another one can be opened",
                                      "model"});
    if (name.empty())
        return tl::unexpected(
            Refusal{Refusal::Kind::BadRequest, "'model' is missing; it must be one of: " + names_of(files), "model"});
    return tl::unexpected(Refusal{
        Refusal::Kind::NotFound,
        "there is no model '" + std::string(name.substr(0, 200)) + "' here; there are: " + names_of(files), "model"});
}

/// Finds a model by its name. A single model is found without a name, and under any name if there are no folders of
/// models to choose from.
std::optional<ModelFile> Models::find_among(const std::vector<ModelFile>& files, std::string_view name) const
{
    constexpr std::string_view kLatest = ":latest";  // Ollama's clients add it to what has no tag
    if (files.size() == 1 && (name.empty() || (folders_.empty() && !borrowed_)))
        return files.front();
    const std::string_view plain = name.ends_with(kLatest) ? name.substr(0, name.size() - kLatest.size()) : name;
    for (const std::string_view wanted : {name, plain})
        if (const auto found = std::ranges::find(files, wanted, &ModelFile::name); found != files.end())
            return *found;
    return std::nullopt;
}

engine::Result<std::shared_ptr<const Served>> Models::described(const ModelFile& file)
{
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = described_.find(file.path);
            known != described_.end() && known->second->name == file.name)
            return known->second;
    }
    auto info = engine::inspect_model(file.path);
    if (!info)
        return tl::unexpected(info.error());
    auto text = ModelText::open(file.path);
    if (!text)
        return tl::unexpected(text.error());
    auto served = std::make_shared<const Served>(Served{file.name, std::move(*info), std::move(*text)});
    const std::lock_guard lock(mutex_);
    described_[file.path] = served;
    return served;
}

}  // namespace server
