// findServerCause() names what holds a server's answers back, by what the server measures of itself.
#pragma once

#include <QString>

#include <optional>

/// Holds what is known of a server. Empty: not known.
struct ServerFacts {
    std::optional<double> kvShare = {};             // of its KV cache in use, 0 to 1
    std::optional<double> pushedOut = {};           // requests that lost their KV to others within the last minute
    std::optional<double> waiting = {};             // requests that have waited for some seconds on end, at least
    std::optional<double> firstTokenMs = {};        // time to the first token of the newest answer here
    std::optional<double> serverFirstTokenMs = {};  // the server's own median time to the first token
};

struct ServerCause {
    enum class Kind {
        None,      // it has room and nobody waits
        KvFull,    // requests push each other out of its KV cache and are computed again
        Queue,     // more requests than it answers at a time
        SlowLink,  // the way there takes longer than the server
    };
    Kind kind = Kind::None;
    bool operator==(const ServerCause&) const = default;
};

/// Returns the cause. A full cache comes first, since it makes requests wait and answers slow.
ServerCause findServerCause(const ServerFacts& facts);
/// Returns a sentence or two about the cause with its numbers, and what would help; empty where there is no cause.
QString serverCauseSentence(const ServerFacts& facts);
