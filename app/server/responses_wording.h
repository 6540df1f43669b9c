// ResponsesWording says an answer in the words of the Responses API: items, and the events by which they come.
#pragma once

#include "app/server/dialect.h"
#include "app/server/kept_responses.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace server {

/// A function that lies in a namespace, as clients of this API call it.
struct FunctionInSpace {
    std::string space, name;
};

/// As models and templates know it, for which a function has but one name: "mcp__files" and "read" are
/// "mcp__files__read". `space` may be empty: the function lies in none.
std::string whole_name(const std::string& space, const std::string& name);

/// With this an `encrypted_content` begins that is a thought of ours. The thought stands behind it as it is: the client
/// has it in `content` as well, but there are some that send only this back.
inline constexpr std::string_view kOwnThought = "spillway:";

/// Holds what an answer needs to know of what was asked.
struct ResponseAsked {
    Json about;                                             // the fields of the response that repeat it
    Json messages;                                          // of the conversation so far, as of chat completions
    std::shared_ptr<KeptResponses> kept;                    // null: nothing is kept
    std::map<std::string, FunctionInSpace> functions = {};  // those in namespaces, by the names that the model knows
    bool returns_thoughts = false;                          // the client will send them back as `encrypted_content`
};

class ResponsesWording final : public Wording
{
public:
    explicit ResponsesWording(ResponseAsked asked);

    std::string piece(const TurnEvent& event) override;
    std::string whole(const Answer& answer) override;

private:
    enum class Item { None, Thought, Text, Call };

    std::string whole_text() const;
    Json response(const char* status) const;
    std::string event(const char* type, Json fields);
    std::string with_response(const char* type, const char* status);
    Json place() const;
    Json part(const std::string& text) const;
    std::string open(Item kind, Json item);
    std::string add(Item kind, const std::string& text);
    std::string close(const char* status);
    std::string begin_call(const CallBegun& call);
    std::string end(const Ended& ended);
    std::string fail(const Refusal& refusal);
    void finish(const Ended& ended);
    void keep();

    const std::string id_ = new_id("resp_");
    const std::int64_t created_ = unix_time();
    ResponseAsked asked_;

    Json output_ = Json::array();  // the items; the last one is open, unless open_ is None
    Item open_ = Item::None;
    std::string text_;  // of the open one
    Json usage_, incomplete_, error_;
    int sequence_ = 0;
};

}  // namespace server
