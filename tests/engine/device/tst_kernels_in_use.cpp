// Tests that the description of the kernels in use also names the products that another table computes.
#include "engine/device/kernels_in_use.h"
#include "engine/machine.h"
#include "tests/support/test_program.h"

#include <QTest>

using kernels::CpuKernels;
using kernels::TensorType;

class TestKernelsInUse : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void productsOfAnotherTableAreNamed()
    {
        CpuKernels tables[2] = {};
        tables[0].name = "avx512";
        tables[1].name = "amx";
        for (CpuKernels& table : tables)
            table.matmul.fill([](const kernels::MatMul&) {});
        for (const TensorType type : {TensorType::Q4_0, TensorType::Q4_K, TensorType::Q8_0})
            tables[1].matmul[std::size_t(type)] = [](const kernels::MatMul& m) { m.out[0] = 1; };
        CpuKernels mixed = tables[0];
        for (const TensorType type : {TensorType::Q4_0, TensorType::Q8_0})
            mixed.matmul[std::size_t(type)] = tables[1].matmul[std::size_t(type)];
        QCOMPARE(engine::describe(mixed, tables), std::string("avx512; prompts by amx: Q4_0, Q8_0"));
        QCOMPARE(engine::describe(tables[0], tables), std::string("avx512"));
        QCOMPARE(engine::describe(tables[1], tables), std::string("amx"));
    }

    void theDeviceSaysIt()
    {
        QCOMPARE(engine::cpu_device().kernels, engine::kernels_in_use());
        QVERIFY(engine::kernels_in_use().starts_with(kernels::cpu_kernels().name));
    }
};

SPILLWAY_TEST(QCoreApplication, TestKernelsInUse)
#include "tst_kernels_in_use.moc"
