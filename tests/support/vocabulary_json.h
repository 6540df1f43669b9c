// Reads vocabularies of tests/data/tokenizer, and makes small ones on the spot.
#pragma once

#include "engine/tokenizer/tokenizer.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace support {

inline nlohmann::json read_json(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return nlohmann::json::parse(file, nullptr, false);
}

inline engine::Vocabulary vocabulary_from(const nlohmann::json& json)
{
    engine::Vocabulary out;
    out.model = json.at("model");
    out.pre = json.at("pre");
    out.tokens = json.at("tokens").get<std::vector<std::string>>();
    out.scores = json.value("scores", std::vector<float>());
    for (const int type : json.at("types").get<std::vector<int>>())
        out.types.push_back(engine::TokenType(type));
    out.merges = json.value("merges", std::vector<std::string>());
    out.bos = json.value("bos", engine::kNoToken);
    out.eos = json.value("eos", engine::kNoToken);
    out.unk = json.value("unk", engine::kNoToken);
    if (json.contains("add_space_prefix"))
        out.add_space_prefix = json["add_space_prefix"] ? engine::Vocabulary::Flag::Yes : engine::Vocabulary::Flag::No;
    out.add_bos = engine::Vocabulary::Flag::Yes;
    return out;
}

/// Ids without their places.
inline std::vector<int> ids_of(const std::vector<engine::Token>& tokens)
{
    std::vector<int> ids;
    for (const engine::Token& token : tokens)
        ids.push_back(token.id);
    return ids;
}

}  // namespace support
