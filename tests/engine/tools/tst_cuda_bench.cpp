// Tests the benchmarks of a model on a GPU, from their front door, on the emulated one: not how fast it is, but that
// every row is there, has true numbers, and keeps to the budget.
#include "engine/bench.h"
#include "engine/placement_text.h"
#include "engine/plan/measure_device.h"
#include "engine/planner.h"
#include "tests/support/cuda_run.h"

#include <QtTest>

using namespace test_support;

namespace {

emulator::GpuFacts smallGpu()
{
    emulator::GpuFacts facts;
    facts.memory_bytes = std::size_t(16) << 20;  // it is copied within, slowly, before anything else
    return facts;
}

/// Everything a decode step could ask for, made up.
MachineRates someRates()
{
    MachineRates rates;
    rates.dram_read_bytes_per_s = 50e9;
    rates.values_per_s = 1e9;
    rates.wake_s = 1e-6;
    rates.token_s = rates.copy_start_s = 1e-6;
    rates.choice_s_per_value = 1e-9;
    rates.attention.push_back({KvType::F16, KvType::F16, 64, 1, RateCurve({{1e6, 20e9}})});
    for (const kernels::TypeTraits& type : kernels::all_tensor_types())
        rates.products.push_back({type.name, 64, RateCurve({{1e6, 20e9}})});
    rates.devices["cuda:0"] = {.name = name_with_driver(**CudaDevice::open(0)),
                               .copy_bytes_per_s = 2000e9,
                               .weights_bytes_per_s = 1000e9,
                               .small_kernels_s = 2e-6,
                               .attention_bytes_per_s = 800e9,
                               .attention_q8_0_bytes_per_s = 400e9,
                               .to_device_bytes_per_s = 25e9,
                               .to_host_bytes_per_s = 25e9,
                               .hand_off_s = 2e-5,
                               .flag_hand_off_s = 1e-5};
    return rates;
}

}  // namespace

class TestCudaBench : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void speedsComeInRows()
    {
        Gpu gpu(smallGpu());
        const BenchRequest request{.prefill_tokens = 24, .decode_tokens = 4, .depths = {0, 40}, .repeats = 1};
        int told = 0;
        const auto report = bench(on_cuda(request_for("llama")), request, [&](const BenchRow&) { ++told; });
        QVERIFY2(report, report ? "" : report.error().what.c_str());
        QCOMPARE(report->device, std::string("cuda:0"));
        QCOMPARE(report->device_layers, 2);
        QVERIFY(report->device_copy_gb_s && *report->device_copy_gb_s > 0);
        QCOMPARE(report->rows.size(), std::size_t(4));
        QCOMPARE(told, 4);
        for (std::size_t i = 0; i < report->rows.size(); ++i) {
            const BenchRow& row = report->rows[i];
            const bool decode = i % 2 == 1;
            QCOMPARE(row.test, std::string(decode ? "decode" : "prefill"));
            QCOMPARE(row.depth, request.depths[i / 2]);
            QCOMPARE(row.tokens, decode ? request.decode_tokens : request.prefill_tokens);
            QVERIFY(row.tok_s_median > 0);
            QVERIFY(!decode || (row.gb_s > 0 && row.bandwidth_share > 0));
        }
        QCOMPARE(gpu.complaints(), std::string());
    }

    void everyRowKeepsToTheBudget_data()
    {
        QTest::addColumn<int>("policy");
        for (const KvPolicy policy :
             {KvPolicy::Auto, KvPolicy::Stream, KvPolicy::Merge, KvPolicy::CpuDecode, KvPolicy::Resident})
            QTest::addRow("%s", std::string(name_of(policy)).c_str()) << int(policy);
    }
    void everyRowKeepsToTheBudget()
    {
        QFETCH(int, policy);
        constexpr int kFits = 96;
        Gpu gpu(smallGpu());
        LoadRequest load = on_cuda(request_for("llama"));
        load.placement.kv_policy = KvPolicy(policy);
        load.placement.budget_fit_tokens = kFits;
        load.prefill_chunk_tokens = kBlockTokens;  // a larger step makes more leave at once
        const MachineRates rates = someRates();
        load.placement.rates = std::make_shared<const MachineRates>(rates);
        const PressureRequest request{.most_tokens = 240, .every_tokens = 48, .decode_tokens = 3, .rates = rates};
        const auto report = bench_pressure(load, request, [](const PressureRow&) {});
        QVERIFY2(report, report ? "" : report.error().what.c_str());
        QCOMPARE(report->device, std::string("cuda:0"));
        QCOMPARE(report->device_layers, 2);
        const bool stops = KvPolicy(policy) == KvPolicy::Resident;  // where nothing may leave
        QVERIFY(stops || report->spill_tokens == kFits);
        QVERIFY(int(report->rows.size()) >= kFits / request.every_tokens);
        QCOMPARE(report->rows.size() < 5, stops);

        const auto planner = Planner::open(load.model);
        QVERIFY(planner);
        for (const PressureRow& row : report->rows) {
            QVERIFY(row.tok_s > 0);
            QVERIFY(row.predicted_tok_s && *row.predicted_tok_s > 0);
            QVERIFY(row.vram_used_bytes <= row.vram_budget_bytes);
            QVERIFY(std::size_t(row.vram_used_bytes) <= gpu.emulated()->peak_bytes());
            const bool on_host = KvPolicy(policy) == KvPolicy::CpuDecode || (row.context_tokens > kFits && !stops);
            QCOMPARE(row.blocks_host > 0, on_host);
            QCOMPARE(row.link_bytes_per_token + row.attended_on_host_bytes_per_token > 0, on_host);
            if (KvPolicy(policy) == KvPolicy::CpuDecode)
                continue;  // what is begun in decoding lies on the host
            const int contexts[] = {row.context_tokens};
            const auto plan = planner->plan(load, contexts, &rates);
            QVERIFY(plan);
            const std::int64_t planned = plan->rows.front().device->total();
            const std::int64_t used = row.vram_used_bytes - row.vram_ahead_bytes;
            QVERIFY2(
                std::abs(double(planned - used)) <= 0.01 * double(used),
                qPrintable(QString("%1 tokens: %2 planned, %3 taken").arg(row.context_tokens).arg(planned).arg(used)));
        }
        QCOMPARE(gpu.complaints(), std::string());
    }
};

QTEST_GUILESS_MAIN(TestCudaBench)
#include "tst_cuda_bench.moc"
