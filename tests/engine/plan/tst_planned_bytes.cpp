// Tests that what is planned from a file's header is what a loaded model then takes, of the host and of a device,
// before and after the first block leaves.
#include "engine/planner.h"
#include "engine/run/loaded_model.h"
#include "tests/support/expert_rates.h"
#include "tests/support/models.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>
#include <cmath>
#include <random>

using namespace engine;

namespace {

constexpr int kSmallBlockTokens = 16;

LoadRequest request_for(const QString& model, KvType k_type = KvType::F16, KvType v_type = KvType::F16)
{
    LoadRequest request;
    request.model = (test_support::own_models_folder() + '/' + model + ".gguf").toStdString();
    request.kv_block_tokens = kSmallBlockTokens;
    request.prefill_chunk_tokens = 24;
    request.context_tokens = 256;
    request.threads = 1;
    request.k_type = k_type;
    request.v_type = v_type;
    request.placement.device = PlacementOptions::Device::Emulated;
    request.placement.emulated.link_bytes_per_s = 0;
    return request;
}

std::unique_ptr<LoadedModel> load(const LoadRequest& request)
{
    auto model =
        LoadedModel::load(request, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
    if (!model)
        qWarning("%s", model.error().what.c_str());
    return model ? std::move(*model) : nullptr;
}

Plan plan_of(const LoadRequest& request, const std::vector<int>& contexts)
{
    const auto planner = Planner::open(request.model);
    if (!planner)
        return {};
    auto plan = planner->plan(request, contexts, request.placement.rates.get());
    if (!plan)
        qWarning("%s", plan.error().what.c_str());
    return plan ? std::move(*plan) : Plan();
}

/// One conversation that grows token by token.
class Growing
{
public:
    explicit Growing(LoadedModel& model)
        : model_(model)
    {
        model_.placement().begin_turn();
    }
    ~Growing() { model_.cache().truncate(kv_, 0); }

    int length() const { return kv_.length(); }
    Status to(int tokens)
    {
        while (kv_.length() < tokens) {
            const int id = kv_.length() * 7919 % model_.info().vocabulary;
            model_.placement().advance();
            if (Status ok = model_.append(kv_, std::span(&id, 1)); !ok)
                return ok;
        }
        return {};
    }
    /// Computes a whole chunk and its logits, after which all scratch is taken.
    Status chunk()
    {
        const std::vector<int> ids(std::size_t(model_.max_rows()), 1);
        if (Status ok = model_.append(kv_, ids, 1); !ok)
            return ok;
        const auto logits = model_.logits(kv_, int(ids.size()) - 1);
        return logits ? Status() : tl::unexpected(logits.error());
    }

private:
    LoadedModel& model_;
    KvSequence kv_;
};

bool within_a_percent(std::int64_t planned, std::int64_t taken)
{
    return std::abs(double(planned - taken)) <= 0.01 * double(taken);
}

}  // namespace

class TestPlannedBytes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aDeviceTakesWhatWasPlanned_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("k_type");
        QTest::addColumn<int>("v_type");
        QTest::addColumn<int>("layers");        // -1: as many as fit
        QTest::addColumn<int>("expert_cache");  // -1: as the plan chooses
        QTest::addColumn<bool>("travel");       // experts, for steps of many rows
        const int f16 = int(KvType::F16), q8 = int(KvType::Q8_0), f32 = int(KvType::F32);
        // gemma2, gemma3 and gpt-oss have sliding windows, the last and qwen3moe experts, phi3 fused tensors, glm4moe
        // and hunyuan-moe a shared expert, muse-glimmer gates, olmo3 no norms before its matrices; llama4 weighs its
        // experts' input; gemma4-e shares KV, gemma4-moe has two parts. deepseek2's attention is latent, and older
        // files have its matrices in another order.
        test_support::PartOfAll part(2);
        for (const char* name : {"llama", "gemma2", "gemma3", "gpt-oss", "qwen3moe", "phi3", "type-Q4_K", "glm4moe",
                                 "hunyuan-moe", "muse-glimmer", "olmo3", "llama4", "gemma4-e", "gemma4-moe",
                                 "nemotron_h_moe", "gemma3n", "qwen4exp", "deepseek2", "deepseek2-kv_b"}) {
            if (!part.takes_next())
                continue;
            QTest::addRow("%s f16", name) << QString(name) << f16 << f16 << -1 << 0 << false;
            QTest::addRow("%s q8_0", name) << QString(name) << q8 << q8 << -1 << 0 << false;
            QTest::addRow("%s one layer", name) << QString(name) << f32 << q8 << 1 << 0 << false;
        }
        for (const char* name : {"gpt-oss", "qwen3moe", "deepseek2"}) {
            QTest::addRow("%s, copies of experts", name) << QString(name) << f16 << f16 << -1 << 100000 << false;
            QTest::addRow("%s, copies of one layer's experts", name)
                << QString(name) << f16 << f16 << 2 << 100000 << false;
            QTest::addRow("%s, experts as the plan chooses", name) << QString(name) << f16 << f16 << -1 << -1 << false;
            QTest::addRow("%s, experts that travel", name) << QString(name) << f16 << f16 << -1 << 100000 << true;
            QTest::addRow("%s, two layers' experts as it chooses", name)
                << QString(name) << f16 << f16 << 2 << -1 << false;
        }
    }

    void aDeviceTakesWhatWasPlanned()
    {
        QFETCH(QString, name);
        QFETCH(int, k_type);
        QFETCH(int, v_type);
        QFETCH(int, layers);
        QFETCH(int, expert_cache);
        QFETCH(bool, travel);
        LoadRequest request = request_for(name, KvType(k_type), KvType(v_type));
        if (travel)
            request.placement.rates = test_support::rates_of_travelling_experts("emulated");
        request.placement.emulated.fit_tokens = 96;
        request.placement.expert_cache_bytes = expert_cache < 0 ? std::nullopt : std::optional(expert_cache);
        if (expert_cache > 0)
            request.placement.host_expert_layers = PlacementOptions::kAllLayers;
        if (layers >= 0)
            request.placement.device_layers = layers;
        std::vector<int> contexts;
        for (int tokens = 1; tokens <= 250; tokens += 7)
            contexts.push_back(tokens);
        const Plan plan = plan_of(request, contexts);
        const auto model = load(request);
        QVERIFY(model);
        while (model->placement().advance()) {
        }
        QCOMPARE(plan.device_layers, model->placement().layers());
        QCOMPARE(plan.rows.size(), contexts.size());
        Growing conversation(*model);
        for (const PlanRow& row : plan.rows) {
            QVERIFY(conversation.to(row.context_tokens));
            while (expert_cache < 0 && model->placement().advance()) {
            }
            const auto device = model->placement().telemetry();
            QVERIFY(device && row.device);
            QCOMPARE(row.device->weight_bytes, device->weight_bytes);
            if (expert_cache >= 0)
                QCOMPARE(device->expert_cache_bytes > 0, expert_cache > 0);
            QCOMPARE(row.expert_cache_bytes, device->expert_cache_bytes);
            QCOMPARE(row.device->ring_bytes, device->ring_bytes);
            QCOMPARE(row.device->scratch_bytes, device->scratch_bytes);
            QVERIFY2(within_a_percent(row.device->kv_bytes, device->kv_bytes),
                     qPrintable(QString("%1 tokens: planned %2, taken %3")
                                    .arg(row.context_tokens)
                                    .arg(row.device->kv_bytes)
                                    .arg(device->kv_bytes)));
            const KvCache& cache = model->cache();
            QCOMPARE(row.host.kv_bytes, std::int64_t(cache.used_pages()) * std::int64_t(cache.page_bytes()));
            QCOMPARE(row.host.weight_bytes, model->weight_bytes());
        }
    }

    /// A latent row is kept once, 24 + 4 values, in the type of keys.
    void aLatentRowTakesTheBytesOfAKey()
    {
        for (const auto& [k_type, row] : {std::pair(KvType::F16, 2 * 28), std::pair(KvType::Q8_0, 28 + 4)})
            for (const KvType v_type : {KvType::F16, KvType::Q8_0, KvType::F32}) {
                LoadRequest request = request_for("deepseek2", k_type, v_type);
                request.placement.emulated.fit_tokens = 500;
                const Plan plan = plan_of(request, {160});
                const auto model = load(request);
                QVERIFY(model);
                const std::int64_t page = std::int64_t(model->info().layers) * row * request.kv_block_tokens;
                QCOMPARE(std::int64_t(model->cache().page_bytes()), page);
                QCOMPARE(plan.rows.front().host.kv_bytes, page * 160 / request.kv_block_tokens);
                Growing conversation(*model);
                QVERIFY(conversation.to(160));
                QCOMPARE(model->placement().telemetry()->kv_bytes, plan.rows.front().device->kv_bytes);
                QCOMPARE(plan.rows.front().device->kv_bytes, page * 160 / request.kv_block_tokens);
            }
    }

    void theHostsScratchIsWhatWasPlanned_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("device");
        for (const char* name : {"llama", "gemma3", "gpt-oss", "qwen3moe", "phi3", "type-F32", "type-Q4_K", "glm4moe",
                                 "hunyuan-moe", "muse-glimmer", "olmo3", "llama4", "gemma4-e", "gemma4-moe",
                                 "nemotron_h_moe", "gemma3n", "qwen4exp", "deepseek2", "deepseek2-kv_b"}) {
            QTest::addRow("%s on the cpu", name) << QString(name) << int(PlacementOptions::Device::Cpu);
            QTest::addRow("%s beside a device", name) << QString(name) << int(PlacementOptions::Device::Emulated);
        }
    }

    void theHostsScratchIsWhatWasPlanned()
    {
        QFETCH(QString, name);
        QFETCH(int, device);
        LoadRequest request = request_for(name);
        request.threads = 2;
        request.placement.device = PlacementOptions::Device(device);
        request.placement.emulated.fit_tokens = 256;
        const Plan plan = plan_of(request, {0});
        const auto model = load(request);
        QVERIFY(model);
        Growing conversation(*model);
        QVERIFY(conversation.chunk());
        QCOMPARE(plan.rows.front().host.scratch_bytes, model->scratch_bytes());
    }

    /// The device has room for the tokens beside all layers, however few they are, and with blocks as large as users
    /// have them.
    void roomForAFewTokensIsRoomForAllLayers()
    {
        for (const char* const name : {"llama", "type-Q4_0"})
            for (const int tokens : {1, 256, 300, 512}) {
                LoadRequest request = request_for(name);
                request.kv_block_tokens = LoadRequest().kv_block_tokens;
                request.placement.emulated.fit_tokens = tokens;
                const Plan plan = plan_of(request, {0});
                const auto model = load(request);
                QVERIFY(model);
                QCOMPARE(plan.device_layers, model->info().layers);
                QCOMPARE(model->placement().layers(), model->info().layers);
            }
    }

    /// The emulated device computes with the host's cores and in the host's scratch, which counts only while it has
    /// layers.
    void aDeviceWithoutLayersNeedsNoScratch()
    {
        LoadRequest request = request_for("llama");
        request.placement.emulated.fit_tokens = 256;
        const Plan full = plan_of(request, {0});
        const auto model = load(request);
        QVERIFY(model);
        const auto telemetry = [&] { return *model->placement().telemetry(); };
        QVERIFY(telemetry().layers > 0 && telemetry().scratch_bytes > 0);
        QCOMPARE(full.rows.front().device->scratch_bytes, telemetry().scratch_bytes);

        const std::int64_t budget = telemetry().scratch_bytes / 2;
        request.placement.vram_budget_bytes = budget;
        const Plan none = plan_of(request, {0});
        QCOMPARE(none.device_layers, 0);
        QVERIFY(model->placement().apply(SetVramBudget{budget}));
        QCOMPARE(telemetry().layers, 0);
        QCOMPARE(telemetry().scratch_bytes, std::int64_t(0));
        QCOMPARE(none.rows.front().device->scratch_bytes, std::int64_t(0));
        QVERIFY(telemetry().used_bytes() <= budget);

        QVERIFY(model->placement().apply(SetVramBudget{0}));
        while (model->placement().advance()) {
        }
        QCOMPARE(telemetry().layers, full.device_layers);
        QCOMPARE(telemetry().scratch_bytes, full.rows.front().device->scratch_bytes);
    }

    void theFirstBlockLeavesWhereItWasPlanned_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("columns");
        for (const char* name : {"llama", "gemma3", "gpt-oss", "gemma4-e"})
            for (const int columns : {5, 6, 7})
                QTest::addRow("%s, room for %d columns", name, columns) << QString(name) << columns;
    }

    void theFirstBlockLeavesWhereItWasPlanned()
    {
        QFETCH(QString, name);
        QFETCH(int, columns);
        LoadRequest request = request_for(name);
        request.placement.emulated.fit_tokens = columns * kSmallBlockTokens;
        const Plan plan = plan_of(request, {0});
        QVERIFY(plan.spill_tokens);
        const auto model = load(request);
        QVERIFY(model);
        const auto left = [&] {
            const auto events = model->placement().take_events();
            return std::ranges::count(events, Event::Kind::Offload, &Event::kind) > 0;
        };
        Growing conversation(*model);
        QVERIFY(conversation.to(*plan.spill_tokens));
        QVERIFY(!left());
        QVERIFY(conversation.to(*plan.spill_tokens + 1));
        QVERIFY(left());
    }

    void residentStopsWhereItWasPlanned()
    {
        LoadRequest request = request_for("llama");
        request.placement.kv_policy = KvPolicy::Resident;
        request.placement.emulated.fit_tokens = 96;
        const Plan plan = plan_of(request, {0, 96, 255});
        QVERIFY(plan.spill_tokens);
        QVERIFY(!plan.rows[1].stops);
        QVERIFY(plan.rows[2].stops);
        const auto model = load(request);
        QVERIFY(model);
        Growing conversation(*model);
        QVERIFY(conversation.to(*plan.spill_tokens));
        const Status next = conversation.to(*plan.spill_tokens + 1);
        QVERIFY(!next);
        QCOMPARE(next.error().code, Error::Code::ContextFull);
    }

    void aForcedShareIsPlanned()
    {
        LoadRequest request = request_for("llama");
        request.placement.emulated.fit_tokens = 256;
        request.placement.kv_offload_share = 0.5;
        const Plan plan = plan_of(request, {40, 100, 200});
        const auto model = load(request);
        QVERIFY(model);
        Growing conversation(*model);
        for (const PlanRow& row : plan.rows) {
            QVERIFY(conversation.to(row.context_tokens));
            QCOMPARE(row.device->kv_bytes, model->placement().telemetry()->kv_bytes);
        }
        QVERIFY(plan.rows[2].kv_share_on_host > 0.3);
    }

    /// Whatever was before: budgets, layers, watermarks, other programs and types of KV change at random while a
    /// conversation grows, and what the device then has is what a plan of those choices says.
    void whatIsForetoldIsThenThere_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<unsigned>("seed");
        test_support::PartOfAll part(3);
        for (const char* name : {"llama", "gemma2", "gemma3", "gpt-oss", "phi3", "gemma4-e"})
            for (const unsigned seed : {1u, 2u, 3u})
                if (part.takes_next())
                    QTest::addRow("%s, seed %u", name, seed) << QString(name) << seed;
    }

    void whatIsForetoldIsThenThere()
    {
        QFETCH(QString, name);
        QFETCH(unsigned, seed);
        std::mt19937 random(seed);
        const auto below = [&](int n) { return int(random() % unsigned(n)); };
        LoadRequest request = request_for(name);
        request.placement.emulated.fit_tokens = 96;
        const auto model = load(request);
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const std::int64_t total = placement.telemetry()->total_bytes;
        request.placement.emulated.fit_tokens = 0;
        request.placement.emulated.vram_bytes = total;
        Growing conversation(*model);
        for (int i = 0; i < 40; ++i) {
            QVERIFY(conversation.to(std::min(250, 6 * i + 1 + below(6))));
            switch (below(5)) {
            case 0:
                request.placement.vram_budget_bytes = total * (20 + below(81)) / 100;
                QVERIFY(placement.apply(SetVramBudget{request.placement.vram_budget_bytes}));
                break;
            case 1:
                request.placement.device_layers.reset();
                if (below(2) == 0)
                    request.placement.device_layers = below(model->info().layers + 1);
                QVERIFY(placement.apply(SetDeviceLayers{request.placement.device_layers}));
                break;
            case 2:
                request.placement.other_programs_bytes = total * below(40) / 100;
                QVERIFY(placement.apply(SetOtherPrograms{*request.placement.other_programs_bytes}));
                break;
            case 3:
                request.placement.watermark = 0.7 + 0.05 * below(7);
                QVERIFY(placement.apply(SetWatermark{request.placement.watermark}));
                break;
            case 4:
                request.k_type = request.v_type =
                    std::array{KvType::F16, KvType::Q8_0, KvType::F32}[std::size_t(below(3))];
                QVERIFY(model->set_kv_types(request.k_type, request.v_type));
                break;
            }
            const auto settle = [&] {
                while (placement.advance())
                    placement.settle();
            };
            settle();
            QVERIFY(conversation.to(conversation.length() + 1));  // windows follow with the next token
            settle();
            const Plan plan = plan_of(request, {conversation.length()});
            const auto device = placement.telemetry();
            QCOMPARE(plan.rows.size(), std::size_t(1));
            const QByteArray where = QString("step %1, %2 tokens").arg(i).arg(conversation.length()).toUtf8();
            QCOMPARE(device->budget_bytes, plan.device_budget_bytes);
            QVERIFY2(device->layers == plan.device_layers, where);
            QVERIFY2(device->used_bytes() <= device->budget_bytes || device->layers == 0, where);
            if (plan.device_layers == 0)
                continue;
            QVERIFY2(device->ring_bytes == plan.rows[0].device->ring_bytes, where);
            QVERIFY2(
                within_a_percent(plan.rows[0].device->kv_bytes, device->kv_bytes),
                (where +
                 QString(": planned %1, taken %2").arg(plan.rows[0].device->kv_bytes).arg(device->kv_bytes).toUtf8())
                    .constData());
        }
    }

    void whatMakesNoSenseIsRefused()
    {
        QVERIFY(!Planner::open("/nowhere.gguf"));
        LoadRequest request = request_for("llama");
        const auto planner = Planner::open(request.model);
        QVERIFY(planner);
        QVERIFY(!planner->plan(request, std::vector{-1}, nullptr));
        request.kv_block_tokens = 7;
        QVERIFY(!planner->plan(request, std::vector{0}, nullptr));
    }
};

SPILLWAY_TEST(QCoreApplication, TestPlannedBytes)
#include "tst_planned_bytes.moc"
