#include "engine/caught.h"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

namespace engine {

namespace {

Error sentence_of(const char* what_for)
{
    const std::string no_memory = std::string("there is not enough memory ") + what_for;
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {Error::Code::NoMemory, no_memory};
    } catch (const std::length_error&) {  // more than any memory holds
        return {Error::Code::NoMemory, no_memory};
    } catch (const std::filesystem::filesystem_error& error) {  // a path that cannot be converted, for instance
        return {Error::Code::CannotRead, std::string("cannot read the file: ") + error.what()};
    } catch (const std::system_error&) {
        return {Error::Code::NoMemory, "the system does not give so many threads"};
    } catch (const std::exception& error) {
        return {Error::Code::Internal, std::string("a mistake of this program: ") + error.what()};
    } catch (...) {
        return {Error::Code::Internal, "a mistake of this program"};
    }
}

}  // namespace

tl::unexpected<Error> caught(const char* what_for) noexcept
{
    try {
        return tl::unexpected(sentence_of(what_for));
    } catch (...) {                                                             // no memory even for the sentence
        return tl::unexpected(Error{Error::Code::NoMemory, "no memory left"});  // so short that it lies in the string
    }
}

}  // namespace engine
