// Result holds a value or an error. An error is one enum for programs and one sentence for people.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace engine {

struct Error {
    enum class Code {
        NotFound,     // no such file
        CannotRead,   // the file is there and cannot be read, or went away under us
        CannotWrite,  // the disk is full, or refuses for another reason
        BadFile,      // the file is not what it claims to be, or is cut off
        Unsupported,  // a correct file that this version cannot run
        NoMemory,
        DeviceFull,  // a device has no memory left, or its budget is used up
        DeviceLost,  // a device stopped answering
        BadRequest,  // the caller asked for something impossible
        ContextFull,
        Cancelled,
        Template,  // a chat template failed
        NotLoaded,
        Internal,  // a mistake of ours
    };
    Code code = Code::Internal;
    std::string what;       // one sentence, lower case, no full stop: "the file ends inside the GGUF header"
    int prompt_tokens = 0;  // ContextFull: of the prompt that does not fit; 0: it is not known
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(Error::Code code, std::string what)
{
    return tl::unexpected<Error>(Error{code, std::move(what)});
}

}  // namespace engine
