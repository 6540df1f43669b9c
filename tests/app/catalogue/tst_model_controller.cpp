// Tests that a model is inspected before it is loaded, that loading can be cancelled and tried again, and that failures
// leave the open model alone.
#include "app/catalogue/model_controller.h"
#include "engine/memory_plan.h"
#include "tests/support/fake_engine.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

#include <atomic>

using namespace std::chrono_literals;
using Phase = ModelController::Phase;

class TestModelController : public QObject
{
    Q_OBJECT

private:
    std::shared_ptr<FakeScript> script;
    std::unique_ptr<EngineThread> thread;
    std::unique_ptr<ModelController> models;

    static QUrl file(const char* name) { return QUrl::fromLocalFile(QString("/models/%1").arg(name)); }

private Q_SLOTS:
    void init()
    {
        script = std::make_shared<FakeScript>();
        thread = std::make_unique<EngineThread>([this] { return std::make_unique<FakeEngine>(script); });
        models = std::make_unique<ModelController>(
            *thread, [script = script](const auto& path, const auto&) { return inspect_fake(*script, path); },
            engine::LoadRequest{.model = {}, .context_tokens = 512, .threads = 2});
    }

    void cleanup()
    {
        models.reset();
        thread.reset();
    }

    void looksBeforeItLoads()
    {
        models->open(file("a.gguf"));
        QCOMPARE(models->phase(), Phase::Inspecting);
        QTRY_COMPARE(models->phase(), Phase::Offered);
        QCOMPARE(models->offer().architecture, "llama");
        QCOMPARE(models->offer().fileName, "a.gguf");
        QCOMPARE(models->offer().parameters, 1'235'814'432.0);
        QVERIFY(script->loads().empty());

        QSignalSpy started(models.get(), &ModelController::loadStarted);
        QSignalSpy ready(models.get(), &ModelController::modelReady);
        QSignalSpy progress(models.get(), &ModelController::progressChanged);
        models->load();
        QCOMPARE(models->phase(), Phase::Inspecting);  // it may have gone meanwhile
        QVERIFY(ready.wait());
        QCOMPARE(models->phase(), Phase::Idle);
        QVERIFY(models->current().known());
        QCOMPARE(models->current().contextInUse, 512);
        QCOMPARE(started.size(), 1);
        QVERIFY(progress.size() >= 2);
        QCOMPARE(models->bytesDone(), models->bytesTotal());
        QCOMPARE(script->loads().back().threads, 2);
    }

    /// The offer does not say what the largest context would take, kept in the largest type.
    void anOfferSaysWhatAConversationTakesAsItWouldBeLoaded()
    {
        models->open(file("a.gguf"));
        QTRY_COMPARE(models->phase(), Phase::Offered);
        const auto need = [&](int tokens, engine::KvType type) {
            engine::LoadRequest request{.model = {}, .context_tokens = tokens};
            request.k_type = request.v_type = type;
            return double(engine::memory_need(script->model("/models/a.gguf"), request).kv_bytes);
        };
        QCOMPARE(models->offer().contextToLoad, 512);
        QCOMPARE(models->offer().conversationBytes(), need(512, engine::KvType::F16));
        engine::LoadRequest smaller{.model = {}, .context_tokens = 1024};
        smaller.k_type = smaller.v_type = engine::KvType::Q8_0;
        models->setDefaults(smaller);  // in the settings, before it is loaded
        QCOMPARE(models->offer().contextToLoad, 1024);
        QCOMPARE(models->offer().conversationBytes(), need(1024, engine::KvType::Q8_0));
        models->load();
        QTRY_VERIFY(models->current().known());
        QVERIFY(models->reloadWithContext(2048));
        QCOMPARE(models->offer().conversationBytes(), need(2048, engine::KvType::Q8_0));
        QTRY_VERIFY(models->current().known());

        const engine::ModelInfo model = script->model("/models/a.gguf");
        ModelFacts facts(model);
        engine::MachineMemory memory;
        memory.total_bytes = memory.available_bytes =
            engine::memory_need(model, smaller).total() + 2 * engine::kMemoryMarginBytes;
        smaller.context_tokens = 0;  // what fits
        facts.plan(model, smaller, memory);
        const int fits = engine::fit_in_memory(model, smaller, memory).largest_context;
        QVERIFY(fits > 0);
        QCOMPARE(facts.contextToLoad, std::min(fits, model.context_tokens));
        smaller.context_tokens = 1024;

        script->change([](FakeScript::Settings& settings) { settings.recurrent_layers = 8; });
        models->open(file("b.gguf"));
        QTRY_COMPARE(models->phase(), Phase::Offered);
        const engine::MemoryNeed hybrid = engine::memory_need(script->model("/models/b.gguf"), smaller);
        QVERIFY(hybrid.state_bytes > 0);
        QCOMPARE(models->offer().conversationBytes(), double(hybrid.kv_bytes + hybrid.state_bytes));
        script->change([](FakeScript::Settings& settings) { settings.runnable = false; });
        models->open(file("c.gguf"));
        QTRY_COMPARE(models->offer().name, "c");
        QCOMPARE(models->offer().conversationBytes(), 0.0);
    }

    void aFileThatHasGoneLeavesTheOpenModelOpen()
    {
        std::atomic<bool> gone = false;
        ModelController here(
            *thread,
            [&](const auto& path, const auto&) -> engine::Result<engine::ModelInfo> {
                if (gone)
                    return engine::fail(engine::Error::Code::NotFound, "b.gguf: there is no such file");
                return inspect_fake(*script, path);
            },
            engine::LoadRequest{.model = {}, .context_tokens = 512, .threads = 2});
        here.openAndLoad("/models/a.gguf");
        QTRY_VERIFY(here.current().known());
        here.open(file("b.gguf"));
        QTRY_COMPARE(here.phase(), Phase::Offered);
        gone = true;
        const QSignalSpy started(&here, &ModelController::loadStarted);
        here.load();
        QTRY_COMPARE(here.phase(), Phase::Idle);
        QVERIFY(here.error().contains("there is no such file"));
        QVERIFY(started.empty());
        QCOMPARE(here.current().name, "a");
    }

    void theFileOfTheCommandLineLoadsAtOnce()
    {
        QSignalSpy ready(models.get(), &ModelController::modelReady);
        models->openAndLoad("/models/b.gguf");
        QVERIFY(ready.wait());
        QCOMPARE(models->current().name, "b");
    }

    void aBadFileIsOneSentence()
    {
        models->open(file("broken.gguf"));
        QTRY_VERIFY(!models->error().isEmpty());
        QCOMPARE(models->error(), "The file ends inside the GGUF header.");
        QCOMPARE(models->phase(), Phase::Idle);
        models->dismissError();
        QVERIFY(models->error().isEmpty());
    }

    void onlyOneGgufFileCanBeDropped_data()
    {
        QTest::addColumn<QList<QUrl>>("files");
        QTest::newRow("a picture") << QList<QUrl>{file("cat.png")};
        QTest::newRow("two models") << QList<QUrl>{file("a.gguf"), file("b.gguf")};
        QTest::newRow("nothing") << QList<QUrl>{};
        QTest::newRow("a page") << QList<QUrl>{QUrl("https://example.org/a.gguf")};
    }

    void onlyOneGgufFileCanBeDropped()
    {
        QFETCH(QList<QUrl>, files);
        models->openDropped(files);
        QVERIFY(!models->error().isEmpty());
        QCOMPARE(models->phase(), Phase::Idle);
    }

    void aDroppedModelIsOffered()
    {
        models->openDropped({file("cat.png")});
        models->openDropped({file("A.GGUF")});
        QVERIFY(models->error().isEmpty());
        QTRY_COMPARE(models->phase(), Phase::Offered);
    }

    void whatCannotRunSaysWhy()
    {
        script->change([](auto& settings) { settings.runnable = false; });
        models->open(file("a.gguf"));
        QTRY_COMPARE(models->phase(), Phase::Offered);
        QVERIFY(!models->offer().runnable);
        QVERIFY(models->offer().obstacle.contains("mamba"));
        models->load();
        QCOMPARE(models->phase(), Phase::Offered);  // refused
        models->cancel();
        QCOMPARE(models->phase(), Phase::Idle);
    }

    void loadingCanBeCancelled()
    {
        script->change([](auto& settings) { settings.load = 60s; });
        QSignalSpy gone(models.get(), &ModelController::modelGone);
        models->openAndLoad("/models/a.gguf");
        QTRY_VERIFY(models->bytesDone() > 0);
        models->open(file("b.gguf"));  // not now
        QVERIFY(!models->error().isEmpty());
        models->cancel();
        QCOMPARE(models->phase(), Phase::Cancelling);
        QVERIFY(gone.wait(3000));
        QCOMPARE(models->phase(), Phase::Idle);
        QVERIFY(!models->current().known());
    }

    void aFailedLoadCanBeRetried()
    {
        script->change([](auto& settings) {
            settings.load_error = {engine::Error::Code::NoMemory, "the model needs 4 GB and 2 GB are free"};
        });
        models->openAndLoad("/models/a.gguf");
        QTRY_COMPARE(models->error(), "The model needs 4 GB and 2 GB are free.");
        QVERIFY(models->canRetry());
        script->change([](auto& settings) { settings.load_error.reset(); });
        models->retry();
        QVERIFY(models->error().isEmpty());
        QTRY_COMPARE(models->phase(), Phase::Offered);
        models->load();
        QTRY_VERIFY(models->current().known());
    }

    void aModelThatTheEngineClosedIsGone()
    {
        QSignalSpy gone(models.get(), &ModelController::modelGone);
        models->onModelLost();
        QCOMPARE(gone.size(), 0);  // there was none
        models->openAndLoad("/models/a.gguf");
        QTRY_VERIFY(models->current().known());
        models->onModelLost();
        QCOMPARE(gone.size(), 1);
        QVERIFY(!models->current().known() && !models->error().isEmpty());
    }

    void aModelElsewhereIsOpenedWhenItIsTriedAgain()
    {
        script->change([](auto& settings) {
            settings.load_error = {engine::Error::Code::DeviceLost, "127.0.0.1:8000 refuses the connection"};
        });
        models->openAndLoad("http://127.0.0.1:8000/#noise", "Noise");
        QTRY_COMPARE(models->error(), "127.0.0.1:8000 refuses the connection.");
        script->change([](auto& settings) { settings.load_error.reset(); });
        models->retry();
        QTRY_VERIFY(models->phase() == Phase::Offered || models->current().known());
        QCOMPARE(models->phase(), Phase::Idle);
        QCOMPARE(models->current().name, "Noise");
        QCOMPARE(models->path(), "http://127.0.0.1:8000/#noise");
    }

    void aRaisedContextIsOfThatModelAlone()
    {
        models->openAndLoad("/models/a.gguf", "A by name");
        QTRY_VERIFY(models->current().known() && models->phase() == Phase::Idle);
        models->reloadWithContext(8192);
        QTRY_VERIFY(models->current().known() && models->phase() == Phase::Idle);
        QCOMPARE(script->loads().back().context_tokens, 8192);
        QVERIFY(!models->reloadNeeded());
        models->setDefaults({.model = {}, .context_tokens = 512, .threads = 3});
        QVERIFY(models->reloadNeeded());
        models->openAndLoad("/models/b.gguf");
        QTRY_COMPARE(models->current().name, "b");
        QCOMPARE(script->loads().back().context_tokens, 512);
        QVERIFY(!models->reloadNeeded());
    }

    void raisingTheContextIsAboutTheOpenModel_data()
    {
        QTest::addColumn<QUrl>("other");
        QTest::newRow("after one that could not be opened") << file("broken.gguf");
        QTest::newRow("after one that was not wanted") << file("b.gguf");
    }
    void raisingTheContextIsAboutTheOpenModel()
    {
        QFETCH(QUrl, other);
        models->openAndLoad("/models/a.gguf", "A by name");
        QTRY_VERIFY(models->current().known() && models->phase() == Phase::Idle);
        models->open(other);
        QTRY_VERIFY(models->phase() != Phase::Inspecting);
        models->cancel();
        const QSignalSpy ready(models.get(), &ModelController::modelReady);
        models->reloadWithContext(8192);
        QCOMPARE(models->path(), "/models/a.gguf");
        QTRY_COMPARE(ready.size(), 1);
        QCOMPARE(script->loads().back().model, "/models/a.gguf");
        QCOMPARE(models->current().name, "A by name");
        QCOMPARE(models->path(), "/models/a.gguf");
    }

    void theContextIsNotRaisedWhileAnotherIsBeingOpened()
    {
        models->openAndLoad("/models/a.gguf");
        QTRY_VERIFY(models->current().known() && models->phase() == Phase::Idle);
        const auto loads = script->loads().size();
        models->open(file("b.gguf"));
        QVERIFY(!models->reloadWithContext(8192));
        QTRY_COMPARE(models->phase(), Phase::Offered);
        QVERIFY(!models->reloadWithContext(8192));
        models->cancel();
        QCOMPARE(script->loads().size(), loads);
        QVERIFY(models->reloadWithContext(8192));
        QTRY_COMPARE(script->loads().size(), loads + 1);
        QCOMPARE(script->loads().back().context_tokens, 8192);
    }

    void aCancelledInspectionSaysNothingMore()
    {
        models->open(file("broken.gguf"));
        models->cancel();
        QTest::qWait(100);
        QCOMPARE(models->phase(), Phase::Idle);
        QVERIFY(models->error().isEmpty());
    }

    void theNewestFileWins()
    {
        models->open(file("a.gguf"));
        models->open(file("b.gguf"));
        QTRY_COMPARE(models->phase(), Phase::Offered);
        QTest::qWait(50);
        QCOMPARE(models->offer().fileName, "b.gguf");
    }

    void namesFromFilesAreMadeSafe()
    {
        engine::ModelInfo info;
        info.path = "x.gguf";
        info.name = "evil\n\x1b[2J" + std::string(500, 'x');
        const ModelFacts facts(info);
        QVERIFY(!facts.name.contains('\n'));
        QVERIFY(!facts.name.contains(QChar(0x1b)));
        QVERIFY(facts.name.size() < 130);
        info.name = "llama";
        info.architecture = "llama";
        QCOMPARE(ModelFacts(info).name, "x");
    }

    void destructionWhileInspecting()
    {
        models->open(file("a.gguf"));
        models.reset();
        QTest::qWait(50);
    }
};

SPILLWAY_TEST(QCoreApplication, TestModelController)
#include "tst_model_controller.moc"
