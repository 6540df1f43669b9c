// Failure says why something could not be fetched: a kind for programs and one sentence for people.
#pragma once

#include "engine/result.h"

#include <chrono>
#include <string>
#include <utility>

namespace net {

struct Failure {
    enum class Kind {
        BadRequest,       // what was asked for makes no sense
        NoConnection,     // no such host, refused, no network
        Interrupted,      // it broke off in the middle
        Stalled,          // nothing came for a while
        BadCertificate,   // the server cannot prove who it is
        NeedsToken,       // 401
        NoAccess,         // 403, among them repositories whose terms have to be accepted first
        KeyMissing,       // a key or token is needed, and the password store does not give it
        NotFound,         // 404
        TooManyRequests,  // 429; `wait` says when to ask again
        ServerError,      // 5xx
        BadAnswer,        // no answer that this kind of server gives
        Changed,          // the server has another file now than the one of which a part is here
        WrongHash,
        DiskFull,
        CannotWrite,
        CannotRead,
        Busy,  // another program is fetching the same file
        Cancelled,
    };
    Kind kind = Kind::BadRequest;
    std::string what;  // one sentence, lower case, no full stop
    std::chrono::seconds wait{0};
    bool token_helps = false;  // a token of the hub, or another one, may help
};

template <class T>
using Result = tl::expected<T, Failure>;
using Status = Result<void>;

inline tl::unexpected<Failure> fail(Failure::Kind kind, std::string what, std::chrono::seconds wait = {})
{
    return tl::unexpected<Failure>(Failure{kind, std::move(what), wait});
}

/// Says whether the same request may succeed a little later.
inline bool may_pass(Failure::Kind kind)
{
    using Kind = Failure::Kind;
    return kind == Kind::NoConnection || kind == Kind::Interrupted || kind == Kind::Stalled ||
           kind == Kind::TooManyRequests || kind == Kind::ServerError;
}

}  // namespace net
