// Tests one conversation over two memories, on the emulated device: wherever layers and KV lie, and whenever they move,
// the logits have the same bits as on the cpu alone.
#include "tests/support/part_of_all.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace test_support;

namespace {

// plain; sliding windows; experts, sinks and windows; gates; chunks, and experts of which one is shared; layers that
// read the KV of others, and have inputs of their own; a gated delta net, Mamba-2 and a short convolution with states;
// latent experts without gates; several residual streams, in two ways; latent attention, and experts in groups; Mamba-2
// and attention that read the same rows
const char* const kModels[] = {"llama",    "gemma3",   "gpt-oss",    "muse-glimmer", "llama4",
                               "gemma4-e", "qwen35",   "nemotron_h", "lfm2",         "nemotron_h_moe",
                               "gemma3n",  "qwen4exp", "deepseek2",  "falcon-h1"};

constexpr Lengths kShort = {kPrefillTokens, 230};  // for what is tried a hundred times

}  // namespace

class TestPlacement : public QObject
{
    Q_OBJECT

    std::map<QString, Logits> m_on_cpu;

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* const name : kModels) {
            const auto model = load(request_for(name));
            QVERIFY(model);
            const Run alone = run(*model);
            QVERIFY(alone.status);
            QCOMPARE(alone.logits.size(), std::size_t(kTokens - kPrefillTokens + 1));
            m_on_cpu[name] = alone.logits;
        }
    }

    void everyPolicyAndBudgetGivesTheSameBits_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("policy");
        QTest::addColumn<int>("fit_tokens");
        QTest::addColumn<int>("layers");  // -1: as many as fit
        PartOfAll part(8);
        for (const char* const name : kModels)
            for (const KvPolicy policy : {KvPolicy::Stream, KvPolicy::Merge, KvPolicy::Auto, KvPolicy::CpuDecode})
                for (const int fit : {64, 200})
                    for (const int layers : {-1, 1, 3})
                        if (part.takes_next())
                            QTest::addRow("%s policy %d, %d tokens fit, %d layers", name, int(policy), fit, layers)
                                << QString(name) << int(policy) << fit << layers;
    }
    void everyPolicyAndBudgetGivesTheSameBits()
    {
        QFETCH(QString, name);
        QFETCH(int, policy);
        QFETCH(int, fit_tokens);
        QFETCH(int, layers);
        LoadRequest request = emulated(name, fit_tokens, KvPolicy(policy));
        request.placement.host_expert_layers = 0;  // they would give way to KV
        if (layers >= 0)
            request.placement.device_layers = layers;
        const auto model = load(request);
        QVERIFY(model);
        const Run here = run(*model);
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        QCOMPARE(first_difference(here.logits, m_on_cpu[name]), -1);
        const auto device = model->placement().telemetry();
        QVERIFY(device);
        QVERIFY(device->layers > 0);
        QVERIFY(device->used_bytes() <= device->budget_bytes);
        if (layers < 0 && KvPolicy(policy) != KvPolicy::CpuDecode)
            QVERIFY(count(here.events, Event::Kind::Offload) > 0);
    }

    void aPromptIsReadManyRowsAtATimeHoweverLittleFits()
    {
        for (const char* const name : {"gemma3", "llama"})
            for (const bool all_asked : {false, true}) {
                LoadRequest request = emulated(name, kTokens);
                const std::int64_t whole = load(request)->placement().telemetry()->total_bytes;
                int partial = 0;
                for (int percent = 30; percent <= 110; percent += 4) {
                    request.placement.emulated.vram_bytes = whole * percent / 100;
                    if (all_asked)
                        request.placement.device_layers = PlacementOptions::kAllLayers;
                    const auto model = load(request);
                    QVERIFY(model);
                    while (model->placement().advance()) {
                    }
                    const int layers = model->placement().layers();
                    partial += layers > 0 && layers < model->info().layers;
                    QVERIFY2(model->max_rows() >= request.kv_block_tokens,
                             qPrintable(QString("%1, %2 %, %3 layers").arg(name).arg(percent).arg(layers)));
                }
                QVERIFY(partial > 0);
            }
    }

    void aLongConversationGivesTheSameBits()
    {
        constexpr int kLong = 6000;
        const auto logits_at_the_end = [](LoadRequest request) {
            request.kv_block_tokens = 256;
            request.prefill_chunk_tokens = 512;
            request.context_tokens = kLong + 256;
            const auto model = load(request);
            std::vector<int> ids;
            for (int i = 0; i < kLong; ++i)
                ids.push_back(i * 7919 % model->info().vocabulary);
            KvSequence kv;
            Status status;
            // A quarter of it token by token, as an answer grows.
            for (int done = 0; done < kLong && status;) {
                const int most = done % 2048 < 1536 ? 512 : 1;
                const auto chunk = std::span(ids).subspan(std::size_t(done), std::size_t(std::min(most, kLong - done)));
                status = model->append(kv, chunk);
                done += int(chunk.size());
            }
            if (!status)
                qWarning("%s", status.error().what.c_str());
            const auto row = *model->logits(kv, 0);
            std::vector<float> out(row.begin(), row.end());
            model->cache().truncate(kv, 0);
            return std::pair(out, model->placement().take_events());
        };
        const auto [alone, none] = logits_at_the_end(request_for("llama"));
        const auto [here, events] = logits_at_the_end(emulated("llama", 1024));
        QVERIFY(std::memcmp(alone.data(), here.data(), alone.size() * sizeof(float)) == 0);
        QVERIFY(count(events, Event::Kind::Offload) > 15);
    }

    void withRoomForAllNothingLeaves()
    {
        const auto model = load(emulated("llama", 512));
        QVERIFY(model);
        const Run here = run(*model);
        QVERIFY(here.status);
        QCOMPARE(first_difference(here.logits, m_on_cpu["llama"]), -1);
        QCOMPARE(count(here.events, Event::Kind::Offload), 0);
        QCOMPARE(model->placement().telemetry()->step_streamed_bytes, 0);
    }

    /// Layers that came home are laid out for the host before the next step, unless nobody waits for it.
    void aStoppedStepDoesNotWaitForLayersThatCameHome()
    {
        const auto model = load(emulated("llama", 512));
        QVERIFY(model);
        QVERIFY(model->placement().layers() > 1);
        QVERIFY(model->placement().apply(SetVramBudget{1}));
        QCOMPARE(model->placement().layers(), 0);
        const std::vector<int> ids = some_tokens(*model);
        std::stop_source stop;
        stop.request_stop();
        KvSequence kv;
        RowGroup group{&kv, std::span(ids).first(4)};
        group.stop = stop.get_token();
        const Status done = model->append(std::span(&group, 1));
        QVERIFY(!done);
        QCOMPARE(done.error().code, Error::Code::Cancelled);
        QVERIFY(model->placement().ready_host_part());  // not all were
        group.stop = {};
        QVERIFY(model->append(std::span(&group, 1)));
        QCOMPARE(kv.length(), 4);
        QVERIFY(!model->placement().ready_host_part());
        model->cache().truncate(kv, 0);
    }

    void theSpillPointIsWhereItWasAskedFor()
    {
        const auto model = load(emulated("llama", 256));
        int first_left_at = 0;
        const Run here = run(*model, [&](int done) {
            const int columns = (done + kBlockTokens - 1) / kBlockTokens;
            if (model->placement().telemetry()->kv_blocks < columns * model->info().layers && first_left_at == 0)
                first_left_at = done;
        });
        QVERIFY(here.status);
        QCOMPARE(first_left_at, 257);  // seen before the step after the one that needed the 17th column
    }

    void residentStopsWhenItIsFull()
    {
        const auto model = load(emulated("llama", 256, KvPolicy::Resident));
        const Run here = run(*model);
        QVERIFY(!here.status);
        QCOMPARE(here.status.error().code, Error::Code::ContextFull);
        QCOMPARE(count(here.events, Event::Kind::Offload), 0);
        QVERIFY(here.logits.size() > 100);  // it used the watermark's reserve as well
    }

    /// Layers, budgets, policies, shares, pins and other programs change at random while the model talks.
    void movesInMidAnswerGiveTheSameBits_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<unsigned>("seed");
        PartOfAll part(3);
        for (const char* const name : kModels)
            for (unsigned seed = 1; seed <= 4; ++seed)
                if (part.takes_next())
                    QTest::addRow("%s seed %u", name, seed) << QString(name) << seed;
    }
    void movesInMidAnswerGiveTheSameBits()
    {
        QFETCH(QString, name);
        QFETCH(unsigned, seed);
        const auto model = load(emulated(name, 150));
        QVERIFY(model);
        const std::int64_t total = model->placement().telemetry()->total_bytes;
        const int layers = model->info().layers;
        std::mt19937 random(seed), random_pins(seed);
        const auto below = [&](int n) { return int(random() % unsigned(n)); };
        const auto pinned = [&](int n) { return int(random_pins() % unsigned(n)); };
        const Run here = run(*model, [&](int) {
            ModelPlacement& placement = model->placement();
            if (below(6) != 0)
                return;
            Status asked;
            switch (below(6)) {
            case 0:
                asked = placement.apply(SetDeviceLayers{below(layers + 1)});
                break;
            case 1:
                asked = placement.apply(SetDeviceLayers{std::nullopt});
                break;
            case 2:
                asked = placement.apply(SetVramBudget{total * (below(4) == 0 ? 30 : 80 + below(21)) / 100});
                break;
            case 3:
                asked = placement.apply(SetOtherPrograms{total * below(25) / 100});
                break;
            case 4:
                asked = placement.apply(SetKvPolicy{KvPolicy(1 + below(4))});
                break;
            case 5:
                asked = placement.apply(SetKvOffloadShare{below(3) / 2.0});
                break;
            }
            QVERIFY2(asked, asked ? "" : asked.error().what.c_str());
            const int first = pinned(kTokens);
            placement.go_on(std::vector<TokenRange>{{first, first + pinned(200)}, {0, pinned(60)}});
        });
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        QCOMPARE(first_difference(here.logits, m_on_cpu[name]), -1);
        QVERIFY(count(here.events, Event::Kind::LayerMove) > 0);
        // Of the others few layers keep KV that grows, and those are seldom there.
        if (name == "llama" || name == "gpt-oss")
            QVERIFY(count(here.events, Event::Kind::Offload) > 0);
    }

    void aLoweredBudgetIsKeptAtOnceAndARaisedOneFillsAgain()
    {
        const auto model = load(emulated("llama", 512));
        const std::int64_t total = model->placement().telemetry()->total_bytes;
        std::int64_t fewest = total, before = 0;
        const Run here = run(*model, [&](int done) {
            ModelPlacement& placement = model->placement();
            if (done == 300) {
                before = placement.telemetry()->kv_bytes;
                QVERIFY(placement.apply(SetVramBudget{placement.telemetry()->used_bytes() - before / 2}));
                fewest = placement.telemetry()->kv_bytes;
                QVERIFY(placement.telemetry()->used_bytes() <= placement.telemetry()->budget_bytes);
            }
            if (done == 320)
                QVERIFY(placement.apply(SetVramBudget{0}));
            placement.settle();
        });
        QVERIFY(here.status);
        QCOMPARE(first_difference(here.logits, m_on_cpu["llama"]), -1);
        QVERIFY(fewest <= before / 2);
        QVERIFY(model->placement().telemetry()->kv_bytes == 0);  // the conversation has ended
        QVERIFY(count(here.events, Event::Kind::Fetch) > 2);
        // The newest come back first.
        std::vector<int> returned;
        for (const Event& event : here.events)
            if (event.kind == Event::Kind::Fetch && event.tokens.first > 0)
                returned.push_back(event.tokens.first);
        QVERIFY(std::ranges::is_sorted(returned, std::greater<>()));
    }

    void theOldestLeaveFirstAndTheFirstBlockStays()
    {
        const auto model = load(emulated("llama", 128));
        const Run here = run(*model);
        int last = 0;
        for (const Event& event : here.events) {
            if (event.kind != Event::Kind::Offload)
                continue;
            QVERIFY(event.tokens.first > 0);
            QVERIFY(event.tokens.first > last || last == 0);
            QCOMPARE(event.blocks, model->info().layers);
            last = event.tokens.first;
        }
        QVERIFY(last > 200);
    }

    void everyRefusedAllocationEndsInAnAnswer()
    {
        const Run alone = run(*load(request_for("llama")), {}, kShort);
        int refused = 0;
        for (int nth = 1; nth < 400; nth += nth < 40 ? 1 : 17) {
            LoadRequest request = emulated("llama", 200);
            request.placement.emulated.refuse_allocation = nth;
            const auto model = load(request);
            QVERIFY(model);
            const Run here = run(*model, {}, kShort);
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, alone.logits), -1);
            refused += count(here.events, Event::Kind::LayerMove) > 0 || !model->info().warnings.empty();
        }
        QVERIFY(refused > 5);
    }

    void aDeviceLostAtAnyCallIsNoEnd()
    {
        const Run alone = run(*load(request_for("gemma3")), {}, kShort);
        int lost = 0;
        for (int call = 1; call < 6000; call = call < 60 ? call + 1 : call * 5 / 4) {
            LoadRequest request = emulated("gemma3", 96);
            request.placement.emulated.lose_at_call = call;
            const auto model = load(request);
            QVERIFY(model);
            const Run here = run(*model, {}, kShort);
            QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
            QCOMPARE(first_difference(here.logits, alone.logits), -1);
            const int events = count(here.events, Event::Kind::DeviceLost);
            QVERIFY(events <= 1);
            lost += events == 1 || !model->info().warnings.empty();
            if (lost > 0 && model->placement().telemetry())
                break;  // more calls than there are
        }
        QVERIFY(lost > 60);
    }

    /// A step that begins at a checkpoint has no tokens to lose, and yet a state that it has written.
    void aDeviceLostBehindACheckpointSpoilsNoState_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* const name : {"qwen35", "nemotron_h", "falcon-h1"})
            QTest::addRow("%s", name) << QString(name);
    }
    void aDeviceLostBehindACheckpointSpoilsNoState()
    {
        QFETCH(const QString, name);
        const auto logits_at_the_end = [](LoadedModel& model) {
            const std::vector<int> ids = some_tokens(model);
            KvSequence kv;
            model.placement().begin_turn();
            for (const int at : {0, 20, 40}) {
                model.cache().states().keep(kv);
                if (const Status ok = model.append(kv, std::span(ids).subspan(std::size_t(at), 20)); !ok)
                    qWarning("%s", ok.error().what.c_str());
            }
            const std::vector<float> logits = row_logits(model, kv, 0);
            model.cache().truncate(kv, 0);
            return logits;
        };
        const std::vector<float> alone = logits_at_the_end(*load(request_for(name)));
        int lost = 0;
        for (int call = 1; call < 1000; ++call) {
            LoadRequest request = emulated(name, 200);
            request.placement.device_layers = 1;
            request.placement.emulated.lose_at_call = call;
            const auto model = load(request);
            QVERIFY(model);
            QVERIFY2(same_bits(logits_at_the_end(*model), alone), qPrintable(QString::number(call)));
            if (model->placement().telemetry())
                break;  // more calls than there are
            ++lost;
        }
        QVERIFY2(lost > 3 && lost < 900, qPrintable(QString::number(lost)));
    }

    void otherConversationsLeaveFirst()
    {
        const auto model = load(emulated("llama", 256));
        const std::vector<int> ids = some_tokens(*model);
        KvSequence idle, busy;
        model->placement().begin_turn();
        for (int at = 0; at < 120; at += 40)
            QVERIFY(model->append(idle, std::span(ids).subspan(std::size_t(at), 40)));
        model->placement().begin_turn();
        for (int at = 0; at < 240; at += 40)
            QVERIFY(model->append(busy, std::span(ids).subspan(std::size_t(at), 40)));
        const auto residency = [&](const KvSequence& kv, int b) {
            return model->cache().residency(kv.pages[std::size_t(b)], 0);
        };
        QCOMPARE(residency(idle, 1), Residency::Host);
        for (int b = 0; b < int(busy.pages.size()); ++b)
            QCOMPARE(residency(busy, b), Residency::Device);

        // A branch shares blocks that lie on the device, and writes to its own.
        KvSequence branch = model->cache().branch(busy, 200);
        QVERIFY(model->append(branch, std::span(ids).subspan(200, 40)));
        const auto row = *model->logits(branch, 39);
        const std::vector<float> branched(row.begin(), row.end());
        KvSequence fresh;
        for (int at = 0; at < 240; at += 40)
            QVERIFY(model->append(fresh, std::span(ids).subspan(std::size_t(at), 40)));
        QVERIFY(std::memcmp(branched.data(), model->logits(fresh, 39)->data(), branched.size() * sizeof(float)) == 0);
        for (KvSequence* kv : {&idle, &busy, &branch, &fresh})
            model->cache().truncate(*kv, 0);
        QCOMPARE(model->placement().telemetry()->kv_bytes, 0);
    }

    void aConversationThatGoesOnTakesItsBlocksBack()
    {
        const auto model = load(emulated("llama", 200));
        const std::vector<int> ids = some_tokens(*model);
        KvSequence first, second;
        const auto append = [&](KvSequence& kv, int tokens) {
            for (const int end = kv.length() + tokens; kv.length() < end;) {
                const int count = std::min(end - kv.length(), model->max_rows());
                if (!model->append(kv, std::span(ids).subspan(std::size_t(kv.length()), std::size_t(count))))
                    return false;
            }
            return true;
        };
        const auto on_device = [&](const KvSequence& kv) {
            return std::ranges::count_if(
                kv.pages, [&](PageId page) { return model->cache().residency(page, 0) != Residency::Host; });
        };
        model->placement().begin_turn();
        QVERIFY(append(first, 150));
        model->placement().begin_turn();
        QVERIFY(append(second, 150));
        const auto left = on_device(first), there = on_device(second);
        QVERIFY(left < 5);

        model->placement().begin_turn();
        QVERIFY(append(first, 1));
        int moves = 0;
        while (model->placement().advance())
            QVERIFY(++moves < 50);  // it comes to an end
        model->placement().settle();
        QVERIFY(on_device(first) >= int(first.pages.size()) - 2);
        for (const Event& event : model->placement().take_events())
            QVERIFY(event.kind != Event::Kind::Fetch || event.cause == Event::Cause::Watermark);
        QVERIFY(on_device(second) < there);
        const auto device = model->placement().telemetry();
        QVERIFY(device->used_bytes() <= device->watermark_bytes);
        for (KvSequence* kv : {&first, &second})
            model->cache().truncate(*kv, 0);
    }

    void whatCannotBeIsRefusedWithASentence()
    {
        LoadRequest request = emulated("llama", 64);
        request.placement.watermark = 2;
        const auto model =
            LoadedModel::load(request, {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
        QVERIFY(!model);
        QCOMPARE(model.error().code, Error::Code::BadRequest);
        const auto alone = load(request_for("llama"));
        QVERIFY(!alone->placement().apply(SetDeviceLayers{1}));
        QVERIFY(!alone->placement().apply(SetVramBudget{1}));
        const auto device = load(emulated("llama", 64));
        QVERIFY(!device->placement().apply(SetDeviceLayers{-1}));
        QVERIFY(!device->placement().apply(SetWatermark{0}));
        QVERIFY(!device->placement().apply(SetKvOffloadShare{1.5}));
        QVERIFY(device->placement().apply(SetDeviceLayers{99}));
        QCOMPARE(device->placement().wanted_layers(), device->info().layers);
    }
};

SPILLWAY_TEST(QCoreApplication, TestPlacement)
#include "tst_placement.moc"
