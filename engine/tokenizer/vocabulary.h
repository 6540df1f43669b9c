// Vocabulary holds what a model file says about its tokens, as plain data. Filled by read_vocabulary(), or by hand in a
// test.
#pragma once

#include "engine/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace engine {

class GgufFile;

/// tokenizer.ggml.token_type. The numbers are the file format's.
enum class TokenType : std::uint8_t {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,  // found in the text before anything else, and shown
    Unused = 5,
    Byte = 6,  // "<0x0A>"
};

constexpr int kNoToken = -1;

struct Vocabulary {
    std::string model = {};       // tokenizer.ggml.model: "llama" (SPM), "gpt2" or "gemma4" (BPE)
    std::string pre = {};         // tokenizer.ggml.pre: names the pattern that cuts text into words; BPE only
    std::string model_name = {};  // general.name: some models' special tokens swallow the white space after them

    std::vector<std::string> tokens = {};  // text as stored in the file, by id
    std::vector<float> scores = {};        // by id; empty: all 0. SPM merges the pair with the best score first
    std::vector<TokenType> types = {};     // by id; empty: all normal
    std::vector<std::string> merges = {};  // "left right", the best first; BPE only

    int bos = kNoToken;
    int eos = kNoToken;
    int eot = kNoToken;  // end of turn
    int eom = kNoToken;  // end of message: the model waits for a tool
    int unk = kNoToken;
    int pad = kNoToken;
    int fim_pre = kNoToken;  // before the text in front of a gap (fill-in-the-middle), and so on
    int fim_suf = kNoToken;
    int fim_mid = kNoToken;
    int fim_pad = kNoToken;
    int fim_rep = kNoToken;
    int fim_sep = kNoToken;
    std::vector<int> more_ends = {};  // tokens that end an answer besides these

    // Set where the file says so; else the tokenizer decides by model and pattern.
    enum class Flag : std::uint8_t { No, Yes, Unsaid };
    Flag add_bos = Flag::Unsaid;
    Flag add_eos = Flag::Unsaid;
    Flag add_space_prefix = Flag::Unsaid;

    std::vector<std::string> warnings = {};  // what was odd in the file and was repaired, a sentence each
};

/// Reads tokenizer.* and checks it: counts agree, ids are in range. Texts are not judged here.
Result<Vocabulary> read_vocabulary(const GgufFile& file);

}  // namespace engine
