// Tests that KV comes back to a device in the right order once there is room again, and that nothing moves without
// need.
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>

using namespace test_support;

namespace {

/// Lets everything come that may.
void settle(LoadedModel& model)
{
    for (int i = 0; i < 10000 && model.placement().advance(); ++i)
        model.placement().settle();
    model.placement().settle();
}

Status grow(LoadedModel& model, KvSequence& kv, int to, int at_once)
{
    const std::vector<int> ids = some_tokens(model);
    while (kv.length() < to) {
        const int count = std::min(at_once, to - kv.length());
        settle(model);
        if (Status ok = model.append(kv, std::span(ids).subspan(std::size_t(kv.length()), std::size_t(count))); !ok)
            return ok;
    }
    return {};
}

/// Blocks of layers that see everything, by page and layer: whether they lie on the device.
std::vector<bool> on_device(const LoadedModel& model, const KvSequence& kv)
{
    std::vector<bool> here;
    for (const PageId page : kv.pages)
        for (int l = 0; l < model.info().layers; ++l)
            if (model.cache().layer(l).window == 0)
                here.push_back(model.cache().residency(page, l) == Residency::Device);
    return here;
}

bool all(const std::vector<bool>& here)
{
    return std::ranges::all_of(here, std::identity());
}

}  // namespace

class TestKvReturn : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theWholeConversationComesBack_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("percent");  // of the KV's bytes, by which the budget is lowered
        QTest::addColumn<bool>("asked");   // for all layers; else as many as fit are there
        for (const char* const name : {"llama", "gemma3"})
            for (const int percent : {5, 60, 150})  // the last one takes layers, too
                for (const bool asked : {false, true})
                    QTest::addRow("%s, %d %%%s", name, percent, asked ? ", its layers asked for" : "")
                        << QString(name) << percent << asked;
    }
    void theWholeConversationComesBack()
    {
        QFETCH(QString, name);
        QFETCH(int, percent);
        QFETCH(bool, asked);
        constexpr int kTokensHeld = 280, kFits = 304;
        const auto model = load(emulated(name, kFits));
        QVERIFY(model);
        KvSequence kv;
        ModelPlacement& placement = model->placement();
        if (asked)
            QVERIFY(placement.apply(SetDeviceLayers{model->info().layers}));
        placement.begin_turn();
        QVERIFY(grow(*model, kv, kTokensHeld, 40));
        settle(*model);
        QVERIFY(all(on_device(*model, kv)));
        const auto full = *placement.telemetry();
        const std::int64_t budget = full.used_bytes() - full.kv_bytes * percent / 100;
        (void)placement.take_events();

        QVERIFY(placement.apply(SetVramBudget{budget}));
        settle(*model);
        QVERIFY(!all(on_device(*model, kv)));
        QVERIFY(placement.telemetry()->used_bytes() <= budget);
        (void)placement.take_events();
        QVERIFY(placement.apply(SetVramBudget{0}));
        settle(*model);
        QCOMPARE(placement.telemetry()->layers, model->info().layers);
        QVERIFY(all(on_device(*model, kv)));
        // The first block is attended by every token: it does not wait for the others.
        std::vector<int> first_tokens;
        for (const Event& event : placement.take_events())
            if (event.kind == Event::Kind::Fetch)
                first_tokens.push_back(event.tokens.first);
        if (!first_tokens.empty() && std::ranges::count(first_tokens, 0) > 0)
            QCOMPARE(first_tokens.front(), 0);
        model->cache().truncate(kv, 0);
    }

    void aNewTurnMovesNothing()
    {
        const auto model = load(emulated("llama", 160));
        QVERIFY(model);
        KvSequence kv;
        model->placement().begin_turn();
        QVERIFY(grow(*model, kv, 330, 40));
        settle(*model);
        const std::vector<bool> before = on_device(*model, kv);
        QVERIFY(!all(before));
        (void)model->placement().take_events();
        for (int turn = 0; turn < 4; ++turn) {
            model->placement().begin_turn();
            settle(*model);
            QCOMPARE(on_device(*model, kv), before);
        }
        QVERIFY(model->placement().take_events().empty());
        model->cache().truncate(kv, 0);
    }

    void layersComeBackWhenAnswersBesideEnd_data()
    {
        QTest::addColumn<bool>("forgotten");
        QTest::addColumn<bool>("one_goes_on");
        QTest::newRow("the others are forgotten") << true << true;
        QTest::newRow("the others are over") << false << true;
        QTest::newRow("all are over") << false << false;
    }
    /// The windows of many answers side by side have no room beside all layers. When one answer is left, or none, they
    /// come back, also where their conversations may go on later.
    void layersComeBackWhenAnswersBesideEnd()
    {
        QFETCH(const bool, forgotten);
        QFETCH(const bool, one_goes_on);
        LoadRequest request = emulated("gemma3", 64, KvPolicy::Merge);
        request.placement.watermark = kHighestWatermark;
        const auto model = load(request);
        QVERIFY(model);
        ModelPlacement& placement = model->placement();
        const int layers = placement.layers();
        const std::vector<int> ids = some_tokens(*model);
        std::array<KvSequence, kMostRowsTogether> answers;
        for (std::size_t i = 0; i < answers.size(); ++i)
            placement.begin_turn();
        const auto go_on = [&](KvSequence& kv, int to) {
            while (kv.length() < to) {
                const int count = std::min(model->max_rows(), to - kv.length());
                placement.go_on({});
                QVERIFY(model->append(kv, std::span(ids).subspan(std::size_t(kv.length()), std::size_t(count))));
                placement.advance();
            }
        };
        for (const int to : {40, 41, 42})
            for (KvSequence& kv : answers)
                go_on(kv, to);
        const int side_by_side = placement.layers();
        QVERIFY(side_by_side < layers);
        for (KvSequence& kv : std::span(answers).subspan(one_goes_on ? 1 : 0))
            if (forgotten)
                model->cache().truncate(kv, 0);
            else
                QVERIFY(placement.end_turn(kv.pages));
        if (one_goes_on)
            go_on(answers[0], 43);
        settle(*model);
        QCOMPARE(placement.layers(), layers);
        QVERIFY(!placement.end_turn(answers[0].pages));
        for (KvSequence& kv : answers)
            model->cache().truncate(kv, 0);
    }

    // Windows take a row of blocks at the beginning of a block and let another go in its middle.
    void aMovingWindowSendsNothingToAndFro()
    {
        const auto model = load(emulated("gemma3", 160));
        QVERIFY(model);
        KvSequence kv;
        model->placement().begin_turn();
        QVERIFY(grow(*model, kv, 240, 40));
        settle(*model);
        (void)model->placement().take_events();
        QVERIFY(grow(*model, kv, 400, 1));
        const std::vector<Event> events = model->placement().take_events();
        QVERIFY(count(events, Event::Kind::Offload) > 0);
        QCOMPARE(count(events, Event::Kind::Fetch), 0);
        model->cache().truncate(kv, 0);
    }
};

SPILLWAY_TEST(QCoreApplication, TestKvReturn)
#include "tst_kv_return.moc"
