// Tests that the numbers of models with several residual streams, and of n-grams, are read or take their defaults, and
// that senseless ones are refused.
#include "engine/gguf/gguf_file.h"
#include "engine/model/hyperparameters.h"
#include "engine/model_info.h"
#include "tests/support/gguf_writer.h"

#include <QTemporaryDir>
#include <QtTest>

#include <functional>

using namespace engine;
using support::GgufWriter;

namespace {

using Numbers = std::vector<std::uint32_t>;

GgufWriter layers_of(const std::string& architecture, std::uint32_t count)
{
    GgufWriter w;
    w.string("general.architecture", architecture).u32(architecture + ".block_count", count);
    for (const auto& [key, value] : {std::pair{".context_length", 4096u},
                                     {".embedding_length", 64u},
                                     {".feed_forward_length", 128u},
                                     {".attention.head_count", 8u}})
        w.u32(architecture + key, value);
    return w.f32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
}

/// Numbers of a qwen4exp of four layers, for tests to change.
struct Connected {
    Numbers count = {4}, rank = {16}, layers = {1}, longest = {3}, heads = {2}, taps = {4}, length = {16}, ends = {2};
    Numbers multipliers = {11, 13, 17}, offsets = {0, 5, 10, 15}, sizes = {5, 5, 5, 5}, ratios = {0, 0, 0, 4};
    std::uint32_t top_k = 1024;

    GgufWriter written() const
    {
        GgufWriter w = layers_of("qwen4exp", 4);
        for (const auto& [key, value] : {std::pair{"ssm.conv_kernel", 4u},
                                         {"ssm.state_size", 16u},
                                         {"ssm.group_count", 2u},
                                         {"ssm.time_step_rank", 4u},
                                         {"ssm.inner_size", 64u}})
            w.u32("qwen4exp." + std::string(key), value);
        const std::pair<const char*, const Numbers*> all[] = {{"hyper_connection.count", &count},
                                                              {"hyper_connection.low_rank", &rank},
                                                              {"ple.layers", &layers},
                                                              {"ple.ngram_size", &longest},
                                                              {"ple.heads_per_ngram", &heads},
                                                              {"ple.conv_kernel", &taps},
                                                              {"embedding_length_per_layer_input", &length},
                                                              {"ple.eos_token_id", &ends},
                                                              {"ple.layer_multipliers", &multipliers},
                                                              {"ple.head_offsets", &offsets},
                                                              {"ple.head_vocab_sizes", &sizes},
                                                              {"attention.compress_ratios", &ratios}};
        for (const auto& [key, numbers] : all)
            if (numbers->size() == 1)
                w.u32("qwen4exp." + std::string(key), numbers->front());
            else if (!numbers->empty())
                w.u32s("qwen4exp." + std::string(key), *numbers);
        if (top_k > 0)
            w.u32("qwen4exp.attention.indexer.top_k", top_k);
        return w.tensor("per_layer_token_embd.weight", 0, {16, 20}, GgufWriter::Bytes(16 * 20 * sizeof(float)));
    }
};

}  // namespace

class TestStreamParameters : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    std::filesystem::path saved(const GgufWriter& writer) const
    {
        const std::filesystem::path path = m_folder.filePath("model.gguf").toStdString();
        writer.save(path);
        return path;
    }
    Result<Hyperparameters> read(const GgufWriter& writer) const
    {
        const auto file = GgufFile::open(saved(writer));
        if (!file)
            return tl::unexpected(file.error());
        return read_hyperparameters(*file);
    }

private Q_SLOTS:
    void altUpHasItsNumbersWithoutTheFile()
    {
        const auto h = read(layers_of("gemma3n", 25));
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->streams.count, 4);
        QCOMPARE(h->streams.rank, 64);
        QVERIFY(!h->streams.connected);
        QCOMPARE(h->side_length, 256);
        for (int l = 0; l < 25; ++l)
            QCOMPARE(h->layers[std::size_t(l)].kv_source < 0, l < 20);
        const auto few = read(layers_of("gemma3n", 6));
        QVERIFY(few && few->layers.back().kv_source < 0);
    }

    void altUpMayBeSaid()
    {
        QVERIFY(read(layers_of("gemma3n", 6).u32("gemma3n.altup.num_inputs", 2))->streams.count == 2);
        for (const std::uint32_t count : {0u, 1u, 9u, 0xffffffffu})
            QVERIFY(!read(layers_of("gemma3n", 6).u32("gemma3n.altup.num_inputs", count)));
        QVERIFY(read(layers_of("gemma3n", 6).u32("gemma3n.altup.active_idx", 0)));
        QVERIFY(!read(layers_of("gemma3n", 6).u32("gemma3n.altup.active_idx", 1)));
    }

    void connectionsAndNgramsAreRead()
    {
        const auto h = read(Connected().written());
        QVERIFY2(h, h ? "" : h.error().what.c_str());
        QCOMPARE(h->streams.count, 4);
        QCOMPARE(h->streams.rank, 16);
        QVERIFY(h->streams.connected);
        QCOMPARE(h->side_length, 0);
        QCOMPARE(h->ngrams.values(), 64);
        QCOMPARE(h->ngrams.spread_taps(), 10);
        for (int l = 0; l < 4; ++l) {
            QCOMPARE(h->layers[std::size_t(l)].ngrams, l == 1);
            QCOMPARE(h->state_floats(l), h->mixer_floats(l) + (l == 1 ? 9 * 4 * 64 : 0));
        }
        QCOMPARE(h->mixer_floats(3), 0);  // it attends
        Connected published;              // rows as long as those of Qwen3.8-Flash-Next
        published.length = {160};
        QVERIFY(read(published.written()));
    }

    void nonsenseIsRefused_data()
    {
        QTest::addColumn<std::function<void(Connected&)>>("spoil");
        const auto row = [](const char* name, std::function<void(Connected&)> spoil) {
            QTest::newRow(name) << std::move(spoil);
        };
        row("no streams", [](Connected& c) { c.count.clear(); });
        row("one stream", [](Connected& c) { c.count = {1}; });
        row("too many streams", [](Connected& c) { c.count = {9}; });
        row("no rank", [](Connected& c) { c.rank = {0}; });
        row("a layer that there is not", [](Connected& c) { c.layers = {4}; });
        row("n-grams of one token", [](Connected& c) { c.longest = {1}; });
        row("too many heads", [](Connected& c) { c.heads = {0xffffffff}; });
        row("rows that are too long", [](Connected& c) { c.length = {0x7fffffff}; });
        row("no taps", [](Connected& c) { c.taps = {0}; });
        row("no end", [](Connected& c) { c.ends.clear(); });
        row("few multipliers", [](Connected& c) { c.multipliers = {11, 13}; });
        row("few offsets", [](Connected& c) { c.offsets = {0, 5, 10}; });
        row("many sizes", [](Connected& c) { c.sizes = {4, 4, 4, 4, 4}; });
        row("an empty head", [](Connected& c) { c.sizes = {5, 5, 0, 5}; });
        row("beyond the table", [](Connected& c) { c.sizes = {5, 5, 5, 6}; });
        row("begins behind the table", [](Connected& c) { c.offsets = {0, 5, 10, 20}; });
        row("few ratios", [](Connected& c) { c.ratios = {0, 4}; });
        row("no budget", [](Connected& c) { c.top_k = 0; });
    }
    void nonsenseIsRefused()
    {
        QFETCH(std::function<void(Connected&)>, spoil);
        Connected c;
        spoil(c);
        const auto h = read(c.written());
        QVERIFY(!h);
        QCOMPARE(h.error().code, Error::Code::BadFile);
        QVERIFY(!h.error().what.empty());
    }

    // Beyond it attention is sparse, which is not computed.
    void theContextEndsWhereAttentionIsDense()
    {
        const auto h = read(Connected().written());
        QCOMPARE(h->context_length, 1024);
        QCOMPARE(h->dense_context, 1024);
        const auto info = inspect_model(saved(Connected().written()));
        QVERIFY(info);
        QCOMPARE(info->context_tokens, 1024);
        QCOMPARE(int(info->warnings.size()), 1);
        Connected dense;
        dense.ratios = {0, 0, 0, 0};
        QCOMPARE(read(dense.written())->context_length, 4096);
        QCOMPARE(read(dense.written())->dense_context, 0);
        Connected large;
        large.top_k = 8192;
        QCOMPARE(read(large.written())->context_length, 4096);
        QVERIFY(inspect_model(saved(large.written()))->warnings.empty());
    }

    // Experts may read and give fewer values than the stream has.
    void expertsMayBeLatent()
    {
        const auto of = [&](std::uint32_t latent) {
            GgufWriter w = layers_of("llama", 2).u32("llama.expert_count", 4).u32("llama.expert_used_count", 2);
            return read(w.u32("llama.moe_latent_size", latent));
        };
        QCOMPARE(of(16)->expert_length, 16);
        QCOMPARE(of(0)->expert_length, 64);
        QVERIFY(!of(0xffffffff));
    }
};

QTEST_GUILESS_MAIN(TestStreamParameters)
#include "tst_stream_parameters.moc"
