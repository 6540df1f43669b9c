// Tests that the window uses the machine's rates that were kept at once, and measures those that are missing while
// nothing else is computed.
#include "app/pressure/machine_speed.h"
#include "engine/machine.h"
#include "engine/planner.h"
#include "kernels/cpu.h"
#include "tests/support/fake_engine.h"
#include "tests/support/heard.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <atomic>

using namespace std::chrono_literals;

namespace {

engine::MachineRates ratesOfThisMachine(double dram = 40e9)
{
    engine::MachineRates rates;
    rates.cpu = engine::cpu_device().description;
    rates.kernels = kernels::cpu_kernels().name;
    rates.threads = 1;
    rates.dram_read_bytes_per_s = dram;
    return rates;
}

engine::LoadRequest oneThread()
{
    return {.model = "x.gguf", .threads = 1};
}

}  // namespace

class TestMachineSpeed : public QObject
{
    Q_OBJECT

private:
    std::shared_ptr<FakeScript> script;
    std::unique_ptr<EngineThread> thread;
    std::unique_ptr<QTemporaryDir> folder;
    std::atomic<int> asked = 0, gaveUp = 0;
    std::atomic<bool> knownThen = false;

    MachineSpeed::Measure measure(std::chrono::milliseconds takes = 0ms)
    {
        return [this, takes](const engine::LoadRequest&, const engine::MachineRates* known,
                             const MachineSpeed::GoesOn& goesOn) -> engine::Result<engine::MachineRates> {
            ++asked;
            knownThen = known != nullptr;
            for (auto waited = 0ms; waited < takes; waited += 5ms) {
                if (!goesOn(0.5)) {
                    ++gaveUp;
                    return engine::fail(engine::Error::Code::Cancelled, "given up");
                }
                QThread::msleep(5);
            }
            return ratesOfThisMachine();
        };
    }

private Q_SLOTS:
    /// These tests look at whether the machine is measured, not at how well.
    void initTestCase() { qputenv("SPILLWAY_MEASURE_SMALL_SETS", "1"); }

    /// So that the Doctor can say what keeping KV in half the room would bring, before it is done.
    void whereADeviceSpillsQ8IsMeasuredToo_data()
    {
        QTest::addColumn<bool>("device");
        QTest::newRow("cpu") << false;
        QTest::newRow("emulated") << true;
    }

    void whereADeviceSpillsQ8IsMeasuredToo()
    {
        QFETCH(const bool, device);
        engine::LoadRequest request{.model = (test_support::own_models_folder() + "/llama.gguf").toStdString(),
                                    .threads = 1};
        if (device)
            request.placement.device = engine::PlacementOptions::Device::Emulated;
        const auto goesOn = [](double) { return true; };
        const auto rates = MachineSpeed::measureModel(request, nullptr, goesOn);
        QVERIFY(rates);
        const auto planner = engine::Planner::open(request.model);
        QVERIFY(planner);
        const auto foretells = [&](engine::KvType type) {
            engine::LoadRequest kept = request;
            kept.k_type = kept.v_type = type;
            const auto plan = planner->plan(kept, std::array{0, 1024}, &*rates);
            return plan && plan->rows.back().tok_s.has_value();
        };
        QVERIFY(foretells(engine::KvType::F16));
        QCOMPARE(foretells(engine::KvType::Q8_0), device);
        // What is known is not measured again.
        const auto again = MachineSpeed::measureModel(request, &*rates, [](double) { return false; });
        QVERIFY(again);
        QCOMPARE(engine::to_json(*again), engine::to_json(*rates));
    }

    void init()
    {
        script = std::make_shared<FakeScript>();
        thread = std::make_unique<EngineThread>([this] { return std::make_unique<FakeEngine>(script); });
        folder = std::make_unique<QTemporaryDir>();
        asked = gaveUp = 0;
    }

    void cleanup() { thread.reset(); }

    void whatIsKeptIsThereAtOnceForItsThreads()
    {
        QVERIFY(engine::RatesFile(folder->path().toStdString()).keep(ratesOfThisMachine()));
        const MachineSpeed speed(*thread, folder->path(), measure(), 0);
        QVERIFY(speed.rates(1));
        QVERIFY(!speed.rates(7));
        const QTemporaryDir empty;
        QVERIFY(!MachineSpeed(*thread, empty.path(), measure(), 0).rates(1));
    }

    void whatIsMissingIsMeasuredKeptAndToldToTheEngine()
    {
        MachineSpeed speed(*thread, folder->path(), measure(), 0);
        QSignalSpy changed(&speed, &MachineSpeed::changed);
        speed.onModelReady(oneThread());
        QTRY_COMPARE_WITH_TIMEOUT(changed.size(), 1, 5000);
        QVERIFY(!knownThen);
        QCOMPARE(speed.rates(1)->dram_read_bytes_per_s, std::optional(40e9));
        QVERIFY(*engine::RatesFile(folder->path().toStdString()).read());
        QTRY_COMPARE_WITH_TIMEOUT(script->commands().size(), std::size_t(1), 5000);
        QCOMPARE(std::get<engine::SetRates>(script->commands().front()).rates, speed.rates(1));

        speed.onModelReady(oneThread());  // another model, which finds all it needs
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 2, 5000);
        QVERIFY(knownThen);
        QTest::qWait(50);
        QCOMPARE(changed.size(), 1);
    }

    void anAnswerEndsAMeasurementWhichIsMadeAgainAfterIt()
    {
        script->change([](auto& settings) { settings.per_token = 30ms; });
        Heard loaded(thread->worker(), &EngineWorker::loaded);
        thread->load(1, {.model = "x.gguf"}, {});
        QTRY_VERIFY_WITH_TIMEOUT(loaded.size() > 0, 5000);

        MachineSpeed speed(*thread, folder->path(), measure(1000ms), 20);
        QSignalSpy changed(&speed, &MachineSpeed::changed);
        speed.onModelReady(oneThread());
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 1, 5000);
        Heard finished(thread->worker(), &EngineWorker::finished);
        thread->generate(1, "a", {}, {});
        QTRY_COMPARE_WITH_TIMEOUT(gaveUp.load(), 1, 5000);
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 5000);
        QCOMPARE(changed.size(), 0);
        QTRY_COMPARE_WITH_TIMEOUT(changed.size(), 1, 5000);
        QCOMPARE(asked.load(), 2);
    }

    void whileOthersComputeNothingIsMeasured()
    {
        bool others = true;
        MachineSpeed speed(*thread, folder->path(), measure(500ms), 10);
        speed.setOthers([&] { return others; });
        QSignalSpy changed(&speed, &MachineSpeed::changed);
        speed.onModelReady(oneThread());
        QTest::qWait(100);
        QCOMPARE(asked.load(), 0);
        others = false;
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 1, 5000);
        others = true;
        speed.onOthers();
        QTRY_COMPARE_WITH_TIMEOUT(gaveUp.load(), 1, 5000);
        QTest::qWait(50);
        QCOMPARE(asked.load(), 1);
        QVERIFY(!speed.rates(1));
        others = false;
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 2, 5000);
        others = true;  // of which nobody told it yet
        QTest::qWait(700);
        QCOMPARE(changed.size(), 0);
        others = false;
        QTRY_COMPARE_WITH_TIMEOUT(changed.size(), 1, 5000);
        QVERIFY(speed.rates(1));
    }

    void whatAnAnswerHasOutrunIsMeasuredAnewAndOnce()
    {
        MachineSpeed speed(*thread, folder->path(), measure(), 0);
        QSignalSpy changed(&speed, &MachineSpeed::changed);
        speed.onModelReady(oneThread());
        QTRY_COMPARE_WITH_TIMEOUT(changed.size(), 1, 5000);
        for (int answer = 0; answer < 3; ++answer) {
            speed.onOutrun(oneThread());
            QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 2, 5000);
            QVERIFY(!knownThen);
            QTest::qWait(30);
        }
        speed.onModelReady(oneThread());  // opened again
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 3, 5000);
        QVERIFY(knownThen);
        speed.onOutrun(oneThread());
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 4, 5000);
    }

    void otherChoicesEndAMeasurementAndAreMeasuredInItsPlace()
    {
        MachineSpeed speed(*thread, folder->path(), measure(200ms), 100);
        QSignalSpy changed(&speed, &MachineSpeed::changed);
        speed.onModelReady(oneThread());
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 1, 5000);
        speed.onModelReady(oneThread());
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 2, 5000);
        QTRY_COMPARE_WITH_TIMEOUT(changed.size(), 1, 5000);
        QCOMPARE(gaveUp.load(), 1);
        QTest::qWait(200);
        QCOMPARE(asked.load(), 2);
    }

    void aModelThatGoesIsNotMeasured()
    {
        MachineSpeed speed(*thread, folder->path(), measure(200ms), 50);
        speed.onModelReady(oneThread());
        speed.onModelGone();
        QTest::qWait(150);
        QCOMPARE(asked.load(), 0);
        speed.onModelReady(oneThread());
        QTRY_COMPARE_WITH_TIMEOUT(asked.load(), 1, 5000);
        speed.onModelGone();
        QTRY_COMPARE_WITH_TIMEOUT(gaveUp.load(), 1, 5000);
        QVERIFY(!speed.rates(1));
    }
};

SPILLWAY_TEST(QCoreApplication, TestMachineSpeed)
#include "tst_machine_speed.moc"
