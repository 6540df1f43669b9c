#include "app/secrets/secret_store.h"

#include <algorithm>
#include <random>

namespace secrets {

namespace {

constexpr std::size_t kDigits = 32;
constexpr char kHexadecimal[] = "0123456789abcdef";

}  // namespace

Kept keep_in(SecretStore& store, const Secret& secret, MayAsk may, const std::stop_token& stop)
{
    if (const auto given = store.keep(secret, may, stop); !given)
        return given.error().code == engine::Error::Code::Cancelled ? Kept::Perhaps : Kept::No;
    const auto back = store.find(secret.id, MayAsk::No, stop);
    if (back && *back == secret.text && !stop.stop_requested())
        return Kept::Yes;
    return store.forget(secret.id, {}) ? Kept::No : Kept::Perhaps;
}

std::string new_id()
{
    std::random_device random;
    std::uniform_int_distribution<std::size_t> digit(0, 15);
    std::string id(kDigits, '0');
    for (char& c : id)
        c = kHexadecimal[digit(random)];
    return id;
}

bool is_id(const std::string& text)
{
    return text.size() == kDigits && text.find_first_not_of(kHexadecimal) == std::string::npos;
}

}  // namespace secrets
