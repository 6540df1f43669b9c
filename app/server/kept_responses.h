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

/// Keeps them in memory only, as many as fit into a number of bytes; the oldest are dropped. May be used from any
/// thread.
class KeptResponses
{
public:
    explicit KeptResponses(std::size_t most_bytes = std::size_t(64) << 20)
        : most_bytes_(most_bytes)
    {
    }

    /// Keeps a response. `messages`: the conversation without its instructions, in the form of chat completions.
    /// `items`: the answer's items as the client got them, with their ids. `response`: the whole answer, as JSON.
    void keep(std::string id, const Json& messages, const Json& items, std::string response);
    /// Returns the messages of a response. Empty: it is not kept, or not any more.
    std::optional<Json> find(const std::string& id) const;
    /// Returns an item of a kept response.
    std::optional<Json> find_item(const std::string& id) const;
    /// Returns the whole answer of a kept response.
    std::optional<std::string> find_response(const std::string& id) const;
    /// Forgets a response. False: it was not kept.
    bool forget(const std::string& id);

private:
    struct Kept {
        std::string id;
        std::string messages, response;
        std::vector<std::string> items = {};  // their ids
        std::size_t bytes = 0;                // size of the response and its items
    };
    void drop(const std::deque<Kept>::iterator& kept);

    const std::size_t most_bytes_;
    mutable std::mutex mutex_;
    std::deque<Kept> kept_;                     // the newest last
    std::map<std::string, std::string> items_;  // of these, by their ids
    std::size_t bytes_ = 0;
};

}  // namespace server
