// Tests that keys and values can be kept in other types from some token on: wherever they lie the bits are the same,
// nothing is lost on the way, and what goes wrong is computed again.
#include "kernels/cpu.h"
#include "tests/engine/run/device_engine.h"
#include "tests/support/part_of_all.h"
#include "tests/support/placement_run.h"

#include <QtTest>

#include <cmath>
#include <new>
#include <optional>

using namespace test_support;

namespace {

int refuse_page = 0;  // the n-th page from now on finds no memory; 0: each does

constexpr int kFirstChange = 200, kSecondChange = 300;

/// Holds what changes at these two lengths of a run.
struct Change {
    KvType first = KvType::Q8_0;
    std::optional<KvType> second = {};
};

Run run_changing(LoadedModel& model, const Change& change)
{
    Status changed;
    Run here = run(model, [&](int done) {
        if (done == kFirstChange)
            changed = model.set_kv_types(change.first, change.first);
        if (done == kSecondChange && change.second && changed)
            changed = model.set_kv_types(*change.second, *change.second);
    });
    if (here.status && !changed)
        here.status = changed;
    return here;
}

bool all_finite(const Logits& logits)
{
    return std::ranges::all_of(logits, [](const std::vector<float>& row) {
        return std::ranges::all_of(row, [](float x) { return std::isfinite(x); });
    });
}

/// Grows the conversation to this many tokens; what lies on the device comes and goes meanwhile.
Status grow(LoadedModel& model, KvSequence& kv, int to)
{
    const std::vector<int> ids = some_tokens(model);
    while (kv.length() < to) {
        (void)model.placement().advance();
        const int count = std::min(model.max_rows(), to - kv.length());
        if (Status ok = model.append(kv, std::span(ids).subspan(std::size_t(kv.length()), std::size_t(count))); !ok)
            return ok;
    }
    return {};
}

/// Returns the values of all tokens of a conversation, as attention sees them on the host: (pages, layers, heads,
/// tokens) of (k_dim) and (v_dim) values.
std::vector<float> kept_values(const LoadedModel& model, const KvSequence& kv)
{
    std::vector<float> all;
    for (int t = 0; t < kv.length(); ++t)
        for (int l = 0; l < model.info().layers; ++l) {
            const KvLayerShape& shape = model.cache().layer(l);
            const std::byte* block = model.cache().host_block(kv.pages[std::size_t(t / kBlockTokens)], l);
            for (int head = 0; head < shape.kv_heads; ++head, block += shape.block.bytes()) {
                std::vector<float> k(std::size_t(shape.block.k_dim)), v(std::size_t(shape.block.v_dim));
                kernels::all_cpu_kernels().front().load_kv(shape.block, block, t % kBlockTokens, k.data(), v.data());
                all.insert(all.end(), k.begin(), k.end());
                all.insert(all.end(), v.begin(), v.end());
            }
        }
    return all;
}

}  // namespace

// Pages of the KV cache are the only memory that is asked for in this way.
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept
{
    if (refuse_page > 0 && --refuse_page == 0)
        return nullptr;
    try {
        return ::operator new[](bytes, alignment);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

class TestKvTypes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { refuse_page = 0; }

    void everyPlacementGivesTheSameBits_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("first");
        QTest::addColumn<int>("second");
        for (const char* const name : {"llama", "gemma3", "gpt-oss", "gemma4-e", "deepseek2"}) {
            QTest::addRow("%s, q8_0, then f32", name) << QString(name) << int(KvType::Q8_0) << int(KvType::F32);
            QTest::addRow("%s, f32, then q8_0", name) << QString(name) << int(KvType::F32) << int(KvType::Q8_0);
        }
    }
    void everyPlacementGivesTheSameBits()
    {
        QFETCH(QString, name);
        QFETCH(int, first);
        QFETCH(int, second);
        const Change change{KvType(first), KvType(second)};
        const auto cpu = load(request_for(name));
        QVERIFY(cpu);
        const Run alone = run_changing(*cpu, change);
        QVERIFY(alone.status);
        PartOfAll part(3);
        for (const KvPolicy policy : {KvPolicy::Stream, KvPolicy::Merge, KvPolicy::CpuDecode})
            for (const int fit : {64, 200}) {
                if (!part.takes_next())
                    continue;
                const auto model = load(emulated(name, fit, policy));
                QVERIFY(model);
                const Run here = run_changing(*model, change);
                QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
                QCOMPARE(first_difference(here.logits, alone.logits), -1);
                QCOMPARE(count(here.events, Event::Kind::KvRewritten), 2);
                const auto device = *model->placement().telemetry();
                QVERIFY(device.layers > 0);
                QVERIFY(device.used_bytes() <= device.budget_bytes);
            }
    }

    void aWiderTypeAndBackLosesNothing()
    {
        const auto model = load(emulated("gemma3", 200)), other = load(emulated("gemma3", 200));
        QVERIFY(model && other);
        KvSequence kv, untouched;
        for (const auto& [m, sequence] : {std::pair(model.get(), &kv), std::pair(other.get(), &untouched)}) {
            m->placement().begin_turn();
            QVERIFY(grow(*m, *sequence, 333));
            QVERIFY(m->cache().wait_mirrored(*sequence));
        }
        const std::vector<float> before = kept_values(*model, kv);
        QVERIFY(model->set_kv_types(KvType::F32, KvType::F32));
        QCOMPARE(kept_values(*model, kv), before);
        QVERIFY(model->set_kv_types(KvType::F16, KvType::F16));
        QCOMPARE(kept_values(*model, kv), before);
        for (const PageId page : kv.pages)
            for (int l = 0; l < model->info().layers; ++l)
                QVERIFY(std::memcmp(model->cache().host_block(page, l), other->cache().host_block(page, l),
                                    model->cache().layer(l).bytes()) == 0);
        model->cache().truncate(kv, 0);
        other->cache().truncate(untouched, 0);
    }

    void aNarrowerTypeRoundsEachTokenByItself()
    {
        const auto model = load(request_for("llama"));
        QVERIFY(model);
        KvSequence kv;
        QVERIFY(grow(*model, kv, 333));
        const std::vector<float> before = kept_values(*model, kv);
        QVERIFY(model->set_kv_types(KvType::Q8_0, KvType::Q8_0));
        const std::vector<float> after = kept_values(*model, kv);
        QCOMPARE(after.size(), before.size());
        const KvLayerShape& shape = model->cache().layer(0);
        QCOMPARE(shape.block.k_dim, shape.block.v_dim);
        const auto dim = std::size_t(shape.block.k_dim);
        for (std::size_t first = 0; first < before.size(); first += dim) {
            float largest = 0;
            for (std::size_t d = first; d < first + dim; ++d)
                largest = std::max(largest, std::abs(before[d]));
            for (std::size_t d = first; d < first + dim; ++d)  // half a step, and what the division lost
                QVERIFY(std::abs(after[d] - before[d]) <= largest / 127 * 0.5001f);
        }
        model->cache().truncate(kv, 0);
    }

    /// With latent attention a value is a part of its key: its type is that of keys.
    void withoutValuesTheirTypeHasNoEffect()
    {
        const auto model = load(request_for("deepseek2"));
        QVERIFY(model);
        KvSequence kv;
        QVERIFY(grow(*model, kv, 100));
        QVERIFY(model->has_kv_types(KvType::F16, KvType::F32));
        QVERIFY(model->set_kv_types(KvType::F16, KvType::F32));
        QCOMPARE(count(model->placement().take_events(), Event::Kind::KvRewritten), 0);
        QVERIFY(model->set_kv_types(KvType::Q8_0, KvType::F16));
        QCOMPARE(count(model->placement().take_events(), Event::Kind::KvRewritten), 1);
        const kernels::KvBlockLayout& block = model->cache().layer(0).block;
        QCOMPARE(block.v_type, kernels::KvType::Q8_0);
        const std::vector<float> kept = kept_values(*model, kv);
        const auto row = std::size_t(block.k_dim + block.v_dim);
        for (std::size_t first = 0; first < kept.size(); first += row)
            QVERIFY(std::equal(&kept[first], &kept[first] + block.v_dim, &kept[first] + block.k_dim));
        model->cache().truncate(kv, 0);
    }

    void moreFindsRoomOnTheDeviceInAnotherType()
    {
        const auto model = load(emulated("llama", 160));
        QVERIFY(model);
        KvSequence kv;
        model->placement().begin_turn();
        QVERIFY(grow(*model, kv, 260));
        const auto settle = [&] {
            while (model->placement().advance())
                model->placement().settle();
        };
        const auto blocks_there = [&] { return model->placement().telemetry()->kv_blocks; };
        const auto used = [&] { return model->placement().telemetry()->used_bytes(); };
        settle();
        const std::int64_t budget = model->placement().telemetry()->budget_bytes;
        const int layers = model->placement().layers();
        const int halves = blocks_there();
        (void)model->placement().take_events();
        QVERIFY(model->set_kv_types(KvType::Q8_0, KvType::Q8_0));
        QCOMPARE(blocks_there(), 0);  // it goes on at once, with what lies on the host
        settle();
        const int bytes = blocks_there();
        QVERIFY(bytes > halves);
        QVERIFY(used() <= budget);
        QVERIFY(count(model->placement().take_events(), Event::Kind::Fetch) > 0);
        QVERIFY(model->set_kv_types(KvType::F32, KvType::F32));
        settle();
        QVERIFY(blocks_there() < halves);
        QVERIFY(used() <= budget);
        QVERIFY(grow(*model, kv, 300));
        QVERIFY(used() <= budget);
        QVERIFY(model->placement().layers() <= layers);
        QVERIFY(model->placement().layers() > 0);
        model->cache().truncate(kv, 0);
    }

    /// As many layers as fit are another number when their KV is larger; those that were asked for stay while their
    /// first columns find room.
    void aWiderTypeLeavesRoomForFewerLayers()
    {
        for (const bool asked : {false, true}) {
            LoadRequest request = emulated("llama", asked ? 128 : 64);
            const int layers = load(request)->placement().layers();
            if (asked)
                request.placement.device_layers = layers;
            const auto model = load(request);
            QVERIFY(model);
            QVERIFY(model->set_kv_types(KvType::F32, KvType::F32));
            while (model->placement().advance())
                model->placement().settle();
            QCOMPARE(model->placement().layers() < layers, !asked);
            request.k_type = request.v_type = KvType::F32;
            request.placement.emulated.fit_tokens = 0;
            request.placement.emulated.vram_bytes = model->placement().telemetry()->total_bytes;
            QCOMPARE(model->placement().layers(), load(request)->placement().layers());
        }
    }

    /// What finds no memory is computed again: the whole conversation, where its first page is missing, and then it has
    /// the bits of one that never was in another type.
    void withoutMemoryForAPageItIsComputedAgain_data()
    {
        QTest::addColumn<int>("page");
        QTest::addColumn<bool>("on_device");
        for (const bool on_device : {false, true})
            for (const int page : {1, 2, 7, 13})
                QTest::addRow("page %d%s", page, on_device ? ", on a device" : "") << page << on_device;
    }
    void withoutMemoryForAPageItIsComputedAgain()
    {
        QFETCH(int, page);
        QFETCH(bool, on_device);
        const auto model = load(on_device ? emulated("llama", 200) : request_for("llama"));
        QVERIFY(model);
        bool refused = false;
        const Run here = run(*model, [&](int done) {
            if (done != kFirstChange)
                return;
            refuse_page = page;
            (void)model->set_kv_types(KvType::Q8_0, KvType::Q8_0);
            refused = refuse_page == 0;
        });
        QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
        QVERIFY(refused);
        QVERIFY(all_finite(here.logits));
        LoadRequest request = request_for("llama");
        request.k_type = request.v_type = KvType::Q8_0;
        const auto from_the_start = load(request);
        const Run fresh = run(*from_the_start);
        QVERIFY(fresh.status);
        const auto changed = std::size_t(kFirstChange - kPrefillTokens + 1);  // the first logits after it
        const bool same = std::equal(here.logits.begin() + std::ptrdiff_t(changed), here.logits.end(),
                                     fresh.logits.begin() + std::ptrdiff_t(changed));
        QCOMPARE(same, page == 1);
    }

    /// Nor is there any when it is to be computed again: the caller makes room, and tries the same tokens again.
    void whatWasLostWaitsUntilThereIsMemory()
    {
        Logits once;
        for (const int more : {0, 1}) {
            const auto model = load(request_for("llama"));
            QVERIFY(model);
            const std::vector<int> ids = some_tokens(*model);
            KvSequence kv;
            QVERIFY(grow(*model, kv, kFirstChange));
            refuse_page = 3;
            QVERIFY(model->set_kv_types(KvType::Q8_0, KvType::Q8_0));
            QCOMPARE(refuse_page, 0);
            refuse_page = more;
            const auto token = std::span(ids).subspan(kFirstChange, 1);
            Status done = model->append(kv, token);
            QCOMPARE(done.has_value(), more == 0);
            if (!done) {
                QCOMPARE(done.error().code, Error::Code::NoMemory);
                done = model->append(kv, token);
            }
            QVERIFY(done);
            QCOMPARE(kv.length(), kFirstChange + 1);
            QVERIFY(std::equal(kv.ids.begin(), kv.ids.end(), ids.begin()));
            const auto row = *model->logits(kv, 0);
            if (more == 0)
                once.emplace_back(row.begin(), row.end());
            else
                QVERIFY(std::equal(row.begin(), row.end(), once.front().begin()));
            model->cache().truncate(kv, 0);
        }
    }

    /// What was lost returns in pieces, and between them commands are carried out.
    void commandsAreCarriedOutWhileLostTokensReturn()
    {
        const auto steps_of_an_answer = [](bool loses) {
            Request request = raw(30);
            for (int i = 0; i < 2; ++i)
                request.raw_prompt += request.raw_prompt;
            request.ignore_end = true;
            bool answers = false;
            std::uint64_t done = 0;
            Listener listener;
            listener.on_telemetry = [&](const Telemetry& frame) { answers = answers || frame.generated_tokens > 0; };
            listener.on_event = [&](const Event& event) { done = std::max(done, event.command); };
            const auto engine = make_engine();
            if (!engine->load(request_for("llama"), {}, {}))
                return -1;
            const auto turn = engine->begin(engine->create_sequence().value_or(0), request, listener, {});
            while (turn && !answers)
                (void)engine->step(listener);
            refuse_page = loses ? 1 : 0;
            int steps = 0;
            for (bool over = !turn; !over; ++steps) {
                const std::uint64_t posted = engine->post(SetKvTypes{KvType::Q8_0, KvType::Q8_0});
                over = !engine->step(listener).empty();
                if (done != posted)
                    return -1;
            }
            return turn && engine->end(*turn) && refuse_page == 0 ? steps : -1;
        };
        const int without = steps_of_an_answer(false);
        QVERIFY(without > 0);
        QVERIFY(steps_of_an_answer(true) > without + 1);
    }

    void aDeviceThatIsLostMeanwhileTakesNothingAway()
    {
        LoadRequest request = emulated("gemma3", 64);
        request.placement.device_layers = 1;  // its blocks are all that was on the device
        int runs = 0;
        for (bool lost = true; lost; ++runs) {
            request.placement.emulated.lose_at_call = 20 + 7 * runs;
            const auto model = load(request);
            QVERIFY(model);
            const Run here = run_changing(*model, {KvType::F32, KvType::Q8_0});
            QVERIFY2(here.status, qPrintable(QString("run %1").arg(runs)));
            QVERIFY(all_finite(here.logits));
            lost = count(here.events, Event::Kind::DeviceLost) > 0;
        }
        QVERIFY(runs > 30);
    }

    void itIsPostedWhileTheModelTalks()
    {
        const auto answer = [](const PlacementOptions& placement) {
            DeviceEngine loaded(placement);
            std::optional<std::uint64_t> posted;
            Listener listener = loaded.listener();
            listener.on_text = [&, texts = 0](std::string_view) mutable {
                if (++texts == 20)
                    posted = loaded.engine->post(SetKvTypes{KvType::Q8_0, KvType::Q8_0});
            };
            const auto turn = loaded.engine->generate(loaded.sequence, raw(200), listener, {});
            const bool done = turn && posted && loaded.answer_to(*posted) && loaded.answer_to(*posted)->ok &&
                              loaded.count(Event::Kind::KvRewritten) == 1;
            return done ? turn->text : std::string();
        };
        const std::string alone = answer({});
        QVERIFY(!alone.empty());
        QCOMPARE(answer(emulated_device(96)), alone);
    }

    void theTypesItHasChangeNothing()
    {
        DeviceEngine loaded(emulated_device(96));
        QVERIFY(loaded.engine->generate(loaded.sequence, raw(40), loaded.listener(), {}));
        QVERIFY(loaded.ask(SetKvTypes{}).ok);
        QCOMPARE(loaded.count(Event::Kind::KvRewritten), 0);
    }

    void withoutAModelItIsRefused()
    {
        const auto engine = make_engine();
        std::optional<Event> answer;
        Listener listener;
        listener.on_event = [&](const Event& event) { answer = event; };
        engine->post(SetKvTypes{KvType::Q8_0, KvType::Q8_0});
        engine->poll(listener);
        QVERIFY(answer && !answer->ok);
        QCOMPARE(answer->sentence, std::string("no model is loaded"));
    }
};

QTEST_GUILESS_MAIN(TestKvTypes)
#include "tst_kv_types.moc"
