// Tests that the engine's thread tells things in their order and at a bounded pace, and that it always ends.
#include "app/worker/engine_thread.h"
#include "tests/support/fake_engine.h"
#include "tests/support/heard.h"
#include "tests/support/test_program.h"

#include <QTest>
#include <future>

using namespace std::chrono_literals;

class TestEngineWorker : public QObject
{
    Q_OBJECT

private:
    std::shared_ptr<FakeScript> script;
    std::unique_ptr<EngineThread> thread;

    void load()
    {
        Heard loaded(thread->worker(), &EngineWorker::loaded);
        thread->load(1, {.model = "x.gguf"}, {});
        QTRY_VERIFY_WITH_TIMEOUT(loaded.size() > 0, 5000);
    }

private Q_SLOTS:
    void init()
    {
        script = std::make_shared<FakeScript>();
        thread = std::make_unique<EngineThread>([this] { return std::make_unique<FakeEngine>(script); });
    }

    void cleanup()
    {
        thread.reset();
        QCOMPARE(script->live_engines(), 0);
    }

    void theEndIsNotWaitedForWithoutLimit()
    {
        /// As if a step took for ever, or a driver did not answer.
        class StuckEngine : public FakeEngine
        {
        public:
            StuckEngine(std::shared_ptr<FakeScript> script, std::promise<void>& begun, std::shared_future<void> freed)
                : FakeEngine(std::move(script))
                , m_begun(begun)
                , m_freed(std::move(freed))
            {
            }
            engine::Result<engine::PromptLedger> count_prompt(const engine::Request&, std::stop_token) const override
            {
                m_begun.set_value();
                m_freed.wait();
                return {};
            }

        private:
            std::promise<void>& m_begun;
            std::shared_future<void> m_freed;
        };

        std::promise<void> begun, freed;
        int givenUp = 0;
        {
            EngineThread stuck([&] { return std::make_unique<StuckEngine>(script, begun, freed.get_future().share()); },
                               {.patience = 50ms, .giveUp = [&] { ++givenUp; }});
            stuck.countPrompt(1, {});
            begun.get_future().wait();
        }
        QCOMPARE(givenUp, 1);
        freed.set_value();
        QTRY_COMPARE_WITH_TIMEOUT(script->live_engines(), 1, 20'000);  // it went by itself; the other test's is left

        QVERIFY(EngineEnd{}.patience <= 4s);  // the program is to be gone five seconds after its window
        thread = std::make_unique<EngineThread>([this] { return std::make_unique<FakeEngine>(script); },
                                                EngineEnd{.patience = 20s, .giveUp = [&] { ++givenUp; }});
        load();
        thread.reset();
        QCOMPARE(givenUp, 1);
    }

    void placementIsToldAfterTheLoadAndAfterACommand()
    {
        script->change([](auto& settings) { settings.device = {.id = "emulated", .layers = 16}; });
        Heard placed(thread->worker(), &EngineWorker::placementReady);
        load();
        QTRY_COMPARE_WITH_TIMEOUT(placed.size(), size_t(1), 5000);
        QCOMPARE(placed.at<0>(0).device->layers, 16);
        thread->worker()->post(engine::SetDeviceLayers{7});
        QTRY_COMPARE_WITH_TIMEOUT(placed.size(), size_t(2), 5000);
        QCOMPARE(placed.at<0>(1).device->layers, 7);
        QCOMPARE(script->commands().size(), std::size_t(1));
    }

    void aTurnArrivesInOrderOnThisThread()
    {
        load();
        QStringList heard;
        QString text;
        bool here = true;
        EngineWorker* const worker = thread->worker();
        connect(worker, &EngineWorker::promptReady, this, [&] { heard += "prompt"; });
        connect(worker, &EngineWorker::textReady, this, [&](quint64 turn, const QString& piece) {
            QCOMPARE(turn, quint64(7));
            here = here && QThread::currentThread() == QCoreApplication::instance()->thread();
            if (heard.last() != "text")
                heard += "text";
            text += piece;
        });
        connect(worker, &EngineWorker::finished, this, [&] { heard += "finished"; });
        Heard finished(worker, &EngineWorker::finished);
        thread->generate(7, "a", {}, {});
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 5000);
        QCOMPARE(heard, (QStringList{"prompt", "text", "finished"}));
        QCOMPARE(text, "one two three");
        QVERIFY(here);
    }

    void textIsFlushedAboutThirtyTimesASecond()
    {
        script->change([](auto& settings) {
            settings.words.assign(200, "word ");
            settings.per_token = 5ms;  // 200 tokens a second
        });
        load();
        Heard pieces(thread->worker(), &EngineWorker::textReady);
        Heard frames(thread->worker(), &EngineWorker::telemetryReady);
        Heard finished(thread->worker(), &EngineWorker::finished);
        thread->generate(1, "a", {}, {});
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 10000);
        QString text;
        for (const auto& [turn, piece] : pieces.calls)
            text += piece;
        QCOMPARE(text, QStringLiteral("word ").repeated(200));
        // One second and 33 ms between two flushes: 31 of them and the last. A busy machine makes fewer.
        QVERIFY2(pieces.size() >= 5 && pieces.size() <= 36, qPrintable(QString::number(pieces.size())));
        QVERIFY2(frames.size() >= 4 && frames.size() <= 30, qPrintable(QString::number(frames.size())));
    }

    /// However short the answer: who measures it has to see where it begins.
    void thePhasesOfAShortAnswerAreSeen()
    {
        script->change([](auto& settings) { settings.words = {"one ", "two"}; });
        load();
        Heard frames(thread->worker(), &EngineWorker::telemetryReady);
        Heard finished(thread->worker(), &EngineWorker::finished);
        thread->generate(1, "a", {}, {});
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 5000);
        QVERIFY(frames.size() >= 2);
        QCOMPARE(int(frames.at<1>(0).phase), int(engine::Phase::Prefill));
        QCOMPARE(int(frames.at<1>(1).phase), int(engine::Phase::Decode));
    }

    void slowTextIsNotHeldBack()
    {
        script->change([](auto& settings) {
            settings.words = {"first ", "second"};
            settings.per_token = 400ms;
        });
        load();
        Heard pieces(thread->worker(), &EngineWorker::textReady);
        Heard finished(thread->worker(), &EngineWorker::finished);
        thread->generate(1, "a", {}, {});
        QTRY_VERIFY_WITH_TIMEOUT(pieces.size() > 0, 5000);
        QCOMPARE(pieces.at<1>(0), "first ");
        QCOMPARE(finished.size(), size_t(0));
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 5000);
    }

    void stopEndsTheTurnWithinAToken()
    {
        script->change([](auto& settings) {
            settings.words.assign(1000, "word ");
            settings.per_token = 10ms;
        });
        load();
        Heard pieces(thread->worker(), &EngineWorker::textReady);
        Heard finished(thread->worker(), &EngineWorker::finished);
        std::stop_source stop;
        thread->generate(1, "a", {}, stop.get_token());
        QTRY_VERIFY_WITH_TIMEOUT(pieces.size() > 0, 5000);
        QElapsedTimer timer;
        timer.start();
        stop.request_stop();
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 5000);
        QVERIFY(timer.elapsed() < 4000);  // the whole answer would take ten seconds
        QCOMPARE(finished.at<1>(0).reason, engine::StopReason::Cancelled);
        QCOMPARE(script->stopped_turns(), 1);
    }

    void aStopBeforeTheStartIsSeen()
    {
        script->change([](auto& settings) { settings.per_token = 10s; });
        load();
        std::stop_source stop;
        stop.request_stop();
        Heard finished(thread->worker(), &EngineWorker::finished);
        thread->generate(1, "a", {}, stop.get_token());
        QTRY_VERIFY_WITH_TIMEOUT(finished.size() > 0, 2000);
        QCOMPARE(finished.at<1>(0).reason, engine::StopReason::Cancelled);
    }

    void failuresCarryTheirSentence()
    {
        script->change([](auto& settings) {
            settings.generate_error = {engine::Error::Code::CannotRead, "the file went away"};
            settings.tokens_before_error = 1;
        });
        load();
        Heard pieces(thread->worker(), &EngineWorker::textReady);
        Heard failed(thread->worker(), &EngineWorker::failed);
        thread->generate(3, "a", {}, {});
        QTRY_VERIFY_WITH_TIMEOUT(failed.size() > 0, 5000);
        QCOMPARE(failed.at<0>(0), quint64(3));
        QCOMPARE(failed.at<1>(0).what.c_str(), "the file went away");
        QCOMPARE(pieces.size(), size_t(1));  // what there was comes first
    }

    void generatingWithoutAModelFails()
    {
        Heard failed(thread->worker(), &EngineWorker::failed);
        thread->generate(1, "a", {}, {});
        QTRY_VERIFY_WITH_TIMEOUT(failed.size() > 0, 5000);
        QCOMPARE(int(failed.at<1>(0).code), int(engine::Error::Code::NotLoaded));
    }

    void everyConversationHasItsPlace()
    {
        load();
        Heard finished(thread->worker(), &EngineWorker::finished);
        quint64 turn = 0;
        const auto ask = [&](const char* conversation) {
            thread->generate(++turn, conversation, {}, {});
            QTRY_COMPARE_WITH_TIMEOUT(finished.size(), size_t(turn), 5000);
        };
        for (const char* conversation : {"a", "b", "a", "c", "d", "e", "f", "g", "h"})
            ask(conversation);
        auto places = script->sequences();
        QCOMPARE(places[0], places[2]);
        QVERIFY(places[0] != places[1]);
        QCOMPARE(script->live_sequences(), kMostAnswersAtOnce);

        ask("i");  // "b" waited longest and gives up its place
        QCOMPARE(script->live_sequences(), kMostAnswersAtOnce);
        ask("a");
        ask("b");
        places = script->sequences();
        QCOMPARE(places[10], places[0]);
        QVERIFY(places[11] != places[1]);

        thread->endConversation("b");
        thread->endConversation("nobody");
        QTRY_COMPARE(script->live_sequences(), kMostAnswersAtOnce - 1);
        load();  // ends all of them
        ask("a");
        QVERIFY(script->sequences().back() != places[0]);
        QCOMPARE(script->live_sequences(), 1);
    }

    void whatMovesIsOfAConversation()
    {
        load();
        Heard finished(thread->worker(), &EngineWorker::finished);
        Heard events(thread->worker(), &EngineWorker::eventHappened);
        thread->generate(1, "a", {}, {});
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), size_t(1), 5000);
        engine::Event event{.kind = engine::Event::Kind::Offload, .tokens = {0, 16}, .sentence = {}};
        event.sequences = {script->sequences().front()};
        script->change([&](auto& settings) { settings.event = event; });
        thread->generate(2, "b", {}, {});
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), size_t(2), 5000);
        QCOMPARE(events.size(), size_t(1));
        QCOMPARE(events.at<0>(0).tokens.count(), 16);
        QCOMPARE(events.at<1>(0), quint64(2));  // in whose turn it was
        QCOMPARE(events.at<2>(0), QStringList("a"));
    }

    void aBranchBeginsWithWhatTheOtherHas()
    {
        load();
        Heard finished(thread->worker(), &EngineWorker::finished);
        thread->generate(1, "a", {}, {});
        thread->branchConversation("a", "b");
        thread->branchConversation("nobody", "c");
        thread->generate(2, "b", {}, {});
        QTRY_COMPARE_WITH_TIMEOUT(finished.size(), size_t(2), 5000);
        const auto places = script->sequences();
        QCOMPARE(script->branched_from(), std::vector{places[0]});
        QVERIFY(places[1] != places[0]);
        QCOMPARE(script->live_sequences(), 2);  // what was asked in "b" did not make a second one for it
    }

    void tokensAreCounted()
    {
        Heard texts(thread->worker(), &EngineWorker::tokensCounted);
        Heard prompts(thread->worker(), &EngineWorker::promptCounted);
        engine::Request request;
        request.messages = {{"system", "be short"}, {"user", "one two three"}};
        thread->countTokens(1, "one two");
        thread->countPrompt(2, request);
        QTRY_COMPARE_WITH_TIMEOUT(prompts.size(), size_t(1), 5000);
        QVERIFY(!texts.at<1>(0) && !prompts.at<1>(0));  // unknown without a model, not zero
        load();
        thread->countTokens(3, "one two");
        thread->countPrompt(4, request);
        QTRY_COMPARE_WITH_TIMEOUT(prompts.size(), size_t(2), 5000);
        QCOMPARE(texts.at<0>(1), quint64(3));
        QCOMPARE(texts.at<1>(1).value_or(0), 2);
        QCOMPARE(prompts.at<1>(1)->total_tokens, 2 + 3 + 2 * 4);
        QCOMPARE(prompts.at<1>(1)->messages.size(), size_t(2));
    }

    void whatIsNoLongerWantedIsNotCounted()
    {
        Heard texts(thread->worker(), &EngineWorker::tokensCounted);
        load();
        std::stop_source stop;
        stop.request_stop();
        thread->countTokens(1, "one two", stop.get_token());
        thread->countTokens(2, "one", std::stop_source().get_token());
        QTRY_COMPARE_WITH_TIMEOUT(texts.size(), size_t(2), 5000);
        QVERIFY(!texts.at<1>(0));
        QCOMPARE(texts.at<1>(1).value_or(0), 1);
    }

    void aLongCountIsStopped()
    {
        script->change([](auto& settings) { settings.count = 60s; });
        load();
        Heard prompts(thread->worker(), &EngineWorker::promptCounted);
        const auto begunCounts = [&] { return script->counted_prompts(); };
        std::stop_source stop;
        thread->countPrompt(1, {}, stop.get_token());
        QTRY_COMPARE_WITH_TIMEOUT(begunCounts(), 1, 20'000);
        stop.request_stop();
        QTRY_COMPARE_WITH_TIMEOUT(prompts.size(), size_t(1), 20'000);
        QVERIFY(!prompts.at<1>(0));

        thread->countPrompt(2, {});
        QTRY_COMPARE_WITH_TIMEOUT(begunCounts(), 2, 20'000);
        thread.reset();  // the program goes
        QCOMPARE(script->live_engines(), 0);
    }

    void anotherModelDoesNotWaitForACount()
    {
        script->change([](auto& settings) { settings.count = 60s; });
        load();
        Heard prompts(thread->worker(), &EngineWorker::promptCounted);
        thread->countPrompt(1, {});
        QTRY_COMPARE_WITH_TIMEOUT(script->counted_prompts(), 1, 20'000);
        load();
        QCOMPARE(prompts.size(), size_t(1));
        QVERIFY(!prompts.at<1>(0));
    }

    void aLoadCanBeCancelled()
    {
        script->change([](auto& settings) { settings.load = 60s; });
        Heard advanced(thread->worker(), &EngineWorker::loadAdvanced);
        Heard failed(thread->worker(), &EngineWorker::loadFailed);
        std::stop_source stop;
        thread->load(4, {.model = "x.gguf"}, stop.get_token());
        QTRY_VERIFY_WITH_TIMEOUT(advanced.size() > 0, 5000);
        stop.request_stop();
        QTRY_VERIFY_WITH_TIMEOUT(failed.size() > 0, 2000);
        QCOMPARE(int(failed.at<1>(0).code), int(engine::Error::Code::Cancelled));
    }

    void commandsAreAnsweredWhenIdle()
    {
        Heard events(thread->worker(), &EngineWorker::eventHappened);
        const quint64 id = thread->worker()->post(engine::SetThreads{2});
        QTRY_VERIFY_WITH_TIMEOUT(events.size() > 0, 5000);
        QCOMPARE(quint64(events.at<0>(0).command), id);
    }

    void destructionWhileBusyIsClean_data()
    {
        QTest::addColumn<bool>("loading");
        QTest::newRow("while it loads") << true;
        QTest::newRow("while it answers") << false;
    }

    void destructionWhileBusyIsClean()
    {
        QFETCH(bool, loading);
        script->change([](auto& settings) {
            settings.words.assign(100'000, "word ");
            settings.per_token = 10ms;
        });
        if (loading) {
            script->change([](auto& settings) { settings.load = 50s; });
            Heard advanced(thread->worker(), &EngineWorker::loadAdvanced);
            thread->load(1, {.model = "x.gguf"}, {});
            QTRY_VERIFY_WITH_TIMEOUT(advanced.size() > 0, 30000);
        } else {
            load();
            Heard pieces(thread->worker(), &EngineWorker::textReady);
            thread->generate(1, "a", {}, {});
            thread->generate(2, "a", {}, {});  // and one that waits
            QTRY_VERIFY_WITH_TIMEOUT(pieces.size() > 0, 5000);
        }
        QElapsedTimer timer;
        timer.start();
        thread.reset();
        QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(script->live_engines(), 0);
    }
};

SPILLWAY_TEST(QCoreApplication, TestEngineWorker)
#include "tst_engine_worker.moc"
