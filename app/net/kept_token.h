// KeptToken is the user's token of the hub as this program keeps it: in the system's password store, or else in a file
// that only the user can read.
#pragma once

#include "app/secrets/secret_store.h"

#include <filesystem>
#include <string>
#include <vector>

namespace net {

struct KeptToken {
    std::string token;                       // empty: there is none, or the password store has it
    std::string id = {};                     // by which that has it
    std::vector<std::string> unneeded = {};  // ids that it may have besides, and that it is to forget
    bool operator==(const KeptToken&) const = default;
};

/// Returns where the file lies. `data`: this program's folder.
std::filesystem::path kept_token_file(const std::filesystem::path& data);
/// Reads the file. What makes no sense in it is no token.
KeptToken read_kept_token(const std::filesystem::path& file);
std::string text_of(const KeptToken& kept);
/// The token in a text that somebody has typed, without spaces around it. Empty: it is not one word, and would break
/// the header that carries it.
std::string token_word(const std::string& text);

}  // namespace net
