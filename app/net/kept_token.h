// KeptToken holds what the file of the user's token of the hub says: the token itself, or by which id the system's
// password store has it. Only the user can read the file.
#pragma once

#include "app/secrets/secret_store.h"

#include <filesystem>
#include <string>
#include <vector>

namespace net {

struct KeptToken {
    std::string token;                       // empty: there is none, or the password store has it
    std::string id = {};                     // the token's id in the password store; empty: it is not there
    std::vector<std::string> unneeded = {};  // ids of tokens that the store may still have, and is to forget
    bool operator==(const KeptToken&) const = default;
};

/// Returns the path of the file. `data`: this program's folder; empty: there is no file.
std::filesystem::path kept_token_file(const std::filesystem::path& data);
/// Reads the file. What cannot be a token or an id counts as missing.
KeptToken read_kept_token(const std::filesystem::path& file);
std::string text_of(const KeptToken& kept);
/// Returns the token in a text that a user has typed, without spaces around it. Empty: it is not one word of ASCII, and
/// would break the header that it is sent in.
std::string token_word(const std::string& text);

}  // namespace net
