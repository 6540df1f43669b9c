// Reads any bytes as a file of saved KV, with a header that is right where the first byte is odd, for libFuzzer.
//   cmake --preset fuzz && cmake --build build/fuzz --target fuzz_saved_kv
//   mkdir -p corpus && build/fuzz/tests/fuzz/fuzz_saved_kv corpus
#include "engine/files/checksum.h"
#include "engine/kv/saved_kv_file.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

const engine::KvLayerShape kLayer{1, {kernels::KvType::Q8_0, kernels::KvType::F16, 4, 4, 16}, 0};

std::filesystem::path file()
{
    static const std::string path = "/tmp/fuzz_saved_kv." + std::to_string(::getpid());
    return path;
}

/// Makes the checksums of the first record and of the replies right, so that what lies behind them is reached.
void make_right(const engine::SavedKvFormat& format, std::vector<std::byte>& bytes, int tokens)
{
    const auto mend = [&](std::size_t at, std::size_t end, std::uint64_t seed) {
        if (bytes.size() < end || end < at + 8)
            return;
        const std::uint64_t sum = engine::checksum(std::span(bytes).subspan(at + 8, end - at - 8), seed);
        std::memcpy(bytes.data() + at, &sum, sizeof sum);
    };
    const int count = std::min(tokens, format.block_tokens());
    const std::size_t first = std::size_t(format.record_at(0));
    mend(first, first + format.record_bytes(count), format.first_chain() + std::uint64_t(count));
    if (tokens == 0)
        mend(first, bytes.size(), format.first_chain());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const auto format = std::make_shared<const engine::SavedKvFormat>(1, std::span(&kLayer, 1));
    std::vector<std::byte> bytes(size);
    if (size > 0)
        std::memcpy(bytes.data(), data, size);
    if (size >= 2 && data[0] % 2 == 1) {
        const int tokens = data[1];
        const engine::SavedKvHeader header = format->header(tokens);
        bytes.insert(bytes.begin(), sizeof header, std::byte(0));
        std::memcpy(bytes.data(), &header, sizeof header);
        make_right(*format, bytes, tokens);
    }
    {
        auto out = engine::PrivateFile::open(file(), engine::PrivateFile::Access::Write);
        if (!out || !out->cut(0) || !out->write(0, bytes))
            std::abort();
    }
    auto reader = engine::SavedKvReader::open(file(), format);
    if (!reader)
        return 0;
    for (const std::vector<int>& reply : reader->replies())
        if (reply.empty())
            std::abort();
    std::vector<std::byte> block(kLayer.bytes());
    std::byte* const blocks[] = {block.data()};
    int tokens = 0;
    while (reader->read_page(blocks))
        tokens += 16;
    if (tokens > reader->tokens() + 15 || reader->next_matches(std::vector<int>(16)) > 16)
        std::abort();
    return 0;
}
