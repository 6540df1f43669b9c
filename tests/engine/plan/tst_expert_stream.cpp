// Tests that a step of many rows copies those experts to a device for which it pays, and that a ring for them is
// planned only then.
#include "engine/gguf/gguf_file.h"
#include "engine/plan/expert_stream.h"
#include "engine/plan/model_costs.h"
#include "tests/engine/plan/flat_rate.h"
#include "tests/support/expert_rates.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <numeric>
#include <random>

using namespace engine;

namespace {

/// The experts that travel, and the seconds that are left.
struct Chosen {
    std::vector<int> experts;
    double seconds;
};

Chosen chosen(const ExpertCosts& costs, const std::vector<int>& rows)
{
    Chosen c;
    for (int e = 0; e < int(rows.size()); ++e)
        if (rows[std::size_t(e)] > 0)
            c.experts.push_back(e);
    c.seconds = costs.choose(rows, c.experts);
    return c;
}

/// The shortest of all that may be chosen, where the host is slower beside others.
double shortest(const ExpertCosts& costs, const std::vector<int>& rows)
{
    double best = 0;
    for (const int r : rows)
        best += costs.here_s(r);
    for (unsigned which = 1; which < 1u << rows.size(); ++which) {
        double here = 0, there = 0;
        for (std::size_t e = 0; e < rows.size(); ++e)
            (which >> e & 1 ? there : here) += which >> e & 1 ? costs.there_s(rows[e]) : costs.here_s(rows[e]);
        best = std::min(best, std::max(there, costs.slower_beside * here));
    }
    return best;
}

struct Model {
    GgufFile file;
    Hyperparameters h;
    Weights weights;
    DeviceLayout layout;
};

std::optional<Model> read(const QString& name)
{
    auto file = GgufFile::open((test_support::own_models_folder() + '/' + name + ".gguf").toStdString());
    if (!file)
        return {};
    auto h = read_hyperparameters(*file);
    if (!h)
        return {};
    h->vocabulary = int(file->array_length("tokenizer.ggml.tokens").value_or(0));
    auto weights = Weights::read(*file, *h);
    if (!weights)
        return {};
    auto layout = device_layout(*h, *weights, kv_shapes(*h, {}), 0, DeviceLayout::Transport::Copies);
    return Model{std::move(*file), std::move(*h), std::move(*weights), std::move(layout)};
}

}  // namespace

class TestExpertStream : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void thoseOfMostRowsGoUntilBothSidesEndTogether()
    {
        const ExpertCosts costs{.here = 1, .here_per_row = 1, .there = 4};
        const Chosen c = chosen(costs, {1, 9, 0, 2, 7, 1});
        QCOMPARE(c.experts, (std::vector{1, 4}));  // 8 on the way, 1 + 2 + 1 here
        QCOMPARE(c.seconds, 8.0);
        QVERIFY(chosen(costs, {1, 1, 2}).experts.empty());  // one alone takes as long
        QVERIFY(chosen(costs, {0, 0, 0}).experts.empty());
        QCOMPARE(chosen(costs, {20}).experts, std::vector{0});
    }

    void aHostThatIsSlowerBesideCounts()
    {
        ExpertCosts costs{.here = 1, .there = 2};
        QCOMPARE(chosen(costs, {1, 1, 1, 1}).experts.size(), std::size_t(1));
        costs.slower_beside = 2;  // three here would take six
        QVERIFY(chosen(costs, {1, 1, 1, 1}).experts.empty());
    }

    void whatIsComputedThereCounts()
    {
        const ExpertCosts costs{.here_per_row = 1, .there = 1, .there_per_row = 2};
        QCOMPARE(costs.there_s(3), 6.0);
        QCOMPARE(chosen(costs, {3, 3, 3, 3}).experts.size(), std::size_t(1));
    }

    // Experts with more rows save more by travelling, and come first. So no other choice is better by more than one
    // expert's time.
    void theChoiceIsNearTheBest()
    {
        std::mt19937 random(3);
        for (int i = 0; i < 300; ++i) {
            const auto some = [&](double most) { return most * double(1 + random() % 1000) / 1000; };
            const ExpertCosts costs{
                .here = some(1), .here_per_row = some(0.2), .there = some(3), .slower_beside = 1 + some(1)};
            std::vector<int> rows;
            for (int e = 0; e < 8; ++e)
                rows.push_back(int(1 + random() % 20));
            const Chosen c = chosen(costs, rows);
            double alone = 0, largest = costs.there;
            for (const int r : rows) {
                alone += costs.here_s(r);
                largest = std::max(largest, costs.slower_beside * costs.here_s(r));
            }
            QVERIFY(c.seconds <= alone * (1 + 1e-12));  // which was summed in another order
            QVERIFY2(c.seconds <= shortest(costs, rows) + largest, qPrintable(QString::number(i)));
        }
    }

    void aRingIsPlannedWhereItPays()
    {
        auto model = read("qwen3moe");
        QVERIFY(model);
        const auto rates = test_support::rates_of_travelling_experts("emulated");
        DeviceRates device = rates->devices.at("emulated");
        const auto plan = [&](const MachineRates* known, int rows) {
            const auto costs =
                plan_expert_ring(model->h, model->weights, known, device, rows, std::nullopt, model->layout);
            return int(std::ranges::count_if(costs, [](const auto& of_layer) { return of_layer.has_value(); }));
        };
        const int layers = model->layout.num_layers();
        QCOMPARE(plan(rates.get(), 512), layers);
        const std::int64_t largest = model->layout.largest_matrix();
        QCOMPARE(largest, std::int64_t(std::max(model->weights.layers.front().up_experts.bytes(),
                                                model->weights.layers.front().down_experts.bytes())));
        const auto ring = [&](int host_layers) {
            return model->layout.needed(layers, host_layers, 4).ring - model->layout.ring_bytes();
        };
        QCOMPARE(ring(0), std::int64_t(0));
        QCOMPARE(ring(1), largest * model->layout.expert_ring_slots(layers, 1));
        QVERIFY(ring(1) > 0);

        QCOMPARE(plan(nullptr, 512), 0);
        QCOMPARE(ring(1), std::int64_t(0));
        device.unlocked_to_device_bytes_per_s = 1e4;  // one expert's way takes longer than all here
        QCOMPARE(plan(rates.get(), 512), 0);
        device = {};
        QCOMPARE(plan(rates.get(), 512), 0);
    }

    void pagesOfExpertsNeedRoomBesideTheirCopies()
    {
        auto model = read("gpt-oss-mxfp4");  // packed, as all that comes to a GPU
        QVERIFY(model);
        std::int64_t bytes = 0;
        for (const LayerWeights& w : model->weights.layers)
            bytes +=
                std::int64_t(w.gate_experts.bytes() + w.up_experts.bytes() + w.down_experts.bytes()) * model->h.experts;
        QVERIFY(bytes > 0);
        const auto rates = test_support::rates_of_travelling_experts("cuda:0");
        const auto come = [&](std::optional<std::int64_t> memory_bytes, DeviceLayout& layout) {
            const auto costs = plan_expert_ring(model->h, model->weights, rates.get(), rates->devices.at("cuda:0"), 512,
                                                memory_bytes, layout);
            return costs.front().has_value();
        };
        DeviceLayout gpu =
            device_layout(model->h, model->weights, kv_shapes(model->h, {}), 0, DeviceLayout::Transport::Link);
        QVERIFY(come(3 * bytes, gpu));
        QVERIFY(!come(2 * bytes, gpu));
        QVERIFY(come(std::nullopt, gpu));
        QVERIFY(come(2 * bytes, model->layout));  // the emulated device reads them where the host does
    }

    /// What takes the host long is a step of many rows.
    void moreRowsPaySooner()
    {
        auto model = read("qwen3moe");
        QVERIFY(model);
        MachineRates rates = *test_support::rates_of_travelling_experts("emulated");
        for (ProductRate& rate : rates.products)
            rate.prompt_ops_per_s = 1e10;
        DeviceRates device = rates.devices.at("emulated");
        device.unlocked_to_device_bytes_per_s = 1e6;
        const auto pays = [&](int rows) {
            return plan_expert_ring(model->h, model->weights, &rates, device, rows, std::nullopt, model->layout)
                .front()
                .has_value();
        };
        QVERIFY(!pays(1) && pays(1 << 20));
    }
};

SPILLWAY_TEST(QCoreApplication, TestExpertStream)
#include "tst_expert_stream.moc"
