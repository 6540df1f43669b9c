// ServerNumbers is what a server says of its own load; CounterChange what its counters did since the last time.
#pragma once

#include "app/remote/latency_histogram.h"
#include "app/remote/server.h"

#include <optional>
#include <string>
#include <string_view>

namespace remote {

/// At one moment. Empty: the server does not say, which is not zero.
struct ServerNumbers {
    std::string server = {};          // whose they are, its address
    std::optional<double> kv_share;   // of its KV cache that is in use, 0 to 1
    std::optional<double> kv_tokens;  // in it
    std::optional<double> kv_most_tokens;
    std::optional<double> kv_bytes;  // on all its devices together
    std::optional<double> running;   // requests
    std::optional<double> waiting;

    // Counters: they rise as long as the server runs.
    std::optional<double> preemptions;      // requests that lost their KV to others
    std::optional<double> offloaded_bytes;  // KV that went to the server's host memory
    std::optional<double> fetched_bytes;    // and came back
    std::optional<double> prefix_tokens;    // that were looked for in the KV of earlier requests
    std::optional<double> prefix_hits;      // of them, found
    std::optional<double> prefix_misses;    // and not found
    std::optional<double> answer_tokens;    // of all its clients

    // Of all requests since the server began; empty: it has none.
    LatencyHistogram first_token;  // from the request to its first token
    LatencyHistogram token_gap;    // between two tokens of an answer

    std::optional<double> started_s;  // since 1970
};

/// Reads a page of metrics in Prometheus' text form, as vLLM, SGLang, TGI, llama-server and Spillway write it. What is
/// no such line is passed over.
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
