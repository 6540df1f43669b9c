#include "app/net/sha256.h"

#include <array>
#include <new>
#include <openssl/evp.h>

namespace net {

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256()
    : state_(std::make_unique<State>())
{
    if (!state_->context || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1)
        throw std::bad_alloc();
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes)
{
    EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Sha256::hex()
{
    std::array<unsigned char, 32> hash{};
    EVP_DigestFinal_ex(state_->context, hash.data(), nullptr);
    return hex_digits(hash);
}

}  // namespace net
