// Tests that files of Ollama's own converter are read as if their keys and tensors had the usual names, and as if
// nothing were left out.
#include "engine/gguf/gguf_file.h"
#include "engine/model/hyperparameters.h"
#include "engine/model_info.h"
#include "engine/template/chat_template.h"
#include "engine/tokenizer/vocabulary.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace engine;
using support::GgufWriter;

namespace {

/// A model of six layers, but for the epsilon of its norms.
GgufWriter six_layers(const std::string& architecture, std::uint32_t context = 4096)
{
    GgufWriter w;
    w.string("general.architecture", architecture).u32(architecture + ".block_count", 6);
    w.u32(architecture + ".context_length", context).u32(architecture + ".embedding_length", 64);
    w.u32(architecture + ".feed_forward_length", 128).u32(architecture + ".attention.head_count", 8);
    return w;
}

GgufWriter with_epsilon(GgufWriter w, const std::string& architecture)
{
    w.f32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
    return w;
}

GgufWriter& with_tensor(GgufWriter& w, std::string_view name, std::uint64_t length = 8, std::uint64_t rows = 1)
{
    return w.tensor(name, 0, {length, rows}, GgufWriter::Bytes(std::size_t(length * rows) * 4));
}

}  // namespace

class TestOllamaSpelling : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    std::filesystem::path saved(const GgufWriter& w) const
    {
        std::filesystem::path path = m_folder.filePath("m.gguf").toStdString();
        w.save(path);
        return path;
    }
    Result<Hyperparameters> numbers_of(const GgufWriter& w) const
    {
        const auto file = GgufFile::open(saved(w));
        if (!file)
            return tl::unexpected(file.error());
        return read_hyperparameters(*file);
    }

private Q_SLOTS:
    void tensorsHaveTheirUsualNames_data()
    {
        QTest::addColumn<QByteArray>("architecture");
        QTest::addColumn<QByteArray>("theirs");
        QTest::addColumn<QByteArray>("usual");
        const auto row = [](const char* architecture, const char* theirs, const char* usual) {
            QTest::addRow("%s, %s", architecture, usual)
                << QByteArray(architecture) << QByteArray(theirs) << QByteArray(usual);
        };
        row("lfm2", "output_norm.weight", "token_embd_norm.weight");
        row("gemma4", "blk.3.ffn_gate_inp.per_expert_scale", "blk.3.ffn_down_exps.scale");
        for (const char* const architecture : {"qwen35", "qwen35moe", "qwen3next"})
            row(architecture, "blk.12.ssm_dt", "blk.12.ssm_dt.bias");
        row("nemotron_h_moe", "blk.1.ffn_latent_in.weight", "blk.1.ffn_latent_down.weight");
        row("nemotron_h_moe", "blk.1.ffn_latent_out.weight", "blk.1.ffn_latent_up.weight");
        row("gptoss", "blk.2.attn_out.weight", "blk.2.attn_output.weight");
        row("gptoss", "blk.2.attn_out.bias", "blk.2.attn_output.bias");
        row("gptoss", "blk.2.attn_sinks", "blk.2.attn_sinks.weight");
        row("gptoss", "blk.2.ffn_norm.weight", "blk.2.post_attention_norm.weight");
    }
    void tensorsHaveTheirUsualNames()
    {
        QFETCH(QByteArray, architecture);
        QFETCH(QByteArray, theirs);
        QFETCH(QByteArray, usual);
        const auto names = [&](const char* of, const std::vector<QByteArray>& tensors) {
            GgufWriter w;
            w.string("general.architecture", of);
            for (const QByteArray& tensor : tensors)
                with_tensor(w, tensor.constData());
            const auto file = GgufFile::open(saved(w));
            QByteArrayList found;
            for (const QByteArray& name : {theirs, usual})
                if (file && file->tensor(name.constData()))
                    found += name;
            return found;
        };
        QCOMPARE(names(architecture.constData(), {"a", theirs, "z"}), QByteArrayList{usual});
        QCOMPARE(names(architecture.constData(), {theirs, usual}), (QByteArrayList{theirs, usual}));
        QCOMPARE(names("llama", {theirs}), QByteArrayList{theirs});
    }

    void architecturesHaveTheirUsualNames()
    {
        for (const auto& [theirs, usual] :
             {std::pair("qwen25vl", "qwen2vl"), std::pair("olmo3", "olmo2"), std::pair("gptoss", "gpt-oss")}) {
            const auto h = numbers_of(with_epsilon(six_layers(theirs), theirs));
            QVERIFY2(h, h ? "" : h.error().what.c_str());
            QCOMPARE(h->architecture->name, std::string_view(usual));
            QCOMPARE(h->embedding_length, 64);
            QCOMPARE(h->rms_epsilon, 1e-5f);
            const auto info = inspect_model(saved(with_epsilon(six_layers(theirs), theirs)));
            QCOMPARE(info->architecture, std::string(usual));
            QCOMPARE(info->context_tokens, 4096);
        }
        const auto file = GgufFile::open(saved(six_layers("nemotron_h_omni").u32("nemotron_h_omni.expert_count", 8)));
        QCOMPARE(file->integer("nemotron_h_moe.expert_count").value_or(0), 8);
        QVERIFY(!file->integer("nemotron_h_moe.expert_used_count"));
    }

    void gptOssHasItsNumbers()
    {
        GgufWriter w = with_epsilon(six_layers("gptoss"), "gptoss");
        w.u32("gptoss.expert_count", 4).u32("gptoss.expert_used_count", 2).f32("gptoss.rope.scaling.factor", 32);
        with_tensor(w, "blk.0.ffn_gate_exps.weight", 64, 32);
        const auto h = numbers_of(w);
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->expert_ffn_length, 32);
        QVERIFY(h->rope_scaling.kind == RopeScaling::Kind::Yarn);
        QCOMPARE(h->rope_scaling.factor, 32.0f);
    }

    // Ollama's converter writes the lengths of the row that is kept where other files have those of the heads, and the
    // other way round.
    void glmFlashHasItsNumbers()
    {
        const std::string p = "glm4moelite.attention.";
        GgufWriter w = with_epsilon(six_layers("glm4moelite"), "glm4moelite");
        w.u32(p + "kv_lora_rank", 32).u32("glm4moelite.rope.dimension_count", 8).u32(p + "head_count_kv", 8);
        w.u32(p + "key_length", 24).u32(p + "value_length", 12);
        w.u32(p + "key_length_mla", 40).u32(p + "value_length_mla", 32);
        const auto h = numbers_of(w);
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->architecture->name, std::string_view("deepseek2"));
        QCOMPARE(h->latent.key_length, 24);
        QCOMPARE(h->latent.value_length, 12);
        QCOMPARE(h->layers[0].key_length, 40);
        QCOMPARE(h->layers[0].value_length, 32);
    }

    void mistralsNumbers()
    {
        GgufWriter usual = with_epsilon(six_layers("mistral3"), "mistral3");
        usual.string("mistral3.rope.scaling.type", "yarn").f32("mistral3.rope.scaling.factor", 16);
        GgufWriter theirs = usual;
        usual.f32("mistral3.rope.scaling.yarn_beta_fast", 30).f32("mistral3.rope.scaling.yarn_beta_slow", 2);
        usual.f32("mistral3.rope.scaling.yarn_log_multiplier", 1).f32("mistral3.attention.temperature_scale", 0.1f);
        theirs.f32("mistral3.rope.scaling.beta_fast", 30).f32("mistral3.rope.scaling.beta_slow", 2);
        theirs.f32("mistral3.rope.scaling.mscale_all_dim", 1).f32("mistral3.rope.scaling_beta", 0.1f);
        for (const GgufWriter& w : {usual, theirs}) {
            const auto h = numbers_of(w);
            QVERIFY2(h, h ? "" : h.error().what.c_str());
            QCOMPARE(h->rope_scaling.yarn_beta_fast, 30.0f);
            QCOMPARE(h->rope_scaling.yarn_beta_slow, 2.0f);
            QCOMPARE(h->rope_scaling.yarn_log_multiplier, 1.0f);
            QCOMPARE(h->temperature.scale, 0.1f);
        }
    }

    void gemmasNumbers()
    {
        const auto h = numbers_of(six_layers("gemma3"));
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->rms_epsilon, 1e-6f);
        QCOMPARE(h->rope_base, 1e6f);
        QCOMPARE(h->rope_base_local, 1e4f);
        QVERIFY(h->rope_scaling.kind == RopeScaling::Kind::None);

        const auto named = numbers_of(
            six_layers("gemma3").f32("gemma3.rope.global.freq_base", 5e5f).f32("gemma3.rope.local.freq_base", 2e4f));
        QCOMPARE(named->rope_base, 5e5f);
        QCOMPARE(named->rope_base_local, 2e4f);

        const auto large = numbers_of(six_layers("gemma3", 131072));
        QVERIFY(large->rope_scaling.kind == RopeScaling::Kind::Linear);
        QCOMPARE(large->rope_scaling.factor, 8.0f);

        const auto ours = numbers_of(with_epsilon(six_layers("gemma3", 131072), "gemma3"));
        QCOMPARE(ours->rms_epsilon, 1e-5f);
        QVERIFY(ours->rope_scaling.kind == RopeScaling::Kind::None);

        GgufWriter yarn = with_epsilon(six_layers("gemma3"), "gemma3");
        yarn.string("gemma3.rope.scaling.type", "yarn").f32("gemma3.rope.scaling.factor", 8);
        yarn.f32("gemma3.rope.scaling.beta_fast", 64).f32("gemma3.rope.scaling.beta_slow", 2);
        const auto stretched = numbers_of(yarn);
        QVERIFY2(stretched, stretched ? "" : stretched.error().what.c_str());
        QCOMPARE(stretched->rope_scaling.yarn_beta_fast, 64.0f);
        QCOMPARE(stretched->rope_scaling.yarn_beta_slow, 2.0f);
    }

    /// For these architectures no epsilon is known that a file could leave out.
    void aMissingEpsilonIsASentence()
    {
        for (const char* const architecture : {"llama", "qwen3", "cohere2"}) {
            const auto h = numbers_of(six_layers(architecture));
            QVERIFY(!h);
            QCOMPARE(QString::fromStdString(h.error().what),
                     QString(architecture) + ".attention.layer_norm_rms_epsilon is missing from the model file");
        }
        QVERIFY(numbers_of(six_layers("cohere2").f32("cohere2.attention.layer_norm_epsilon", 1e-5f)));
    }

    void lengthsAreThoseOfTheTensors()
    {
        GgufWriter experts = with_epsilon(six_layers("nemotron_h_moe"), "nemotron_h_moe");
        with_tensor(experts, "blk.1.ffn_latent_in.weight", 64, 16);
        const auto latent = GgufFile::open(saved(experts));
        QVERIFY(latent);
        QCOMPARE(latent->integer("nemotron_h_moe.moe_latent_size").value_or(0), 16);

        GgufWriter convolution = with_epsilon(six_layers("lfm2"), "lfm2");
        with_tensor(convolution, "blk.0.ffn_gate.weight", 64, 96);
        const auto lfm = GgufFile::open(saved(convolution));
        QVERIFY(lfm);
        QCOMPARE(lfm->integer("lfm2.feed_forward_length").value_or(0), 96);
    }

    void tokensWithoutARowAreLeftOut()
    {
        for (const char* const architecture : {"gemma3", "gemma3n", "llama"}) {
            const bool of_layers = QByteArray(architecture) == "gemma3n";
            GgufWriter w = six_layers(architecture);
            w.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", {"a", "b", "c", "d", "e"});
            w.floats("tokenizer.ggml.scores", std::vector<float>(5));
            with_tensor(w, "token_embd.weight", 64, of_layers ? 5 : 4);
            if (of_layers)
                with_tensor(w, "per_layer_token_embd.weight", 32, 4);
            const std::filesystem::path path = saved(w);
            const int left = QByteArray(architecture) == "llama" ? 5 : 4;
            const auto info = inspect_model(path);
            QVERIFY(info);
            QCOMPARE(info->vocabulary, left);
            const auto file = GgufFile::open(path);
            QCOMPARE(int(read_vocabulary(*file)->tokens.size()), left);
            QVERIFY(std::ranges::any_of(file->printed_metadata(), [](const Metadata::Printed& printed) {
                return printed.key == "tokenizer.ggml.tokens" && printed.value.ends_with("e]");  // as the file has it
            }));
            QCOMPARE(file->tensor("token_embd.weight")->dims[1], std::int64_t(4));
            QCOMPARE(file->tensor("token_embd.weight")->bytes.size(), std::size_t(64 * 4 * 4));
        }
    }

    void howTextIsCut()
    {
        const auto vocabulary = [&](const char* architecture, const char* model, const char* pre, bool merges) {
            GgufWriter w = six_layers(architecture);
            w.string("tokenizer.ggml.model", model).strings("tokenizer.ggml.tokens", {"a", "b", "ab"});
            if (*pre)
                w.string("tokenizer.ggml.pre", pre);
            if (merges)
                w.strings("tokenizer.ggml.merges", {"a b"});
            return read_vocabulary(*GgufFile::open(saved(w))).value_or(Vocabulary{});
        };
        QCOMPARE(vocabulary("gemma4", "llama", "gemma4", true).model, std::string("gemma4"));
        QCOMPARE(vocabulary("gemma4", "llama", "", false).model, std::string("llama"));
        QCOMPARE(vocabulary("gemma3", "llama", "", true).model, std::string("llama"));
        for (const char* const pre : {"", "default"}) {
            QCOMPARE(vocabulary("mistral3", "gpt2", pre, true).pre, std::string("tekken"));
            QCOMPARE(vocabulary("lfm2", "gpt2", pre, true).pre, std::string("lfm2"));
            QCOMPARE(vocabulary("qwen2", "gpt2", pre, true).pre, std::string(pre));
        }
        QCOMPARE(vocabulary("mistral3", "gpt2", "llama-bpe", true).pre, std::string("llama-bpe"));
        for (const auto& [architecture, pre] : {std::pair("gptoss", "gpt-4o"), std::pair("glm4moelite", "glm4"),
                                                std::pair("olmo3", "dbrx"), std::pair("qwen25vl", "default")})
            QCOMPARE(vocabulary(architecture, "gpt2", "default", true).pre, std::string(pre));
    }

    // As the families' own templates write it, whose renderings by Jinja2 these are; gpt-oss as its makers describe it.
    void chatsHaveTheTemplateOfTheirFamily_data()
    {
        QTest::addColumn<QByteArray>("architecture");
        QTest::addColumn<QByteArray>("expected");
        QTest::newRow("gemma3") << QByteArray("gemma3")
                                << QByteArray("<s><start_of_turn>user\nYou are terse.\n\nHi<end_of_turn>\n"
                                              "<start_of_turn>model\nHello.<end_of_turn>\n<start_of_turn>user\n"
                                              "What is a KV cache?<end_of_turn>\n<start_of_turn>model\n");
        QTest::newRow("gemma4") << QByteArray("gemma4")
                                << QByteArray("<s><|turn>system\nYou are terse.<turn|>\n<|turn>user\nHi<turn|>\n"
                                              "<|turn>model\nHello.<turn|>\n<|turn>user\nWhat is a KV cache?<turn|>\n"
                                              "<|turn>model\n<|channel>thought\n<channel|>");
        QTest::newRow("mistral3") << QByteArray("mistral3")
                                  << QByteArray("<s>[SYSTEM_PROMPT]You are terse.[/SYSTEM_PROMPT][INST]Hi[/INST]Hello."
                                                "</s>[INST]What is a KV cache?[/INST]");
        QTest::newRow("GLM-4.7-Flash") << QByteArray("glm4moelite")
                                       << QByteArray("[gMASK]<sop><|system|>You are terse.<|user|>Hi<|assistant|>"
                                                     "</think>Hello.<|user|>What is a KV cache?<|assistant|><think>");
        QTest::newRow("GLM-4.7-Flash by its usual name")
            << QByteArray("deepseek2")
            << QByteArray("[gMASK]<sop><|system|>You are terse.<|user|>Hi<|assistant|></think>Hello.<|user|>"
                          "What is a KV cache?<|assistant|><think>");
        QTest::newRow("lfm2") << QByteArray("lfm2")
                              << QByteArray("<s><|im_start|>system\nYou are terse.<|im_end|>\n<|im_start|>user\nHi"
                                            "<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\n"
                                            "What is a KV cache?<|im_end|>\n<|im_start|>assistant\n");
        QTest::newRow("OLMo 3") << QByteArray("olmo3")
                                << QByteArray("<|im_start|>system\nYou are terse.<|im_end|>\n<|im_start|>user\nHi"
                                              "<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\n"
                                              "What is a KV cache?<|im_end|>\n<|im_start|>assistant\n");
        QTest::newRow("Nemotron 3") << QByteArray("nemotron_h_moe")
                                    << QByteArray("<|im_start|>system\nYou are terse.<|im_end|>\n<|im_start|>user\nHi"
                                                  "<|im_end|>\n<|im_start|>assistant\n<think></think>Hello.<|im_end|>\n"
                                                  "<|im_start|>user\nWhat is a KV cache?<|im_end|>\n"
                                                  "<|im_start|>assistant\n<think>\n");
        QTest::newRow("gpt-oss") << QByteArray("gptoss")
                                 << QByteArray("<|start|>system<|message|>You are ChatGPT, a large language model "
                                               "trained by OpenAI.\nKnowledge cutoff: 2024-06\nCurrent date: "
                                               "2026-07-26\n\nReasoning: medium\n\n# Valid channels: analysis, "
                                               "commentary, final. Channel must be included for every message.<|end|>"
                                               "<|start|>developer<|message|># Instructions\n\nYou are terse.<|end|>"
                                               "<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>final"
                                               "<|message|>Hello.<|end|><|start|>user<|message|>What is a KV cache?"
                                               "<|end|><|start|>assistant");
    }
    void chatsHaveTheTemplateOfTheirFamily()
    {
        QFETCH(QByteArray, architecture);
        QFETCH(QByteArray, expected);
        GgufWriter w = six_layers(architecture.toStdString());
        w.u32(architecture.toStdString() + ".attention.sliding_window", 64);
        if (architecture == "deepseek2")  // which other families have, too
            w.string("tokenizer.ggml.pre", "glm4").string("general.type", "model");
        const auto source = [&](const GgufWriter& of) {
            return std::string(GgufFile::open(saved(of))->string("tokenizer.chat_template").value_or(""));
        };
        const auto known = ChatTemplate::parse(source(w));
        QVERIFY2(known, known ? "" : known.error().what.c_str());
        RenderOptions options;
        options.now = std::tm{};
        options.now->tm_year = 126;
        options.now->tm_mon = 6;
        options.now->tm_mday = 26;
        const auto text = known->render({{"messages",
                                          {{{"role", "system"}, {"content", "You are terse."}},
                                           {{"role", "user"}, {"content", "Hi"}},
                                           {{"role", "assistant"}, {"content", "Hello."}},
                                           {{"role", "user"}, {"content", "What is a KV cache?"}}}},
                                         {"add_generation_prompt", true},
                                         {"bos_token", "<s>"},
                                         {"eos_token", "</s>"}},
                                        options);
        QVERIFY2(text, text ? "" : text.error().what.c_str());
        QCOMPARE(QByteArray::fromStdString(*text), expected);

        // A file of another converter without a template is of a model that only goes on with texts.
        QCOMPARE(source(GgufWriter(w).string("general.name", "Base")), std::string());
        QCOMPARE(source(GgufWriter(w).string("tokenizer.chat_template", "own")), std::string("own"));
    }

    // The models with inputs for each layer (E2B, E4B) have no empty thought before an answer without one.
    void smallGemmasBeginWithoutAThought()
    {
        for (const auto& [length, before] : {std::pair(256u, ""), std::pair(0u, "<|channel>thought\n<channel|>")}) {
            GgufWriter w = six_layers("gemma4").u32("gemma4.embedding_length_per_layer_input", length);
            const auto file = GgufFile::open(saved(w));
            const auto known = ChatTemplate::parse(std::string(file->string("tokenizer.chat_template").value_or("")));
            QVERIFY2(known, known ? "" : known.error().what.c_str());
            const auto text = [&](bool thinks) {
                return *known->render({{"messages", {{{"role", "user"}, {"content", "x"}}}},
                                       {"add_generation_prompt", true},
                                       {"bos_token", "<s>"},
                                       {"enable_thinking", thinks}});
            };
            const std::string asked = "<|turn>user\nx<turn|>\n<|turn>model\n";
            QCOMPARE(text(false), "<s>" + asked + before);
            QCOMPARE(text(true), "<s><|turn>system\n<|think|>\n<turn|>\n" + asked);
        }
    }

    // The template writes a system message also where the conversation has none.
    void nemotronHasASystem()
    {
        const auto file = GgufFile::open(saved(six_layers("nemotron_h_moe")));
        const auto known = ChatTemplate::parse(std::string(file->string("tokenizer.chat_template").value_or("")));
        QVERIFY(known);
        QCOMPARE(*known->render({{"messages", {{{"role", "user"}, {"content", "x"}}}},
                                 {"add_generation_prompt", true},
                                 {"enable_thinking", false}}),
                 std::string("<|im_start|>system\n<|im_end|>\n<|im_start|>user\nx<|im_end|>\n"
                             "<|im_start|>assistant\n<think></think>"));
    }

    // The expected text is that of the template of OLMo 3's Instruct models.
    void olmoHasASystem()
    {
        const auto file = GgufFile::open(saved(six_layers("olmo3").u32("olmo3.attention.sliding_window", 64)));
        const auto known = ChatTemplate::parse(std::string(file->string("tokenizer.chat_template").value_or("")));
        QVERIFY(known);
        QCOMPARE(
            *known->render({{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"add_generation_prompt", true}}),
            std::string("<|im_start|>system\nYou are a helpful function-calling AI assistant. You do not currently "
                        "have access to any functions. <functions></functions><|im_end|>\n<|im_start|>user\nx"
                        "<|im_end|>\n<|im_start|>assistant\n"));
    }

    void llama3IsKnownByItsTokens()
    {
        const auto pre = [&](std::size_t end_of_turn, const char* said) {
            std::vector<std::string> tokens(end_of_turn + 1);
            tokens.back() = "<|eot_id|>";
            GgufWriter w = six_layers("llama");
            w.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", tokens);
            if (*said)
                w.string("tokenizer.ggml.pre", said);
            return read_vocabulary(*GgufFile::open(saved(w))).value_or(Vocabulary{}).pre;
        };
        QCOMPARE(pre(128009, ""), std::string("llama-bpe"));
        QCOMPARE(pre(128009, "default"), std::string("llama-bpe"));
        QCOMPARE(pre(128009, "smaug-bpe"), std::string("smaug-bpe"));
        QCOMPARE(pre(128008, "default"), std::string("default"));
    }

    void bytesAreBytes()
    {
        const auto type_of_byte = [&](const char* architecture) {
            GgufWriter w = six_layers(architecture);
            w.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", {"a", "<0x41>", "<0xG1>"});
            w.i32s("tokenizer.ggml.token_type", std::vector<std::int32_t>{1, 1, 1});
            const auto vocabulary = read_vocabulary(*GgufFile::open(saved(w))).value_or(Vocabulary{});
            const auto& types = vocabulary.types;
            return types.size() == 3 && types[0] == TokenType::Normal && types[2] == TokenType::Normal ? int(types[1])
                                                                                                       : 0;
        };
        QCOMPARE(type_of_byte("gemma3n"), int(TokenType::Byte));
        QCOMPARE(type_of_byte("llama"), int(TokenType::Normal));
    }
};

SPILLWAY_TEST(QCoreApplication, TestOllamaSpelling)
#include "tst_ollama_spelling.moc"
