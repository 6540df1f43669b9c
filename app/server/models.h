// Models lists the models that clients may use, by the names that clients call them.
#pragma once

#include "app/server/refusal.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace server {

struct Served;

struct ModelFile {
    std::string name;
    std::filesystem::path path;  // of a split model: its first part
    std::int64_t bytes = 0;      // of that part
};

/// Returns a file's name without its ending and number of part. Empty: it is no model, or not its first part.
std::optional<std::string> model_name(const std::filesystem::path& path);
/// Returns the name by which clients call an open model of this file.
std::string client_name(const std::filesystem::path& path);

/// Lists the models in some folders and below them, and one that was named by its path. A client's text is only
/// compared with these names, and opens no other file. Any thread.
class Models
{
public:
    explicit Models(std::vector<std::filesystem::path> folders);

    /// Adds a model, which takes precedence over a file of the same name in the folders.
    void add(ModelFile file);
    /// Lists only the model that the engine's owner has open, from now on. Empty: none is open.
    void set_only(std::optional<ModelFile> file);
    /// Returns the models by their names, and searches the folders anew.
    std::vector<ModelFile> all();
    /// Finds a model by its name; the refusal lists the known names.
    tl::expected<ModelFile, Refusal> find(std::string_view name);
    /// Returns a model's description from its file, without loading it.
    engine::Result<std::shared_ptr<const Served>> described(const ModelFile& file);

private:
    std::optional<ModelFile> find_among(const std::vector<ModelFile>& files, std::string_view name) const;

    const std::vector<std::filesystem::path> folders_;
    std::mutex mutex_;
    std::vector<ModelFile> added_;
    std::vector<ModelFile> listed_;  // what all() found last
    std::atomic<bool> borrowed_ = false;
    std::map<std::filesystem::path, std::shared_ptr<const Served>> described_;
};

}  // namespace server
