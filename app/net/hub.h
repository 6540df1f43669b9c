// Hub asks the Hugging Face hub, or a mirror of it, for models and their files.
#pragma once

#include "app/net/http_client.h"
#include "app/net/model_reference.h"
#include "app/net/quantisation.h"

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

/// Any thread.
class Hub
{
public:
    Hub(HttpClient& client, std::string endpoint, std::string token);

    Result<HubRepository> repository(const HubReference& reference, const std::stop_token& stop) const;
    /// Repositories with GGUF files, the most used first.
    Result<std::vector<FoundModel>> search(const std::string& words, int most, const std::stop_token& stop) const;
    /// Where the bytes of one file are.
    std::string file_url(const HubRepository& repository, const HubFile& file) const;
    const std::string& token() const { return token_; }

private:
    Result<std::string> commit_of(const HubReference& reference, const std::stop_token& stop) const;

    HttpClient& client_;
    std::string endpoint_;  // without a slash at its end
    std::string token_;
};

}  // namespace net
