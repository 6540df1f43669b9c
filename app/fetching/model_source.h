// ModelSource is where models are found and fetched: the only way from the window to the network.
#pragma once

#include "app/net/connection_log.h"
#include "app/net/hub.h"
#include "engine/model_info.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

/// Holds a repository as its page shows it.
struct FoundRepository {
    net::HubRepository repository;
    net::HubCard card;
    std::optional<net::Chosen> recommended;  // nothing: there is no model in it
};

/// What somebody wants to have.
struct WantedModel {
    std::string repository;  // "ORG/REPO"
    std::string file;        // its path there; of a split model the first
};

struct FetchedSoFar {
    std::int64_t done_bytes = 0;
    std::int64_t total_bytes = 0;
    bool checking = false;  // all is here, and what it is is still computed
    std::string note = {};  // why it goes slowly
};

/// Every function asks somebody and holds its thread meanwhile; any thread.
class ModelSource
{
public:
    virtual ~ModelSource() = default;

    /// Whom it asks: "huggingface.co".
    virtual std::string host() const = 0;
    /// Says who the user is, to that host.
    virtual bool has_token() const = 0;

    /// `next`: the page that the one before leads to; empty: the first.
    virtual net::Result<net::FoundModels> search(const std::string& words, const std::string& next,
                                                 const std::stop_token& stop) = 0;
    /// `memory_bytes`: of this machine, to recommend something by.
    virtual net::Result<FoundRepository> repository(const std::string& id, std::optional<std::int64_t> memory_bytes,
                                                    const std::stop_token& stop) = 0;
    /// Fetches the header of the model's file, some megabytes, and says what it tells.
    virtual net::Result<engine::ModelInfo> look(const net::HubRepository& repository, const net::ModelChoice& choice,
                                                const std::stop_token& stop) = 0;

    /// Where the parts of the model will lie, as soon as that is known.
    using OnPlaces = std::function<void(const std::vector<std::filesystem::path>&)>;
    using OnProgress = std::function<void(const FetchedSoFar&)>;
    /// Fetches a model, or what of it is missing; gives the file to open. Stopped or failed, it goes on the next time.
    virtual net::Result<std::filesystem::path> fetch(const WantedModel& wanted, const OnPlaces& on_places,
                                                     const OnProgress& on_progress, const std::stop_token& stop) = 0;
    /// Removes what there is of files that are not whole yet.
    virtual void discard(const std::vector<std::filesystem::path>& places) = 0;

    virtual std::vector<net::Connection> connections() const = 0;
};

/// The Hugging Face hub, as the environment has it. Nothing: this program was built without the network. `data`: where
/// this program keeps its files.
std::unique_ptr<ModelSource> hubSource(const std::filesystem::path& data);
