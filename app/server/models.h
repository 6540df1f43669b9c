// Models knows which models there are, by the names that clients call them.
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

/// A file's name without ending and number of part. Nothing: it is no model, or not its first part.
std::optional<std::string> model_name(const std::filesystem::path& path);
/// Returns the name by which clients call an open model of this file.
std::string client_name(const std::filesystem::path& path);

/// The models of some folders, however deep they lie there, and one that was named by itself. Whatever a client says is
/// compared with the names that were found, and opens no other file. Any thread.
class Models
{
public:
    explicit Models(std::vector<std::filesystem::path> folders);

    /// Takes precedence over a file of the folders that has its name.
    void add(ModelFile file);
    /// There is only what somebody else has opened, under its own name. Nothing: nothing is open there.
    void set_only(std::optional<ModelFile> file);
    /// Lists the models by their names. The folders are looked through anew.
    std::vector<ModelFile> all();
    /// Refused with the names that there are.
    tl::expected<ModelFile, Refusal> find(std::string_view name);
    /// Returns what its file says of it. Nothing is loaded.
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
