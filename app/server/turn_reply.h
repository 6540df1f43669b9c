// Answers a request with a turn: a stream of its events, or the whole answer.
#pragma once

#include "app/server/dialect.h"
#include "app/server/http_server.h"

#include <chrono>
#include <string>

namespace server {

struct TurnPatience {
    std::chrono::milliseconds glance{100};  // between two looks at whether the client is still there
    std::chrono::milliseconds head{
        5000};  // without a first event a stream begins all the same, so that no client gives up
    std::chrono::milliseconds ping{10000};  // between two signs of life of a silent stream
};

/// The status of an answer whose client had left, for the metrics and the log only.
inline constexpr int kClientGone = 499;

/// Holds what was sent.
struct Replied {
    int status = 0;
    int prompt_tokens = 0;
    int answer_tokens = 0;   // of all answers together
    std::string model = {};  // the model that answered; empty: none did
};

/// Runs the turn and answers. When the client goes away, the turn ends.
Replied reply_with_turn(EngineDesk& desk, const Dialect& dialect, Asked asked, const std::vector<HttpHeader>& headers,
                        HttpReply& reply, const TurnPatience& patience = {});

HttpAnswer answer_to(const Refusal& refusal, const Dialect& dialect, std::vector<HttpHeader> headers);

}  // namespace server
