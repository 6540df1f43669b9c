// Tests that the window's Doctor judges an answer when it has ended, asks for the change that it suggests, and says
// what that change brought.
#include "app/pressure/doctor_controller.h"
#include "tests/support/fake_engine.h"
#include "tests/support/heard.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

class TestDoctorController : public QObject
{
    Q_OBJECT

private:
    std::shared_ptr<FakeScript> script;
    std::unique_ptr<EngineThread> thread;
    DoctorController::Present present;

    /// A device whose step waits for KV most of the time.
    void waitsForTheLink()
    {
        script->change([](auto& settings) {
            settings.device = {.id = "emulated", .layers = 16};
            settings.shares = engine::StepShares{.steps = 10, .device_layers_s = 0.2, .kv_link_s = 0.8};
        });
        present.request.placement.device = engine::PlacementOptions::Device::Emulated;
        present.request.placement.kv_policy = engine::KvPolicy::Stream;
    }
    /// 10 tokens a second on the CPU. A question of 36 words is 40 tokens, which cost a tenth of a step each.
    void readsItsWeights(double seconds = 1)
    {
        script->change([&](auto& settings) {
            settings.shares = engine::StepShares{.prefill_s = 0.4, .steps = 10, .host_layers_s = seconds};
        });
    }
    static std::optional<ModelEntry> smallOne(const engine::LoadRequest&)
    {
        ModelEntry entry;
        entry.path = "small.gguf";
        entry.title = "small";
        entry.info.weight_bytes = 70'000'000;  // less than a tenth
        return entry;
    }
    void ask(const QString& question)
    {
        Heard finished(thread->worker(), &EngineWorker::finished);
        engine::Request request;
        request.messages.push_back({"user", question.toStdString()});
        thread->generate(1, "a", request, {});
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 5000);
    }
    const QString longQuestion = QStringLiteral("word ").repeated(36);
    void answer()
    {
        Heard finished(thread->worker(), &EngineWorker::finished);
        thread->generate(1, "a", {}, {});
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 5000);
    }

private Q_SLOTS:
    void init()
    {
        script = std::make_shared<FakeScript>();
        thread = std::make_unique<EngineThread>([this] { return std::make_unique<FakeEngine>(script); });
        present = {};
        Heard loaded(thread->worker(), &EngineWorker::loaded);
        thread->load(1, {.model = "x.gguf"}, {});
        QTRY_VERIFY_WITH_TIMEOUT(loaded.size() > 0, 5000);
    }

    void cleanup() { thread.reset(); }

    void anAnswerIsJudgedAndTheSuggestionAskedFor()
    {
        waitsForTheLink();
        DoctorController doctor(*thread, [this] { return present; });
        QSignalSpy changed(&doctor, &DoctorController::changed);
        QSignalSpy policy(&doctor, &DoctorController::policyRequested);
        doctor.onModelReady(script->model("x.gguf"));
        QVERIFY(doctor.sentence().isEmpty());
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(!doctor.sentence().isEmpty(), 5000);
        QCOMPARE(int(doctor.diagnosis().kind), int(Diagnosis::Kind::KvOverLink));
        QVERIFY(doctor.sentence().contains("80"));
        QVERIFY(doctor.canApply());
        QCOMPARE(doctor.tokensPerSecond().toDouble(), 10.0);
        QVERIFY(!doctor.predicted().isValid());  // this model has no file to plan with

        doctor.apply();
        QCOMPARE(policy.size(), 1);
        QCOMPARE(policy[0][0].toInt(), int(engine::KvPolicy::Auto));
        QVERIFY(!doctor.canApply());
        doctor.apply();  // once is enough
        QCOMPARE(policy.size(), 1);
    }

    /// The steps of such an answer had rows of other answers, so their times say nothing of the model.
    void anAnswerMadeBesideOthersIsNotJudged()
    {
        waitsForTheLink();
        DoctorController doctor(*thread, [this] { return present; });
        doctor.onModelReady(script->model("x.gguf"));
        script->change([](auto& settings) { settings.per_token = std::chrono::milliseconds(50); });
        const Heard rested(thread->worker(), &EngineWorker::rested);
        thread->generate(1, "a", {}, {});
        thread->generate(2, "b", {}, {});
        QTRY_COMPARE_WITH_TIMEOUT(rested.size(), size_t(1), 5000);
        QTest::qWait(100);
        QVERIFY(doctor.sentence().isEmpty());
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(!doctor.sentence().isEmpty(), 5000);
        thread->generate(3, "c", {}, {});
        thread->generate(4, "d", {}, {});
        QTRY_VERIFY_WITH_TIMEOUT(doctor.sentence().isEmpty(), 5000);  // it was of the answer before
        QTRY_COMPARE_WITH_TIMEOUT(rested.size(), size_t(3), 5000);
    }

    void threadsAreChangedAtOnce()
    {
        script->change([](auto& settings) {
            settings.shares = engine::StepShares{.steps = 10, .host_layers_s = 1};
            settings.threads = 1;
            settings.cores = 4;
        });
        DoctorController doctor(*thread, [this] { return present; });
        QSignalSpy threads(&doctor, &DoctorController::threadsRequested);
        doctor.onModelReady(script->model("x.gguf"));
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(doctor.canApply(), 5000);
        QCOMPARE(int(doctor.diagnosis().kind), int(Diagnosis::Kind::TooFewThreads));
        doctor.apply();
        QCOMPARE(threads.size(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(script->commands().size(), std::size_t(1), 5000);
        QCOMPARE(std::get<engine::SetThreads>(script->commands().front()).threads, 4);
    }

    void aGpuThatDoesNothingIsAskedFor()
    {
        readsItsWeights();
        present.unusedGpu = DoctorGpu{"cuda:0", "A fine GPU", qint64(8) << 30};
        DoctorController doctor(*thread, [this] { return present; });
        QSignalSpy device(&doctor, &DoctorController::deviceRequested);
        doctor.onModelReady(script->model("x.gguf"));
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(doctor.canApply(), 5000);
        doctor.apply();
        QVERIFY(doctor.canUndo());
        doctor.undo();
        QCOMPARE(device.size(), 2);
        QCOMPARE(device[0][0].toString(), "cuda:0");
        QCOMPARE(device[1][0].toString(), "cpu");
    }

    /// The engine counts what is copied to the device since the model was loaded. An answer is judged by its own
    /// copies.
    void whatWasCopiedInAnAnswerIsItsOwn()
    {
        const auto counted = [&](std::int64_t misses, std::int64_t copied, std::int64_t streamed = 0) {
            script->change([&](auto& settings) {
                engine::DeviceTelemetry device{.id = "emulated", .layers = 16};
                device.layers_without_experts = device.expert_layers = 16;
                device.total_bytes = device.budget_bytes = device.watermark_bytes = 1'000'000'000;
                device.expert_cache_bytes = 100'000'000;
                device.cached_experts = 4;
                device.expert_misses = misses;
                device.to_device_bytes = copied;
                device.expert_streamed_bytes = streamed;
                settings.device = device;
                settings.shares = engine::StepShares{.steps = 10, .device_layers_s = 0.2, .host_layers_s = 0.8};
            });
        };
        present.request.placement.device = engine::PlacementOptions::Device::Emulated;
        present.request.placement.emulated.link_bytes_per_s = 1e9;
        DoctorController doctor(*thread, [this] { return present; });
        doctor.onModelReady(script->model("x.gguf"));
        Heard between(thread->worker(), &EngineWorker::placementReady);
        counted(0, 5'000'000'000);  // the model's own layers
        thread->worker()->post(engine::SetThreads{2});
        QTRY_VERIFY_WITH_TIMEOUT(between.size() > 0, 5000);
        using Kind = Diagnosis::Kind;
        counted(1000, 5'800'000'000);
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(int(doctor.diagnosis().kind), int(Kind::ExpertsOverLink), 5000);
        QCOMPARE(doctor.diagnosis().linkShare, 0.8);
        counted(2000, 5'900'000'000);
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(int(doctor.diagnosis().kind), int(Kind::TooFewCopies), 5000);
        counted(3000, 6'800'000'000);
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(int(doctor.diagnosis().kind), int(Kind::ExpertsOverLink), 5000);
        counted(4000, 7'700'000'000, 800'000'000);  // most of it was experts of the prompt
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(int(doctor.diagnosis().kind), int(Kind::TooFewCopies), 5000);
    }

    /// The engine counts hits and misses since the model was loaded.
    void whatAnAnswerReadOfExpertsIsItsOwn()
    {
        const auto counted = [&](std::int64_t hits, std::int64_t misses) {
            script->change([&](auto& settings) {
                engine::DeviceTelemetry device{.id = "emulated", .layers = 16};
                device.layers_without_experts = device.expert_layers = 16;
                device.total_bytes = device.budget_bytes = device.watermark_bytes = 1'000'000'000;
                device.weight_bytes = 200'000'000;
                device.expert_cache_bytes = 100'000'000;
                device.cached_experts = 4;
                device.expert_hits = hits;
                device.expert_misses = misses;
                settings.device = device;
                settings.shares = engine::StepShares{.steps = 10, .device_layers_s = 0.2, .host_layers_s = 0.8};
            });
        };
        present.request.placement.device = engine::PlacementOptions::Device::Emulated;
        present.request.placement.expert_cache_bytes = 100'000'000;
        DoctorController doctor(*thread, [this] { return present; });
        QSignalSpy room(&doctor, &DoctorController::roomForCopiesRequested);
        doctor.onModelReady(script->model("x.gguf"));
        using Kind = Diagnosis::Kind;
        counted(5000, 100);
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(int(doctor.diagnosis().kind), int(Kind::HostExperts), 5000);
        counted(5100, 1000);  // this answer found 100 of 1000
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(int(doctor.diagnosis().kind), int(Kind::TooFewCopies), 5000);
        QCOMPARE(doctor.diagnosis().hits, 0.1);
        Heard between(thread->worker(), &EngineWorker::placementReady);
        counted(9000, 1500);  // another program was answered meanwhile
        thread->worker()->post(engine::SetThreads{2});
        QTRY_VERIFY_WITH_TIMEOUT(between.size() > 0, 5000);
        counted(9200, 2300);
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(doctor.diagnosis().hits, 0.2, 5000);
        counted(20, 580);  // another device, which counts from nothing
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(doctor.diagnosis().hits, 20.0 / 600, 5000);

        doctor.apply();
        QCOMPARE(room.size(), 1);
        QCOMPARE(room[0][0].toDouble(), 2e8);
        doctor.undo();
        QCOMPARE(room.size(), 2);
        QCOMPARE(room[1][0].toDouble(), 1e8);
    }

    void aChangeSaysWhatItBroughtAndIsUndone()
    {
        waitsForTheLink();
        DoctorController doctor(*thread, [this] { return present; });
        QSignalSpy policy(&doctor, &DoctorController::policyRequested);
        doctor.onModelReady(script->model("x.gguf"));
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(doctor.canApply(), 5000);
        QVERIFY(doctor.scope().contains("until it is loaded again"));
        QVERIFY(doctor.result().isEmpty() && !doctor.canUndo());
        doctor.apply();
        QVERIFY(!doctor.result().isEmpty() && doctor.canUndo());
        present.request.placement.kv_policy = engine::KvPolicy::Auto;
        script->change([](auto& settings) {
            settings.shares = engine::StepShares{.steps = 40, .device_layers_s = 1, .kv_link_s = 0};
        });
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(doctor.diagnosis().kind == Diagnosis::Kind::AllWell, 5000);
        QVERIFY2(doctor.result().contains("10 tokens a second before"), qPrintable(doctor.result()));
        const QString result = doctor.result();
        answer();  // the first answer after it is what it brought
        QCOMPARE(doctor.result(), result);
        doctor.undo();
        QCOMPARE(policy.size(), 2);
        QCOMPARE(policy[1][0].toInt(), int(engine::KvPolicy::Stream));  // as it was
        QVERIFY(doctor.result().isEmpty() && !doctor.canUndo());
    }

    void anAnswerThatHadBegunBeforeAChangeSaysNothingOfIt()
    {
        waitsForTheLink();
        DoctorController doctor(*thread, [this] { return present; });
        doctor.onModelReady(script->model("x.gguf"));
        doctor.onConversation("a");
        const Heard finished(thread->worker(), &EngineWorker::finished);
        const auto begin = [&](quint64 turn) {
            doctor.onTurn(turn, "a");
            thread->generate(turn, "a", {}, {});
        };
        begin(1);
        QTRY_VERIFY_WITH_TIMEOUT(doctor.canApply(), 5000);
        begin(2);
        doctor.apply();
        const QString asked = doctor.result();
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), std::size_t(2), 5000);
        QCoreApplication::processEvents();
        QCOMPARE(doctor.result(), asked);
        QVERIFY(!doctor.canApply());
        begin(3);
        QTRY_VERIFY_WITH_TIMEOUT(doctor.result() != asked, 5000);
    }

    void whatWasShrunkCanGrowBack()
    {
        waitsForTheLink();
        present.budgetBefore = 8'000;
        present.request.placement.vram_budget_bytes = 3'000;
        DoctorController doctor(*thread, [this] { return present; });
        QSignalSpy grow(&doctor, &DoctorController::growRequested), shrink(&doctor, &DoctorController::shrinkRequested);
        doctor.onModelReady(script->model("x.gguf"));
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(doctor.suggestion(), QStringLiteral("Grow back"), 5000);
        doctor.apply();
        QCOMPARE(grow.size(), 1);
        doctor.undo();
        QCOMPARE(shrink.size(), 1);
        QCOMPARE(shrink[0][0].toDouble(), 3'000.0);
    }

    void whatHasGrownBackIsNotSuggested()
    {
        waitsForTheLink();
        present.budgetBefore = 8'000;
        DoctorController doctor(*thread, [this] { return present; });
        doctor.onModelReady(script->model("x.gguf"));
        doctor.onGrown();  // nothing was suggested yet
        answer();
        QTRY_COMPARE_WITH_TIMEOUT(doctor.suggestion(), QStringLiteral("Grow back"), 5000);
        doctor.onGrown();  // by the key, say
        QVERIFY(doctor.suggestion().isEmpty() && !doctor.canApply());
        QVERIFY(!doctor.sentence().isEmpty());
    }

    void aSettingThatIsForAllModelsSaysSo()
    {
        script->change([](auto& settings) {
            settings.shares = engine::StepShares{.steps = 10, .host_layers_s = 1};
            settings.threads = 1;
            settings.cores = 4;
        });
        DoctorController doctor(*thread, [this] { return present; });
        QSignalSpy threads(&doctor, &DoctorController::threadsRequested);
        doctor.onModelReady(script->model("x.gguf"));
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(doctor.canApply(), 5000);
        QVERIFY(doctor.scope().contains("all models"));
        doctor.apply();
        doctor.undo();
        QCOMPARE(threads.size(), 2);
        QCOMPARE(threads[1][0].toInt(), present.request.threads);
    }

    void aDraftModelIsSetAndTakenBack()
    {
        readsItsWeights();
        DoctorController doctor(*thread, [this] { return present; });
        doctor.setDrafts(smallOne);
        QSignalSpy chosen(&doctor, &DoctorController::draftModelRequested);
        doctor.onModelReady(script->model("x.gguf"));
        ask(longQuestion);
        QTRY_COMPARE_WITH_TIMEOUT(doctor.suggestion(), QStringLiteral("Let “small” guess ahead"), 5000);
        QVERIFY(doctor.predicted().toDouble() > 11);
        QVERIFY(doctor.predictedAtMost().toDouble() > doctor.predicted().toDouble());
        doctor.apply();
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen[0][0].toString(), QStringLiteral("x.gguf"));
        QCOMPARE(chosen[0][1].toString(), QStringLiteral("small.gguf"));

        doctor.onModelGone();  // it is loaded again
        QVERIFY(doctor.canUndo());
        engine::ModelInfo model = script->model("x.gguf");
        model.draft_model = "small";
        doctor.onModelReady(model);
        readsItsWeights(0.5);
        ask(longQuestion);
        QTRY_VERIFY_WITH_TIMEOUT(!doctor.sentence().isEmpty(), 5000);
        QVERIFY2(doctor.result().contains("10 tokens a second before, 20 after"), qPrintable(doctor.result()));
        QVERIFY(doctor.suggestion().isEmpty());  // there is one
        doctor.undo();
        QCOMPARE(chosen.size(), 2);
        QCOMPARE(chosen[1][0].toString(), QStringLiteral("x.gguf"));
        QCOMPARE(chosen[1][1].toString(), QString());
        QVERIFY(!doctor.canUndo());
    }

    void anotherModelDoesNotTakeTheChangeAlong()
    {
        readsItsWeights();
        DoctorController doctor(*thread, [this] { return present; });
        doctor.setDrafts(smallOne);
        doctor.onModelReady(script->model("x.gguf"));
        ask(longQuestion);
        QTRY_VERIFY_WITH_TIMEOUT(doctor.canApply(), 5000);
        doctor.apply();
        doctor.onModelGone();
        doctor.onModelReady(script->model("y.gguf"));
        QVERIFY(!doctor.canUndo() && doctor.result().isEmpty());
    }

    void aDraftModelThatCostMoreIsNotSuggestedAgain()
    {
        readsItsWeights();
        DoctorController doctor(*thread, [this] { return present; });
        doctor.setDrafts(smallOne);
        doctor.onConversation("a");
        const auto judged = [&](const engine::ModelInfo& model) {
            doctor.onModelGone();
            doctor.onModelReady(model);
            doctor.onTurn(1, "a");
            ask(longQuestion);
            QTRY_VERIFY_WITH_TIMEOUT(!doctor.sentence().isEmpty(), 5000);
        };
        judged(script->model("x.gguf"));
        QVERIFY(doctor.canApply());
        doctor.apply();
        readsItsWeights(1.2);
        judged(script->model("x.gguf"));
        QVERIFY(!doctor.canApply());
        doctor.undo();
        judged(script->model("x.gguf"));
        QVERIFY(!doctor.canApply());
        judged(script->model("y.gguf"));  // of another model nothing is known
        QVERIFY(doctor.canApply());
        doctor.onConversation("b");
        doctor.onConversation("a");
        judged(script->model("x.gguf"));
        QVERIFY(doctor.canApply());
    }

    void aModelThatWouldNotGainIsNotGivenADraftModel_data()
    {
        QTest::addColumn<int>("experts");
        QTest::addColumn<int>("ownBlock");
        QTest::addColumn<QString>("draft");
        QTest::newRow("each row reads other experts") << 8 << 0 << "";
        QTest::newRow("its file guesses") << 0 << 4 << "";
        QTest::newRow("it has one") << 0 << 0 << "small";
    }
    void aModelThatWouldNotGainIsNotGivenADraftModel()
    {
        QFETCH(int, experts);
        QFETCH(int, ownBlock);
        QFETCH(QString, draft);
        readsItsWeights();
        DoctorController doctor(*thread, [this] { return present; });
        doctor.setDrafts(smallOne);
        engine::ModelInfo model = script->model("x.gguf");
        model.experts = experts;
        model.memory.mtp_numbers = ownBlock;
        model.draft_model = draft.toStdString();
        doctor.onModelReady(model);
        ask(longQuestion);
        QTRY_VERIFY_WITH_TIMEOUT(!doctor.sentence().isEmpty(), 5000);
        QVERIFY(doctor.suggestion().isEmpty());
    }

    void aVerdictIsOfTheConversationThatIsShown()
    {
        waitsForTheLink();
        DoctorController doctor(*thread, [this] { return present; });
        doctor.onModelReady(script->model("x.gguf"));
        doctor.onConversation("a");
        doctor.onTurn(1, "a");
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(!doctor.sentence().isEmpty(), 5000);
        doctor.apply();
        doctor.onConversation("a");  // it still is
        QVERIFY(!doctor.sentence().isEmpty());
        doctor.onConversation("b");
        QVERIFY(doctor.sentence().isEmpty() && doctor.result().isEmpty() && !doctor.canUndo());
        doctor.onTurn(1, "a");
        answer();
        QTest::qWait(50);
        QVERIFY(doctor.sentence().isEmpty());
    }

    void anotherModelHasNothingToSayYet()
    {
        waitsForTheLink();
        DoctorController doctor(*thread, [this] { return present; });
        doctor.onModelReady(script->model("x.gguf"));
        answer();
        QTRY_VERIFY_WITH_TIMEOUT(!doctor.sentence().isEmpty(), 5000);
        doctor.onModelGone();
        QVERIFY(doctor.sentence().isEmpty());
        answer();
        QTest::qWait(50);
        QVERIFY(doctor.sentence().isEmpty());
    }

    void anAnswerThatToldNothingIsNotJudged()
    {
        DoctorController doctor(*thread, [this] { return present; });
        doctor.onModelReady(script->model("x.gguf"));
        answer();
        QTest::qWait(50);
        QVERIFY(doctor.sentence().isEmpty());
        QVERIFY(!doctor.canApply());
    }
};

SPILLWAY_TEST(QCoreApplication, TestDoctorController)
#include "tst_doctor_controller.moc"
