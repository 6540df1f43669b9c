// Tests that the rates of a machine are looked up, kept as JSON and measured rightly.
#include "engine/exec/thread_pool.h"
#include "engine/machine_rates.h"
#include "engine/plan/measure_rates.h"
#include "engine/planner.h"
#include "engine/rates_file.h"
#include "tests/engine/plan/flat_rate.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <cstring>
#include <filesystem>

#ifdef Q_OS_UNIX
#include <sys/stat.h>
#endif

using namespace engine;
using test_support::flat;

namespace {

MachineRates some_rates()
{
    MachineRates rates;
    rates.cpu = "4 cores";
    rates.kernels = "avx2";
    rates.threads = 4;
    rates.dram_read_bytes_per_s = 40e9;
    rates.wake_s = 1.5e-6;
    rates.products = {{"Q8_0", 256, flat(10e9), 100e9}, {"Q8_0", 2048, RateCurve({{1e6, 30e9}, {64e6, 15e9}}), 200e9}};
    rates.attention = {{KvType::F16, KvType::F16, 64, 1, flat(20e9)},
                       {KvType::F16, KvType::F16, 64, 4, flat(10e9)},
                       {KvType::Q8_0, KvType::Q8_0, 128, 1, flat(8e9)}};
    rates.devices["cuda:0"].weights_bytes_per_s = 800e9;
    rates.devices["cuda:0"].small_kernels_s = 2e-6;
    rates.devices["cuda:0"].unlocked_to_device_bytes_per_s = 9e9;
    return rates;
}

bool near(std::optional<double> a, double b)
{
    return a && std::abs(*a - b) <= 1e-9 * std::abs(b);
}

}  // namespace

class TestMachineRates : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// These tests look at whether the machine is measured, not at how well.
    void initTestCase() { qputenv("SPILLWAY_MEASURE_SMALL_SETS", "1"); }

    void aLargerSetIsNeverReadFaster()
    {
        const RateCurve curve({{64e6, 12e9}, {1e6, 30e9}, {16e6, 10e9}});
        QVERIFY(near(curve.seconds_per_byte(1), 1 / 30e9));
        QVERIFY(near(curve.seconds_per_byte(16e6), 1 / 10e9));
        QVERIFY(near(curve.seconds_per_byte(1e12), 1 / 10e9));
        QVERIFY(near(curve.seconds_per_byte(4e6), (1 / 30e9 + 1 / 10e9) / 2));  // the middle by its logarithm
    }

    void betweenTwoLengthsARowCostsSomethingByItself()
    {
        const MachineRates rates = some_rates();
        QVERIFY(near(rates.product_seconds("Q8_0", 256, 1e9, 1e6), 0.1));
        QVERIFY(near(rates.product_seconds("Q8_0", 2048, 1e9, 1e6), 1 / 30.0));
        QVERIFY(near(rates.product_seconds("Q8_0", 128, 1e9, 1e6), 0.1));
        QVERIFY(near(rates.product_seconds("Q8_0", 9999, 1e9, 1e6), 1 / 30.0));
        // a + b / n through both
        const double b = (0.1 - 1 / 30.0) / (1 / 256.0 - 1 / 2048.0);
        QVERIFY(near(rates.product_seconds("Q8_0", 512, 1e9, 1e6), 0.1 - b * (1 / 256.0 - 1 / 512.0)));
        QVERIFY(!rates.product_seconds("Q4_K", 256, 1e9, 1e6));
    }

    void groupsAreInterpolatedAndLengthsTakenFromTheNearest()
    {
        const MachineRates rates = some_rates();
        const auto f16 = [&](int length, int group) {
            return rates.attention_seconds(KvType::F16, KvType::F16, length, group, 1e9, 1e6);
        };
        QVERIFY(near(f16(64, 1), 0.05));
        QVERIFY(near(f16(256, 1), 0.05));
        QVERIFY(near(f16(64, 4), 0.1));
        QVERIFY(near(f16(64, 2), 0.05 + 0.05 / 3));
        QVERIFY(near(f16(64, 8), 0.2));
        QVERIFY(!rates.attention_seconds(KvType::F32, KvType::F32, 64, 1, 1e9, 1e6));
        QVERIFY(near(rates.attention_seconds(KvType::F16, KvType::Q8_0, 64, 1, 1e9, 1e6), (0.05 + 0.125) / 2));
    }

    void whatIsKeptIsReadBack()
    {
        const MachineRates rates = some_rates();
        const auto again = parse_machine_rates(to_json(rates));
        QVERIFY2(again, again ? "" : again.error().what.c_str());
        QCOMPARE(to_json(*again), to_json(rates));
        QVERIFY(!again->values_per_s);
        QCOMPARE(again->devices.at("cuda:0").weights_bytes_per_s, std::optional(800e9));
        QCOMPARE(again->devices.at("cuda:0").small_kernels_s, std::optional(2e-6));
        QCOMPARE(again->devices.at("cuda:0").unlocked_to_device_bytes_per_s, std::optional(9e9));
        QCOMPARE(again->products.front().prompt_ops_per_s, std::optional(100e9));
        QVERIFY(!again->devices.at("cuda:0").attention_bytes_per_s);
        QVERIFY(!hold_here(rates, 1));
    }

    /// A file of an earlier version lacks what was not measured then; the rates that it has still hold.
    void ratesOfBeforeMoreWasMeasuredStillHold()
    {
        std::string text = to_json(some_rates());
        for (const char* const line :
             {"\"unlocked_to_device_bytes_per_s\": 9000000000.0,", ",\n   \"prompt_ops_per_s\": 100000000000.0"}) {
            const auto at = text.find(line);
            QVERIFY2(at != std::string::npos, line);
            text.erase(at, std::strlen(line));
        }
        const auto rates = parse_machine_rates(text);
        QVERIFY2(rates, rates ? "" : rates.error().what.c_str());
        QVERIFY(!rates->devices.at("cuda:0").unlocked_to_device_bytes_per_s);
        QVERIFY(!rates->products.front().prompt_ops_per_s && rates->products.back().prompt_ops_per_s);
    }

    void theNearestLengthStandsForAPrompts()
    {
        const MachineRates rates = some_rates();
        QVERIFY(near(rates.prompt_seconds("Q8_0", 300, 1e9), 0.01));
        QVERIFY(near(rates.prompt_seconds("Q8_0", 1024, 1e9), 0.005));
        QVERIFY(!rates.prompt_seconds("Q4_K", 300, 1e9));
    }

    void whatIsNotOursIsRefusedInOneSentence_data()
    {
        QTest::addColumn<std::string>("text");
        const std::string whole = to_json(some_rates());
        const auto with = [&](const char* from, const std::string& to) {
            std::string text = whole;
            const auto at = text.find(from);
            return at == std::string::npos ? whole : text.replace(at, std::strlen(from), to);
        };
        QTest::newRow("nothing") << std::string();
        QTest::newRow("no JSON") << std::string("\x01\xff{");
        QTest::newRow("cut") << whole.substr(0, whole.size() / 2);
        QTest::newRow("a list") << std::string("[]");
        QTest::newRow("deep") << std::string(500'000, '[');
        QTest::newRow("another version") << with("\"version\": 9", "\"version\": 8");
        QTest::newRow("a negative rate") << with("40000000000.0", "-1.0");
        QTest::newRow("a rate of zero") << with("40000000000.0", "0.0");
        QTest::newRow("beyond numbers") << with("40000000000.0", "1e400");
        QTest::newRow("a text for a number") << with("40000000000.0", "\"fast\"");
        QTest::newRow("no threads") << with("\"threads\": 4", "\"threads\": 0");
        QTest::newRow("half a thread") << with("\"threads\": 4", "\"threads\": 1.5");
        QTest::newRow("too long") << std::string(2 << 20, ' ') + whole;
        QTest::newRow("no such KV type") << with("\"f16\"", "\"f17\"");
        QTest::newRow("a long name") << with("4 cores", std::string(1000, 'x'));
    }

    void whatIsNotOursIsRefusedInOneSentence()
    {
        QFETCH(std::string, text);
        const auto rates = parse_machine_rates(text);
        QVERIFY(!rates);
        QVERIFY(!rates.error().what.empty());
        QVERIFY(rates.error().what.find('\n') == std::string::npos);
    }

    void aFileKeepsWhatWasMeasuredOneAfterTheOther()
    {
        const QTemporaryDir folder;
        const RatesFile file((folder.path() + "/data").toStdString());
        QVERIFY(file.read() && !*file.read());
        QVERIFY(file.keep(some_rates()));
        QCOMPARE(to_json(**file.read()), to_json(some_rates()));

        MachineRates more;  // of another model
        more.cpu = "4 cores";
        more.kernels = "avx2";
        more.threads = 4;
        more.dram_read_bytes_per_s = 50e9;
        more.products = {{"Q8_0", 256, flat(11e9)}, {"Q4_K", 256, flat(12e9)}};
        more.devices["cuda:1"].weights_bytes_per_s = 900e9;
        QVERIFY(file.keep(more));
        const MachineRates both = **file.read();
        QCOMPARE(both.dram_read_bytes_per_s, std::optional(50e9));
        QCOMPARE(both.products.size(), std::size_t(3));
        QVERIFY(near(both.product_seconds("Q8_0", 256, 11e9, 1e6), 1));  // as it was measured last
        QCOMPARE(both.attention.size(), std::size_t(3));
        QCOMPARE(both.devices.size(), std::size_t(2));

        more.threads = 2;  // another machine, for a CPU's rates
        QVERIFY(file.keep(more));
        QCOMPARE((*file.read())->products.size(), std::size_t(2));
        QVERIFY((*file.read())->attention.empty());
        QCOMPARE((*file.read())->devices.size(), std::size_t(2));
    }

#ifdef Q_OS_UNIX
    // The profile is the user's alone, whatever the shell says of new files, and also where it was open before.
    void theProfileIsPrivate_data()
    {
        QTest::addColumn<int>("mask");
        QTest::addColumn<bool>("there");
        for (const int mask : {0, 022})
            for (const bool there : {false, true})
                QTest::addRow("umask %03o%s", mask, there ? ", an open folder" : "") << mask << there;
    }

    void theProfileIsPrivate()
    {
        QFETCH(int, mask);
        QFETCH(bool, there);
        namespace fs = std::filesystem;
        const QTemporaryDir folder;
        const fs::path data = folder.filePath("data").toStdString();
        const mode_t before = umask(mode_t(mask));
        if (there) {
            fs::create_directory(data);
            fs::permissions(data, fs::perms(0755));
        }
        const Status kept = RatesFile(data).keep(some_rates());
        umask(before);
        QVERIFY(kept);
        QCOMPARE(int(fs::status(data).permissions()), 0700);
        QCOMPARE(int(fs::status(data / "machine-rates.json").permissions()), 0600);
    }
#endif

    void aDamagedFileIsWrittenAnew()
    {
        const QTemporaryDir folder;
        QFile damaged(folder.filePath("machine-rates.json"));
        QVERIFY(damaged.open(QFile::WriteOnly));
        damaged.write("{\"version\": 1, \"cpu\": [[[");
        damaged.close();
        const RatesFile file(folder.path().toStdString());
        QVERIFY(!file.read());
        QVERIFY(file.keep(some_rates()));
        QCOMPARE(to_json(**file.read()), to_json(some_rates()));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 1);
        QVERIFY(!RatesFile({}).keep(some_rates()));
        QVERIFY(!RatesFile((folder.path() + "/machine-rates.json").toStdString()).keep(some_rates()));
    }

    void measuringGivesWhatAModelNeeds()
    {
        LoadRequest request;
        request.model = (test_support::own_models_folder() + "/llama.gguf").toStdString();
        request.threads = 1;
        const auto planner = Planner::open(request.model);
        QVERIFY(planner);
        const std::vector contexts = {0, 100};
        const auto unknown = planner->plan(request, contexts, nullptr);
        QVERIFY(unknown && !unknown->rows[0].tok_s);
        const auto rates = planner->measure_rates(request);
        QVERIFY2(rates, rates ? "" : rates.error().what.c_str());
        QVERIFY(hold_here(*rates, 1));
        const auto plan = planner->plan(request, contexts, &*rates);
        QVERIFY(plan && plan->rows[0].tok_s && plan->rows[1].tok_s);
        QVERIFY(*plan->rows[1].tok_s <= *plan->rows[0].tok_s);
    }

    void shapesOfAnySizeAreMeasured()
    {
        ThreadPool pool(2);
        RateMeter meter(pool, 1);
        const auto& q4 = kernels::type_traits(kernels::TensorType::Q4_K);
        for (const int row_length : {256, 8192, 28672}) {
            const ProductRate rate = meter.product(q4, row_length);
            QVERIFY(rate.row_length <= row_length);
            QCOMPARE(rate.curve.points().size(), RateMeter::sets().size());
            QVERIFY(rate.prompt_ops_per_s && *rate.prompt_ops_per_s > 0);
        }
        for (const int head_length : {16, 256, 2048})
            for (const int group : {1, 64}) {
                const KvForm form{KvType::F32, KvType::Q8_0, head_length, group, 4096};
                QVERIFY(meter.attention(form).group <= group);
                QVERIFY(meter.stream_bytes_per_s(form, 2) > 0);
            }
        QVERIFY(meter.copy_start_s() > 0);
        QVERIFY(meter.wake_s() > 0);
    }

    void measuringCanBeGivenUp()
    {
        int asked = 0;
        const auto rates = measure_machine_rates(1, [&](double) { return ++asked < 3; });
        QVERIFY(!rates);
        QCOMPARE(rates.error().code, Error::Code::Cancelled);
        QCOMPARE(asked, 3);

        LoadRequest request;
        request.model = (test_support::own_models_folder() + "/llama.gguf").toStdString();
        request.threads = 1;
        const auto planner = Planner::open(request.model);
        QVERIFY(planner);
        for (const int last : {1, 2, 3, 4}) {
            asked = 0;
            const auto of_model = planner->measure_rates(
                request, [&](double share) { return share >= 0 && share < 1 && ++asked < last; });
            QVERIFY(!of_model);
            QCOMPARE(of_model.error().code, Error::Code::Cancelled);
            QCOMPARE(asked, last);
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestMachineRates)
#include "tst_machine_rates.moc"
