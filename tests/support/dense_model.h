// DenseModel makes a model of the llama family whose shape and types a test chooses; its weights are random.
#pragma once

#include "engine/shape/random_weights.h"
#include "tests/support/gguf_writer.h"

#include <cmath>
#include <string>
#include <vector>

namespace support {

struct DenseModel {
    using Type = kernels::TensorType;

    int layers = 1;
    int dim = 256, ff = 256;  // multiples of the types' block lengths, as heads * head_length is
    int heads = 8, kv_heads = 2, head_length = 32;
    Type type = Type::Q4_K, v_type = Type::Q6_K;  // of all matrices but attn_v; of that
    int vocabulary = 64;

    void save(const std::filesystem::path& path) const
    {
        GgufWriter w;
        const auto number = [&](const char* key, int value) {
            w.u32(std::string("llama.") + key, std::uint32_t(value));
        };
        w.string("general.architecture", "llama").string("general.name", "dense");
        number("block_count", layers);
        number("context_length", 1024);
        number("embedding_length", dim);
        number("feed_forward_length", ff);
        number("attention.head_count", heads);
        number("attention.head_count_kv", kv_heads);
        number("attention.key_length", head_length);
        number("attention.value_length", head_length);
        number("rope.dimension_count", head_length);
        w.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
        std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
        while (int(tokens.size()) < vocabulary)
            tokens.push_back("t" + std::to_string(tokens.size()));
        w.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", tokens);
        w.floats("tokenizer.ggml.scores", std::vector<float>(tokens.size()));
        w.i32s("tokenizer.ggml.token_type", std::vector<std::int32_t>(tokens.size(), 1));
        w.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);

        engine::SplitMix random(4711);
        const auto matrix = [&](const std::string& name, Type type, int n, int rows) {
            std::vector<std::byte> bytes(kernels::row_bytes(type, n) * std::size_t(rows));
            engine::fill_weights(type, 1.0f / std::sqrt(float(n)), random, bytes);
            w.tensor(name, std::uint32_t(type), {std::uint64_t(n), std::uint64_t(rows)}, bytes);
        };
        const auto ones = [&](const std::string& name) {
            w.tensor(name, 0, {std::uint64_t(dim)}, GgufWriter::bytes_of(std::vector<float>(std::size_t(dim), 1.0f)));
        };
        matrix("token_embd.weight", Type::F16, dim, vocabulary);
        matrix("output.weight", Type::F16, dim, vocabulary);
        ones("output_norm.weight");
        for (int l = 0; l < layers; ++l) {
            const std::string layer = "blk." + std::to_string(l) + ".";
            ones(layer + "attn_norm.weight");
            matrix(layer + "attn_q.weight", type, dim, heads * head_length);
            matrix(layer + "attn_k.weight", type, dim, kv_heads * head_length);
            matrix(layer + "attn_v.weight", v_type, dim, kv_heads * head_length);
            matrix(layer + "attn_output.weight", type, heads * head_length, dim);
            ones(layer + "ffn_norm.weight");
            matrix(layer + "ffn_gate.weight", type, dim, ff);
            matrix(layer + "ffn_up.weight", type, dim, ff);
            matrix(layer + "ffn_down.weight", type, ff, dim);
        }
        w.save(path);
    }
};

}  // namespace support
