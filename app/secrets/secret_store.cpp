#include "app/secrets/secret_store.h"

#include <algorithm>
#include <random>

namespace secrets {

namespace {

constexpr std::size_t kDigits = 32;
constexpr char kHexadecimal[] = "0123456789abcdef";

}  // namespace

std::string keep_in(SecretStore& store, const std::string& label, const std::string& text, MayAsk may,
                    const std::stop_token& stop)
{
    std::string id = new_id();
    if (!store.keep({id, label, text}, may, stop))
        return {};
    const auto back = store.find(id, MayAsk::No, stop);
    if (back && *back == text && !stop.stop_requested())
        return id;
    store.forget(id, {});
    return {};
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
