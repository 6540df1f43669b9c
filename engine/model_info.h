// ModelInfo holds what can be said of a model file before it is loaded.
#pragma once

#include "engine/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// The numbers of a file that decide what its KV cache and its scratch take; see memory_plan.h. Zero: not known.
struct MemoryShape {
    // Of all layers together: KV heads, and the numbers in the keys and in the values of one token. Of latent attention
    // a value is a part of its key, and not counted.
    std::int64_t kv_heads = 0;
    std::int64_t key_numbers = 0;
    std::int64_t value_numbers = 0;
    std::int64_t state_bytes = 0;  // of one conversation's recurrent layers, checkpoints not counted
    int recurrent_layers = 0;      // that keep such a state; those that also attend included
    int kv_layers = 0;             // that keep keys and values of their own
    int kv_and_state_layers = 0;   // of both
    // Of the block that guesses tokens ahead (multi-token prediction), where this version uses it: its weights, and the
    // numbers in its key and value of one token, kept as f16.
    std::int64_t mtp_weight_bytes = 0;
    std::int64_t mtp_numbers = 0;
    std::int64_t scratch_bytes_per_row = 0;  // for each token of a prefill chunk
    std::int64_t scratch_bytes_fixed = 0;
};

struct ModelInfo {
    std::filesystem::path path;  // the first file
    std::string name;            // general.name, else the file's name
    std::string type;            // general.type: "model", "mmproj", "adapter"; empty where the file does not say
    std::string architecture;    // "llama"
    std::string quantization;    // "Q4_K_M" from the file, else the type most bytes have
    std::int64_t parameters = 0;
    std::int64_t file_bytes = 0;  // of all split files
    std::int64_t weight_bytes = 0;
    int split_files = 1;
    int context_tokens = 0;  // the model was made for
    int layers = 0;
    int embedding_length = 0;
    int heads = 0;
    int kv_heads = 0;
    int vocabulary = 0;
    int experts = 0;  // 0: none
    int experts_used = 0;
    std::int64_t kv_bytes_per_token_f16 = 0;  // all layers, f16
    std::string tokenizer;                    // "llama", "gpt2"
    bool has_chat_template = false;
    bool embeds = false;  // made to give embeddings, not text
    MemoryShape memory;
    std::string license;
    std::map<std::string, std::int64_t> bytes_by_type;  // "Q4_K" -> bytes
    std::vector<std::string> warnings;
    bool runnable = true;  // false: a correct file this version cannot run; why is in `obstacle`
    std::string obstacle;
    int context_in_use = 0;        // after load(): tokens the KV cache can hold
    std::string device = {};       // after load(): "emulated", where it was opened beside the cpu; else empty
    std::string draft_model = {};  // after load(): the name of the one that guesses for it; empty: there is none
    // After load(): what the chat template takes besides what the engine gives it, such as enable_thinking.
    std::vector<std::string> template_arguments;
};

/// Reads a file's header: within seconds and 1 GB, whatever it is. Fails with one sentence for what is not a GGUF
/// model; Cancelled where it was stopped.
Result<ModelInfo> inspect_model(const std::filesystem::path& path, const std::stop_token& stop = {});

}  // namespace engine
