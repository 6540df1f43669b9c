// Tests that copies of the host's weights give products with the same bits, come and go, and are left out where memory
// is lacking.
#include "engine/exec/host_weights.h"
#include "engine/exec/rows.h"
#include "engine/metrics/host_probe.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cstring>
#include <limits>
#include <random>

using namespace engine;

namespace {

struct Model {
    GgufFile file;
    Hyperparameters h;
    Weights weights;
};

std::unique_ptr<Model> open(const QString& path)
{
    auto file = GgufFile::open(path.toStdString());
    if (!file)
        return nullptr;
    auto h = read_hyperparameters(*file);
    if (!h)
        return nullptr;
    h->vocabulary = int(file->array_length("tokenizer.ggml.tokens").value_or(0));
    auto model = std::make_unique<Model>(Model{std::move(*file), std::move(*h), {}});
    auto weights = Weights::read(model->file, model->h);
    if (!weights)
        return nullptr;
    model->weights = std::move(*weights);
    return model;
}

/// Returns the products of all rows with some activations.
std::vector<float> product(const Matrix& m, std::mt19937& random)
{
    const kernels::CpuKernels& k = kernels::cpu_kernels();
    std::vector<float> x(std::size_t(m.n)), out(std::size_t(m.rows));
    for (float& value : x)
        value = std::normal_distribution<float>()(random);
    const auto form = kernels::activation_of(m.type);
    const std::size_t bytes = kernels::activation_row_bytes(form, m.n);
    const auto rounded = aligned_array<std::byte>(bytes);
    if (form == kernels::Activation::Q8)
        k.quantize_q8(m.n, x.data(), rounded.get());
    else
        std::memcpy(rounded.get(), x.data(), x.size() * sizeof(float));
    const auto multiply = (m.interleaved ? k.matmul_interleaved : k.matmul)[std::size_t(m.type)];
    multiply({m.n, m.rows, m.data, 1, rounded.get(), bytes, out.data(), std::size_t(m.rows)});
    return out;
}

struct Compared {
    int all = 0, same = 0, interleaved = 0, expected = 0;
};

/// Compares every matrix of a layer, each expert by itself, with the file's.
Compared compare(const LayerWeights& host, const LayerWeights& file, int experts, unsigned seed)
{
    std::vector<Matrix> theirs;
    for_each_matrix(file, experts, LayerPart::Whole, [&](const Matrix& m, int stack) {
        for (int e = 0; e < stack; ++e)
            theirs.push_back(m.expert(e));
    });
    Compared c;
    std::size_t i = 0;
    for_each_matrix(host, experts, LayerPart::Whole, [&](const Matrix& m, int stack) {
        for (int e = 0; e < stack; ++e, ++i) {
            std::mt19937 random(seed), again(seed);
            ++c.all;
            c.same += product(m.expert(e), random) == product(theirs[i], again);
            c.interleaved += m.interleaved;
            c.expected += kernels::cpu_kernels().interleave[std::size_t(m.type)] != nullptr;
        }
    });
    return c;
}

constexpr std::int64_t kKeepNothing = 0, kKeepAll = std::int64_t(1) << 60;

}  // namespace

class TestHostWeights : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void copiesGiveTheSameBits_data()
    {
        QTest::addColumn<QString>("path");
        const QDir folder(test_support::own_models_folder());
        for (const QString& name : folder.entryList({"*.gguf"}, QDir::Files, QDir::Name))
            QTest::addRow("%s", qPrintable(name)) << folder.filePath(name);
    }
    void copiesGiveTheSameBits()
    {
        QFETCH(QString, path);
        const auto model = open(path);
        QVERIFY(model);
        ThreadPool pool(2);
        HostWeights host(model->file, model->weights, model->h, kKeepNothing);
        QCOMPARE(host.layers(), int(model->weights.layers.size()));
        for (int l = 0; l < host.layers(); ++l) {
            host.use_layer(l, LayerPart::Whole, pool);
            host.use_layer(l, LayerPart::Whole, pool);  // once is enough
            const LayerWeights& file = model->weights.layers[std::size_t(l)];
            const Compared c = compare(host.layer(l), file, model->h.experts, m_seed);
            const LayerParameters& parts = model->h.layers[std::size_t(l)];
            const int of_mixer = parts.mixer == Mixer::None ? 0 : parts.mixer == Mixer::Matrix ? 1 : 2;
            QVERIFY(c.all >= of_mixer + (parts.feed_forward ? 2 : 0));
            QCOMPARE(c.same, c.all);
            QCOMPARE(c.interleaved, c.expected);
            QCOMPARE(host.layer(l).attn_norm, file.attn_norm);
        }
        host.use_head(pool);
        std::mt19937 random(m_seed), again(m_seed);
        QVERIFY(product(host.head().output, random) == product(model->weights.head.output, again));
        QVERIFY(model->file.still_whole());
    }

    void whatIsDroppedIsTheFilesAgain()
    {
        const auto model = open(test_support::own_models_folder() + "/llama.gguf");
        QVERIFY(model);
        ThreadPool pool(1);
        HostWeights host(model->file, model->weights, model->h, kKeepNothing);
        const LayerWeights& file = model->weights.layers[0];
        const LayerWeights& here = host.layer(0);
        host.use_layer(0, LayerPart::Whole, pool);
        host.use_head(pool);
        host.drop_layer(0, LayerPart::Whole);
        host.drop_head();
        QCOMPARE(here.down.data, file.down.data);
        QVERIFY(!here.down.interleaved);
        QCOMPARE(host.head().output.data, model->weights.head.output.data);
        host.use_layer(0, LayerPart::Whole, pool);
        QCOMPARE(&here, &host.layer(0));
        const Compared c = compare(here, file, 0, m_seed);
        QCOMPARE(c.interleaved, c.expected);
        QCOMPARE(c.same, c.all);
    }

    void expertsComeAndGoByThemselves()
    {
        const auto model = open(test_support::own_models_folder() + "/gpt-oss.gguf");
        QVERIFY(model);
        ThreadPool pool(1);
        HostWeights host(model->file, model->weights, model->h, kKeepNothing);
        const LayerWeights& file = model->weights.layers[0];
        const LayerWeights& here = host.layer(0);
        host.use_layer(0, LayerPart::Experts, pool);
        QCOMPARE(here.attn_out.data, file.attn_out.data);
        host.use_layer(0, LayerPart::Whole, pool);
        Compared c = compare(here, file, model->h.experts, m_seed);
        QCOMPARE(c.interleaved, c.expected);
        QCOMPARE(c.same, c.all);
        const std::byte* const experts = here.down_experts.data;
        host.drop_layer(0, LayerPart::WithoutExperts);
        QCOMPARE(here.attn_out.data, file.attn_out.data);
        QCOMPARE(here.down_experts.data, experts);
        QCOMPARE(compare(here, file, model->h.experts, m_seed).same, c.all);
        host.drop_layer(0, LayerPart::Experts);
        QCOMPARE(here.down_experts.data, file.down_experts.data);
        c = compare(here, file, model->h.experts, m_seed);
        QCOMPARE(c.interleaved, 0);
    }

    void withoutMemoryTheFilesStay()
    {
        if (!host_memory().available_bytes)
            QSKIP("this machine does not tell how much memory is free");
        const auto model = open(test_support::own_models_folder() + "/llama.gguf");
        QVERIFY(model);
        ThreadPool pool(1);
        HostWeights host(model->file, model->weights, model->h, kKeepAll);
        host.use_layer(0, LayerPart::Whole, pool);
        host.use_head(pool);
        QCOMPARE(host.layer(0).down.data, model->weights.layers[0].down.data);
        QCOMPARE(host.head().output.data, model->weights.head.output.data);
        QVERIFY(!host.layer(0).down.interleaved);
        const Compared c = compare(host.layer(0), model->weights.layers[0], 0, m_seed);
        const auto head = std::size_t(model->weights.head.output.type);
        const bool gains = c.expected > 0 || kernels::cpu_kernels().interleave[head];
        QCOMPARE(host.lack_memory(), gains);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestHostWeights)
#include "tst_host_weights.moc"
