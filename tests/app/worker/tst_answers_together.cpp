// Tests that several answers to one question, and those of several conversations, advance together without mixing their
// words, and that a conversation goes on with the answer that was kept.
#include "app/worker/engine_thread.h"
#include "tests/support/fake_engine.h"
#include "tests/support/heard.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>

using namespace std::chrono_literals;

class TestAnswersTogether : public QObject
{
    Q_OBJECT

private:
    std::shared_ptr<FakeScript> script;
    std::unique_ptr<EngineThread> thread;
    std::map<quint64, QString> texts;
    QList<quint64> order;  // of pieces of text

    void useThread(const EngineFactory& makeEngine)
    {
        thread = std::make_unique<EngineThread>(makeEngine);
        texts.clear();
        order.clear();
        connect(thread->worker(), &EngineWorker::textReady, this, [this](quint64 turn, const QString& text) {
            texts[turn] += text;
            order += turn;
        });
    }
    void load(const std::filesystem::path& model = "x.gguf")
    {
        const Heard loaded(thread->worker(), &EngineWorker::loaded);
        thread->load(1, {.model = model, .context_tokens = 1024}, {});
        QTRY_VERIFY_WITH_TIMEOUT(loaded.size() > 0, 20'000);
    }
    /// Waits until the engine has nothing to do.
    void answer(const QString& conversation, const QStringList& path, const std::vector<AskedAnswer>& asked)
    {
        const Heard rested(thread->worker(), &EngineWorker::rested);
        thread->answer(conversation, path, asked);
        QTRY_VERIFY_WITH_TIMEOUT(rested.size() > 0, 60'000);
    }
    static std::vector<AskedAnswer> three(const engine::Request& request = {})
    {
        return {{1, "one", request, {}}, {2, "two", request, {}}, {3, "three", request, {}}};
    }

private Q_SLOTS:
    void init()
    {
        script = std::make_shared<FakeScript>();
        useThread([this] { return std::make_unique<FakeEngine>(script); });
    }

    void cleanup()
    {
        thread.reset();
        QCOMPARE(script->live_engines(), 0);
    }

    void theyAdvanceTogether()
    {
        script->change([](auto& settings) {
            settings.words.assign(20, "w ");
            settings.says_turn = true;
            settings.per_token = 20ms;
            settings.prefill = 30ms;
        });
        load();
        const Heard finished(thread->worker(), &EngineWorker::finished);
        const Heard beside(thread->worker(), &EngineWorker::finishedBeside);
        const Heard frames(thread->worker(), &EngineWorker::telemetryReady);
        const Heard framesBeside(thread->worker(), &EngineWorker::telemetryBeside);
        const Heard rested(thread->worker(), &EngineWorker::rested);
        answer("a", {}, three());
        for (const quint64 turn : {1, 2, 3})
            QCOMPARE(texts[turn], (QString::number(turn) + ' ').repeated(20));
        QVERIFY(order.indexOf(3) < order.lastIndexOf(1));  // and not one after another
        QVERIFY(order.indexOf(2) < order.lastIndexOf(1));

        // Who measures the model hears of the first alone.
        QCOMPARE(finished.size(), size_t(1));
        QCOMPARE(finished.at<0>(0), quint64(1));
        QCOMPARE(beside.size(), size_t(2));
        QCOMPARE(rested.size(), size_t(1));
        QVERIFY(frames.size() > 0);
        for (size_t i = 0; i < frames.size(); ++i)
            QCOMPARE(frames.at<0>(i), quint64(1));
        QSet<quint64> measuredBeside;
        for (size_t i = 0; i < framesBeside.size(); ++i)
            measuredBeside.insert(framesBeside.at<0>(i));
        QCOMPARE(measuredBeside, (QSet<quint64>{2, 3}));

        const auto places = script->sequences();
        QCOMPARE(script->branched_from(), (std::vector{places[0], places[0]}));
        QVERIFY(places[1] != places[0] && places[2] != places[0] && places[1] != places[2]);
    }

    /// Otherwise each answer would read the prompt for itself.
    void thePromptIsReadOnce()
    {
        script->change([](auto& settings) {
            settings.words.assign(1000, "w ");
            settings.per_token = 5ms;
            settings.prefill = 60s;
        });
        load();
        std::stop_source first, others;
        std::vector<AskedAnswer> asked = three();
        asked[0].stop = first.get_token();
        asked[1].stop = asked[2].stop = others.get_token();
        const Heard prompts(thread->worker(), &EngineWorker::promptReady);
        const Heard rested(thread->worker(), &EngineWorker::rested);
        thread->answer("a", {}, asked);
        QTRY_COMPARE(prompts.size(), size_t(1));
        QTest::qWait(50);
        QCOMPARE(script->requests().size(), size_t(1));

        // The first is stopped before it has read the prompt: the others go on without it.
        script->change([](auto& settings) { settings.prefill = 0us; });
        first.request_stop();
        QTRY_COMPARE(script->requests().size(), size_t(3));
        QTRY_VERIFY(!texts[2].isEmpty() && !texts[3].isEmpty());
        QCOMPARE(texts[1], QString());
        QCOMPARE(rested.size(), size_t(0));
        others.request_stop();
        QTRY_COMPARE(rested.size(), size_t(1));
    }

    void oneFailsAndOneIsStoppedAndTheOtherGoesOn()
    {
        script->change([](auto& settings) {
            settings.words.assign(60, "w ");
            settings.per_token = 5ms;
            settings.generate_error = {engine::Error::Code::NoMemory, "there is no memory"};
            settings.tokens_before_error = 3;
            settings.turn_with_error = 2;
        });
        load();
        const Heard failed(thread->worker(), &EngineWorker::failed);
        const Heard failedBeside(thread->worker(), &EngineWorker::failedBeside);
        const Heard finished(thread->worker(), &EngineWorker::finished);
        const Heard beside(thread->worker(), &EngineWorker::finishedBeside);
        std::stop_source stop;
        std::vector<AskedAnswer> asked = three();
        asked[0].stop = stop.get_token();
        connect(thread->worker(), &EngineWorker::failedBeside, this, [&] { stop.request_stop(); });
        answer("a", {}, asked);
        QCOMPARE(failed.size(), size_t(0));
        QCOMPARE(failedBeside.size(), size_t(1));
        QCOMPARE(failedBeside.at<0>(0), quint64(2));
        QCOMPARE(texts[2].size(), 6);
        QCOMPARE(finished.size(), size_t(1));
        QCOMPARE(finished.at<1>(0).reason, engine::StopReason::Cancelled);
        QCOMPARE(beside.at<0>(0), quint64(3));
        QCOMPARE(beside.at<1>(0).reason, engine::StopReason::EndOfTurn);
        QCOMPARE(texts[3].size(), 120);
    }

    void theyAllEndWithTheProgram()
    {
        script->change([](auto& settings) {
            settings.words.assign(100'000, "w ");
            settings.per_token = 5ms;
        });
        load();
        thread->answer("a", {}, three());
        QTRY_VERIFY(texts.size() == 3);
        QElapsedTimer timer;
        timer.start();
        thread.reset();
        QVERIFY(timer.elapsed() < 20'000);
        QCOMPARE(script->stopped_turns(), 3);
    }

    void withoutAModelEachSaysSo()
    {
        const Heard failed(thread->worker(), &EngineWorker::failed);
        const Heard beside(thread->worker(), &EngineWorker::failedBeside);
        answer("a", {}, three());
        QCOMPARE(failed.size(), size_t(1));
        QCOMPARE(beside.size(), size_t(2));
    }

    void theConversationGoesOnWithTheOneThatWasKept()
    {
        load();
        answer("a", {"question"}, three());
        QCOMPARE(script->live_sequences(), 3);
        const auto made = script->sequences();
        answer("a", {"question", "two", "next"}, {{4, "four", {}, {}}});
        QCOMPARE(script->sequences().back(), made[1]);
        QCOMPARE(script->live_sequences(), 1);
        answer("a", {"question", "two", "next", "four", "more"}, {{5, "five", {}, {}}});
        QCOMPARE(script->sequences().back(), made[1]);

        // The conversation goes on with the first answer, or with none of them.
        answer("a", {"question"}, three());
        answer("a", {"question", "one", "next"}, {{6, "six", {}, {}}});
        QCOMPARE(script->sequences().back(), made[1]);
        answer("a", {"question"}, three());
        answer("a", {"another"}, {{7, "seven", {}, {}}});
        QCOMPARE(script->sequences().back(), made[1]);
        QCOMPARE(script->live_sequences(), 1);
    }

    void whatWasMadeBesideGoesWithAnotherTurn()
    {
        load();
        answer("a", {}, three());
        answer("b", {}, {{4, "four", {}, {}}});
        QCOMPARE(script->live_sequences(), 2);
        answer("a", {}, three());
        thread->endConversation("a");
        QTRY_COMPARE(script->live_sequences(), 1);
        answer("a", {}, three());
        load();
        answer("a", {"two"}, {{5, "five", {}, {}}});  // the load has ended what was kept of it
        QCOMPARE(script->live_sequences(), 1);
    }

    void conversationsAreAnsweredTogether()
    {
        script->change([](auto& settings) {
            settings.words.assign(20, "w ");
            settings.says_turn = true;
            settings.per_token = 20ms;
        });
        load();
        const Heard finished(thread->worker(), &EngineWorker::finished);
        const Heard frames(thread->worker(), &EngineWorker::telemetryReady);
        const Heard rested(thread->worker(), &EngineWorker::rested);
        thread->answer("a", {}, {{1, "one", {}, {}}});
        QTRY_VERIFY(frames.size() > 2);
        QVERIFY(frames.at<2>(0));  // nobody else was there
        thread->answer("b", {}, {{2, "two", {}, {}}});
        thread->answer("c", {}, {{3, "three", {}, {}}, {4, "four", {}, {}}});
        QTRY_COMPARE_WITH_TIMEOUT(rested.size(), size_t(1), 20'000);
        for (const quint64 turn : {1, 2, 3, 4})
            QCOMPARE(texts[turn], (QString::number(turn) + ' ').repeated(20));
        QVERIFY(order.indexOf(3) < order.lastIndexOf(1));
        QVERIFY(order.indexOf(2) < order.lastIndexOf(1));
        QCOMPARE(finished.size(), size_t(3));
        for (size_t i = 0; i < finished.size(); ++i)
            QVERIFY(!finished.at<2>(i));  // who measures leaves them out
        QVERIFY(!frames.calls.empty() && !std::get<2>(frames.calls.back()));

        answer("a", {}, {{5, "five", {}, {}}});
        QVERIFY(finished.at<2>(3));
    }

    void aConversationThatIsAnsweredIsClosedAfterwards()
    {
        script->change([](auto& settings) {
            settings.words.assign(100'000, "w ");
            settings.per_token = 5ms;
        });
        load();
        std::stop_source first, second;
        thread->answer("a", {}, {{1, "one", {}, first.get_token()}});
        thread->answer("b", {}, {{2, "two", {}, second.get_token()}});
        QTRY_VERIFY(texts.size() == 2);
        const Heard finished(thread->worker(), &EngineWorker::finished);
        first.request_stop();
        thread->endConversation("a");
        QTRY_COMPARE(finished.size(), size_t(1));
        QCOMPARE(finished.at<0>(0), quint64(1));
        QTRY_COMPARE(script->live_sequences(), 1);
        const qsizetype length = texts[2].size();
        QTRY_VERIFY(texts[2].size() > length);

        // What is asked meanwhile does not wait for the answers' end, but for a step.
        const Heard counted(thread->worker(), &EngineWorker::tokensCounted);
        thread->countTokens(1, "one two");
        QTRY_COMPARE(counted.size(), size_t(1));
        QCOMPARE(finished.size(), size_t(1));
        thread->worker()->post(engine::SetThreads{3});
        QTRY_COMPARE(script->commands().size(), size_t(1));

        // A load waits for their end.
        const Heard loaded(thread->worker(), &EngineWorker::loaded);
        thread->load(2, {.model = "x.gguf"}, {});
        QTest::qWait(50);
        QCOMPARE(loaded.size(), size_t(0));
        second.request_stop();
        QTRY_COMPARE(loaded.size(), size_t(1));
        QCOMPARE(finished.size(), size_t(2));
    }

    void nobodysPlaceGoesWhileItIsUsed()
    {
        script->change([](auto& settings) {
            settings.words.assign(100'000, "w ");
            settings.per_token = 5ms;
        });
        load();
        std::stop_source stop;
        thread->answer("first", {}, {{1, "one", {}, stop.get_token()}});
        QTRY_VERIFY(!texts[1].isEmpty());
        script->change([](auto& settings) { settings.words = {"w"}; });
        const Heard finished(thread->worker(), &EngineWorker::finished);
        for (int i = 0; i < 2 * kMostAnswersAtOnce; ++i) {
            thread->generate(quint64(10 + i), QString::number(i), {}, {});
            QTRY_COMPARE(finished.size(), size_t(i + 1));
        }
        QCOMPARE(script->live_sequences(), kMostAnswersAtOnce);
        const qsizetype length = texts[1].size();
        QTRY_VERIFY(texts[1].size() > length);
        stop.request_stop();
        QTRY_COMPARE(finished.size(), size_t(2 * kMostAnswersAtOnce + 1));
    }

    /// With the real engine.
    void conversationsSayTogetherWhatEachSaysAlone()
    {
        useThread([] { return engine::make_engine(); });
        load(SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf");
        const auto ask = [](const char* question) {
            engine::Request request;
            request.messages = {{"user", question}};
            request.max_tokens = 24;
            request.sampling.temperature = 0;
            return request;
        };
        const engine::Request first = ask("What is a KV cache?"), second = ask("What does the layer slider do?");
        const Heard rested(thread->worker(), &EngineWorker::rested);
        thread->answer("a", {}, {{1, "one", first, {}}});
        thread->answer("b", {}, {{2, "two", second, {}}});
        QTRY_COMPARE_WITH_TIMEOUT(rested.size(), size_t(1), 60'000);
        answer("c", {}, {{3, "three", first, {}}});
        answer("d", {}, {{4, "four", second, {}}});
        QVERIFY(texts[1].size() > 20 && texts[2].size() > 20 && texts[1] != texts[2]);
        QCOMPARE(texts[1], texts[3]);
        QCOMPARE(texts[2], texts[4]);
    }

    /// With the real engine: however many are made at a time, each is what it would have been alone.
    void eachIsWhatItWouldHaveBeenAlone()
    {
        useThread([] { return engine::make_engine(); });
        load(SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf");
        engine::Request greedy;
        greedy.messages = {{"user", "What is a KV cache?"}};
        greedy.max_tokens = 24;
        greedy.sampling.temperature = 0;
        engine::Request sampled = greedy;
        sampled.sampling = {.temperature = 2, .top_k = 0, .top_p = 1, .min_p = 0, .seed = 7};
        answer("a", {}, {{1, "one", greedy, {}}, {2, "two", greedy, {}}, {3, "three", sampled, {}}});
        QVERIFY(texts[1].size() > 20);
        QCOMPARE(texts[1], texts[2]);
        QVERIFY(texts[3] != texts[1]);
        answer("b", {}, {{4, "four", greedy, {}}});
        answer("c", {}, {{5, "five", sampled, {}}});
        QCOMPARE(texts[4], texts[1]);
        QCOMPARE(texts[5], texts[3]);

        // What was made of the kept one is not computed again.
        answer("d", {}, {{6, "six", greedy, {}}, {7, "seven", sampled, {}}});
        const Heard finished(thread->worker(), &EngineWorker::finished);
        engine::Request next = greedy;
        next.messages.push_back({"assistant", texts[7].toStdString()});
        next.messages.push_back({"user", "And why?"});
        next.max_tokens = 4;
        answer("d", {"seven"}, {{8, "eight", next, {}}});
        const engine::Telemetry& last = finished.at<1>(0).telemetry;
        QVERIFY2(last.reused_tokens > last.prompt_tokens - 24, qPrintable(QString::number(last.reused_tokens)));
    }
};

SPILLWAY_TEST(QCoreApplication, TestAnswersTogether)
#include "tst_answers_together.moc"
