#include "app/server/refusal.h"

namespace server {

int http_status(Refusal::Kind kind)
{
    switch (kind) {
    case Refusal::Kind::BadRequest:
    case Refusal::Kind::NotSupported:
    case Refusal::Kind::PromptTooLong:
        return 400;
    case Refusal::Kind::NoKey:
        return 401;
    case Refusal::Kind::Forbidden:
        return 403;
    case Refusal::Kind::NotFound:
        return 404;
    case Refusal::Kind::WrongMethod:
        return 405;
    case Refusal::Kind::TooLarge:
        return 413;
    case Refusal::Kind::Busy:
        return 503;
    case Refusal::Kind::Failed:
        break;
    }
    return 500;
}

Refusal refusal_of(const engine::Error& error)
{
    using Code = engine::Error::Code;
    switch (error.code) {
    case Code::BadRequest:
    case Code::Template:
    case Code::Unsupported:
        return {Refusal::Kind::BadRequest, error.what};
    case Code::ContextFull:
        return {.kind = Refusal::Kind::PromptTooLong, .sentence = error.what, .prompt_tokens = error.prompt_tokens};
    case Code::NotFound:
        return {Refusal::Kind::NotFound, error.what};
    case Code::NoMemory:
    case Code::DeviceFull:
    case Code::DeviceLost:
    case Code::NotLoaded:
    case Code::Cancelled:
        return {Refusal::Kind::Busy, error.what};
    case Code::CannotRead:
    case Code::CannotWrite:
    case Code::BadFile:
    case Code::Internal:
        break;
    }
    return {Refusal::Kind::Failed, error.what};
}

}  // namespace server
