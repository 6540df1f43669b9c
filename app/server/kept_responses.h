// KeptResponses remembers the newest conversations of the Responses API, for requests that go on from one of them.
#pragma once

#include "app/server/fields.h"

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace server {

/// In memory only, as many as fit into so many bytes; the oldest leave. May be used from any thread.
class KeptResponses
{
public:
    explicit KeptResponses(std::size_t most_bytes = std::size_t(64) << 20)
        : most_bytes_(most_bytes)
    {
    }

    /// `messages`: all of the conversation but its instructions, as of chat completions. `items`: what was answered, as
    /// the client got it; each has its id. `response`: the whole answer, as JSON.
    void keep(std::string id, const Json& messages, const Json& items, std::string response);
    /// The messages. Nothing: it was never kept, or not any more.
    std::optional<Json> find(const std::string& id) const;
    /// One item of a response that is kept.
    std::optional<Json> find_item(const std::string& id) const;
    /// The whole answer.
    std::optional<std::string> find_response(const std::string& id) const;
    /// False: it was not kept.
    bool forget(const std::string& id);

private:
    struct Kept {
        std::string id;
        std::string messages, response;
        std::vector<std::string> items = {};  // their ids
        std::size_t bytes = 0;                // of all of it
    };
    void drop(std::deque<Kept>::iterator kept);

    const std::size_t most_bytes_;
    mutable std::mutex mutex_;
    std::deque<Kept> kept_;                     // the newest last
    std::map<std::string, std::string> items_;  // of these, by their ids
    std::size_t bytes_ = 0;
};

}  // namespace server
