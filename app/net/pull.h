// Puller finds the files of a model that somebody named, says what they are, and fetches them.
#pragma once

#include "app/net/fetch_file.h"
#include "app/net/fetch_settings.h"
#include "app/net/hf_cache.h"
#include "app/net/hub.h"
#include "app/net/model_reference.h"

#include "engine/model_info.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace net {

struct PullRequest {
    ModelReference reference;
    std::filesystem::path to;                  // empty: where other programs find it, or the folder for models
    bool companions = false;                   // those, too
    std::optional<std::int64_t> memory_bytes;  // of this machine, to choose a quantisation by
    std::vector<std::string> with = {};        // of the companions only these, as the server names them
    bool prefers_here = false;                 // where no quantisation is named: one that is here already, if it fits
};

struct PullFile {
    FileToFetch file;
    std::string name;                      // as the server has it
    std::optional<CachePlace> place = {};  // in the Hugging Face cache
    bool here = false;                     // nothing has to be fetched
    bool companion = false;
};

struct PullPlan {
    std::string title;                // "ORG/REPO"
    std::string quant;                // empty: nobody says
    std::string reason;               // why this quantisation; empty: it was named
    std::vector<PullFile> files;      // the model's parts in their order, then companions
    std::vector<HubFile> companions;  // what could be fetched as well
    std::filesystem::path model;      // what to open when all is here
    std::int64_t bytes = 0;           // of all files
    std::int64_t missing_bytes = 0;
    HubReference hub = {};  // of the hub: which repository
    std::string commit = {};
    std::string note = {};  // what of the model stays behind, as a sentence; empty: nothing
};

/// Says which file is being fetched, and how far it is.
struct PullProgress {
    std::size_t file = 0;
    FetchProgress progress;
    bool whole = false;  // all of it is here
    bool came = false;   // whole, and it was not there before
};

/// Holds what there is to say of a model's files that are here now.
struct Pulled {
    bool checked = true;  // each is what it should be; false: of one nobody has said what that is
};

/// Any thread; `client` and settings live longer.
class Puller
{
public:
    Puller(HttpClient& client, const FetchSettings& settings)
        : client_(client)
        , settings_(settings)
    {
    }

    /// Lists of files are read, and nothing else is fetched. NotFound with the nearest names for a bare name.
    Result<PullPlan> plan(const PullRequest& request, const std::stop_token& stop);
    /// Finds the file to open of what was fetched before. It asks nobody, so that there may be another version by now.
    /// Nothing also where the file's name does not tell where it came from: of links, and of some models of Ollama.
    std::optional<std::filesystem::path> here(const PullRequest& request) const;
    /// Returns what the model is, from its header; a few megabytes are fetched.
    Result<engine::ModelInfo> look(const PullPlan& plan, const std::stop_token& stop);
    /// Fetches all files, one after another. What is there already is checked and kept.
    Result<Pulled> fetch(const PullPlan& plan, const FetchLimits& limits,
                         const std::function<void(const PullProgress&)>& on_progress, const std::stop_token& stop);
    /// What is in the cache of Hugging Face has its names there, and what the revision is now is kept: so it is found
    /// without a network. fetch() does this, too.
    Status keep_names(const PullPlan& plan);
    Result<FoundModels> search(const std::string& words, int most, const std::stop_token& stop);

private:
    Result<PullPlan> plan_hub(const HubReference& reference, const PullRequest& request, const std::stop_token& stop);
    Result<PullPlan> plan_ollama(const OllamaReference& reference, const PullRequest& request,
                                 const std::stop_token& stop);
    Result<PullPlan> plan_link(const LinkReference& reference, const PullRequest& request, const std::stop_token& stop);
    Result<std::filesystem::path> folder_for(const PullRequest& request) const;

    HttpClient& client_;
    const FetchSettings& settings_;
};

}  // namespace net
