// CalledTools keeps the calls of a conversation, so that each has an id and each result names its call.
#pragma once

#include "app/server/fields.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace server {

/// Calls and results have to be passed in their order.
class CalledTools
{
public:
    /// `calls`: an array, as OpenAI writes an assistant's. One without an id gets one that depends on its place alone,
    /// so that it is the same when the conversation comes again.
    void add(Json& calls);

    /// Returns the fields of a result that templates read, `tool_call_id` and `name`, as far as they are known. A
    /// missing id becomes that of the next call without a result, of this name where there is one; a missing name
    /// becomes the call's.
    Json result_of(std::string id, std::string name);

private:
    struct Call {
        std::string id, name;
        bool has_result = false;
    };
    std::optional<std::size_t> next_of(const std::string& name);

    std::vector<Call> calls_;
    std::map<std::string, std::size_t> by_id_;  // the newest of each
    std::size_t next_ = 0;                      // first call of the last message with calls that may have no result
};

}  // namespace server
