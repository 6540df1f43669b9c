// Server is an engine elsewhere that speaks OpenAI's API; ServerFacts is what it says of itself; ListedServer is one
// that the user added.
#pragma once

#include <string>
#include <vector>

namespace remote {

/// Whose program answers. What each of them knows besides OpenAI's own fields differs.
enum class Kind { Unknown, Spillway, LlamaServer, Vllm, SgLang, Tgi, Ollama, LmStudio };

/// Returns the name by which people call the program; empty: nobody knows.
const char* name_of(Kind kind);

struct Server {
    std::string url;          // as read_address() writes it; no two servers have the same
    std::string key;          // empty: it wants none, or lies in the system's password store
    std::string key_id = {};  // by which that has it
    std::string no_key = {};  // why it does not give it, no sentence of its own: "it is locked"
};

struct ServedModel {
    std::string id;
    int context_tokens = 0;  // that a conversation with it may have; 0: it does not say
};

struct ServerFacts {
    Kind kind = Kind::Unknown;
    std::string version;  // empty: it does not say
    std::vector<ServedModel> models;
};

struct ListedServer {
    Server server;
    std::string name = {};   // those of one name answer for each other where they have the same model; empty: for none
    ServerFacts facts = {};  // of when it was asked last
};

}  // namespace remote
