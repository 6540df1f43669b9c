#include "engine/tokenizer/keyed_hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>

namespace engine {

namespace {

using Key = std::array<std::uint64_t, 2>;

const Key& key()
{
    static const Key drawn = [] {
        std::random_device device;
        Key made{};
        for (std::uint64_t& half : made)
            half = std::uint64_t(device()) << 32 | device();
        return made;
    }();
    return drawn;
}

class SipHash
{
public:
    explicit SipHash(const Key& key)
        : v0_(key[0] ^ 0x736f6d6570736575u)
        , v1_(key[1] ^ 0x646f72616e646f6du)
        , v2_(key[0] ^ 0x6c7967656e657261u)
        , v3_(key[1] ^ 0x7465646279746573u)
    {
    }
    void take(std::uint64_t word)
    {
        v3_ ^= word;
        round();
        v0_ ^= word;
    }
    std::uint64_t end()
    {
        v2_ ^= 0xff;
        for (int i = 0; i < 3; ++i)
            round();
        return v0_ ^ v1_ ^ v2_ ^ v3_;
    }

private:
    void round()
    {
        v0_ += v1_;
        v1_ = std::rotl(v1_, 13) ^ v0_;
        v0_ = std::rotl(v0_, 32);
        v2_ += v3_;
        v3_ = std::rotl(v3_, 16) ^ v2_;
        v0_ += v3_;
        v3_ = std::rotl(v3_, 21) ^ v0_;
        v2_ += v1_;
        v1_ = std::rotl(v1_, 17) ^ v2_;
        v2_ = std::rotl(v2_, 32);
    }
    std::uint64_t v0_, v1_, v2_, v3_;
};

std::uint64_t word_at(std::string_view text, std::size_t at)
{
    std::uint64_t word = 0;
    if (at < text.size())
        std::memcpy(&word, text.data() + at, std::min(text.size() - at, sizeof word));
    return word;
}

}  // namespace

std::size_t KeyedHash::operator()(std::string_view text) const
{
    SipHash hash(key());
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8)
        hash.take(word_at(text, at));
    hash.take(word_at(text, at) | std::uint64_t(text.size()) << 56);
    return std::size_t(hash.end());
}

std::size_t KeyedHash::operator()(std::uint64_t number) const
{
    SipHash hash(key());
    hash.take(number);
    return std::size_t(hash.end());
}

}  // namespace engine
