// ResponsesWording says an answer in the words of the Responses API: items, and the events by which they come.
#pragma once

#include "app/server/dialect.h"
#include "app/server/kept_responses.h"

#include <memory>
#include <optional>
#include <string>

namespace server {

class ResponsesWording final : public Wording
{
public:
    /// `about`: the fields of the response that repeat what was asked. The conversation is kept where `kept` is there:
    /// `messages` and what is answered.
    ResponsesWording(Json about, std::shared_ptr<KeptResponses> kept, Json messages);

    std::string piece(const TurnEvent& event) override;
    std::string whole(const Answer& answer) override;

private:
    enum class Item { None, Thought, Text, Call };

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
    const Json about_;
    const std::shared_ptr<KeptResponses> kept_;
    Json messages_;

    Json output_ = Json::array();  // the items; the last one is open, unless open_ is None
    Item open_ = Item::None;
    std::string text_;  // of the open one
    Json usage_, incomplete_, error_;
    int sequence_ = 0;
};

}  // namespace server
