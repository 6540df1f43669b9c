// Tests that the widest table of kernels runs, or the one that SPILLWAY_CPU names, and that a wrong name is slow and
// says so.
#include "kernels/cpu/dispatch/dispatch.h"
#include "kernels/cpu/dispatch/faster_prompts.h"
#include "kernels/cpu/read_ahead.h"
#include "kernels/read_ahead_choice.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTest>

#include <map>
#include <set>
#include <vector>

using kernels::CpuKernels;

class TestDispatch : public QObject
{
    Q_OBJECT

    // What a fresh process chooses: this program started again (see main below).
    static QByteArrayList chosenWith(const char* forced)
    {
        QProcess child;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.remove("SPILLWAY_CPU");
        if (forced)
            environment.insert("SPILLWAY_CPU", forced);
        child.setProcessEnvironment(environment);
        child.start(QCoreApplication::applicationFilePath(), {"--say-table"});
        if (!child.waitForFinished(60000))
            return {"the child did not finish"};
        return child.readAllStandardOutput().trimmed().split('|');
    }

private slots:
    void scalarComesFirstAndNamesDiffer()
    {
        const auto tables = kernels::all_cpu_kernels();
        QVERIFY(!tables.empty());
        QCOMPARE(QByteArray(tables.front().name), QByteArray("scalar"));
        QSet<QByteArray> names;
        for (const CpuKernels& table : tables)
            names.insert(table.name);
        QCOMPARE(std::size_t(names.size()), tables.size());
    }

    void everySlotIsFilled()
    {
        for (const CpuKernels& t : kernels::all_cpu_kernels()) {
            QVERIFY(t.dequantize && t.quantize_q8 && t.rms_norm && t.add && t.rope && t.silu_mul && t.gelu_mul);
            QVERIFY(t.swiglu_oai && t.store_kv && t.load_kv && t.attend_block && t.merge_partial);
            for (std::uint32_t id = 0; id < std::uint32_t(kernels::kTensorTypeIds); ++id)
                QCOMPARE(t.matmul[id] != nullptr, kernels::type_traits(id) != nullptr);
        }
    }

    void theLastTableIsTheDefault()
    {
        CpuKernels tables[2] = {};
        tables[0].name = "slow";
        tables[1].name = "fast";
        QCOMPARE(kernels::choose_table(tables, nullptr).table, &tables[1]);
        QCOMPARE(kernels::choose_table(tables, "slow").table, &tables[0]);
        QVERIFY(!kernels::choose_table(tables, "slow").unknown);
        const kernels::Choice wrong = kernels::choose_table(tables, "fsat");
        QCOMPARE(wrong.table, &tables[0]);
        QVERIFY(wrong.unknown);
    }

    /// AMX was measured to be slower than AVX-512 where it was tried.
    void tilesAreNotChosenForTheirName()
    {
        CpuKernels tables[3] = {};
        tables[0].name = "scalar";
        tables[1].name = "avx512";
        tables[2].name = "amx";
        QCOMPARE(kernels::choose_table(tables, nullptr).table, &tables[1]);
        QCOMPARE(kernels::choose_table(tables, "amx").table, &tables[2]);
    }

    void promptsTakeTheFasterProduct()
    {
        using kernels::TensorType;
        const auto product = [](const kernels::MatMul&) {};
        const auto tiles = [](const kernels::MatMul& m) { m.out[0] = 1; };
        CpuKernels plain = {}, amx = {};
        plain.name = "avx512";
        amx.name = "amx";
        for (const kernels::TypeTraits& type : kernels::all_tensor_types()) {
            const auto slot = std::size_t(type.type);
            plain.matmul[slot] = plain.matmul_interleaved[slot] = product;
            amx.matmul[slot] = amx.matmul_interleaved[slot] = tiles;
        }
        const auto f32 = std::size_t(TensorType::F32);
        amx.matmul[f32] = plain.matmul[f32];  // it has no product of its own for these

        int asked = 0;
        const auto seconds = [&](const CpuKernels& table, TensorType type) {
            ++asked;
            const bool is_amx = &table == &amx;
            return type == TensorType::Q4_0 || type == TensorType::Q8_0 ? (is_amx ? 1e-3 : 2e-3)
                   : type == TensorType::Q4_K                           ? (is_amx ? 2e-3 : 1e-3)
                                                                        : 1e-3;  // the same: nothing is gained
        };
        const CpuKernels mixed = kernels::with_faster_prompts(plain, amx, seconds);
        QCOMPARE(QByteArray(mixed.name), QByteArray("avx512"));
        for (const kernels::TypeTraits& type : kernels::all_tensor_types()) {
            const bool faster = type.type == TensorType::Q4_0 || type.type == TensorType::Q8_0;
            const auto slot = std::size_t(type.type);
            QVERIFY(mixed.matmul[slot] == (faster ? amx : plain).matmul[slot]);
            QVERIFY(mixed.matmul_interleaved[slot] == (faster ? amx : plain).matmul_interleaved[slot]);
        }
        QCOMPARE(asked, 2 * (int(kernels::all_tensor_types().size()) - 1));
    }

    void aProductCanBeTimed()
    {
        for (const CpuKernels& table : kernels::all_cpu_kernels())
            for (const kernels::TypeTraits& type : kernels::all_tensor_types()) {
                const double seconds = kernels::prompt_seconds(table, type.type);
                QVERIFY(seconds > 0 && seconds < 60);
            }
    }

    void readingAheadIsChosenByWhatIsFaster()
    {
        const auto asks = [](kernels::TensorType type) {
            return !kernels::slower_for_reading_ahead[std::size_t(type)];
        };
        const auto choose = [&](double with_s) {
            std::map<int, std::set<bool>> tried;
            int calls = 0;
            kernels::choose_read_ahead(kernels::TensorType::Q4_K, 16, [&](int piece) {
                tried[piece].insert(asks(kernels::TensorType::Q4_K));
                const bool disturbed = ++calls % 5 == 0;  // a few pieces may take long either way
                return disturbed ? 1.0 : asks(kernels::TensorType::Q4_K) ? with_s : 1e-3;
            });
            QCOMPARE(calls, 32);
            for (const auto& [piece, ways] : tried)
                QCOMPARE(ways.size(), std::size_t(2));
        };
        choose(0.8e-3);
        QVERIFY(asks(kernels::TensorType::Q4_K));
        choose(1.1e-3);
        QVERIFY(!asks(kernels::TensorType::Q4_K));
        QVERIFY(asks(kernels::TensorType::Q6_K));  // this type was not measured
        choose(0.99e-3);                           // too little is gained
        QVERIFY(!asks(kernels::TensorType::Q4_K));
        choose(0.8e-3);
        kernels::choose_read_ahead(kernels::TensorType::Q4_K, 0, [](int) { return 1.0; });
        QVERIFY(asks(kernels::TensorType::Q4_K));
    }

    void theEnvironmentForcesATable()
    {
        for (const CpuKernels& table : kernels::all_cpu_kernels())
            QCOMPARE(chosenWith(table.name), QByteArrayList({table.name, ""}));
        QCOMPARE(chosenWith("nonsense"), QByteArrayList({"scalar", "nonsense"}));
        const QByteArray widest = kernels::choose_table(kernels::all_cpu_kernels(), nullptr).table->name;
        QCOMPARE(chosenWith(nullptr), QByteArrayList({widest, ""}));
        QCOMPARE(chosenWith(""), QByteArrayList({widest, ""}));
    }
};

int main(int argc, char** argv)
{
    if (argc == 2 && QByteArray(argv[1]) == "--say-table") {
        const std::string_view unknown = kernels::unknown_forced_table();
        std::printf("%s|%.*s\n", kernels::cpu_kernels().name, int(unknown.size()), unknown.data());
        return 0;
    }
    const QCoreApplication application(argc, argv);
    TestDispatch test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_dispatch.moc"
