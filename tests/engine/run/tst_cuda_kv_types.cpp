// Tests that a GPU reads keys and values which are kept in other types from some token on.
#include "engine/tools/selftest_cuda.h"
#include "tests/engine/run/cuda_conversations.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace test_support;

namespace {

constexpr int kChange = 160, kChangeBack = 180;

/// `blocks_there`: on the device, before the last step.
Run run_changing(LoadedModel& model, int& blocks_there)
{
    return run(
        model,
        [&](int token) {
            if (const auto device = model.placement().telemetry())
                blocks_there = device->kv_blocks;
            if (token == kChange)
                QVERIFY(model.set_kv_types(KvType::Q8_0, KvType::Q8_0));
            if (token == kChangeBack)
                QVERIFY(model.set_kv_types(KvType::F16, KvType::F16));
        },
        kLengths);
}

}  // namespace

class TestCudaKvTypes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aStepReadsWhatIsThereNow_data()
    {
        QTest::addColumn<int>("room");  // tokens, 0: for all
        QTest::addColumn<int>("policy");
        QTest::addColumn<bool>("flags");
        QTest::newRow("all resident") << 0 << int(KvPolicy::Merge) << false;
        QTest::newRow("attended by the CPU") << 96 << int(KvPolicy::Merge) << false;
        QTest::newRow("attended by the CPU, joined by flags") << 96 << int(KvPolicy::Merge) << true;
        QTest::newRow("streamed") << 96 << int(KvPolicy::Stream) << false;
        QTest::newRow("written on the CPU") << 96 << int(KvPolicy::CpuDecode) << false;
    }
    void aStepReadsWhatIsThereNow()
    {
        QFETCH(int, room);
        QFETCH(int, policy);
        QFETCH(bool, flags);
        int blocks_there = 0;
        const Run alone = run_changing(*load(request_for("llama")), blocks_there);
        QVERIFY(alone.status);
        Gpu gpu;
        {
            LoadRequest request = room ? leaving_after(room, KvPolicy(policy)) : never_leaving();
            const auto model = load(flags ? joining_by_flags(request) : request);
            QVERIFY(model);
            const Run here = run_changing(*model, blocks_there);
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(count(here.events, Event::Kind::KvRewritten), 2);
            QCOMPARE(count(here.events, Event::Kind::DeviceLost), 0);
            const double apart = relative_difference(here.logits, alone.logits);
            QVERIFY2(apart < kCpuAndCudaApart, qPrintable(QString::number(apart)));
            QVERIFY(blocks_there > 0 || KvPolicy(policy) == KvPolicy::CpuDecode);
        }
        QCOMPARE(gpu.complaints(), std::string());
    }

    void whatNoKernelReadsIsRefused()
    {
        Gpu gpu;
        const auto model = load(never_leaving());
        QVERIFY(model);
        const Run here = run(
            *model,
            [&](int token) {
                if (token != kChange)
                    return;
                const Status done = model->set_kv_types(KvType::F32, KvType::F32);
                QVERIFY(!done);
                QVERIFY(done.error().what.find("f32") != std::string::npos);
            },
            kLengths);
        QVERIFY(here.status);
        QCOMPARE(count(here.events, Event::Kind::KvRewritten), 0);
        QVERIFY(model->cache().layer(0).block.k_type == kernels::KvType::F16);
        QVERIFY(model->placement().layers() > 0);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCudaKvTypes)
#include "tst_cuda_kv_types.moc"
