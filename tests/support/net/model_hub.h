// ModelHub is a Hugging Face hub on this machine, with the repositories that a test puts into it.
#pragma once

#include "tests/support/net/web_server.h"

#include <atomic>
#include <map>
#include <string>
#include <vector>

namespace support {

struct HubModel {
    std::string id;                                                   // "ORG/REPO"
    std::vector<std::pair<std::string, const std::string*>> files{};  // path, bytes
    std::string card{};                                               // README.md; empty: there is none
    std::string licence{};
    std::int64_t downloads = 0;
    bool gated = false;  // its files are given to nobody but who has kMembersToken
};
constexpr const char* kMembersToken = "hf_member";

/// Answers as the hub does: searches in pages by the Link header, revisions, lists of files, cards, redirects to where
/// the bytes lie, and ranges of them. Owns nothing of the models' bytes.
class ModelHub
{
public:
    explicit ModelHub(std::vector<HubModel> models);

    std::string url() const { return server_.url(); }
    WebServer& server() { return server_; }
    const WebServer& server() const { return server_; }

    std::atomic<int> page_models = 30;    // of a page of a search
    std::atomic<int> status = 200;        // of every answer, where it is another
    std::atomic<int> pause_ms = 0;        // between pieces of a file
    std::atomic<int> answer_pause_ms{0};  // before any answer
    std::atomic<int> bytes_status = 200;  // of files' bytes, where it is another
    std::atomic<bool> spoils = false;     // the bytes of files

    static const std::string& commit();

private:
    WebAnswer answer(const WebRequest& request);
    WebAnswer search(const std::string& target) const;
    WebAnswer of_repository(const HubModel& model, const std::string& rest) const;
    WebAnswer bytes(const WebRequest& request);

    std::vector<HubModel> models_;
    std::map<const std::string*, std::string> hashes_;
    WebServer server_;  // the last: it answers by what stands above
};

}  // namespace support
