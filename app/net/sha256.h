// Sha256 computes the hash by which the hub and Ollama's registry name a file's bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace net {

/// Uses the system's library, which uses the processor's instructions for SHA-256. One thread at a time.
class Sha256
{
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void add(std::span<const std::byte> bytes);
    /// Returns the hash in 64 hexadecimal digits, in lower case. Call it once, after all add().
    std::string hex();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Says whether the text is 64 hexadecimal digits in lower case.
bool is_sha256(std::string_view text);
std::string hex_digits(std::span<const unsigned char> bytes);

}  // namespace net
