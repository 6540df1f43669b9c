// Hub asks the Hugging Face hub, or a mirror of it, for models and their files.
#pragma once

#include "app/net/http_client.h"
#include "app/net/model_reference.h"
#include "app/net/quantisation.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace net {

struct HubRepository {
    std::string id;      // "ORG/REPO"
    std::string commit;  // of the revision that was asked for
    ModelFiles files;
};

struct FoundModel {
    std::string id;
    std::int64_t downloads = 0;  // of the last month
    std::int64_t likes = 0;
    bool gated = false;
};

/// One page of what a search found.
struct FoundModels {
    std::vector<FoundModel> models;
    std::string next = {};  // the address of the next page; empty: this is the last
};

/// Holds what the publisher of a repository says of it.
struct HubCard {
    std::string licence;  // "apache-2.0"; empty: it is not said
    std::string text;     // Markdown, as its publisher wrote it; empty: there is none
    bool gated = false;   // its terms have to be accepted on the hub first
    std::int64_t downloads = 0;
    std::int64_t likes = 0;
};

/// Says how often the hub is asked the same, and how long a caller may wait for that.
struct HubPatience {
    int tries = 3;
    std::chrono::milliseconds pause{500};   // after a connection that broke off; doubled with each
    std::chrono::seconds longest_wait{10};  // that the hub may ask for
};

/// Asks the hub; any thread. If a busy hub wants a short wait, waits; asks again after a connection broke off.
class Hub
{
public:
    Hub(HttpClient& client, std::string endpoint, std::string token, const HubPatience& patience = {});

    Result<HubRepository> repository(const HubReference& reference, const std::stop_token& stop) const;
    /// Finds repositories with GGUF files, the most used first: the first page, with `most` of them.
    Result<FoundModels> search(const std::string& words, int most, const std::stop_token& stop) const;
    /// Returns the next page: `next` is that of the page before.
    Result<FoundModels> search_on(const std::string& next, const std::stop_token& stop) const;
    Result<HubCard> card(const HubRepository& repository, const std::stop_token& stop) const;
    /// Returns the address at which a browser shows the repository.
    std::string page_url(const HubReference& reference) const;
    /// Returns the address of a file's bytes.
    std::string file_url(const HubRepository& repository, const HubFile& file) const;
    const std::string& token() const { return token_; }

private:
    Result<HttpAnswer> ask(const std::string& url, const char* purpose, const std::stop_token& stop) const;
    Result<HttpAnswer> ask_patiently(const HttpRequest& request, std::size_t most_bytes, const HttpReader& reader,
                                     const std::stop_token& stop) const;
    Result<std::string> commit_of(const HubReference& reference, const std::stop_token& stop) const;

    HttpClient& client_;
    std::string endpoint_;  // without a slash at its end
    std::string token_;
    HubPatience patience_;
};

}  // namespace net
