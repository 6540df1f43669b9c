// Opens any bytes as a GGUF file, asks for everything in it and describes it, for libFuzzer.
//   cmake --preset fuzz && cmake --build build/fuzz --target fuzz_gguf
//   build/fuzz/tests/fuzz/fuzz_gguf_seeds corpus && build/fuzz/tests/fuzz/fuzz_gguf corpus
#include "engine/model_info.h"
#include "tests/support/gguf_exercise.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // A file in memory, opened by its path as any other.
    static const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
    static const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, data, size, 0) != static_cast<ssize_t>(size))
        std::abort();

    const auto gguf = engine::GgufFile::open(path);
    if (gguf)
        support::exercise(*gguf);
    else if (gguf.error().what.empty())
        std::abort();
    const auto info = engine::inspect_model(path);
    if (info.has_value() != gguf.has_value())
        std::abort();
    return 0;
}
