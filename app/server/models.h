// Models knows which models there are, by the names that clients call them.
#pragma once

#include "app/server/refusal.h"

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

/// The models of some folders, however deep they lie there, and one that was named by itself. Whatever a client says is
/// compared with the names that were found, and opens no other file. Any thread.
class Models
{
public:
    explicit Models(std::vector<std::filesystem::path> folders);

    /// Takes precedence over a file of the folders that has its name.
    void add(ModelFile file);
    /// By their names. The folders are looked through anew.
    std::vector<ModelFile> all();
    /// Refused with the names that there are.
    tl::expected<ModelFile, Refusal> find(std::string_view name);
    /// What its file says of it. Nothing is loaded.
    engine::Result<std::shared_ptr<const Served>> described(const ModelFile& file);

private:
    std::optional<ModelFile> find_among(const std::vector<ModelFile>& files, std::string_view name) const;

    const std::vector<std::filesystem::path> folders_;
    std::mutex mutex_;
    std::vector<ModelFile> added_;
    std::vector<ModelFile> listed_;  // what all() found last
    std::map<std::filesystem::path, std::shared_ptr<const Served>> described_;
};

}  // namespace server
