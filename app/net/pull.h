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
    bool companions = false;                   // fetches all companions, too
    std::optional<std::int64_t> memory_bytes;  // free memory of this machine, by which a quantisation is chosen
    std::vector<std::string> with = {};        // fetches these companions, as the server names them
    bool prefers_here = false;                 // if no quantisation is named, takes one that is here already and fits
};

struct PullFile {
    FileToFetch file;
    std::string name;                      // as the server has it
    std::optional<CachePlace> place = {};  // in the Hugging Face cache
    bool here = false;                     // it need not be fetched
    bool companion = false;
};

struct PullPlan {
    std::string title;                // "ORG/REPO"
    std::string quant;                // empty: not known
    std::string reason;               // why this quantisation; empty: it was named
    std::vector<PullFile> files;      // the model's parts in their order, then companions
    std::vector<HubFile> companions;  // what could be fetched as well
    std::filesystem::path model;      // what to open when all is here
    std::int64_t bytes = 0;           // of all files
    std::int64_t missing_bytes = 0;
    HubReference hub = {};  // which repository, if it is on the hub
    std::string commit = {};
    std::string note = {};  // a sentence about a part of the model that is not fetched; empty: there is none
};

/// Says which file is being fetched, and how far it is.
struct PullProgress {
    std::size_t file = 0;
    FetchProgress progress;
    bool whole = false;  // all of the file is here
    bool came = false;   // all of it is here, and was not before
};

/// Says how a model's files have come.
struct Pulled {
    bool checked = true;  // each was compared with its hash; false: no hash is known of one of them
};

/// Any thread; `client` and `settings` must live longer.
class Puller
{
public:
    Puller(HttpClient& client, const FetchSettings& settings)
        : client_(client)
        , settings_(settings)
    {
    }

    /// Finds a model's files: fetches lists of files only. NotFound: a bare name; the sentence has similar names.
    Result<PullPlan> plan(const PullRequest& request, const std::stop_token& stop);
    /// Finds the file to open of a model that was fetched before, without the network; there may be a newer version.
    /// Nothing also if the file's name does not tell where it came from: of links, and of some models of Ollama.
    std::optional<std::filesystem::path> here(const PullRequest& request) const;
    /// Returns what the model is, from its header; a few megabytes are fetched.
    Result<engine::ModelInfo> look(const PullPlan& plan, const std::stop_token& stop);
    /// Fetches all files, one after another. What is there already is checked and kept.
    Result<Pulled> fetch(const PullPlan& plan, const FetchLimits& limits,
                         const std::function<void(const PullProgress&)>& on_progress, const std::stop_token& stop);
    /// Gives files in the cache of Hugging Face their names there, and writes down the revision's commit, so that the
    /// model is found without a network. fetch() does this, too.
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
