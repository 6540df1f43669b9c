// ResponsesWording writes an answer in the form of the Responses API: as items, and as events of a stream.
#pragma once

#include "app/server/dialect.h"
#include "app/server/kept_responses.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace server {

/// Names a function in a namespace, as clients of this API do.
struct FunctionInSpace {
    std::string space, name;
};

/// Returns the single name that models and templates get for it: "mcp__files__read" for "mcp__files" and "read".
/// `space` may be empty.
std::string whole_name(const std::string& space, const std::string& name);

/// The beginning of an `encrypted_content` that was made here. The thought follows it unencrypted: the client has it in
/// `content` as well, but some clients send only this field back.
inline constexpr std::string_view kOwnThought = "spillway:";

/// Holds the parts of a request that its answer needs.
struct ResponseAsked {
    Json about;                                             // fields that the response repeats from the request
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
    std::string event(const char* type, const Json& fields);
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
    std::string text_;  // text of the open item
    Json usage_, incomplete_, error_;
    int sequence_ = 0;
};

}  // namespace server
