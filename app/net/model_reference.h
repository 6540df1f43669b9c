// read_reference() reads what a user typed to name a model that is on a server.
#pragma once

#include "app/net/failure.h"

#include <string>
#include <string_view>
#include <variant>

namespace net {

/// hf.co/ORG/REPO[:FILE|:QUANT], ORG/REPO[:...], or the address of its page or of a file on the hub.
struct HubReference {
    std::string repository;  // "ORG/REPO"
    std::string revision = "main";
    std::string file = {};   // a path in it; empty: one is chosen
    std::string quant = {};  // "Q4_K_M", as it was typed; empty: one is chosen
};

/// ollama.com/NAME[:TAG], ollama.com/SOMEBODY/NAME[:TAG]
struct OllamaReference {
    std::string name;  // "library/NAME"
    std::string tag = "latest";
};

/// Any other address of a .gguf file.
struct LinkReference {
    std::string url;
    std::string file;  // its name
};

/// A bare NAME[:QUANT], which the hub can be searched for.
struct NameReference {
    std::string name;
    std::string quant = {};
};

using ModelReference = std::variant<HubReference, OllamaReference, LinkReference, NameReference>;

/// Reads the name of a model. BadRequest with one sentence: it is none of these.
Result<ModelReference> read_reference(std::string_view text);

/// Says whether the text names a model elsewhere and cannot be the name of a file here.
bool names_a_remote_model(std::string_view text);

/// Says whether a path from a server may name a file here: it is relative, does not leave its folder, and every system
/// accepts it.
bool is_safe_path(std::string_view path);

}  // namespace net
