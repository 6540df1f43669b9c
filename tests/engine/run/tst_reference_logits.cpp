// Tests that the engine agrees with float32 references of every tensor type and architecture: the project's own small
// models, and the goldens from elsewhere. The rule is the goldens': logits within 1.2 x the error llama.cpp makes on
// the same file (own models: a bound derived from the same roundings), argmax and greedy ids wherever the two best
// logits are further apart than 6 x that error. Goldens whose experts are chosen by a hair are held by the median of
// their rows.
#include "engine/run/loaded_model.h"
#include "tests/support/expert_rates.h"
#include "tests/support/part_of_all.h"
#include "tests/support/reference_logits.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <iterator>

using namespace engine;
using namespace test_support;

namespace {

bool all_weights_f32(const QString& base)
{
    const auto info = inspect_model((base + ".gguf").toStdString());
    return info && info->bytes_by_type.size() == 1 && info->bytes_by_type.contains("F32");
}

/// Says whether this version runs the model: some goldens from elsewhere are of others.
bool runs(const QString& base)
{
    const auto info = inspect_model((base + ".gguf").toStdString());
    return info && info->runnable;
}

QStringList goldens()
{
    const QString folder = test_support::golden_folder();
    return folder.isEmpty() ? QStringList() : test_support::models_with_results(folder + "/logits");
}

bool has_experts(const QString& base)
{
    const auto info = inspect_model(model_of(base).toStdString());
    return info && info->experts > 0;
}

/// As run(), where all lies as the request says before each chunk; tells what the device has counted.
std::vector<float> run_placed(const QString& base, const Reference& r, const std::vector<int>& tokens,
                              LoadRequest request, DeviceTelemetry& device)
{
    request.model = model_of(base).toStdString();
    request.context_tokens = r.context;
    request.threads = 1;
    request.placement.device = PlacementOptions::Device::Emulated;
    request.placement.emulated.vram_bytes = std::int64_t(1) << 30;
    request.placement.emulated.link_bytes_per_s = 0;
    request.placement.host_expert_layers = PlacementOptions::kAllLayers;
    const auto model =
        LoadedModel::load(request, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        return {};
    ModelPlacement& placement = (*model)->placement();
    KvSequence kv;
    std::vector<float> rows;
    for (std::size_t at = 0; at < tokens.size();) {
        while (placement.advance()) {
        }
        placement.settle();
        const auto chunk =
            std::span(tokens).subspan(at, std::min(tokens.size() - at, std::size_t((*model)->max_rows())));
        if (!(*model)->append(kv, chunk))
            return {};
        for (std::size_t row = 0; row < chunk.size(); ++row)
            if (const auto logits = (*model)->logits(kv, int(row)))
                rows.insert(rows.end(), logits->begin(), logits->end());
        at += chunk.size();
    }
    device = *placement.telemetry();
    (*model)->cache().truncate(kv, 0);
    return rows;
}

enum class Which { Own, All, WithExperts };

QStringList models_of(Which which)
{
    QStringList bases = test_support::models_with_results(test_support::own_models_folder());
    if (which != Which::Own)
        std::ranges::copy_if(goldens(), std::back_inserter(bases), runs);
    if (which == Which::WithExperts)
        bases.removeIf([](const QString& base) { return !has_experts(base); });
    return bases;
}

void add_models(Which which = Which::All, unsigned one_of = 1)
{
    QTest::addColumn<QString>("base");
    PartOfAll part(one_of);
    for (const QString& base : models_of(which))
        if (part.takes_next())
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
        QVERIFY(std::ranges::count_if(goldens(), runs) >= 64);
    }

    void modelsThatAreNotRunYet()
    {
        QStringList names;
        for (const QString& base : goldens())
            if (!runs(base))
                names += base.section('/', -1);
        if (!names.isEmpty())
            QSKIP(qPrintable("not run by this version: " + names.join(", ")));
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

        const double error = error_of(rows, r);
        QVERIFY2(error <= r.bound, qPrintable(QString("error %1, bound %2").arg(error).arg(r.bound)));

        const auto row = [&](std::size_t t) { return std::span(rows).subspan(t * n, n); };
        int asked = 0, otherwise = 0;
        const auto compare = [&](int actual, int expected) {
            ++asked;
            otherwise += actual != expected;
        };
        for (std::size_t t = 0; t < r.tokens.size(); ++t)
            if (r.gap[t] > 6 * r.error)
                compare(argmax(row(t)), r.argmax[t]);
        for (std::size_t i = 0; i < r.greedy.size() && r.greedy_gap[i] > 6 * r.error; ++i)
            compare(argmax(row(r.tokens.size() - 1 + i)), r.greedy[i]);
        QVERIFY2(100 * otherwise <= r.percent_otherwise * asked,
                 qPrintable(QString("%1 of %2 ids differ").arg(otherwise).arg(asked)));
    }

    void floatKvIsCloser_data() { add_models(Which::All, 3); }
    void floatKvIsCloser()
    {
        QFETCH(QString, base);
        const Reference r = read_reference(base);
        LoadRequest with;
        with.k_type = with.v_type = KvType::F32;
        const auto rows = run(base, r, r.tokens, with);
        const bool exact = all_weights_f32(base);
        const double error = exact ? relative_error(rows, r) : error_of(rows, r);
        const double bound = exact ? 1e-5 : r.bound_f32_kv;
        QVERIFY2(error <= bound, qPrintable(QString("error %1, bound %2").arg(error).arg(bound)));
    }

    void sameBitsForAnyChunkAndThreads_data()
    {
        QTest::addColumn<QString>("base");
        QTest::addColumn<int>("threads");
        PartOfAll part(12);
        for (const QString& base : models_of(Which::All))
            for (const int threads : {2, 3})
                if (part.takes_next())
                    QTest::addRow("%s, %d threads", qPrintable(base.section('/', -2)), threads) << base << threads;
    }
    void sameBitsForAnyChunkAndThreads()
    {
        QFETCH(QString, base);
        QFETCH(int, threads);
        const Reference r = read_reference(base);
        LoadRequest with;
        with.threads = 1;
        with.kv_block_tokens = 16;
        const auto expected = run(base, r, r.tokens, with);
        QVERIFY(!expected.empty());
        with.threads = threads;
        for (const int chunk : {1, 7, 64}) {
            with.prefill_chunk_tokens = chunk;
            const auto actual = run(base, r, r.tokens, with);
            QCOMPARE(actual.size(), expected.size());
            QVERIFY2(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)) == 0,
                     qPrintable(QString("chunk %1").arg(chunk)));
        }
    }

    // All of them on the host, as --cpu-moe has them; with copies of half of them on the device; and where some come
    // there for a step of many rows.
    void expertsElsewhereGiveTheSame_data() { add_models(Which::WithExperts, 3); }
    void expertsElsewhereGiveTheSame()
    {
        QFETCH(QString, base);
        const Reference r = read_reference(base);
        LoadRequest on_host;
        on_host.prefill_chunk_tokens = 24;
        const auto expected = run(base, r, r.tokens, on_host);
        QVERIFY(!expected.empty());
        const auto give_the_same = [&](const LoadRequest& request, DeviceTelemetry& device) {
            const auto rows = run_placed(base, r, r.tokens, request, device);
            QCOMPARE(rows.size(), expected.size());
            QVERIFY(std::memcmp(rows.data(), expected.data(), rows.size() * sizeof(float)) == 0);
            const double error = error_of(rows, r);
            QVERIFY2(error <= r.bound, qPrintable(QString("error %1, bound %2").arg(error).arg(r.bound)));
            QVERIFY(device.layers > 0 && device.layers_without_experts == device.expert_layers);
        };
        DeviceTelemetry alone, all, half, coming;
        give_the_same(on_host, alone);
        LoadRequest with_copies = on_host, with_rates = on_host;
        with_copies.prefill_chunk_tokens = 7;
        with_copies.placement.expert_cache_bytes = std::int64_t(1) << 40;
        give_the_same(with_copies, all);
        with_copies.placement.expert_cache_bytes = all.expert_cache_bytes / 2;
        give_the_same(with_copies, half);
        QVERIFY(half.cached_experts > 0 && half.cached_experts < all.cached_experts && half.expert_hits > 0);
        with_rates.placement.rates = rates_of_travelling_experts("emulated");
        give_the_same(with_rates, coming);
        QCOMPARE(coming.expert_streamed_bytes > 0, r.tokens.size() > 16);
    }

    // Only the project's own results say what an 8-bit KV cache may cost.
    void eightBitKvStaysClose_data() { add_models(Which::Own, 2); }
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

SPILLWAY_TEST(QCoreApplication, TestReferenceLogits)
#include "tst_reference_logits.moc"
