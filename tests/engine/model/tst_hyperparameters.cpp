// Tests that the numbers of a model are read from its file or take their defaults, and that senseless ones are refused
// with a sentence.
#include "engine/gguf/gguf_file.h"
#include "engine/model/hyperparameters.h"
#include "engine/model/rope.h"
#include "engine/model_info.h"
#include "tests/support/gguf_writer.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <functional>

using namespace engine;
using support::GgufWriter;

namespace {

/// A model of six layers, but for what `leave_out` names.
GgufWriter model(const std::string& architecture = "llama", std::string_view leave_out = {})
{
    GgufWriter w;
    if (leave_out != "architecture")
        w.string("general.architecture", architecture);
    const auto add = [&](const char* key, std::uint32_t value) {
        if (leave_out != key)
            w.u32(architecture + '.' + key, value);
    };
    add("block_count", 6);
    add("context_length", 4096);
    add("embedding_length", 64);
    add("feed_forward_length", 128);
    add("attention.head_count", 8);
    if (leave_out != "attention.layer_norm_rms_epsilon")
        w.f32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
    return w;
}

GgufWriter two_kinds_of_heads(const std::vector<bool>& slides)
{
    GgufWriter w = model("gemma4");
    w.u32("gemma4.attention.sliding_window", 64).booleans("gemma4.attention.sliding_window_pattern", slides);
    w.u32("gemma4.attention.key_length", 32).u32("gemma4.attention.value_length", 24);
    w.u32("gemma4.attention.key_length_swa", 16).u32("gemma4.attention.value_length_swa", 12);
    return w.u32("gemma4.rope.dimension_count_swa", 8);
}

/// Makes a model with latent attention. `older`: the file has the lengths of the heads in place of those of the row
/// that is kept.
GgufWriter latent_model(bool older)
{
    const std::string p = "deepseek2.attention.";
    GgufWriter w = model("deepseek2");
    w.u32(p + "kv_lora_rank", 32).u32("deepseek2.rope.dimension_count", 8);
    if (older)
        return w.u32(p + "head_count_kv", 8).u32(p + "key_length", 24).u32(p + "value_length", 12);
    w.u32(p + "head_count_kv", 1).u32(p + "key_length", 40).u32(p + "value_length", 32);
    return w.u32(p + "key_length_mla", 24).u32(p + "value_length_mla", 12).u32(p + "q_lora_rank", 20);
}

GgufWriter experts_in_groups(std::uint32_t groups, std::uint32_t used)
{
    GgufWriter w = latent_model(false);
    w.u32("deepseek2.expert_count", 12).u32("deepseek2.expert_used_count", 4);
    return w.u32("deepseek2.expert_group_count", groups).u32("deepseek2.expert_group_used_count", used);
}

}  // namespace

class TestHyperparameters : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    Result<Hyperparameters> read(const GgufWriter& writer)
    {
        const std::filesystem::path path = m_folder.filePath("model.gguf").toStdString();
        writer.save(path);
        const auto file = GgufFile::open(path);
        if (!file)
            return tl::unexpected(file.error());
        return read_hyperparameters(*file);
    }

private Q_SLOTS:
    // The architectures that README lists are those that are run, and those that a file's description says can be run.
    void namesAreTheSameEverywhere()
    {
        QStringList rows, known, described;
        for (const Architecture& a : all_architectures())
            known += QString::fromUtf8(a.name.data(), qsizetype(a.name.size()));
        QFile readme(QStringLiteral(SPILLWAY_SOURCE_DIR "/README.md"));
        QVERIFY(readme.open(QIODevice::ReadOnly));
        static const QRegularExpression row("^\\| architectures \\| (.*) \\|$", QRegularExpression::MultilineOption);
        static const QRegularExpression remark(" \\([^)]*\\)");
        rows = row.match(QString::fromUtf8(readme.readAll())).captured(1).remove(remark).split(", ");
        rows.sort();
        known.sort();
        QCOMPARE(rows, known);

        const std::filesystem::path path = m_folder.filePath("model.gguf").toStdString();
        for (const QString& name : std::as_const(known)) {
            model(name.toStdString()).tensor("token_embd.weight", 0, {8}, GgufWriter::Bytes(32)).save(path);
            const auto info = inspect_model(path);
            QVERIFY2(info && info->runnable, qPrintable(name));
        }
    }

    void whatIsNotSaidHasItsDefault()
    {
        const auto h = read(model());
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->layers.size(), std::size_t(6));
        QCOMPARE(h->layers[0].kv_heads, 8);    // as many as heads
        QCOMPARE(h->layers[0].key_length, 8);  // embedding / heads
        QCOMPARE(h->layers[0].value_length, 8);
        QCOMPARE(h->layers[0].rope_dimensions, 8);
        QCOMPARE(h->rope_base, 10000.0f);
        QVERIFY(qFuzzyCompare(h->attention_scale, 1.0f / std::sqrt(8.0f)));
        QCOMPARE(h->experts, 0);
    }

    // Converters put the rows of queries and keys in another order for models that also see (GLM-4.1V, GLM-4.6V-Flash).
    void sectionsSayWhichValuesRotateTogether()
    {
        const auto halves = [&](const std::string& architecture, const std::vector<std::uint32_t>& sections) {
            GgufWriter w = model(architecture);
            if (!sections.empty())
                w.u32s(architecture + ".rope.dimension_sections", sections);
            return read(w)->rope_neox;
        };
        QVERIFY(!halves("glm4", {}));
        QVERIFY(!halves("glm4", {0, 0, 0, 0}));
        QVERIFY(halves("glm4", {8, 12, 12, 0}));
        QVERIFY(halves("glm4moe", {}));
        QVERIFY(!halves("llama", {8, 12, 12, 0}));
    }

    void layersMayDiffer()
    {
        GgufWriter w = model("llama", "attention.head_count");
        const std::vector<std::uint32_t> heads = {8, 8, 4, 4, 2, 2}, kv_heads = {4, 4, 4, 2, 2, 1};
        w.u32s("llama.attention.head_count", heads).u32s("llama.attention.head_count_kv", kv_heads);
        const auto h = read(w);
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        for (std::size_t l = 0; l < 6; ++l) {
            QCOMPARE(h->layers[l].heads, int(heads[l]));
            QCOMPARE(h->layers[l].kv_heads, int(kv_heads[l]));
        }
    }

    void slidingLayersMayHaveOtherHeads()
    {
        const auto h = read(two_kinds_of_heads({true, true, false, true, true, false}));
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        for (const int l : {0, 2, 4, 5}) {
            const LayerParameters& layer = h->layers[std::size_t(l)];
            const bool slides = l == 0 || l == 4;
            QCOMPARE(layer.kind == LayerKind::SlidingWindow, slides);
            QCOMPARE(layer.key_length, slides ? 16 : 32);
            QCOMPARE(layer.value_length, slides ? 12 : 24);
            QCOMPARE(layer.rope_dimensions, slides ? 8 : 32);
            QCOMPARE(layer.kv_source, -1);
        }
        QCOMPARE(h->longest_key(), 32);
        QCOMPARE(h->longest_value(), 24);
        QCOMPARE(h->attention_scale, 1.0f);
    }

    void latentAttentionKeepsOneRow()
    {
        for (const bool older : {false, true}) {
            const auto h = read(latent_model(older));
            QVERIFY2(h, h ? "" : h.error().what.c_str());
            QCOMPARE(h->latent.rank, 32);
            QCOMPARE(h->latent.query_rank, older ? 0 : 20);
            QCOMPARE(h->latent.plain, 16);
            QCOMPARE(h->latent.key_length, 24);
            QCOMPARE(h->latent.value_length, 12);
            for (const LayerParameters& layer : h->layers) {
                QCOMPARE(layer.kv_heads, 1);
                QCOMPARE(layer.key_length, 40);
                QCOMPARE(layer.value_length, 32);
                QCOMPARE(layer.rope_dimensions, 8);
            }
            QVERIFY(qFuzzyCompare(h->attention_scale, 1.0f / std::sqrt(24.0f)));
            QCOMPARE(h->router_scores, RouterScores::Softmax);
            QCOMPARE(h->expert_weights, ExpertWeights::AsScored);
        }
        // YaRN's magnitude is on the scores.
        const auto yarn = read(latent_model(false)
                                   .string("deepseek2.rope.scaling.type", "yarn")
                                   .f32("deepseek2.rope.scaling.factor", 40)
                                   .f32("deepseek2.rope.scaling.yarn_log_multiplier", 0.1f));
        const float magnitude = 1.0f + 0.1f * std::log(40.0f);
        QVERIFY(qFuzzyCompare(yarn->attention_scale, magnitude * magnitude / std::sqrt(24.0f)));
    }

    void latentLengthsThatMakeNoSenseAreRefused()
    {
        const std::string p = "deepseek2.attention.";
        QVERIFY(!read(model("deepseek2")));                // no rank
        for (const std::uint32_t rotated : {0u, 6u, 24u})  // of keys of 24
            QVERIFY(!read(model("deepseek2")
                              .u32(p + "kv_lora_rank", 32)
                              .u32(p + "key_length", 24)
                              .u32("deepseek2.rope.dimension_count", rotated)));
        QVERIFY(!read(latent_model(true).u32("deepseek2.attention.shared_kv_layers", 2)));
    }

    void expertsMayBeInGroups()
    {
        const auto h = read(experts_in_groups(4, 2));
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->expert_groups, 4);
        QCOMPARE(h->expert_groups_used, 2);
        QCOMPARE(read(experts_in_groups(1, 1))->expert_groups, 0);
        QCOMPARE(read(experts_in_groups(3, 3))->expert_groups, 0);  // none is left out
        QVERIFY(!read(experts_in_groups(5, 2)));                    // not all of one size
        QVERIFY(!read(experts_in_groups(4, 1)));                    // fewer experts than are used
        QVERIFY(!read(experts_in_groups(4, 0)));
        QVERIFY(!read(experts_in_groups(4, 5)));
    }

    void layersMayReadTheKvOfOthers()
    {
        const auto h = read(
            two_kinds_of_heads({true, false, true, false, true, false}).u32("gemma4.attention.shared_kv_layers", 3));
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        const std::vector<int> sources = {-1, -1, -1, 1, 2, 1};
        for (std::size_t l = 0; l < 6; ++l)
            QCOMPARE(h->layers[l].kv_source, sources[l]);

        const auto none = read(
            two_kinds_of_heads({true, true, true, false, true, false}).u32("gemma4.attention.shared_kv_layers", 3));
        QVERIFY(!none);
        QCOMPARE(none.error().code, Error::Code::BadFile);
        GgufWriter other = model("gemma4", "attention.head_count_kv");
        other.u32("gemma4.attention.shared_kv_layers", 1);
        other.u32s("gemma4.attention.head_count_kv", std::vector<std::uint32_t>{8, 8, 8, 8, 8, 4});
        QVERIFY(!read(other));
    }

    // One entry for each layer, or a period.
    void layersThatSlideMayBeNamed()
    {
        const std::vector<bool> slides = {false, true, true, false, true, true};
        GgufWriter w = model("olmo2").u32("olmo2.attention.sliding_window", 64);
        const auto h = read(w.booleans("olmo2.attention.sliding_window_pattern", slides));
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        for (std::size_t l = 0; l < 6; ++l)
            QCOMPARE(h->layers[l].kind == LayerKind::SlidingWindow, bool(slides[l]));
        GgufWriter few = model("olmo2").u32("olmo2.attention.sliding_window", 64);
        QVERIFY(!read(few.booleans("olmo2.attention.sliding_window_pattern", {true, false, true})));
        GgufWriter period = model("olmo2").u32("olmo2.attention.sliding_window", 64);
        const auto every_second = read(period.u32("olmo2.attention.sliding_window_pattern", 2));
        QVERIFY(every_second);
        for (std::size_t l = 0; l < 6; ++l)
            QCOMPARE(every_second->layers[l].kind == LayerKind::SlidingWindow, l % 2 == 0);
    }

    void notAllLayersRotate()
    {
        const auto rotating = [&](GgufWriter w) {
            const auto h = read(w);
            QString letters;
            for (std::size_t l = 0; h && l < 6; ++l)
                letters += h->layers[l].rope ? 'r' : '-';
            return letters;
        };
        QCOMPARE(rotating(model("llama")), "rrrrrr");
        QCOMPARE(rotating(model("smollm3")), "rrr-rr");
        QCOMPARE(rotating(model("cohere2").u32("cohere2.attention.sliding_window", 64)), "rrr-rr");
        QCOMPARE(rotating(model("llama4")), "rrr-rr");
        for (const std::string name : {"exaone4", "exaone-moe", "afmoe"}) {
            QCOMPARE(rotating(model(name).u32(name + ".attention.sliding_window", 64)), "rrr-rr");
            QCOMPARE(rotating(model(name)), "rrrrrr");
        }
        // A window that no layer has.
        GgufWriter full = model("exaone4").u32("exaone4.attention.sliding_window", 64);
        QCOMPARE(rotating(full.booleans("exaone4.attention.sliding_window_pattern", std::vector<bool>(6))), "rrrrrr");
        QCOMPARE(rotating(model("llama4").u32("llama4.attention.sliding_window", 0)), "rrrrrr");
        QCOMPARE(rotating(model("granite")), "rrrrrr");
        QCOMPARE(rotating(model("granite").boolean("granite.rope.scaling.finetuned", false)), "------");
    }

    // They predict several tokens at once.
    void theLastBlocksMayNotBeRun()
    {
        const auto layers = [&](std::uint32_t predicting) {
            const auto h = read(model("glm4moe").u32("glm4moe.nextn_predict_layers", predicting));
            return h ? int(h->layers.size()) : -1;
        };
        QCOMPARE(layers(0), 6);
        QCOMPARE(layers(1), 5);
        QCOMPARE(layers(5), 1);
        QCOMPARE(layers(6), -1);
        QCOMPARE(layers(0xffffffff), -1);
    }

    void factorsOfTheStream()
    {
        GgufWriter w = model("granite", "attention.layer_norm_rms_epsilon");
        w.f32("granite.embedding_scale", 12.0f).f32("granite.residual_scale", 0.25f);
        w.f32("granite.logit_scale", 8.0f).f32("granite.attention.scale", 0.5f);
        w.f32("granite.attention.layer_norm_rms_epsilon", 1e-6f);
        const auto h = read(w);
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->embedding_scale, 48.0f);  // the stream is kept divided by residual_scale
        QCOMPARE(h->stream_epsilon, 1e-6f * 16);
        QCOMPARE(h->logit_scale, 0.125f);
        QCOMPARE(h->attention_scale, 0.5f);
        const auto none = read(model("granite").f32("granite.residual_scale", 0.0f).f32("granite.logit_scale", 0.0f));
        QVERIFY(none && none->embedding_scale == 1.0f && none->logit_scale == 1.0f);
        QVERIFY(!read(model("granite").f32("granite.residual_scale", 1e-30f)));
    }

    // MiniCPM's first files do not say theirs, which its configuration has: 12, 1.4 / sqrt(layers), and a 256th of the
    // embedding's length.
    void factorsThatAFamilyHas()
    {
        const auto h = read(model("minicpm"));
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        const float residual = 1.4f / std::sqrt(6.0f);
        QVERIFY(qFuzzyCompare(h->embedding_scale, 12.0f / residual));
        QCOMPARE(h->logit_scale, 4.0f);
        const auto said = read(model("minicpm").f32("minicpm.embedding_scale", 2.0f).f32("minicpm.logit_scale", 16.0f));
        QVERIFY(qFuzzyCompare(said->embedding_scale, 2.0f / residual));
        QCOMPARE(said->logit_scale, 0.0625f);
    }

    // Files of Hunyuan's dense models say one expert, of which none is used.
    void oneExpertIsNone()
    {
        const auto h = read(model("hunyuan-dense").u32("hunyuan-dense.expert_count", 1));
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->experts, 0);
    }

    // Qwen 1.5 MoE's first files say the shared expert's length only.
    void expertsAreAsLongAsTheirTensors()
    {
        GgufWriter w = model("qwen2moe").u32("qwen2moe.expert_count", 4).u32("qwen2moe.expert_used_count", 2);
        QCOMPARE(read(w)->expert_ffn_length, 128);
        w.tensor("blk.5.ffn_down_exps.weight", 0, {32, 64, 4}, GgufWriter::Bytes(32 * 64 * 4 * 4));
        QCOMPARE(read(w)->expert_ffn_length, 32);
        QCOMPARE(read(w)->layers[5].ffn_length, 128);
        QCOMPARE(read(w.u32("qwen2moe.expert_feed_forward_length", 48))->expert_ffn_length, 48);
    }

    void layersMayLackParts()
    {
        GgufWriter w = model("deci", "attention.head_count");
        w.u32s("deci.attention.head_count", std::vector<std::uint32_t>{8, 0, 8, 0, 8, 8});
        w.u32s("deci.attention.head_count_kv", std::vector<std::uint32_t>{2, 0, 4, 0, 2, 1});
        const auto h = read(w);
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        for (std::size_t l = 0; l < 6; ++l) {
            const bool attends = l != 1 && l != 3;
            QCOMPARE(h->layers[l].mixer, attends ? Mixer::Attention : Mixer::None);
            QVERIFY(h->layers[l].feed_forward);
        }
        // Heads without keys stand for a matrix in place of attention.
        GgufWriter others = model("deci", "feed_forward_length");
        others.u32s("deci.attention.head_count_kv", std::vector<std::uint32_t>{2, 0, 4, 2, 2, 1});
        others.u32s("deci.feed_forward_length", std::vector<std::uint32_t>{128, 64, 0, 128, 128, 128});
        const auto o = read(others);
        QVERIFY2(o, o ? "" : o.error().what.c_str());
        QCOMPARE(o->layers[1].mixer, Mixer::Matrix);
        QVERIFY(o->layers[1].heads == 0 && o->layers[1].kv_heads == 0 && o->layers[1].feed_forward);
        QCOMPARE(o->layers[2].mixer, Mixer::Attention);
        QVERIFY(o->layers[2].kv_heads == 4 && !o->layers[2].feed_forward);
        QVERIFY(!is_recurrent(Mixer::Matrix) && !attends(Mixer::Matrix));
        // Elsewhere neither is known.
        GgufWriter llama = model();
        llama.u32s("llama.attention.head_count_kv", std::vector<std::uint32_t>{2, 0, 4, 2, 2, 1});
        QVERIFY(!read(llama));
    }

    void howExpertsAreChosen()
    {
        const auto with = [&](std::uint32_t scores) {
            GgufWriter w = model("glm4moe").u32("glm4moe.expert_count", 4).u32("glm4moe.expert_used_count", 2);
            return read(w.u32("glm4moe.expert_gating_func", scores).boolean("glm4moe.expert_weights_norm", false));
        };
        QVERIFY(with(0) && with(0)->router_scores == RouterScores::Sigmoid);
        QVERIFY(with(1) && with(1)->router_scores == RouterScores::Softmax);
        QVERIFY(with(2) && with(2)->router_scores == RouterScores::Sigmoid);
        QVERIFY(with(3) && with(3)->router_scores == RouterScores::Softmax);
        QVERIFY(!with(4) && !with(0xffffffff));
        QVERIFY(with(2)->expert_weights == ExpertWeights::AsScored);
        QCOMPARE(with(2)->expert_ffn_length, 128);  // the length of all feed-forwards
    }

    // Each number at its ends, and one beyond them.
    void everyNumberHasItsBounds_data()
    {
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<quint32>("value");
        QTest::addColumn<bool>("read");
        const auto bounds = [](const char* key, quint32 lowest, quint32 highest) {
            if (lowest > 0)
                QTest::addRow("%s %u", key, lowest - 1) << QByteArray(key) << lowest - 1 << false;
            QTest::addRow("%s %u", key, lowest) << QByteArray(key) << lowest << true;
            QTest::addRow("%s %u", key, highest) << QByteArray(key) << highest << true;
            QTest::addRow("%s %u", key, highest + 1) << QByteArray(key) << highest + 1 << false;
            QTest::addRow("%s max", key) << QByteArray(key) << quint32(-1) << false;
        };
        bounds("block_count", 1, 4096);
        bounds("context_length", 1, 1 << 27);
        bounds("embedding_length", 1, 1 << 20);
        bounds("feed_forward_length", 1, 1 << 20);
        bounds("attention.head_count", 1, 1 << 14);
        bounds("attention.head_count_kv", 1, 8);  // a divisor of the heads
        bounds("attention.sliding_window", 0, 1 << 27);
        bounds("attention.key_length", 8, 1 << 14);  // a multiple of 4, not below what is rotated
        bounds("attention.value_length", 4, 1 << 14);
        bounds("rope.dimension_count", 0, 8);
        bounds("expert_count", 2, 4096);    // not below those that are used
        bounds("expert_used_count", 1, 4);  // of four
        bounds("expert_feed_forward_length", 1, 1 << 20);
    }

    void everyNumberHasItsBounds()
    {
        QFETCH(QByteArray, key);
        QFETCH(quint32, value);
        QFETCH(bool, read);
        GgufWriter w = model("llama", key.toStdString());
        const std::pair<const char*, std::uint32_t> others[] = {
            {"attention.key_length", 8}, {"attention.value_length", 8}, {"rope.dimension_count", 8},
            {"expert_count", 4},         {"expert_used_count", 2},      {"expert_feed_forward_length", 32}};
        for (const auto& [other, usual] : others)
            if (key != other)
                w.u32(std::string("llama.") + other, usual);
        w.u32("llama." + key.toStdString(), value);
        const auto h = this->read(w);
        QVERIFY2(h.has_value() == read, h ? "it was read" : h.error().what.c_str());
    }

    void onlySomeArchitecturesSlide_data()
    {
        QTest::addColumn<QString>("architecture");
        QTest::addColumn<QString>("kinds");  // a letter a layer
        QTest::addRow("gemma2") << "gemma2"
                                << "sfsfsf";
        QTest::addRow("gemma3") << "gemma3"
                                << "sssssf";
        QTest::addRow("gemma4") << "gemma4"
                                << "sssssf";
        QTest::addRow("gpt-oss") << "gpt-oss"
                                 << "sfsfsf";
        QTest::addRow("phi3") << "phi3"
                              << "ffffff";
        QTest::addRow("llama") << "llama"
                               << "ffffff";
        QTest::addRow("olmo2") << "olmo2"
                               << "sssfss";
        QTest::addRow("cohere2") << "cohere2"
                                 << "sssfss";
        QTest::addRow("command-r") << "command-r"
                                   << "ffffff";
        QTest::addRow("mellum") << "mellum"
                                << "sssfss";
    }

    void onlySomeArchitecturesSlide()
    {
        QFETCH(QString, architecture);
        QFETCH(QString, kinds);
        const std::string name = architecture.toStdString();
        const auto h = read(model(name).u32(name + ".attention.sliding_window", 64));
        QVERIFY(h);
        for (int l = 0; l < 6; ++l)
            QCOMPARE(h->layers[std::size_t(l)].kind == LayerKind::SlidingWindow, kinds[l] == 's');
    }

    void ropeScalingIsRecognised()
    {
        QCOMPARE(read(model())->rope_scaling.kind, RopeScaling::Kind::None);
        const auto linear = read(model().f32("llama.rope.scaling.factor", 4));
        QCOMPARE(linear->rope_scaling.kind, RopeScaling::Kind::Linear);
        QCOMPARE(linear->rope_scaling.factor, 4.0f);
        const auto yarn = read(model()
                                   .string("llama.rope.scaling.type", "yarn")
                                   .f32("llama.rope.scaling.factor", 16)
                                   .u32("llama.rope.scaling.original_context_length", 512));
        QCOMPARE(yarn->rope_scaling.kind, RopeScaling::Kind::Yarn);
        QCOMPARE(yarn->rope_scaling.original_context, 512);
        const auto unknown = read(model().string("llama.rope.scaling.type", "spiral"));
        QVERIFY(!unknown);
        QVERIFY(unknown.error().what.find("spiral") != std::string::npos);
    }

    // OLMo 3's files have YaRN's own factor, 1 + 0.1 ln 8, which counts once; another one counts besides.
    void theFactorOfYarnCountsOnce()
    {
        const auto magnitude = [&](float factor) {
            GgufWriter w = model("olmo2").string("olmo2.rope.scaling.type", "yarn");
            w.f32("olmo2.rope.scaling.factor", 8).u32("olmo2.rope.scaling.original_context_length", 512);
            if (factor > 0)
                w.f32("olmo2.rope.scaling.attn_factor", factor);
            return float(rope_frequencies(*read(w), LayerKind::FullAttention, {}).magnitude);
        };
        QVERIFY(qFuzzyCompare(magnitude(0), 1.2079441541679836f));
        QVERIFY(qFuzzyCompare(magnitude(1.2079441541679836f), 1.2079441541679836f));
        QVERIFY(qFuzzyCompare(magnitude(2), 2.4158883083359672f));
    }

    void whatIsMissingIsNamed_data()
    {
        QTest::addColumn<QString>("key");
        for (const char* key :
             {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count"})
            QTest::addRow("%s", key) << key;
    }

    void whatIsMissingIsNamed()
    {
        QFETCH(QString, key);
        const auto h = read(model("llama", key.toStdString()));
        QVERIFY(!h);
        QCOMPARE(h.error().code, Error::Code::BadFile);
        QVERIFY2(h.error().what.find(key.toStdString()) != std::string::npos, h.error().what.c_str());
    }

    void nonsenseIsRefused_data()
    {
        QTest::addColumn<QString>("key");
        QTest::addColumn<quint32>("value");
        QTest::addRow("no layers") << "block_count" << 0u;
        QTest::addRow("too many layers") << "block_count" << 0xffffffffu;
        QTest::addRow("no embedding") << "embedding_length" << 0u;
        QTest::addRow("heads that do not share") << "attention.head_count_kv" << 3u;
        QTest::addRow("no KV heads") << "attention.head_count_kv" << 0u;
        QTest::addRow("odd heads") << "attention.key_length" << 7u;
        QTest::addRow("rope wider than a head") << "rope.dimension_count" << 10u;
        QTest::addRow("experts that are never used") << "expert_count" << 8u;
        QTest::addRow("a negative window") << "attention.sliding_window" << 0x80000000u;
    }

    void nonsenseIsRefused()
    {
        QFETCH(QString, key);
        QFETCH(quint32, value);
        const auto h = read(model("llama", key.toStdString()).u32("llama." + key.toStdString(), value));
        QVERIFY(!h);
        QCOMPARE(h.error().code, Error::Code::BadFile);
    }

    void anUnknownArchitectureIsNamed()
    {
        const auto h = read(model("mamba"));
        QVERIFY(!h);
        QCOMPARE(h.error().code, Error::Code::Unsupported);
        QVERIFY(h.error().what.find("mamba") != std::string::npos);
        QCOMPARE(read(model("llama", "architecture")).error().code, Error::Code::BadFile);
    }
};

QTEST_GUILESS_MAIN(TestHyperparameters)
#include "tst_hyperparameters.moc"
