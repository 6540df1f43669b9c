// Server is an engine elsewhere that speaks OpenAI's API; ServerFacts is what it says of itself; ListedServer is one
// that the user added.
#pragma once

#include <string>
#include <vector>

namespace remote {

/// The program that answers. Each knows other fields besides OpenAI's own.
enum class Kind { Unknown, Spillway, LlamaServer, Vllm, SgLang, Tgi, Ollama, LmStudio };

/// Returns the name by which people call the program; empty: nobody knows.
const char* name_of(Kind kind);

struct Server {
    std::string url;          // as read_address() writes it; no two servers have the same
    std::string key;          // empty: none is needed, or it lies in the system's password store
    std::string key_id = {};  // by which the password store has the key
    std::string no_key = {};  // why the store does not give it, as the end of a sentence: "it is locked"
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
    std::string name = {};   // servers of one name answer for each other, if they have the model; empty: for none
    ServerFacts facts = {};  // as it answered when it was probed last
};

}  // namespace remote
