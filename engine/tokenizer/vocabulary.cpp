// The vocabulary in a model file: tokenizer.* of ggml's docs/gguf.md.
#include "engine/tokenizer/vocabulary.h"

#include "engine/gguf/gguf_file.h"
#include "engine/tokenizer/token_index.h"

#include <limits>
#include <string_view>

namespace engine {

namespace {

TokenType type_from_file(std::int64_t value)
{
    const bool known = value >= std::int64_t(TokenType::Normal) && value <= std::int64_t(TokenType::Byte);
    return known ? TokenType(value) : TokenType::Normal;
}

Status wrong_count(const char* what, std::size_t found, std::size_t tokens)
{
    return fail(Error::Code::BadFile, "the model has " + std::to_string(found) + " token " + what + " for " +
                                          std::to_string(tokens) + " tokens");
}

Status read_tokens(const GgufFile& file, Vocabulary& out)
{
    const auto texts = file.strings("tokenizer.ggml.tokens");
    if (!texts || texts->empty())
        return fail(Error::Code::BadFile, "the model has no tokens");
    if (texts->size() > std::size_t(std::numeric_limits<int>::max() / 4))
        return fail(Error::Code::BadFile, "the model has an impossible number of tokens");
    out.tokens.assign(texts->begin(), texts->end());
    const std::size_t count = out.tokens.size();

    // Some files have more entries than tokens; the rest means nothing.
    if (auto scores = file.floats("tokenizer.ggml.scores")) {
        if (scores->size() < count)
            return wrong_count("scores", scores->size(), count);
        scores->resize(count);
        out.scores = std::move(*scores);
    }
    if (const auto types = file.integers("tokenizer.ggml.token_type")) {
        if (types->size() < count)
            return wrong_count("types", types->size(), count);
        out.types.reserve(count);
        for (std::size_t id = 0; id < count; ++id)
            out.types.push_back(type_from_file((*types)[id]));
        // For this architecture some files of Ollama's own converter have the bytes as ordinary tokens.
        if (file.string("general.architecture") == "gemma3n")
            for (std::size_t id = 0; id < count; ++id)
                if (byte_named_by(out.tokens[id]) >= 0)
                    out.types[id] = TokenType::Byte;
    }
    return {};
}

/// Reads a token's id. `unsaid`: what older files mean where they say nothing.
int read_id(const GgufFile& file, const char* key, Vocabulary& out, int unsaid = kNoToken)
{
    const auto count = std::int64_t(out.tokens.size());
    const auto id = file.integer(key);
    if (!id)
        return unsaid < count ? unsaid : kNoToken;
    if (*id >= 0 && *id < count)
        return int(*id);
    if (*id != kNoToken && *id != std::numeric_limits<std::uint32_t>::max())  // both are written for "none"
        out.warnings.push_back(std::string(key) + " is " + std::to_string(*id) + ", which is not a token");
    return kNoToken;
}

/// Reads the list of all tokens that end an answer, which Ollama's converter writes.
std::vector<int> read_ends(const GgufFile& file, std::size_t tokens)
{
    constexpr std::uint64_t kMost = 64;
    std::vector<int> ends;
    for (const std::int64_t id :
         file.integers("tokenizer.ggml.eos_token_ids", kMost).value_or(std::vector<std::int64_t>()))
        if (id >= 0 && id < std::int64_t(tokens))
            ends.push_back(int(id));
    return ends;
}

Vocabulary::Flag read_flag(const GgufFile& file, const char* key)
{
    const auto flag = file.boolean(key);
    return !flag ? Vocabulary::Flag::Unsaid : *flag ? Vocabulary::Flag::Yes : Vocabulary::Flag::No;
}

}  // namespace

Result<Vocabulary> read_vocabulary(const GgufFile& file)
{
    Vocabulary out;
    out.model = file.string("tokenizer.ggml.model").value_or("");
    if (out.model.empty())
        return fail(Error::Code::BadFile, "the model file has no tokenizer");
    out.pre = file.string("tokenizer.ggml.pre").value_or("");
    out.model_name = file.string("general.name").value_or("");
    if (auto read = read_tokens(file, out); !read)
        return tl::unexpected(read.error());
    if (const auto merges = file.strings("tokenizer.ggml.merges"))
        out.merges.assign(merges->begin(), merges->end());

    const bool spm = out.model == "llama";
    out.bos = read_id(file, "tokenizer.ggml.bos_token_id", out, spm ? 1 : kNoToken);
    out.eos = read_id(file, "tokenizer.ggml.eos_token_id", out, spm ? 2 : kNoToken);
    out.unk = read_id(file, "tokenizer.ggml.unknown_token_id", out, spm ? 0 : kNoToken);
    out.eot = read_id(file, "tokenizer.ggml.eot_token_id", out);
    out.eom = read_id(file, "tokenizer.ggml.eom_token_id", out);
    out.more_ends = read_ends(file, out.tokens.size());
    out.pad = read_id(file, "tokenizer.ggml.padding_token_id", out);
    // What older files say of them under other names holds of CodeGemma, and each Gemma's says it.
    out.fim_pre = read_id(file, "tokenizer.ggml.fim_pre_token_id", out);
    out.fim_suf = read_id(file, "tokenizer.ggml.fim_suf_token_id", out);
    out.fim_mid = read_id(file, "tokenizer.ggml.fim_mid_token_id", out);
    out.fim_pad = read_id(file, "tokenizer.ggml.fim_pad_token_id", out);
    out.fim_rep = read_id(file, "tokenizer.ggml.fim_rep_token_id", out);
    out.fim_sep = read_id(file, "tokenizer.ggml.fim_sep_token_id", out);

    out.add_bos = read_flag(file, "tokenizer.ggml.add_bos_token");
    out.add_eos = read_flag(file, "tokenizer.ggml.add_eos_token");
    out.add_space_prefix = read_flag(file, "tokenizer.ggml.add_space_prefix");
    return out;
}

}  // namespace engine
