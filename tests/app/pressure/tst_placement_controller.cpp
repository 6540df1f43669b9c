// Tests that what the window predicts of another placement is what then happens, with the real engine and the guide
// model.
#include "app/pressure/pressure.h"
#include "tests/support/fake_engine.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace {

constexpr auto kGuideModel = SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf";

/// The engine, and everything behind the panel, with the guide model on an emulated device.
class Panel
{
public:
    explicit Panel(int context_tokens = 0,  // 0: the model's own
                   const QString& model = QLatin1String(kGuideModel))
        : m_engine(engine::make_engine)
        , m_models(m_engine, engine::inspect_model, request(context_tokens))
        , m_pressure(m_engine, m_models)
    {
        m_models.openAndLoad(model);
    }
    PlacementController& placement() { return *m_pressure.placement(); }
    PressureMonitor& monitor() { return *m_pressure.monitor(); }
    ModelController& models() { return m_models; }
    Pressure& pressure() { return m_pressure; }
    bool ready()
    {
        return monitor().hasModel() && placement().available() && placement().forecast()->preview(-1).known;
    }
    void unload() { m_engine.unload(0); }
    void ask(const QString& prompt)
    {
        engine::Request request;
        request.raw_prompt = prompt.toStdString();
        request.max_tokens = 4;
        m_engine.generate(++m_turn, "a", request, std::stop_token());
    }
    /// What the guide answers with some sentences.
    void askTheGuide()
    {
        engine::Request request;
        request.messages = {{"user", "What is a spill point?"}};
        request.sampling.temperature = 0;
        m_engine.generate(++m_turn, "a", request, std::stop_token());
    }

private:
    static engine::LoadRequest request(int context_tokens)
    {
        engine::LoadRequest request;
        request.threads = 1;
        request.context_tokens = context_tokens;
        request.placement.device = engine::PlacementOptions::Device::Emulated;
        request.placement.emulated.fit_tokens = 1024;
        return request;
    }

    EngineThread m_engine;
    ModelController m_models;
    Pressure m_pressure;
    quint64 m_turn = 0;
};

/// Returns what the guide model does on this machine, which is measured once: all panels with it ask for the same.
/// Null: it could not be measured.
std::shared_ptr<const engine::MachineRates> ratesOf(const PlacementController& placement)
{
    static const std::shared_ptr<const engine::MachineRates> rates = [&] {
        const auto planner = engine::Planner::open(kGuideModel);
        if (!planner)
            return std::shared_ptr<const engine::MachineRates>();
        const auto measured = planner->measure_rates(placement.request());
        return measured ? std::make_shared<const engine::MachineRates>(*measured) : nullptr;
    }();
    return rates;
}

}  // namespace

class TestPlacementController : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// These tests look at whether the machine is measured, not at how well.
    void initTestCase() { qputenv("SPILLWAY_MEASURE_SMALL_SETS", "1"); }

    void knowsNothingWithoutADevice()
    {
        auto script = std::make_shared<FakeScript>();
        EngineThread engine([script] { return std::make_unique<FakeEngine>(script); });
        PlacementController placement(engine);
        QVERIFY(!placement.available());
        QVERIFY(!placement.forecast()->preview(3).known);
        placement.setLayers(3);
        placement.setBudget(100);
        QVERIFY(script->commands().empty());
    }

    void noBlockLeavesWhereTheContextIsFullBefore()
    {
        Panel panel(512);
        QTRY_VERIFY(panel.ready());
        QVERIFY(!panel.placement().forecast()->spillTokens().isValid());
        QVERIFY(!panel.placement().forecast()->previewKvType(0).spillTokens.isValid());
    }

    void layersAndBytesAreAsForetold()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        QCOMPARE(placement.layers(), 6);
        QCOMPARE(placement.deviceLayers(), 6);
        QVERIFY(placement.automatic());
        QVERIFY(placement.emulated());
        QCOMPARE(placement.forecast()->spillTokens().toInt(), 1024);
        QCOMPARE(placement.forecast()->preview(-1).layers, 6);

        const PlacementPreview three = placement.forecast()->preview(3);
        QVERIFY(three.known);
        QCOMPARE(three.layers, 3);
        QVERIFY(three.spillTokens.toInt() > 1024);  // room for more KV
        placement.setLayers(3);
        QTRY_COMPARE(placement.deviceLayers(), 3);
        QVERIFY(!placement.automatic());
        const double taken = panel.monitor().device().used();
        QVERIFY2(std::abs(taken / three.deviceBytes - 1) < 0.01,
                 qPrintable(QString("%1 were foretold, %2 are taken").arg(three.deviceBytes).arg(taken)));
        QCOMPARE(placement.forecast()->spillTokens().toInt(), three.spillTokens.toInt());

        placement.setAutomatic();
        QTRY_COMPARE(placement.deviceLayers(), 6);
        placement.setLayers(99);  // as many as there are
        QTRY_COMPARE(placement.wantedLayers(), 6);
    }

    void aLowerBudgetIsKeptAtOnce()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        panel.ask(QString("The layer split says where the layers lie. ").repeated(60));
        QTRY_VERIFY(!panel.monitor().ttftHistory().isEmpty());
        const double whole = placement.budgetBytes();
        placement.yieldTo(whole * 0.8);
        QVERIFY(placement.yielding());
        {  // who shrinks it further is told at no moment that it has grown back
            bool grew = false;
            const auto told = QObject::connect(&placement, &PlacementController::changed, &placement,
                                               [&] { grew = grew || !placement.yielding(); });
            placement.setYieldBytes(whole * 0.7);
            QVERIFY(placement.yielding() && !grew);
            placement.setYieldBytes(whole * 0.8);
            QObject::disconnect(told);
        }
        QTRY_COMPARE(placement.budgetBytes(), std::floor(whole * 0.8));
        QTRY_VERIFY(panel.monitor().device().used() <= whole * 0.8);
        placement.growBack();
        QTRY_COMPARE(placement.budgetBytes(), whole);
        QVERIFY(!placement.yielding());
    }

    /// Also in the middle of a conversation that outgrew the device, whatever lay there before.
    void whatABudgetIsSaidToBringItBrings()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        panel.ask(QString("The layer split says where the layers lie. ").repeated(150));
        QTRY_VERIFY(!panel.monitor().ttftHistory().isEmpty());
        const double whole = placement.budgetBytes();
        for (const double share : {0.6, 0.45, 0.75, 1.0}) {
            const PlacementPreview then = placement.forecast()->previewBudget(std::floor(whole * share));
            QVERIFY(then.known);
            placement.setBudget(std::floor(whole * share));
            QTRY_COMPARE(placement.budgetBytes(), std::floor(whole * share));
            QTRY_COMPARE(placement.deviceLayers(), then.layers);
            QTRY_VERIFY2(std::abs(panel.monitor().device().used() / then.deviceBytes - 1) < 0.01,
                         qPrintable(QString("%1 of the budget: %2 were foretold, %3 are taken")
                                        .arg(share)
                                        .arg(then.deviceBytes)
                                        .arg(panel.monitor().device().used())));
            // The slider, the KV text and the chart say the same.
            QCOMPARE(placement.forecast()->preview(-1).layers, then.layers);
            QCOMPARE(placement.forecast()->previewKvType(0).layers, then.layers);
            QCOMPARE(placement.forecast()->previewKvType(0).spillTokens, then.spillTokens);
            QCOMPARE(placement.forecast()->spillTokens(), then.spillTokens);
        }
        const PlacementPreview before = placement.forecast()->preview(-1);
        placement.setOtherPrograms(std::floor(whole / 2));
        QTRY_VERIFY(placement.deviceLayers() < before.layers);
        QCOMPARE(placement.deviceLayers(), placement.forecast()->preview(-1).layers);
    }

    /// A prediction does not look at the draft model's file, which may be gone, or on a share that does not answer.
    void whatIsForetoldNeedsNoFileOfTheDraftModel()
    {
        const QTemporaryDir folder;
        const QString draft = folder.filePath("draft.gguf");
        QVERIFY(QFile::copy(kGuideModel, draft));
        Panel panel;
        panel.models().setDraftOf([&draft](const QString&) { return draft; });
        panel.models().openAndLoad(QLatin1String(kGuideModel));  // in place of the look without it
        QTRY_VERIFY(panel.ready());
        QVERIFY(!panel.models().loadedRequest().draft_model.empty());
        PlacementForecast& forecast = *panel.placement().forecast();
        const int spill = forecast.spillTokens().toInt();
        QVERIFY(QFile::remove(draft));
        forecast.replan();
        QVERIFY(forecast.now().known);
        QVERIFY(forecast.preview(3).known);
        QCOMPARE(forecast.spillTokens().toInt(), spill);
    }

    void whatExpertsInRamAreSaidToBringTheyBring()
    {
        Panel panel(0, test_support::own_models_folder() + "/qwen3moe.gguf");
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        QVERIFY(placement.experts()->automatic());
        QCOMPARE(placement.experts()->hostLayers(), 0);
        double last = panel.monitor().device().used();
        for (int layers = 1; layers <= placement.layers(); ++layers) {
            const PlacementPreview then = placement.forecast()->previewHostExperts(layers);
            QVERIFY(then.known);
            QCOMPARE(then.hostExperts, layers);
            placement.experts()->setHostLayers(layers);
            QCOMPARE(placement.experts()->hostLayers(), layers);
            QTRY_VERIFY2(std::abs(panel.monitor().device().used() / then.deviceBytes - 1) < 0.01,
                         qPrintable(QString("%1 layers: %2 were foretold, %3 are taken")
                                        .arg(layers)
                                        .arg(then.deviceBytes)
                                        .arg(panel.monitor().device().used())));
            QVERIFY(then.deviceBytes < last);
            last = then.deviceBytes;
        }
        QVERIFY(!placement.experts()->automatic());
        QCOMPARE(placement.asChanged({}).host_expert_layers, std::optional(placement.layers()));
        placement.experts()->setHostLayers(-1);
        QTRY_COMPARE(placement.experts()->hostLayers(), 0);
        QCOMPARE(placement.forecast()->preview(-1).hostExperts, 0);
    }

    /// The place of a layer in the order in which experts leave says nothing of how many have left.
    void whoeverChoosesWhatAutomaticChoseMovesNothing()
    {
        engine::PlacementOptions wish;
        std::optional<engine::DeviceTelemetry> device;
        const int layers = 2;
        std::optional<int> asked;
        ExpertPlacement experts(wish, device, layers, [&](const engine::Command& command) {
            asked = std::get<engine::SetHostExperts>(std::get<engine::PlacementCommand>(command)).layers;
        });
        QCOMPARE(experts.hostLayers(), -1);
        device.emplace();
        device->expert_layers = device->layers_without_experts = 1;
        device->host_expert_layers = 2;  // the first of the two has none
        QCOMPARE(experts.hostLayers(), 2);
        experts.setHostLayers(experts.hostLayers());
        QCOMPARE(asked, std::optional(2));
    }

    void roomForCopiesIsAskedForWhereTheyPay()
    {
        Panel panel(0, test_support::own_models_folder() + "/qwen3moe.gguf");
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        ExpertPlacement& experts = *placement.experts();
        QVERIFY(!experts.takesCopies());  // all of them are on the device
        experts.setHostLayers(placement.layers());
        QTRY_VERIFY(experts.takesCopies());
        QCOMPARE(experts.roomForCopies(), 0.0);
        QCOMPARE(experts.copies(), 0);
        QVERIFY(experts.mostRoom() > 0);

        const double room = std::floor(panel.monitor().device().weights / 4);
        const PlacementPreview then = placement.forecast()->previewRoomForCopies(room);
        QVERIFY(then.known);
        experts.setRoomForCopies(room);
        QCOMPARE(experts.roomForCopies(), room);
        QTRY_VERIFY(experts.copies() > 0);
        QVERIFY(experts.copyBytes() > 0);
        QVERIFY(experts.copyBytes() <= room);
        QTRY_COMPARE(panel.monitor().device().experts, experts.copyBytes());
        QTRY_VERIFY2(
            std::abs(panel.monitor().device().used() / then.deviceBytes - 1) < 0.01,
            qPrintable(
                QString("%1 were foretold, %2 are taken").arg(then.deviceBytes).arg(panel.monitor().device().used())));
        // It goes into the next load, and with another device it is that one's.
        QVERIFY(placement.asChanged({}).expert_cache_bytes == std::int64_t(room));
        experts.setRoomForCopies(1e18);
        QCOMPARE(experts.roomForCopies(), experts.mostRoom());
        experts.setRoomForCopies(0);
        QCOMPARE(experts.roomForCopies(), 0.0);
        QTRY_COMPARE(experts.copies(), 0);
        experts.setRoomForCopies(-1);
        QVERIFY(experts.copiesAutomatic());
        QTRY_VERIFY(experts.copies() > 0);
        QCOMPARE(experts.roomForCopies(), experts.copyBytes());
        QTRY_VERIFY(placement.forecast()->now().expertBytes >= experts.copyBytes());
        experts.setRoomForCopies(0);
        QVERIFY(!experts.copiesAutomatic());
        QVERIFY(placement.trouble().isEmpty());
    }

    void aModelWithoutExpertsHasNoneToPlace()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        QCOMPARE(panel.placement().experts()->hostLayers(), -1);
        QCOMPARE(panel.placement().forecast()->preview(-1).hostExperts, -1);
    }

    /// After an experiment, or with a larger context.
    void aChosenPlaceOutlivesLoadingAgain()
    {
        for (const bool context : {false, true}) {
            Panel panel;
            QTRY_VERIFY(panel.ready());
            PlacementController& placement = panel.placement();
            const double budget = std::floor(placement.budgetBytes() * 0.9);
            placement.setLayers(3);
            placement.setBudget(budget);
            placement.setPolicy(int(engine::KvPolicy::Stream));
            placement.setWatermark(0.8);
            placement.setOffloadPercent(20);
            QTRY_COMPARE(placement.deviceLayers(), 3);
            placement.yieldTo(budget / 2);
            QTRY_COMPARE(placement.budgetBytes(), std::floor(budget / 2));
            QSignalSpy ready(&panel.models(), &ModelController::modelReady);
            if (context) {
                panel.models().reloadWithContext(1024);
            } else {
                QSignalSpy aside(&panel.models(), &ModelController::setAside);
                QVERIFY(panel.models().makeRoom());
                QVERIFY(aside.count() == 1 || aside.wait());
                panel.models().giveRoomBack();
            }
            QVERIFY(ready.wait());
            QTRY_VERIFY(panel.ready());
            QVERIFY(!placement.automatic());
            QTRY_COMPARE(placement.deviceLayers(), 3);
            QCOMPARE(placement.budgetBytes(), budget);  // what shrank for another program has grown back
            QCOMPARE(placement.policy(), int(engine::KvPolicy::Stream));
            QCOMPARE(placement.watermark(), 0.8);
            QCOMPARE(placement.offloadPercent(), 20);
            // A device that was chosen has the same size as before, by the same words.
            QCOMPARE(panel.models().chosenRequest().placement.emulated.fit_tokens, 1024);
            QCOMPARE(panel.models().loadedRequest().placement.emulated.fit_tokens, 1024);
        }
    }

    void whatWasMeasuredCorrectsWhatIsForetold()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        QVERIFY(ratesOf(placement));
        engine::MachineRates rates = *ratesOf(placement);
        rates.token_s = 10.0;  // a machine that is said to be slow beyond all truth
        placement.forecast()->setRates(std::make_shared<const engine::MachineRates>(rates));
        QVERIFY(!placement.forecast()->preview(-1).correction.isValid());
        QVERIFY(placement.forecast()->preview(-1).tokensPerSecond.toDouble() < 0.11);
        panel.askTheGuide();
        QTRY_VERIFY(placement.forecast()->preview(-1).correction.isValid());
        QVERIFY(placement.forecast()->preview(-1).correction.toDouble() > 10);
        QVERIFY(placement.forecast()->preview(-1).tokensPerSecond.toDouble() > 1);
        QVERIFY(placement.forecast()->predicted().first().y() < 0.11);  // the curve shows how wrong the prediction is
        placement.forecast()->setRates(std::make_shared<const engine::MachineRates>(rates));
        QVERIFY(!placement.forecast()->preview(-1).correction.isValid());
    }

    void aTextThatRepeatsItselfTeachesNothing()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementForecast& forecast = *panel.placement().forecast();
        QVERIFY(ratesOf(panel.placement()));
        forecast.setRates(ratesOf(panel.placement()));
        const double predicted = forecast.preview(-1).tokensPerSecond.toDouble();
        engine::Telemetry frame;
        frame.phase = engine::Phase::Prefill;
        forecast.learn(frame);
        frame.phase = engine::Phase::Decode;
        frame.generated_tokens = 100;
        frame.drafted_tokens = frame.accepted_tokens = 80;
        frame.decode_tokens_per_s = 5 * predicted;
        frame.plain_steps = {3, 1e-9};
        forecast.learn(frame);
        QVERIFY(!forecast.preview(-1).correction.isValid());
        frame.generated_tokens = 200;
        frame.plain_steps = {50, 50 / predicted};
        forecast.learn(frame);
        QVERIFY(std::abs(forecast.preview(-1).correction.toDouble() - 1) < 0.2);
    }

    void anotherKvTypeIsForetoldAndTaken()
    {
        constexpr int kF16 = 0, kQ8 = 1, kF32 = 2;
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        QSignalSpy changes(&placement, &PlacementController::kvTypeChanged);
        QCOMPARE(placement.kvType(), kF16);
        panel.ask(QString("The layer split says where the layers lie. ").repeated(60));
        QTRY_VERIFY(!panel.monitor().ttftHistory().isEmpty());
        const auto kvBytes = [&] { return panel.monitor().host().kv + panel.monitor().device().kv; };
        const double before = kvBytes();
        const PlacementPreview halves = placement.forecast()->previewKvType(kF16),
                               bytes = placement.forecast()->previewKvType(kQ8);
        QCOMPARE(placement.forecast()->spillTokens().toInt(), halves.spillTokens.toInt());
        QVERIFY(!bytes.spillTokens.isValid() || bytes.spillTokens.toInt() > halves.spillTokens.toInt());
        QVERIFY(bytes.kvBytesFull < 0.6 * halves.kvBytesFull);

        placement.setKvType(kQ8);
        QCOMPARE(placement.kvType(), kQ8);
        QTRY_COMPARE(changes.count(), 1);
        QTRY_VERIFY(kvBytes() < 0.6 * before);
        QCOMPARE(placement.forecast()->spillTokens(), bytes.spillTokens);
        QCOMPARE(placement.request().v_type, engine::KvType::Q8_0);
        placement.setKvType(kF32);
        placement.setKvType(99);
        QCOMPARE(placement.kvType(), kF32);
        QTRY_COMPARE(changes.count(), 2);
        QTRY_VERIFY(kvBytes() > 1.9 * before);
        placement.keepKvAs(engine::KvType::F16);  // the Doctor's way
        QTRY_COMPARE(changes.count(), 3);
        QCOMPARE(placement.kvType(), kF16);
        QCOMPARE(placement.forecast()->spillTokens(), halves.spillTokens);
        QVERIFY(placement.trouble().isEmpty());
    }

    void aRefusedKvTypeIsTakenBack()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        panel.unload();  // the engine knows it before the window does
        placement.setKvType(1);
        QCOMPARE(placement.kvType(), 1);
        QTRY_VERIFY(!placement.trouble().isEmpty());
        QCOMPARE(placement.kvType(), 0);
    }

    void anAnswerThatNoRateExplainsIsNoticed()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        engine::Telemetry last;
        last.generated_tokens = 100;
        last.decode_tokens_per_s = 1e9;
        QVERIFY(!placement.forecast()->outran(last));  // than nothing known
        engine::Telemetry prompt;
        prompt.phase = engine::Phase::Prefill;
        placement.forecast()->learn(prompt);  // an answer begins, of which nothing has moved
        QVERIFY(ratesOf(placement));
        placement.forecast()->setRates(ratesOf(placement));
        const double predicted = placement.forecast()->preview(-1).tokensPerSecond.toDouble();
        QVERIFY(predicted > 0);
        QVERIFY(placement.forecast()->outran(last));
        last.decode_tokens_per_s = 1.1 * predicted;
        QVERIFY(!placement.forecast()->outran(last));
        last.decode_tokens_per_s = 1.5 * predicted;
        QVERIFY(placement.forecast()->outran(last));
        last.drafted_tokens = last.accepted_tokens = 50;  // the text repeats itself
        QVERIFY(!placement.forecast()->outran(last));
        last.plain_steps = {20, 20 / predicted};
        QVERIFY(!placement.forecast()->outran(last));
        last.plain_steps.seconds /= 1.5;
        QVERIFY(placement.forecast()->outran(last));
        last.plain_steps.count = 2;
        QVERIFY(!placement.forecast()->outran(last));
        last.drafted_tokens = last.accepted_tokens = 0;
        last.generated_tokens = 2;
        QVERIFY(!placement.forecast()->outran(last));

        last.generated_tokens = 100;
        last.decode_tokens_per_s = 1e9;
        placement.setLayers(2);  // most of the answer was made by six
        QVERIFY(!placement.forecast()->outran(last));
        placement.forecast()->learn(prompt);
        QVERIFY(placement.forecast()->outran(last));
    }

    /// A desktop takes and leaves graphics memory all the time.
    void whatOtherProgramsHoldMovesNothing()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        PlacementForecast& forecast = *placement.forecast();
        QVERIFY(ratesOf(placement));
        forecast.setRates(ratesOf(placement));
        const double predicted = forecast.preview(-1).tokensPerSecond.toDouble();
        engine::Telemetry frame;
        frame.phase = engine::Phase::Prefill;
        frame.device.emplace();
        frame.device->layers = frame.device->layers_wanted = 6;
        frame.device->total_bytes = 1'000'000'000;
        placement.onFrame(frame);
        const QSignalSpy planned(&forecast, &PlacementForecast::changed);
        frame.phase = engine::Phase::Decode;
        frame.generated_tokens = 100;
        frame.decode_tokens_per_s = 2 * predicted;
        frame.device->other_programs_bytes = 4096;
        placement.onFrame(frame);
        QCOMPARE(planned.size(), 0);
        QVERIFY(forecast.preview(-1).correction.isValid());
        frame.device->other_programs_bytes = 20'000'000;
        placement.onFrame(frame);
        QCOMPARE(planned.size(), 1);
    }

    void anAnswerWhoseDeviceWasLostTeachesNothing()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        QVERIFY(ratesOf(placement));
        placement.forecast()->setRates(ratesOf(placement));
        engine::Telemetry frame;
        frame.phase = engine::Phase::Prefill;
        placement.forecast()->learn(frame);
        placement.onEvent({.kind = engine::Event::Kind::DeviceLost, .sentence = {}});
        QVERIFY(!placement.emulated());  // what is foretold is the CPU's
        frame.phase = engine::Phase::Decode;
        frame.generated_tokens = 100;
        frame.decode_tokens_per_s = 1000;
        placement.onFrame(frame);
        QVERIFY(!placement.available());
        QVERIFY(!placement.forecast()->preview(-1).correction.isValid());
    }

    void anotherLanguageNamesWhatMovedAnew()
    {
        Panel panel;
        const QSignalSpy rows(panel.pressure().events(), &QAbstractItemModel::modelReset);
        panel.pressure().retranslate();
        QCOMPARE(rows.size(), 1);
    }

    void choicesReachTheEngine()
    {
        Panel panel;
        QTRY_VERIFY(panel.ready());
        PlacementController& placement = panel.placement();
        placement.setWatermark(0.8);
        QCOMPARE(placement.watermark(), 0.8);
        QTRY_VERIFY(std::abs(panel.monitor().device().watermark / placement.budgetBytes() - 0.8) < 0.01);
        placement.setWatermark(0.1);
        QCOMPARE(placement.watermark(), 0.5);  // no lower
        placement.setPolicy(int(engine::KvPolicy::Stream));
        QCOMPARE(placement.policy(), int(engine::KvPolicy::Stream));
        placement.setOffloadPercent(150);
        QCOMPARE(placement.offloadPercent(), 100);
        placement.setOtherPrograms(1e6);
        QTRY_COMPARE(placement.otherProgramsBytes(), 1e6);
        QVERIFY(placement.trouble().isEmpty());
    }
};

SPILLWAY_TEST(QApplication, TestPlacementController)
#include "tst_placement_controller.moc"
