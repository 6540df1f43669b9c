// ChainModel makes a tiny model that says what a test wants: behind each token comes another one that the test names.
#pragma once

#include "tests/support/gguf_writer.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace support {

/// Collects tokens and what follows them, then writes a model of the llama family: its embedding is one-hot, its output
/// layer knows who comes next, and its one layer adds nothing. Letters and the space are in its vocabulary. A word such
/// as "<0xC3>" is a byte.
///
///     ChainModel({"[THINK]", "[/THINK]"}).says({kGo, "[THINK]", "a", "[/THINK]", "b", "</s>"}).save(path);
class ChainModel
{
public:
    static constexpr const char* kGo = "<|go|>";  // the control token a prompt ends with

    explicit ChainModel(const std::vector<std::string>& control_tokens, const std::vector<std::string>& words = {})
    {
        for (const char* token : {"<unk>", "<s>", "</s>", "<|turn|>", "<|over|>", kGo})
            add(token, token == std::string_view("<unk>") ? kUnknown : kControl);
        for (const std::string& token : control_tokens)
            add(token, kControl);
        add("\xe2\x96\x81", kNormal);
        for (char letter = 'a'; letter <= 'z'; ++letter)
            add(std::string(1, letter), kNormal);
        for (const std::string& word : words)
            add(word, word.starts_with("<0x") ? kByte : kNormal);
    }

    /// Lets each token be followed by the next one; what follows the last is left open.
    ChainModel& says(const std::vector<std::string>& tokens)
    {
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
            next_[id(tokens[i])] = id(tokens[i + 1]);
        return *this;
    }

    /// Sets the chat template. Without a call the model has one that writes every message behind its role.
    ChainModel& chat_template(std::string source)
    {
        template_ = std::move(source);
        return *this;
    }

    /// Sets general.name. Without a call it is "chain".
    ChainModel& called(std::string name)
    {
        name_ = std::move(name);
        return *this;
    }

    /// Puts a space before the first word of a text, as Llama 2's file has it.
    ChainModel& space_prefix()
    {
        space_prefix_ = true;
        return *this;
    }

    /// Lets the model give embeddings, pooled as `llama.pooling_type` says; its texts end with </s> where `ends`. A
    /// token's embedding is a direction of its own, whatever stands before it.
    ChainModel& embeds(std::uint32_t pooling, bool ends = false)
    {
        pooling_ = pooling;
        ends_ = ends;
        return *this;
    }

    std::size_t id(const std::string& token) const
    {
        const auto found = std::find(tokens_.begin(), tokens_.end(), token);
        assert(found != tokens_.end());
        return std::size_t(found - tokens_.begin());
    }

    void save(const std::filesystem::path& path) const
    {
        constexpr std::uint32_t kHead = 32;
        const auto dim = std::uint32_t((tokens_.size() + 31) / 32 * 32);
        GgufWriter w;
        w.string("general.architecture", "llama").string("general.name", name_);
        w.u32("llama.block_count", 1).u32("llama.context_length", 512).u32("llama.embedding_length", dim);
        w.u32("llama.feed_forward_length", kHead).u32("llama.attention.head_count", 1);
        w.u32("llama.attention.key_length", kHead).u32("llama.attention.value_length", kHead);
        w.u32("llama.rope.dimension_count", kHead).f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
        w.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", tokens_);
        w.floats("tokenizer.ggml.scores", std::vector<float>(tokens_.size()));
        w.i32s("tokenizer.ggml.token_type", types_);
        w.u32("tokenizer.ggml.unknown_token_id", 0).u32("tokenizer.ggml.bos_token_id", 1);
        w.u32("tokenizer.ggml.eos_token_id", 2).boolean("tokenizer.ggml.add_space_prefix", space_prefix_);
        w.string("tokenizer.chat_template", template_);
        if (pooling_)
            w.u32("llama.pooling_type", *pooling_).boolean("tokenizer.ggml.add_eos_token", ends_);

        const auto zeros = [&](const char* name, std::uint64_t row, std::uint64_t rows) {
            add_tensor(w, name, row, rows, std::vector<float>(row * rows));
        };
        const auto ones = [&](const char* name) { add_tensor(w, name, dim, 0, std::vector<float>(dim, 1.0f)); };
        std::vector<float> embedding(tokens_.size() * dim), output(tokens_.size() * dim);
        for (std::size_t token = 0; token < tokens_.size(); ++token)
            embedding[token * dim + token] = 1;
        for (const auto& [token, next] : next_)
            output[next * dim + token] = 1;
        add_tensor(w, "token_embd.weight", dim, tokens_.size(), embedding);
        add_tensor(w, "output.weight", dim, tokens_.size(), output);
        ones("output_norm.weight");
        ones("blk.0.attn_norm.weight");
        ones("blk.0.ffn_norm.weight");
        for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight",
                                 "blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"})
            zeros(name, dim, kHead);
        zeros("blk.0.attn_output.weight", kHead, dim);
        zeros("blk.0.ffn_down.weight", kHead, dim);
        w.save(path);
    }

private:
    // tokenizer.ggml.token_type
    static constexpr std::int32_t kNormal = 1;
    static constexpr std::int32_t kUnknown = 2;
    static constexpr std::int32_t kControl = 3;
    static constexpr std::int32_t kByte = 6;

    void add(std::string token, std::int32_t type)
    {
        tokens_.push_back(std::move(token));
        types_.push_back(type);
    }
    /// rows 0: a vector.
    static void add_tensor(GgufWriter& w, const char* name, std::uint64_t row, std::uint64_t rows,
                           const std::vector<float>& values)
    {
        const std::vector<std::uint64_t> dims = rows > 0 ? std::vector{row, rows} : std::vector{row};
        w.tensor(name, 0, dims, GgufWriter::bytes_of(values));
    }

    std::vector<std::string> tokens_;
    std::vector<std::int32_t> types_;
    std::map<std::size_t, std::size_t> next_;
    std::string name_ = "chain";
    bool space_prefix_ = false;
    std::optional<std::uint32_t> pooling_;
    bool ends_ = false;
    std::string template_ = "{% for m in messages %}<|turn|>{{ m.role }} {{ m.content }}<|over|>{% endfor %}"
                            "{% if add_generation_prompt %}<|go|>{% endif %}";
};

}  // namespace support
