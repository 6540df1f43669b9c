// ModelSource is where models are found and fetched: the only way from the window to the network.
#pragma once

#include "app/net/connection_log.h"
#include "app/net/hub.h"
#include "app/secrets/secret_store.h"
#include "engine/model_info.h"
#include "engine/planner.h"

#include <chrono>
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
    std::string wanted = {};  // by which fetch() knows it
    std::string title = {};   // for people
    std::string page = {};    // its address for a browser; empty: it has none
    net::HubCard card;
    std::optional<net::Chosen> recommended;  // nothing: there is no model in it
};

/// Holds what the header of a model says that is not here yet.
struct LookedAt {
    engine::ModelInfo info;
    std::filesystem::path header = {};         // a file with nothing but its header; empty: it cannot be run
    std::shared_ptr<const void> kept = {};     // `header` is there as long as this
    std::optional<engine::Planner> plan = {};  // of a model that can be run
};

/// Holds what somebody wants to have.
struct WantedModel {
    std::string repository;                               // "ORG/REPO", or FoundRepository::wanted of another kind
    std::string file;                                     // its path there; of a split model the first
    std::vector<std::string> companions = {};             // their paths there
    std::filesystem::path to = {};                        // a folder; empty: where other programs find it
    std::function<std::int64_t()> most_bytes_per_s = {};  // asked at any time, on any thread; 0: as fast as they come
    secrets::MayAsk may_ask = secrets::MayAsk::No;        // the user, to unlock the password store for the token
    // Of an earlier try. What lies there and is of none of the model's files any more is removed: the parts of files at
    // `places`, and `came`, which are whole.
    std::vector<std::filesystem::path> places = {};
    std::vector<std::filesystem::path> came = {};
};

struct FetchedSoFar {
    std::int64_t done_bytes = 0;
    std::int64_t total_bytes = 0;
    bool checking = false;          // all is here, and what it is is still computed
    std::string note = {};          // why it goes slowly
    std::chrono::seconds again{0};  // until what the note is about is tried again
};

struct FetchedModel {
    std::filesystem::path path;  // of the file to open
    bool checked = true;         // against what its files should be; false: of one nobody has said that
};

enum class TokenPlace {
    None,         // there is none
    Environment,  // HF_TOKEN, or the file of Hugging Face's own tools
    Store,        // the system's password store
    File,         // one of this program's, which only the user can read
    Leaving,      // there is none, and the password store still has one that was removed: it is locked
};

/// Every function asks somebody and holds its thread meanwhile; any thread. The user has just asked for what they do,
/// but for fetch(), and may be asked to unlock the password store. Where that does not give the token, they go on
/// without it; KeyMissing: the hub does not answer strangers.
class ModelSource
{
public:
    virtual ~ModelSource() = default;

    /// Returns whom it asks: "huggingface.co".
    virtual std::string host() const = 0;
    /// Says where the user's token for that host is kept. Opens no question.
    virtual TokenPlace token_place() const = 0;
    /// Keeps another token, or none where it is empty. CannotWrite: all is as it was.
    virtual engine::Status keep_token(const std::string& token, const std::stop_token& stop) = 0;
    /// Moves the token from the file into the password store, and removes from the store what was removed here, where
    /// the store is open. Opens no question.
    virtual void settle_token(const std::stop_token& stop) = 0;

    /// Returns what repository() takes, where a text names one model rather than words to search for: an address of a
    /// file or of a page on the hub, hf.co/ORG/REPO:QUANT, ORG/REPO:QUANT, ollama.com/NAME, or Ollama's NAME:TAG. It
    /// asks nobody.
    virtual std::optional<std::string> named(const std::string& text) const = 0;
    /// `next`: the page that the one before leads to; empty: the first.
    virtual net::Result<net::FoundModels> search(const std::string& words, const std::string& next,
                                                 const std::stop_token& stop) = 0;
    /// `id`: "ORG/REPO", or what named() gave. `memory_bytes`: of this machine, to recommend something by; what was
    /// named is recommended before all others.
    virtual net::Result<FoundRepository> repository(const std::string& id, std::optional<std::int64_t> memory_bytes,
                                                    const std::stop_token& stop) = 0;
    /// Fetches the header of the model's file, some megabytes, and says what it tells.
    virtual net::Result<LookedAt> look(const FoundRepository& found, const net::ModelChoice& choice,
                                       const std::stop_token& stop) = 0;

    /// Finds where these files of the repository are already, of the right size; empty for one that is not. `to`: the
    /// folder of WantedModel, which is looked into first. It asks the disk only.
    virtual std::vector<std::filesystem::path> places(const FoundRepository& found,
                                                      const std::vector<net::HubFile>& files,
                                                      const std::filesystem::path& to) const = 0;

    /// Takes where the files of the model will lie, by all of their names, as soon as that is known.
    using OnPlaces = std::function<void(const std::vector<std::filesystem::path>&)>;
    /// One of them is whole now. `came`: all of its names, where it was not there before. `model`: those of all the
    /// model's own files, once it can be opened.
    using OnWhole = std::function<void(const std::vector<std::filesystem::path>& came,
                                       const std::vector<std::filesystem::path>& model)>;
    using OnProgress = std::function<void(const FetchedSoFar&)>;
    /// Fetches a model, or what of it is missing. Stopped or failed, it goes on the next time.
    virtual net::Result<FetchedModel> fetch(const WantedModel& wanted, const OnPlaces& on_places,
                                            const OnWhole& on_whole, const OnProgress& on_progress,
                                            const std::stop_token& stop) = 0;
    /// Removes the parts of files at `places`, unless another program is fetching them, and the files of `whole`.
    virtual void discard(const std::vector<std::filesystem::path>& places,
                         const std::vector<std::filesystem::path>& whole) = 0;

    virtual std::vector<net::Connection> connections() const = 0;
};

/// The Hugging Face hub, as the environment has it. Nothing: this program was built without the network. `data`: where
/// this program keeps its files; empty: nowhere. `store`: where a token is kept; null: this system has no such store.
std::unique_ptr<ModelSource> hubSource(const std::filesystem::path& data, std::shared_ptr<secrets::SecretStore> store);
