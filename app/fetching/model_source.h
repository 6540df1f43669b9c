// ModelSource finds and fetches models: the only way from the window to the network.
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
    std::string wanted = {};  // its name for fetch()
    std::string title = {};   // for people
    std::string page = {};    // its address for a browser; empty: it has none
    net::HubCard card;
    std::optional<net::Chosen> recommended;  // nothing: there is no model in it
};

/// Holds what the header of a model that has not been fetched says.
struct LookedAt {
    engine::ModelInfo info;
    std::filesystem::path header = {};         // a file with nothing but its header; empty: it cannot be run
    std::shared_ptr<const void> kept = {};     // `header` exists as long as this
    std::optional<engine::Planner> plan = {};  // of a model that can be run
};

/// Says what fetch() is to fetch.
struct WantedModel {
    std::string repository;                               // "ORG/REPO", or FoundRepository::wanted of another kind
    std::string file;                                     // its path there; of a split model the first
    std::vector<std::string> companions = {};             // their paths there
    std::filesystem::path to = {};                        // the folder for it; empty: where other programs find it
    std::function<std::int64_t()> most_bytes_per_s = {};  // called at any time, on any thread; 0: no limit
    secrets::MayAsk may_ask = secrets::MayAsk::No;        // whether the user may be asked to unlock the password store
    // Paths of an earlier try: `places` of all files, `came` of those that are whole. Files there that do not belong to
    // the model any more, because there is a newer version, are deleted.
    std::vector<std::filesystem::path> places = {};
    std::vector<std::filesystem::path> came = {};
};

struct FetchedSoFar {
    std::int64_t done_bytes = 0;
    std::int64_t total_bytes = 0;
    bool checking = false;          // all bytes have come, and their hash is still being computed
    std::string note = {};          // why it goes slowly
    std::chrono::seconds again{0};  // until the next try; 0: it does not wait for one
};

struct FetchedModel {
    std::filesystem::path path;  // of the file to open
    bool checked = true;         // each file was compared with its hash; false: no hash is known of one
};

enum class TokenPlace {
    None,         // there is none
    Environment,  // HF_TOKEN, or the file of Hugging Face's own tools
    Store,        // the system's password store
    File,         // one of this program's, which only the user can read
    Leaving,      // there is none, and the password store still has one that was removed: it is locked
};

/// Most functions ask a server and block their thread meanwhile; any thread. All but fetch() are called when the user
/// has just asked for something, and may ask the user to unlock the password store. If that does not give the token,
/// they go on without it. KeyMissing: the hub refuses to answer without the token.
class ModelSource
{
public:
    virtual ~ModelSource() = default;

    /// Returns the host that it asks: "huggingface.co".
    virtual std::string host() const = 0;
    /// Says where the user's token for that host is kept. Opens no question.
    virtual TokenPlace token_place() const = 0;
    /// Keeps another token, or none if it is empty. CannotWrite: the token before is still kept.
    virtual engine::Status keep_token(const std::string& token, const std::stop_token& stop) = 0;
    /// Moves the token from the file into the password store, and removes tokens from there that the user has removed
    /// here, if the store is unlocked. Opens no question.
    virtual void settle_token(const std::stop_token& stop) = 0;

    /// Returns what repository() takes, where a text names one model rather than words to search for: an address of a
    /// file or of a page on the hub, hf.co/ORG/REPO:QUANT, ORG/REPO:QUANT, ollama.com/NAME, or Ollama's NAME:TAG. It
    /// asks no server.
    virtual std::optional<std::string> named(const std::string& text) const = 0;
    /// Returns one page of what a search finds. `next`: as in the page before; empty: the first page.
    virtual net::Result<net::FoundModels> search(const std::string& words, const std::string& next,
                                                 const std::stop_token& stop) = 0;
    /// Returns a repository. `id`: "ORG/REPO", or what named() returned; a file or quantisation that it names is
    /// recommended, else one that fits into `memory_bytes` of this machine.
    virtual net::Result<FoundRepository> repository(const std::string& id, std::optional<std::int64_t> memory_bytes,
                                                    const std::stop_token& stop) = 0;
    /// Fetches the header of the model's file, some megabytes, and returns what it says.
    virtual net::Result<LookedAt> look(const FoundRepository& found, const net::ModelChoice& choice,
                                       const std::stop_token& stop) = 0;

    /// Returns where these files of the repository lie on this computer, with the right size; an empty path for each
    /// that does not. `to`: the folder of WantedModel, which is looked into first. Asks the disk only.
    virtual std::vector<std::filesystem::path> places(const FoundRepository& found,
                                                      const std::vector<net::HubFile>& files,
                                                      const std::filesystem::path& to) const = 0;

    /// Takes the paths at which the model's files will lie, all links included, as soon as they are known.
    using OnPlaces = std::function<void(const std::vector<std::filesystem::path>&)>;
    /// Called when one file is whole. `came`: its paths, if it was not there before. `model`: the paths of all the
    /// model's own files, once the model can be opened.
    using OnWhole = std::function<void(const std::vector<std::filesystem::path>& came,
                                       const std::vector<std::filesystem::path>& model)>;
    using OnProgress = std::function<void(const FetchedSoFar&)>;
    /// Fetches a model, or what is missing of it. If it is stopped or fails, the next call goes on with what has come.
    virtual net::Result<FetchedModel> fetch(const WantedModel& wanted, const OnPlaces& on_places,
                                            const OnWhole& on_whole, const OnProgress& on_progress,
                                            const std::stop_token& stop) = 0;
    /// Removes the parts of files at `places`, unless another program is fetching them, and the files of `whole`.
    virtual void discard(const std::vector<std::filesystem::path>& places,
                         const std::vector<std::filesystem::path>& whole) = 0;

    virtual std::vector<net::Connection> connections() const = 0;
};

/// Returns the Hugging Face hub, or the mirror that the environment names. Null: this program was built without the
/// network. `data`: this program's folder; empty: none. `store`: keeps the token; null: this system has no such store.
std::unique_ptr<ModelSource> hubSource(const std::filesystem::path& data, std::shared_ptr<secrets::SecretStore> store);
