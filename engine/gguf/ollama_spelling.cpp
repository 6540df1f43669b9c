#include "engine/gguf/ollama_spelling.h"

#include "engine/gguf/ollama_templates.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace engine {

namespace {

struct OtherName {
    std::string_view architecture;
    std::string_view theirs;  // of tensors: the whole name, or from the dot behind the block's number on
    std::string_view usual;
};

/// An architecture that has another name in Ollama's files, and the pre-tokenizer of its models where the files name a
/// wrong one; empty: they name the right one.
struct OtherArchitecture {
    std::string_view theirs, usual, pre_tokenizer;
};
constexpr OtherArchitecture kArchitectures[] = {
    {"gptoss", "gpt-oss", "gpt-4o"}, {"glm4moelite", "deepseek2", "glm4"},      {"olmo3", "olmo2", "dbrx"},
    {"qwen25vl", "qwen2vl", ""},     {"nemotron_h_omni", "nemotron_h_moe", ""},
};

constexpr OtherName kTensors[] = {
    {"gpt-oss", ".attn_out.weight", ".attn_output.weight"},
    {"gpt-oss", ".attn_out.bias", ".attn_output.bias"},
    {"gpt-oss", ".attn_sinks", ".attn_sinks.weight"},
    {"gpt-oss", ".ffn_norm.weight", ".post_attention_norm.weight"},
    {"lfm2", "output_norm.weight", "token_embd_norm.weight"},
    {"gemma4", ".ffn_gate_inp.per_expert_scale", ".ffn_down_exps.scale"},
    {"qwen35", ".ssm_dt", ".ssm_dt.bias"},
    {"qwen35moe", ".ssm_dt", ".ssm_dt.bias"},
    {"qwen3next", ".ssm_dt", ".ssm_dt.bias"},
    {"nemotron_h_moe", ".ffn_latent_in.weight", ".ffn_latent_down.weight"},
    {"nemotron_h_moe", ".ffn_latent_out.weight", ".ffn_latent_up.weight"},
};

constexpr OtherName kNumbers[] = {
    {"mistral3", "rope.scaling.beta_fast", "rope.scaling.yarn_beta_fast"},
    {"mistral3", "rope.scaling.beta_slow", "rope.scaling.yarn_beta_slow"},
    {"mistral3", "rope.scaling.mscale_all_dim", "rope.scaling.yarn_log_multiplier"},
    {"mistral3", "rope.scaling_beta", "attention.temperature_scale"},
    {"gemma3", "rope.scaling.beta_fast", "rope.scaling.yarn_beta_fast"},
    {"gemma3", "rope.scaling.beta_slow", "rope.scaling.yarn_beta_slow"},
    {"gemma3", "rope.global.freq_base", "rope.freq_base"},
    {"gemma3", "rope.local.freq_base", "rope.freq_base_swa"},
};

/// The pre-tokenizers of architectures, where the file says no more than "default".
constexpr std::pair<std::string_view, std::string_view> kPreTokenizers[] = {{"mistral3", "tekken"}, {"lfm2", "lfm2"}};

class OllamaSpelling
{
public:
    OllamaSpelling(Metadata& metadata, std::vector<GgufTensor>& tensors)
        : metadata_(metadata)
        , tensors_(tensors)
        , architecture_(metadata.string("general.architecture").value_or(""))
    {
    }

    void rename_architecture()
    {
        const auto found = std::ranges::find(kArchitectures, architecture_, &OtherArchitecture::theirs);
        if (found == std::end(kArchitectures))
            return;
        metadata_.rename_prefix(architecture_ + '.', std::string(found->usual) + '.');
        architecture_ = found->usual;
        metadata_.say("general.architecture", architecture_);
        if (!found->pre_tokenizer.empty())
            metadata_.say("tokenizer.ggml.pre", std::string(found->pre_tokenizer));
        if (found->usual == "gpt-oss")
            say_gpt_oss();
        if (found->theirs == "glm4moelite")
            say_glm_flash();
    }

    void rename_tensors()
    {
        std::vector<std::pair<GgufTensor*, std::string>> renamed;
        for (const OtherName& name : kTensors)
            if (name.architecture == architecture_)
                for (GgufTensor& tensor : tensors_)
                    if (is_called(tensor, name.theirs))
                        renamed.emplace_back(&tensor, usual_name(tensor, name));
        if (renamed.empty())
            return;
        std::vector<std::string> there;
        for (const GgufTensor& tensor : tensors_)
            there.push_back(tensor.name);
        std::sort(there.begin(), there.end());
        for (auto& [tensor, usual] : renamed)
            if (!std::binary_search(there.begin(), there.end(), usual))
                tensor->name = std::move(usual);
    }

    void say_numbers()
    {
        for (const OtherName& name : kNumbers)
            if (name.architecture == architecture_)
                if (const auto number = metadata_.number(key(name.theirs)))
                    say_missing(name.usual, *number);
        if (architecture_ == "gemma3")
            say_gemma3();
        if (architecture_ == "nemotron_h_moe")
            for (const GgufTensor& tensor : tensors_)
                if (tensor.name.ends_with(".ffn_latent_down.weight"))
                    say_missing("moe_latent_size", double(tensor.dims[1]));
        if (architecture_ == "lfm2")
            say_feed_forward_length();
    }

    void say_tokenizer()
    {
        const std::string_view pre = metadata_.string("tokenizer.ggml.pre").value_or("");
        const bool unsaid = pre.empty() || pre == "default";
        for (const auto& [architecture, usual] : kPreTokenizers)
            if (unsaid && architecture == architecture_)
                metadata_.say("tokenizer.ggml.pre", std::string(usual));
        if (unsaid && has_tokens_of_llama3())
            metadata_.say("tokenizer.ggml.pre", std::string("llama-bpe"));
        // A vocabulary with merges is BPE: its scores are token numbers and mean nothing.
        if (architecture_ == "gemma4" && metadata_.string("tokenizer.ggml.model") == "llama" &&
            metadata_.array_length("tokenizer.ggml.merges").value_or(0) > 0)
            metadata_.say("tokenizer.ggml.model", std::string("gemma4"));
    }

    /// Adds a chat template where the file has none: Ollama's converter finds one only in some places. It never writes
    /// the model's name, so that a file with a name comes from another converter.
    void say_template()
    {
        const bool by_others = metadata_.string("general.name").has_value();
        if (by_others || metadata_.string("tokenizer.chat_template") || !is_chat_family())
            return;
        const bool inputs_per_layer = metadata_.integer(key("embedding_length_per_layer_input")).value_or(0) > 0;
        if (const std::string_view known = template_of_family(architecture_, inputs_per_layer); !known.empty())
            metadata_.say("tokenizer.chat_template", std::string(known));
    }

    /// Leaves out the last tokens, which stand for pictures and sounds: one of the tables, or both, have no rows for
    /// them.
    void cut_vocabulary()
    {
        const std::string_view table = architecture_ == "gemma3"    ? "token_embd.weight"
                                       : architecture_ == "gemma3n" ? "per_layer_token_embd.weight"
                                                                    : "";
        const GgufTensor* const smallest = find(table);
        if (!smallest || smallest->num_dims != 2)
            return;
        const std::int64_t rows = smallest->dims[1];
        metadata_.shorten("tokenizer.ggml.tokens", std::uint64_t(rows));
        GgufTensor* const embedding = find("token_embd.weight");
        if (embedding && embedding->num_dims == 2 && embedding->dims[1] > rows && embedding->can_compute()) {
            embedding->bytes =
                embedding->bytes.first(embedding->bytes.size() / std::size_t(embedding->dims[1]) * std::size_t(rows));
            embedding->dims[1] = rows;
        }
    }

private:
    static bool is_called(const GgufTensor& tensor, std::string_view theirs)
    {
        return theirs.starts_with('.') ? tensor.name.ends_with(theirs) : tensor.name == theirs;
    }
    static std::string usual_name(const GgufTensor& tensor, const OtherName& name)
    {
        return tensor.name.substr(0, tensor.name.size() - name.theirs.size()) += name.usual;
    }

    std::string key(std::string_view name) const { return architecture_ + '.' + std::string(name); }
    void say_missing(std::string_view name, double number)
    {
        if (!metadata_.number(key(name)))
            metadata_.say(key(name), number);
    }

    /// A file without the epsilon of its norms is one of Ollama's. Models of 4B and more were trained with an eighth of
    /// their context and have their positions divided by eight; those of 1B hold fewer tokens.
    void say_gemma3()
    {
        constexpr std::int64_t kLong = 131072;
        if (metadata_.number(key("attention.layer_norm_rms_epsilon")))
            return;
        metadata_.say(key("attention.layer_norm_rms_epsilon"), 1e-6);
        say_missing("rope.freq_base", 1e6);
        if (metadata_.integer(key("context_length")).value_or(0) >= kLong &&
            !metadata_.string(key("rope.scaling.type")))
            say_missing("rope.scaling.factor", 8.0);
    }

    void say_gpt_oss()
    {
        if (!metadata_.string(key("rope.scaling.type")))
            metadata_.say(key("rope.scaling.type"), std::string("yarn"));
        if (const GgufTensor* const gate = find("blk.0.ffn_gate_exps.weight")) {
            say_missing("expert_feed_forward_length", double(gate->dims[1]));
            say_missing("feed_forward_length", double(gate->dims[1]));
        }
    }

    /// Reads the lengths of a head: they have the names of those of the row that is kept of a token.
    void say_glm_flash()
    {
        for (const char* const of : {"attention.key_length", "attention.value_length"})
            if (const auto length = metadata_.number(key(of)))
                metadata_.say(key(of) + "_mla", *length);
    }

    /// Says whether the model is of the family that has a known template: some architectures have other families, too.
    bool is_chat_family() const
    {
        if (architecture_ == "deepseek2")
            return metadata_.string("tokenizer.ggml.pre") == "glm4";
        return architecture_ != "olmo2" || metadata_.integer(key("attention.sliding_window"));
    }

    bool has_tokens_of_llama3() const
    {
        constexpr std::size_t kEndOfTurn = 128009;
        if (architecture_ != "llama" || metadata_.array_length("tokenizer.ggml.tokens").value_or(0) <= kEndOfTurn)
            return false;
        const auto tokens = metadata_.strings("tokenizer.ggml.tokens");
        return tokens && (*tokens)[kEndOfTurn] == "<|eot_id|>";
    }

    /// Takes the length of the feed-forward part from the tensors: the file has the number of the models'
    /// configuration, which is another one.
    void say_feed_forward_length()
    {
        const GgufTensor* const gate = find("blk.0.ffn_gate.weight");
        if (gate && metadata_.integer(key("feed_forward_length")).value_or(gate->dims[1]) != gate->dims[1])
            metadata_.say(key("feed_forward_length"), double(gate->dims[1]));
    }

    GgufTensor* find(std::string_view name)
    {
        const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                        [&](const GgufTensor& tensor) { return tensor.name == name; });
        return found == tensors_.end() ? nullptr : &*found;
    }

    Metadata& metadata_;
    std::vector<GgufTensor>& tensors_;
    std::string architecture_;
};

}  // namespace

void read_ollama_spelling(Metadata& metadata, std::vector<GgufTensor>& tensors)
{
    OllamaSpelling spelling(metadata, tensors);
    spelling.rename_architecture();
    spelling.rename_tensors();
    spelling.say_numbers();
    spelling.say_tokenizer();
    spelling.say_template();
    spelling.cut_vocabulary();
}

}  // namespace engine
