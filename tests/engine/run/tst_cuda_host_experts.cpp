// Tests that experts which the host computes for a GPU's layers are as close to the truth as those on the GPU, and
// repeatable.
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/expert_rates.h"
#include "tests/support/reference_logits.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <chrono>
#include <random>
#include <thread>

using namespace test_support;
namespace cuda = kernels::cuda;

namespace {

#ifdef SPILLWAY_SANITIZED  // where a step takes many times as long
constexpr Lengths kTurn = {20, 34}, kLongTurn = {20, 60};
constexpr Lengths kShortPrompt = {12, 26};  // of few rows
#else
constexpr Lengths kTurn = {20, 40}, kLongTurn = {20, 80};
constexpr Lengths kShortPrompt = {12, 40};  // of few rows
#endif
constexpr Lengths kLongPrompt = {80, 84};  // in two steps of 40

LoadRequest with_host_experts(const QString& name, std::optional<int> layers)
{
    LoadRequest request = on_cuda(request_for(name));
    request.placement.host_expert_layers = layers;
    return request;
}

/// Room on the device for this many of the experts, all of which lie on the host.
LoadRequest with_copies(const QString& name, double share)
{
    LoadRequest request = with_host_experts(name, PlacementOptions::kAllLayers);
    LoadRequest all = request;
    all.placement.expert_cache_bytes = std::int64_t(1) << 40;
    if (const auto model = load(all)) {
        while (model->placement().advance()) {
        }
        request.placement.expert_cache_bytes =
            std::int64_t(share * double(model->placement().telemetry()->expert_cache_bytes));
    }
    return request;
}

/// All experts on the host, of which some come for steps of many rows.
LoadRequest travelling(const QString& name)
{
    LoadRequest request = with_host_experts(name, PlacementOptions::kAllLayers);
    request.placement.rates = rates_of_travelling_experts("cuda:0", name_with_driver(**CudaDevice::open(0)));
    return request;
}

/// The root mean square of how far two runs lie apart, by that of the values.
double distance(const Logits& a, const Logits& b)
{
    double apart = 0, all = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[i].size(); ++j) {
            apart += double(a[i][j] - b[i][j]) * double(a[i][j] - b[i][j]);
            all += double(b[i][j]) * double(b[i][j]);
        }
    return std::sqrt(apart / all);
}

}  // namespace

class TestCudaHostExperts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void theHostsPartIsRight_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"gpt-oss", "nemotron_h_moe"})
            QTest::addRow("%s", name) << QString(name);
#ifndef SPILLWAY_SANITIZED
        for (const char* const name : {"qwen3moe", "gemma4-moe"})
            QTest::addRow("%s", name) << QString(name);
#endif
    }
    void theHostsPartIsRight()
    {
        QFETCH(QString, name);
        Gpu gpu;
        const auto logits = [&](std::optional<int> host_layers) {
            const auto model = load(with_host_experts(name, host_layers));
            if (!model || model->placement().layers() != model->info().layers)
                return Logits();
            const Run here = run(*model, {}, kTurn);
            const DeviceTelemetry device = *model->placement().telemetry();
            return here.status && (!host_layers || *host_layers == 0 || device.layers_without_experts > 0) ? here.logits
                                                                                                           : Logits();
        };
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Logits truth = run(*cpu, {}, kTurn).logits, there = logits(0),
                     here = logits(PlacementOptions::kAllLayers);
        QVERIFY(!there.empty() && here.size() == truth.size());
        QVERIFY2(distance(here, truth) <= 1.2 * distance(there, truth) + 1e-3,
                 qPrintable(QString("%1 %2").arg(distance(here, truth)).arg(distance(there, truth))));
        QCOMPARE(first_difference(logits(PlacementOptions::kAllLayers), here), -1);
        QCOMPARE(gpu.complaints(), std::string());
    }

    // Gates apart and fused, biases, scales, weights on what experts read, experts without gates.
    void copiesAreRight_data()
    {
        QTest::addColumn<QString>("name");
#ifdef SPILLWAY_SANITIZED  // minutes for all of them
        for (const char* const name : {"gpt-oss-mxfp4", "granitemoe"})
            QTest::addRow("%s", name) << QString(name);
        return;
#endif
        for (const char* const name : {"qwen3moe", "gpt-oss", "gpt-oss-mxfp4", "deepseek2", "qwen3next", "granitemoe",
                                       "gemma4-moe", "nemotron_h_moe", "llama4"})
            QTest::addRow("%s", name) << QString(name);
    }
    void copiesAreRight()
    {
        QFETCH(QString, name);
        Gpu gpu;
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Logits truth = run(*cpu, {}, kShortPrompt).logits;
        auto on_gpu = load(with_host_experts(name, 0));
        QVERIFY(on_gpu);
        const Logits there = run(*on_gpu, {}, kShortPrompt).logits;
        on_gpu.reset();
        auto model = load(with_copies(name, 0.5));
        QVERIFY(model);
        const Run here = run(
            *model, [&](int) { model->placement().settle(); }, kShortPrompt);
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        const DeviceTelemetry device = *model->placement().telemetry();
        QVERIFY(device.cached_experts > 0 && device.expert_cache_bytes > 0);
        QVERIFY2(device.expert_hits > 0 && device.expert_misses > 0,
                 qPrintable(QString("%1 hits, %2 misses").arg(device.expert_hits).arg(device.expert_misses)));
        QVERIFY(device.used_bytes() <= device.budget_bytes);
        QVERIFY2(distance(here.logits, truth) <= 1.2 * distance(there, truth) + 1e-3,
                 qPrintable(QString("%1 %2").arg(distance(here.logits, truth)).arg(distance(there, truth))));
        model.reset();
        QCOMPARE(gpu.complaints(), std::string());
    }

    // Kernels reach rows, choices and results in the host's memory: what a recorded step copies, it copies also where
    // the device has all experts.
    void theHostsExpertsCostNoCopies_data()
    {
        QTest::addColumn<bool>("copies");
        QTest::newRow("all on the host") << false;
        QTest::newRow("copies of some") << true;
    }
    void theHostsExpertsCostNoCopies()
    {
        QFETCH(bool, copies);
        Gpu gpu;
        if (!gpu.emulated())
            QSKIP("a real driver does not count what is recorded");
        struct Recorded {
            int graphs = 0, copies = 0;
        };
        const auto recorded = [&](const LoadRequest& request) {
            const auto model = load(request);
            if (!model)
                return Recorded();
            const Recorded before{gpu.emulated()->graphs_made(), gpu.emulated()->copies_recorded()};
            const Run here = run(*model, {}, kShortPrompt);
            return here.status ? Recorded{gpu.emulated()->graphs_made() - before.graphs,
                                          gpu.emulated()->copies_recorded() - before.copies}
                               : Recorded();
        };
        LoadRequest request =
            copies ? with_copies("qwen3moe", 0.5) : with_host_experts("qwen3moe", PlacementOptions::kAllLayers);
        if (!copies)
            request.placement.expert_cache_bytes = 0;
        static const Recorded resident = recorded(with_host_experts("qwen3moe", 0));  // the same for each row
        const Recorded hosts = recorded(request);
        QVERIFY(resident.graphs > 0);
        QVERIFY(hosts.graphs > resident.graphs);  // a graph ends where the host computes
        QCOMPARE(hosts.copies, resident.copies);
    }

    // The second step of the prompt finds copies, and of the others some come, while the host computes the rest.
    void promptsUseTheDevice_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("copies");
        QTest::addColumn<bool>("travel");
#ifdef SPILLWAY_SANITIZED  // minutes for all of them
        QTest::addRow("gpt-oss-mxfp4, both") << QStringLiteral("gpt-oss-mxfp4") << true << true;
        return;
#endif
        for (const char* const name : {"qwen3moe", "gpt-oss-mxfp4", "nemotron_h_moe", "llama4", "gemma4-moe"})
            QTest::addRow("%s, copies", name) << QString(name) << true << false;
        // Only packed matrices come.
        QTest::addRow("gpt-oss-mxfp4, on their way") << QStringLiteral("gpt-oss-mxfp4") << false << true;
        QTest::addRow("gpt-oss-mxfp4, both") << QStringLiteral("gpt-oss-mxfp4") << true << true;
    }
    void promptsUseTheDevice()
    {
        QFETCH(QString, name);
        QFETCH(bool, copies);
        QFETCH(bool, travel);
        Gpu gpu;
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Logits truth = run(*cpu, {}, kLongPrompt).logits;
        auto on_gpu = load(with_host_experts(name, 0));
        QVERIFY(on_gpu);
        const Logits there = run(*on_gpu, {}, kLongPrompt).logits;
        on_gpu.reset();
        LoadRequest request = copies ? with_copies(name, 0.5) : with_host_experts(name, PlacementOptions::kAllLayers);
        if (travel)
            request.placement.rates = travelling(name).placement.rates;
        Logits first;
        for (int time = 0; time < 2; ++time) {
            auto model = load(request);
            QVERIFY(model);
            while (model->placement().advance()) {
            }
            DeviceTelemetry prompt;
            const Run here = run(
                *model,
                [&](int done) {
                    model->placement().settle();
                    if (done <= kLongPrompt.prefill)
                        prompt = *model->placement().telemetry();
                },
                kLongPrompt);
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(prompt.expert_hits > 0, copies);
            QCOMPARE(prompt.expert_streamed_bytes > 0, travel);
            QVERIFY(prompt.used_bytes() <= prompt.budget_bytes);
            QVERIFY2(distance(here.logits, truth) <= 1.2 * distance(there, truth) + 1e-3,
                     qPrintable(QString("%1 %2").arg(distance(here.logits, truth)).arg(distance(there, truth))));
            if (time > 0 && !copies)  // how many have copies by then differs from run to run
                QCOMPARE(first_difference(here.logits, first), -1);
            first = here.logits;
        }
        QCOMPARE(gpu.complaints(), std::string());
    }

    void copiesComeAndGoWhileTheModelTalks()
    {
        Gpu gpu;
        auto model = load(with_copies("gpt-oss", 0.75));
        const auto cpu = load(request_for("gpt-oss"));
        QVERIFY(model && cpu);
        while (model->placement().advance()) {
        }
        const std::int64_t room = model->placement().telemetry()->expert_cache_bytes;
        QVERIFY(room > 0);
        std::mt19937 random(m_seed);
        bool had_copies = false, had_none = false;
        const Run here = run(
            *model,
            [&](int done) {
                ModelPlacement& placement = model->placement();
                switch (done == 50 ? 3 : random() % 6) {
                case 0:
                    QVERIFY(placement.apply(SetExpertCache{room * std::int64_t(random() % 4) / 3}));
                    break;
                case 1:
                    QVERIFY(placement.apply(SetHostExperts{int(random() % 3)}));
                    break;
                case 2:
                    QVERIFY(placement.apply(SetDeviceLayers{int(random() % 3)}));
                    break;
                case 3:
                    QVERIFY(placement.apply(SetExpertCache{0}));
                    placement.settle();
                    break;
                default:
                    QVERIFY(placement.apply(SetDeviceLayers{PlacementOptions::kAllLayers}));
                    placement.settle();
                }
                (placement.telemetry()->expert_cache_bytes > 0 ? had_copies : had_none) = true;
            },
            kLongTurn);
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        QVERIFY(had_copies && had_none);
        QVERIFY(distance(here.logits, run(*cpu, {}, kLongTurn).logits) < 0.05);
        model.reset();
        QCOMPARE(gpu.complaints(), std::string());
    }

    /// In the midst of a step the GPU goes on with what it was given, and the host leaves out what is its part.
    // Calls of the driver fail while experts have copies: each time the answer comes, on the GPU or on the CPU.
    void aFailureAtAnyCallIsNoEnd_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<bool>("travel");
        QTest::newRow("the device is lost") << int(cuda::Status::LaunchFailed) << false;
        QTest::newRow("no memory is left") << int(cuda::Status::OutOfMemory) << false;
        QTest::newRow("the device is lost while experts come") << int(cuda::Status::LaunchFailed) << true;
        QTest::newRow("no memory is left while experts come") << int(cuda::Status::OutOfMemory) << true;
    }
    void aFailureAtAnyCallIsNoEnd()
    {
        QFETCH(int, status);
        QFETCH(bool, travel);
        const Lengths few = travel ? Lengths{20, 22} : Lengths{12, 20};
        const auto talk = [&](LoadedModel& model) {
            while (travel && model.placement().advance()) {
            }
            return run(
                model, [&](int) { model.placement().settle(); }, few);
        };
        const char* const name = travel ? "gpt-oss-mxfp4" : "qwen3moe";  // only packed matrices come
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Logits truth = run(*cpu, {}, few).logits;
        LoadRequest request;
        int opening = 0, all = 0;  // calls
        double apart = 0;
        {
            Gpu gpu;
            if (!gpu.emulated())
                QSKIP("a real device does not fail at will");
            request = travel ? travelling(name) : with_copies(name, 0.5);
            opening = -gpu.emulated()->calls();
            QVERIFY(CudaDevice::open(0));
            opening += gpu.emulated()->calls();
            all = -gpu.emulated()->calls();
            const auto model = load(request);
            QVERIFY(model);
            apart = distance(talk(*model).logits, truth);
            const DeviceTelemetry device = *model->placement().telemetry();
            QVERIFY(travel ? device.expert_streamed_bytes > 0 : device.expert_hits > 0);
            all += gpu.emulated()->calls();
        }
        std::mt19937 random(m_seed);
        int noted = 0, tried = 0, reached = 0;
        // The first ones one by one, then further and further apart: with sanitizers about half as many.
#ifdef SPILLWAY_SANITIZED
        constexpr int kDenser = 1;
#else
        constexpr int kDenser = 2;
#endif
        for (int call = opening + 1; call < all; ++tried) {
            Gpu gpu;
            gpu.emulated()->fail_call(call, cuda::Status(status));
            {
                const auto model = load(request);
                QVERIFY(model);
                const Run here = talk(*model);
                QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
                const double now = distance(here.logits, truth);
                QVERIFY2(now <= 1.2 * apart + 1e-3, qPrintable(QString("call %1: %2").arg(call).arg(now)));
                noted += !here.events.empty() || !model->info().warnings.empty();
                reached += gpu.emulated()->calls() >= call;
            }
            QCOMPARE(gpu.emulated()->fault(), std::string());
            if (cuda::is_device_lost(cuda::Status(status)))  // else the call that fails may be one that gives back
                QCOMPARE(gpu.emulated()->leaks(), std::string());
            call += 1 + int(random() % unsigned(1 + (call - opening) / kDenser));
        }
        const QString counts = QString("of %1 calls %2 were made, %3 noted").arg(tried).arg(reached).arg(noted);
        QVERIFY2(reached > tried / 2, qPrintable(counts));
        // A single refusal of memory is often mended unseen: by another try, or with memory that was kept ready.
        if (cuda::is_device_lost(cuda::Status(status)))
            QVERIFY2(noted > reached / 2, qPrintable(counts));
    }

    void aStoppedStepCanBeComputedLater()
    {
        Gpu gpu;
        auto model = load(with_host_experts("qwen3moe", PlacementOptions::kAllLayers));
        QVERIFY(model);
        const std::vector<int> ids = some_tokens(*model);
        const auto first = std::span(ids).first(20), second = std::span(ids).subspan(20, 20);
        const auto logits_of = [&](KvSequence& kv) {
            const auto logits = model->logits(kv, 19);
            return logits ? std::vector<float>(logits->begin(), logits->end()) : std::vector<float>();
        };
        KvSequence whole, kv;
        QVERIFY(model->append(whole, first, 1) && model->append(whole, second, 1));
        const std::vector<float> expected = logits_of(whole);
        QVERIFY(!expected.empty());
        QVERIFY(model->append(kv, first, 1));
        int stopped = 0;
        for (int delay_us = 0;; delay_us = 2 * delay_us + 300, ++stopped) {
            std::stop_source stop;
            if (delay_us == 0)
                stop.request_stop();
            const std::jthread stopper([&] {
                std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
                stop.request_stop();
            });
            RowGroup group{&kv, second};
            group.wanted = 1;
            group.stop = stop.get_token();
            const Status done = model->append(std::span(&group, 1));
            if (done)
                break;
            QCOMPARE(done.error().code, Error::Code::Cancelled);
            QCOMPARE(kv.length(), 20);
        }
        QVERIFY(stopped > 0);
        QVERIFY(logits_of(kv) == expected);
        model.reset();
        QCOMPARE(gpu.complaints(), std::string());
    }

    void whatIsStoppedBringsNoExperts()
    {
        Gpu gpu;
        auto model = load(travelling("gpt-oss-mxfp4"));
        QVERIFY(model);
        while (model->placement().advance()) {
        }
        const std::vector<int> ids = some_tokens(*model);
        const auto brought = [&] { return model->placement().telemetry()->expert_streamed_bytes; };
        KvSequence kv;
        std::stop_source stop;
        RowGroup group{&kv, std::span(ids).first(40)};
        group.wanted = 1;
        group.stop = stop.get_token();
        stop.request_stop();
        const Status stopped = model->append(std::span(&group, 1));
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().code, Error::Code::Cancelled);
        QCOMPARE(brought(), std::int64_t(0));
        group.stop = {};
        QVERIFY(model->append(std::span(&group, 1)));
        QVERIFY(brought() > 0);
        model.reset();
        QCOMPARE(gpu.complaints(), std::string());
    }

    void expertsMoveWhileTheModelTalks()
    {
        Gpu gpu;
        const auto model = load(with_host_experts("gpt-oss", 0)), cpu = load(request_for("gpt-oss"));
        QVERIFY(model && cpu);
        std::vector<int> without;
        const Run here = run(
            *model,
            [&](int done) {
                QVERIFY(model->placement().apply(SetHostExperts{done < 25 ? 0 : done < 32 ? 1 : 2}));
                without.push_back(model->placement().telemetry()->layers_without_experts);
            },
            kTurn);
        QVERIFY(here.status);
        QCOMPARE(without.front(), 0);
        QCOMPARE(without.back(), 2);
        QVERIFY(distance(here.logits, run(*cpu, {}, kTurn).logits) < 0.05);
        QCOMPARE(count(here.events, Event::Kind::ExpertsMove), 2);
        QCOMPARE(count(here.events, Event::Kind::Warning), 0);
    }

    // KV that the host attends and experts that it computes in one step, with cut graphs and with flags.
    void bothPartsOfTheHostGoTogether_data()
    {
        QTest::addColumn<bool>("flags");
        QTest::addColumn<bool>("copies");
        QTest::addRow("cut graphs") << false << false;
        QTest::addRow("flags") << true << false;
        QTest::addRow("flags, copies of experts") << true << true;
    }
    void bothPartsOfTheHostGoTogether()
    {
        QFETCH(bool, flags);
        Gpu gpu;
        QFETCH(bool, copies);
        LoadRequest request =
            copies ? with_copies("qwen3moe", 0.5) : with_host_experts("qwen3moe", PlacementOptions::kAllLayers);
        request.placement.kv_policy = KvPolicy::Merge;
        request.placement.kv_offload_share = 0.5;
        if (flags)
            request = joining_by_flags(request);
        auto model = load(request);
        const auto cpu = load(request_for("qwen3moe"));
        QVERIFY(model && cpu);
        const Lengths lengths = {80, 100};
        const Run here = run(
            *model, [&](int) { model->placement().settle(); }, lengths);
        QVERIFY(here.status);
        QCOMPARE(model->placement().telemetry()->expert_hits > 0, copies);
        QVERIFY(distance(here.logits, run(*cpu, {}, lengths).logits) < 0.05);
        model.reset();
        QCOMPARE(gpu.complaints(), std::string());
    }

private:
    const unsigned m_seed = std::random_device{}();
};

SPILLWAY_TEST(QCoreApplication, TestCudaHostExperts)
#include "tst_cuda_host_experts.moc"
