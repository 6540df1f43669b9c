// The engine against float32 references of every tensor type and architecture: the project's own small models, and the
// goldens from elsewhere. The rule is the goldens': logits within 1.2 x the error llama.cpp makes on the same file
// (own models: a bound derived from the same roundings), argmax and greedy ids wherever the two best logits are further
// apart than 6 x that error.
#include "engine/evaluate.h"
#include "tests/support/models.h"

#include <QtTest>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace engine;

namespace {

struct Reference {
    std::vector<int> tokens, positions, argmax, greedy;
    std::vector<double> gap, greedy_gap;
    double error = 0;  // expected, relative
    double bound = 0;  // allowed
    double bound_f32_kv = 0, bound_q8_0_kv = 0;
    int context = 0;  // tokens to open the model with; 0: its own
    std::vector<float> logits;
};

Reference read_reference(const QString& base)
{
    std::ifstream file((base + ".json").toStdString());
    const auto json = nlohmann::json::parse(file);
    Reference r;
    r.tokens = json.at("tokens").get<std::vector<int>>();
    r.positions = json.at("positions").get<std::vector<int>>();
    r.argmax = json.at("argmax").get<std::vector<int>>();
    r.greedy = json.at("greedy").get<std::vector<int>>();
    r.gap = json.at("gap").get<std::vector<double>>();
    r.greedy_gap = json.at("greedy_gap").get<std::vector<double>>();
    const bool own = json.contains("tolerance");
    r.error = own ? json.at("tolerance").get<double>() : json.at("llama_cpp_relative_error").get<double>();
    r.bound = own ? r.error : 1.2 * r.error;
    r.bound_f32_kv = own ? json.at("tolerance_f32_kv").get<double>() : r.bound;
    r.bound_q8_0_kv = own ? json.at("tolerance_q8_0_kv").get<double>() : 0;
    r.context = json.value("context", 0);
    r.logits.resize(r.positions.size() * json.at("n_vocab").get<std::size_t>());
    std::ifstream logits((base + ".f32").toStdString(), std::ios::binary);
    logits.read(reinterpret_cast<char*>(r.logits.data()), std::streamsize(r.logits.size() * sizeof(float)));
    if (!logits)
        r.logits.clear();
    return r;
}

/// All rows, one after another, of the prompt and the expected ids that follow it.
std::vector<float> run(const QString& base, const Reference& r, const std::vector<int>& tokens, const LoadRequest& with)
{
    LoadRequest request = with;
    // One model may have several results, NAME.json and NAME-variant.json.
    QString file = base;
    while (!QFileInfo::exists(file + ".gguf") && file.contains('-'))
        file.truncate(file.lastIndexOf('-'));
    request.model = (file + ".gguf").toStdString();
    request.context_tokens = r.context;
    auto model = Evaluator::open(request, {});
    if (!model) {
        qWarning("%s", model.error().what.c_str());
        return {};
    }
    std::vector<float> rows;
    const Status done = model->logits(tokens, [&](int, std::span<const float> row) {
        rows.insert(rows.end(), row.begin(), row.end());
        return true;
    });
    if (!done)
        qWarning("%s", done.error().what.c_str());
    return done ? rows : std::vector<float>{};
}

double relative_error(const std::vector<float>& rows, const Reference& r)
{
    const std::size_t n = r.logits.size() / r.positions.size();
    double difference = 0, size = 0;
    for (std::size_t p = 0; p < r.positions.size(); ++p)
        for (std::size_t i = 0; i < n; ++i) {
            const double truth = r.logits[p * n + i];
            const double d = rows[std::size_t(r.positions[p]) * n + i] - truth;
            difference += d * d;
            size += truth * truth;
        }
    return std::sqrt(difference / size);
}

int argmax(std::span<const float> row)
{
    return int(std::max_element(row.begin(), row.end()) - row.begin());
}

bool all_weights_f32(const QString& base)
{
    const auto info = inspect_model((base + ".gguf").toStdString());
    return info && info->bytes_by_type.size() == 1 && info->bytes_by_type.contains("F32");
}

enum class Which { Own, All };

void add_models(Which which = Which::All)
{
    QTest::addColumn<QString>("base");
    QStringList bases = test_support::models_with_results(test_support::own_models_folder());
    if (which == Which::All && !test_support::golden_folder().isEmpty())
        bases += test_support::models_with_results(test_support::golden_folder() + "/logits");
    for (const QString& base : std::as_const(bases))
        QTest::addRow("%s", qPrintable(base.section('/', -2))) << base;
}

}  // namespace

class TestReferenceLogits : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void goldensAreThere()
    {
        QVERIFY(!test_support::models_with_results(test_support::own_models_folder()).isEmpty());
        if (test_support::golden_folder().isEmpty())
            QSKIP("SPILLWAY_GOLDEN is not set: the project's own small models alone are checked");
        QVERIFY(test_support::models_with_results(test_support::golden_folder() + "/logits").size() >= 29);
    }

    void agreesWithTheReference_data() { add_models(); }
    void agreesWithTheReference()
    {
        QFETCH(QString, base);
        const Reference r = read_reference(base);
        QVERIFY(!r.logits.empty());
        std::vector<int> tokens = r.tokens;
        tokens.insert(tokens.end(), r.greedy.begin(), r.greedy.end() - 1);
        const auto rows = run(base, r, tokens, {});
        const std::size_t n = r.logits.size() / r.positions.size();
        QCOMPARE(rows.size(), tokens.size() * n);

        const double error = relative_error(rows, r);
        QVERIFY2(error <= r.bound, qPrintable(QString("error %1, bound %2").arg(error).arg(r.bound)));

        const auto row = [&](std::size_t t) { return std::span(rows).subspan(t * n, n); };
        for (std::size_t t = 0; t < r.tokens.size(); ++t)
            if (r.gap[t] > 6 * r.error)
                QCOMPARE(argmax(row(t)), r.argmax[t]);
        for (std::size_t i = 0; i < r.greedy.size() && r.greedy_gap[i] > 6 * r.error; ++i)
            QCOMPARE(argmax(row(r.tokens.size() - 1 + i)), r.greedy[i]);
    }

    void floatKvIsCloser_data() { add_models(); }
    void floatKvIsCloser()
    {
        QFETCH(QString, base);
        const Reference r = read_reference(base);
        LoadRequest with;
        with.k_type = with.v_type = KvType::F32;
        const double error = relative_error(run(base, r, r.tokens, with), r);
        const double bound = all_weights_f32(base) ? 1e-5 : r.bound_f32_kv;
        QVERIFY2(error <= bound, qPrintable(QString("error %1, bound %2").arg(error).arg(bound)));
    }

    void sameBitsForAnyChunkAndThreads_data() { add_models(); }
    void sameBitsForAnyChunkAndThreads()
    {
        QFETCH(QString, base);
        const Reference r = read_reference(base);
        LoadRequest with;
        with.threads = 1;
        with.kv_block_tokens = 16;
        const auto expected = run(base, r, r.tokens, with);
        QVERIFY(!expected.empty());
        for (const int threads : {2, 3})
            for (const int chunk : {1, 7, 64}) {
                with.threads = threads;
                with.prefill_chunk_tokens = chunk;
                const auto actual = run(base, r, r.tokens, with);
                QCOMPARE(actual.size(), expected.size());
                QVERIFY2(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)) == 0,
                         qPrintable(QString("threads %1, chunk %2").arg(threads).arg(chunk)));
            }
    }

    // Only the project's own results say what an 8-bit KV cache may cost.
    void eightBitKvStaysClose_data() { add_models(Which::Own); }
    void eightBitKvStaysClose()
    {
        QFETCH(QString, base);
        const Reference r = read_reference(base);
        LoadRequest with;
        with.k_type = with.v_type = KvType::Q8_0;
        const double error = relative_error(run(base, r, r.tokens, with), r);
        QVERIFY2(error <= r.bound_q8_0_kv, qPrintable(QString("error %1, bound %2").arg(error).arg(r.bound_q8_0_kv)));
    }
};

QTEST_GUILESS_MAIN(TestReferenceLogits)
#include "tst_reference_logits.moc"
