// ServerNumbers is what a server says of its own load; CounterChange is how far its counters rose between two readings.
#pragma once

#include "app/remote/latency_histogram.h"
#include "app/remote/server.h"

#include <optional>
#include <string>
#include <string_view>

namespace remote {

/// Holds a server's numbers at one moment. Empty: the server does not say, which is not zero.
struct ServerNumbers {
    std::string server = {};          // the server's address
    std::optional<double> kv_share;   // of its KV cache that is in use, 0 to 1
    std::optional<double> kv_tokens;  // tokens in its KV cache
    std::optional<double> kv_most_tokens;
    std::optional<double> kv_bytes;  // on all its devices together
    std::optional<double> running;   // requests
    std::optional<double> waiting;

    // Counters: they rise as long as the server runs.
    std::optional<double> preemptions;      // requests that lost their KV to others
    std::optional<double> offloaded_bytes;  // KV that went to the server's host memory
    std::optional<double> fetched_bytes;    // KV that came back from there
    std::optional<double> prefix_tokens;    // tokens that were looked for in the KV of earlier requests
    std::optional<double> prefix_hits;      // of these, found
    std::optional<double> prefix_misses;    // of these, not found
    std::optional<double> answer_tokens;    // in answers to all its clients

    // Times of all requests since the server began; empty: it does not send them.
    LatencyHistogram first_token;  // from the request to its first token
    LatencyHistogram token_gap;    // between two tokens of an answer

    std::optional<double> started_s;  // since 1970
};

/// Reads a page of metrics in Prometheus' text form, as vLLM, SGLang, TGI, llama-server and Spillway write it. Lines of
/// another form or an unknown name are passed over.
ServerNumbers read_numbers(std::string_view page);

/// Says how far counters rose between two readings. Empty: one of the two lacks it, or the server was started anew in
/// between.
struct CounterChange {
    bool restarted = false;
    std::optional<double> preemptions, offloaded_bytes, fetched_bytes, prefix_tokens, prefix_hits, answer_tokens;
    std::optional<LatencyHistogram> first_token, token_gap;  // of the requests in between
};
CounterChange change_between(const ServerNumbers& before, const ServerNumbers& now);

}  // namespace remote
