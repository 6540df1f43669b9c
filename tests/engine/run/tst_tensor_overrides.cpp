// Tests that tensor overrides (-ot) put the experts of layers where they say, without a bit changing, and that one
// which cannot be followed is refused with a sentence.
#include "engine/model/tensor_overrides.h"
#include "engine/placement_text.h"
#include "engine/planner.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QtTest>

#include <array>
#include <random>

using namespace test_support;

namespace {

/// The model on the emulated device, with room for all of it.
LoadRequest overridden(const char* model, const std::string& overrides)
{
    LoadRequest request = emulated(model, kTokens);
    PlacementText text;
    text.override_tensor = overrides;
    const auto options = parse_placement(text);
    if (options)
        request.placement.tensor_overrides = options->tensor_overrides;
    return request;
}

/// The layers whose experts lie on the host, as "1 3"; "refused: " and why.
std::string on_host(const LoadRequest& request)
{
    auto model =
        LoadedModel::load(request, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        return "refused: " + model.error().what;
    while ((*model)->placement().advance()) {
    }
    std::string layers;
    for (int l = 0; l < (*model)->placement().layers(); ++l)
        if ((*model)->placement().device()->experts_on_host(l))
            layers += (layers.empty() ? "" : " ") + std::to_string(l);
    return layers;
}

std::string on_host(const char* model, const std::string& overrides)
{
    return on_host(overridden(model, overrides));
}

}  // namespace

class TestTensorOverrides : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void expertsLieWhereTheyAreAsked()
    {
        QCOMPARE(on_host("qwen4exp", ""), std::string());
        QCOMPARE(on_host("qwen4exp", "exps=CPU"), std::string("0 1 2"));
        QCOMPARE(on_host("qwen4exp", "blk\\.(0|2)\\.ffn_.*_exps\\.=CPU"), std::string("0 2"));
        QCOMPARE(on_host("qwen4exp", "\\.ffn_(up|down|gate)_exps.weight=cpu"), std::string("0 1 2"));
        // The first pattern counts; a comma within one is its own.
        QCOMPARE(on_host("qwen4exp", "blk\\.[0-9]{1,2}\\.ffn_gate_inp=emulated,blk\\.0\\..*exps=emulated,exps=CPU"),
                 std::string("1 2"));
        QCOMPARE(on_host("qwen4exp", "blk\\.7\\..*_exps=CPU"), std::string());
        QCOMPARE(on_host("llama", "exps=CPU"), std::string());
        LoadRequest request = overridden("qwen4exp", "exps=CPU");
        request.placement.device = PlacementOptions::Device::Cpu;
        QCOMPARE(on_host(request), std::string());
    }

    void noLogitChanges()
    {
        std::mt19937 random(m_seed);
        for (const char* const name : {"qwen4exp", "gpt-oss", "qwen3next"}) {
            const auto cpu = load(request_for(name));
            QVERIFY(cpu);
            const Run alone = run(*cpu);
            const auto model = load(overridden(name, "blk\\.[12]\\..*_exps=CPU"));
            QVERIFY(model);
            const int layers = model->info().layers;
            const auto below = [&](int n) { return int(random() % unsigned(n)); };
            const Run here = run(*model, [&](int) {
                ModelPlacement& placement = model->placement();
                switch (below(12)) {
                case 0:
                    QVERIFY(placement.apply(SetHostExperts{below(layers + 2)}));
                    break;
                case 1:
                    QVERIFY(placement.apply(SetHostExperts{}));
                    break;
                case 2:
                    QVERIFY(placement.apply(SetDeviceLayers{below(layers + 1)}));
                    break;
                case 3:
                    QVERIFY(placement.apply(
                        SetExpertCache{below(2) ? std::optional<std::int64_t>(1 << 16) : std::nullopt}));
                    break;
                case 4:
                    QVERIFY(
                        placement.apply(SetVramBudget{placement.telemetry()->total_bytes * (40 + below(61)) / 100}));
                    break;
                default:
                    break;
                }
            });
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, alone.logits), -1);
        }
    }

    // Experts of the layers that were named leave first, and come back last.
    void thoseNamedLeaveFirst()
    {
        LoadRequest request = overridden("qwen4exp", "blk\\.1\\..*_exps=CPU");
        request.placement.emulated.fit_tokens *= 20;
        const auto model = load(request);
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const auto where = [&](std::optional<int> layers) {
            (void)placement.apply(SetHostExperts{layers});
            while (placement.advance()) {
            }
            std::string there;
            for (int l = 0; l < placement.layers(); ++l)
                there += placement.device()->experts_on_host(l) ? 'h' : 'd';
            return there;
        };
        QCOMPARE(where(1), std::string("dhd"));
        QCOMPARE(where(2), std::string("hhd"));
        QCOMPARE(where(0), std::string("ddd"));
        QCOMPARE(where(9), std::string("hhh"));
    }

    void theTakenBytesAreThePlannedOnes()
    {
        for (const char* const overrides : {"blk\\.2\\..*_exps=CPU", "blk\\.[02]\\..*_exps=CPU"})
            for (const std::int64_t copies : {0, 100000}) {
                LoadRequest request = overridden("qwen4exp", overrides);
                request.placement.expert_cache_bytes = copies;
                const auto planner = Planner::open(request.model);
                const auto model = load(request);
                QVERIFY(planner && model);
                while (model->placement().advance()) {
                }
                const std::array contexts = {0};
                const auto plan = planner->plan(request, contexts, nullptr);
                QVERIFY(plan && plan->rows[0].device);
                QCOMPARE(plan->rows[0].device->weight_bytes, model->placement().telemetry()->weight_bytes);
                QCOMPARE(plan->rows[0].host_expert_layers, model->placement().telemetry()->layers_without_experts);
            }
    }

    void aPlanCountsLayersThatHaveExperts()
    {
        for (const char* const name : {"glm4moe", "nemotron_h_moe"}) {
            LoadRequest request = emulated(name, kTokens);
            request.placement.host_expert_layers = PlacementOptions::kAllLayers;
            const auto planner = Planner::open(request.model);
            const auto model = load(request);
            QVERIFY(planner && model);
            while (model->placement().advance()) {
            }
            const std::array contexts = {0};
            const auto plan = planner->plan(request, contexts, nullptr);
            QVERIFY(plan && plan->rows[0].device);
            QVERIFY(model->placement().telemetry()->layers_without_experts > 0);
            QCOMPARE(plan->rows[0].host_expert_layers, model->placement().telemetry()->layers_without_experts);
        }
    }

    void theBlockThatGuessesTokensIsNoLayer()
    {
        const auto file = GgufFile::open((own_models_folder() + "/glm4moe-mtp.gguf").toStdString());
        QVERIFY(file);
        const auto options = with_tensor_overrides(overridden("glm4moe-mtp", "exps=CPU").placement, *file);
        QVERIFY(options);
        QCOMPARE(options->host_experts_first, std::vector<int>{1});
        QCOMPARE(options->host_expert_layers, std::optional(1));
    }

    void whatCannotBeIsASentence_data()
    {
        QTest::addColumn<QString>("overrides");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("a part of a layer's experts") << "ffn_(up|gate)_exps=CPU"
                                                     << "blk.0.ffn_down_exps.weight cannot lie on the device while "
                                                        "blk.0.ffn_gate_exps.weight does not: a layer's "
                                                        "experts lie together (blk\\.0\\.ffn_.*_exps=cpu)";
        QTest::newRow("attention")
            << "attn_q\\.=CPU"
            << "blk.0.attn_q.weight cannot lie on the cpu by itself: a layer's routed experts can "
               "(blk\\.0\\.ffn_.*_exps=cpu), and whole layers by -ngl";
        QTest::newRow("the head")
            << "^output_norm\\.=CPU"
            << "output_norm.weight cannot lie on the cpu by itself: it goes with the last layer (-ngl)";
        QTest::newRow("rows of the vocabulary")
            << "token_embd=emulated"
            << "token_embd.weight cannot lie on the device by itself: rows are read "
               "from it one at a time";
        QTest::newRow("another device")
            << "exps=CUDA1"
            << "blk.0.ffn_gate_exps.weight cannot lie on cuda:1: the model's device is emulated";
        QTest::newRow("no pattern") << "blk\\.(0=CPU"
                                    << "“blk\\.(0” is no pattern for tensors: character 7 makes no sense there";
        QTest::newRow("a hostile one") << "(([a-z0-9_.]+)+)+[!?]=CPU"
                                       << "a tensor override takes too long to be compared with ";
        QTest::newRow("a nested one") << QString(2000, '(') + "=CPU"
                                      << "is no pattern for tensors";
        QTest::newRow("a repeated one") << "((a{1,1000}){1,1000}){1,1000}=CPU"
                                        << "is no pattern for tensors";
    }
    void whatCannotBeIsASentence()
    {
        QFETCH(QString, overrides);
        QFETCH(QString, sentence);
        QElapsedTimer timer;
        timer.start();
        const QString said = QString::fromStdString(on_host("qwen3moe", overrides.toStdString()));
        QVERIFY2(said.startsWith("refused: ") && said.contains(sentence), qPrintable(said));
        QVERIFY(timer.elapsed() < 5000);
        const LoadRequest request = overridden("qwen3moe", overrides.toStdString());
        const std::array contexts = {0};
        const auto planner = Planner::open(request.model);
        QVERIFY(planner);
        QVERIFY(!planner->plan(request, contexts, nullptr));
    }

    void wordsOfOverridesAreRead()
    {
        using Device = PlacementOptions::Device;
        PlacementText text;
        text.override_tensor = "a{1,2}=CPU,b=CUDA1,c=cuda:0,d=CUDA_Host,e=emulated,f=g=cpu";
        const auto options = parse_placement(text);
        QVERIFY(options);
        const std::vector<PlacementOptions::TensorOverride> expected = {
            {"a{1,2}", Device::Cpu, 0}, {"b", Device::Cuda, 1},     {"c", Device::Cuda, 0},
            {"d", Device::Cpu, 0},      {"e", Device::Emulated, 0}, {"f=g", Device::Cpu, 0}};
        QVERIFY(options->tensor_overrides == expected);
        for (const char* wrong : {"exps", "exps=", "=cpu", "exps=gpu", "exps=cudax", "exps=CPU,attn"}) {
            text.override_tensor = wrong;
            const auto refused = parse_placement(text);
            QVERIFY2(!refused, wrong);
            QVERIFY2(refused.error().what.find("is no tensor override: REGEX=cpu") != std::string::npos, wrong);
        }
    }

private:
    const unsigned m_seed = std::random_device{}();
};

SPILLWAY_TEST(QCoreApplication, TestTensorOverrides)
#include "tst_tensor_overrides.moc"
