// Tests that the real engine counts what is in its context, and says so when it is nearly full or full.
#include "tests/engine/run/loaded_engine.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QTemporaryDir>
#include <algorithm>

using namespace engine;
using namespace test_support;

class TestEngineContext : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theLedgerCountsEveryToken()
    {
        Loaded loaded;
        const auto turn = loaded.generate(
            chat({{"system", "be short"}, {"user", "one two three"}, {"assistant", "four"}, {"user", "five"}}));
        QVERIFY(turn);
        QCOMPARE(turn->ledger.messages.size(), std::size_t(4));
        int sum = turn->ledger.template_tokens;
        int last = 0;
        for (const auto& entry : turn->ledger.messages) {
            QVERIFY(entry.tokens.count() > 0);
            QVERIFY(entry.tokens.first >= last);
            last = entry.tokens.last;
            sum += entry.tokens.count();
        }
        QCOMPARE(sum, turn->ledger.total_tokens);
        QCOMPARE(turn->ledger.total_tokens, turn->prompt.count());
    }

    void aPromptIsCountedWithoutComputingIt()
    {
        Loaded loaded(64);
        const auto request = chat({{"system", "be short"}, {"user", "one two three"}});
        const auto counted = loaded.engine->count_prompt(request, {});
        QVERIFY2(counted, counted ? "" : counted.error().what.c_str());
        const auto turn = loaded.generate(request);
        QVERIFY(turn);
        QCOMPARE(counted->total_tokens, turn->ledger.total_tokens);
        QCOMPARE(counted->template_tokens, turn->ledger.template_tokens);
        QCOMPARE(counted->messages.size(), turn->ledger.messages.size());
        for (std::size_t i = 0; i < counted->messages.size(); ++i)
            QCOMPARE(counted->messages[i].tokens.count(), turn->ledger.messages[i].tokens.count());
        QCOMPARE(turn->telemetry.reused_tokens, 0);  // counting left nothing in the cache

        // What does not fit is counted as well, whatever the request would do about it.
        auto large = chat({{"user", "again"}, {"assistant", "again"}, {"user", "again"}});
        for (int i = 0; i < 100; ++i)
            large.messages.front().text += " again";
        large.full_context = FullContext::DropOldest;
        const auto whole = loaded.engine->count_prompt(large, {});
        QVERIFY(whole);
        QVERIFY(whole->total_tokens > 100);
        QVERIFY(whole->dropped_messages.empty());
        QVERIFY(loaded.engine->count_prompt({}, {})->total_tokens <=
                1);  // nothing is asked yet: what every text begins with

        loaded.engine->unload();
        QCOMPARE(loaded.engine->count_prompt(request, {}).error().code, Error::Code::NotLoaded);
    }

    /// Random bytes are no text that would be read as the tokens they were: what is counted is what generate() takes.
    void anAnswerCountsAsItWasMade()
    {
        Loaded loaded(0, 16, own_models_folder().toStdString() + "/type-Q4_0.gguf");
        auto request = chat({{"user", "one two three"}}, 60);
        request.sampling.temperature = 1;
        request.sampling.seed = 7;
        request.saved_as = "talk";
        const auto first = loaded.generate(request);
        QVERIFY(first);
        request.messages.push_back({"assistant", first->text});
        request.messages.push_back({"user", "four"});
        const auto counted = loaded.engine->count_prompt(request, {});
        auto by_text = request;
        by_text.saved_as.clear();
        QVERIFY(loaded.engine->count_prompt(by_text, {})->total_tokens > counted->total_tokens);
        const auto second = loaded.generate(request);
        QVERIFY(second);
        QCOMPARE(counted->total_tokens, second->ledger.total_tokens);
    }

    /// What a message takes and what the rest of the prompt takes are the prompt.
    void aMessageIsCountedAsItStandsInThePrompt()
    {
        Loaded loaded(0, 16, own_models_folder().toStdString() + "/type-Q4_0.gguf");
        const int without = loaded.engine->count_prompt(chat({{"user", ""}}), {})->total_tokens;
        const int whole = loaded.engine->count_prompt(chat({{"user", "one two three"}}), {})->total_tokens;
        QCOMPARE(without + *loaded.engine->count_tokens("one two three", {}), whole);
    }

    void countingCanBeStopped()
    {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("hostile.gguf").toStdString();
        support::ChainModel({})
            .chat_template("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}")
            .save(file);
        Loaded loaded(128, 16, file);
        const auto request = chat({{"user", "a"}});
        const auto long_count = loaded.engine->count_prompt(request, {});
        QVERIFY(!long_count);
        QCOMPARE(long_count.error().code, Error::Code::Template);  // too many steps: it ends, but late

        std::stop_source stop;
        stop.request_stop();
        const auto prompt = loaded.engine->count_prompt(request, stop.get_token());
        QVERIFY(!prompt);
        QCOMPARE(prompt.error().code, Error::Code::Cancelled);
        const auto text = loaded.engine->count_tokens(std::string(1'000'000, 'a'), stop.get_token());
        QVERIFY(!text);
        QCOMPARE(text.error().code, Error::Code::Cancelled);
    }

    void aNearlyFullContextIsSaidOnceATurn()
    {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("endless.gguf").toStdString();
        using support::ChainModel;
        ChainModel({}).says({ChainModel::kGo, "a", "a"}).save(file);
        Loaded loaded(128, 16, file);
        int said = 0;
        int tokens_then = 0;
        int tokens = 0;
        Listener listener;
        listener.on_telemetry = [&](const Telemetry& frame) { tokens = frame.context_tokens; };
        listener.on_event = [&](const Event& event) {
            if (event.kind != Event::Kind::ContextNearlyFull)
                return;
            ++said;
            tokens_then = tokens;
            QVERIFY(!event.sentence.empty());
        };
        auto request = chat({{"user", "go on"}}, 40);
        auto turn = loaded.generate(request, listener);
        QVERIFY(turn);
        QVERIFY(turn->telemetry.context_tokens < 115);
        QCOMPARE(said, 0);

        request.max_tokens = -1;
        turn = loaded.generate(request, listener);
        QVERIFY(turn);
        QCOMPARE(turn->reason, StopReason::ContextFull);
        QCOMPARE(said, 1);
        QVERIFY(tokens_then < 128);

        // Already in the prompt: said before the first word of the answer.
        std::string text = "go on";
        while (loaded.engine->count_prompt(chat({{"user", text}}), {})->total_tokens < 118)
            text += " x";
        bool before_text = false;
        listener.on_text = [&](std::string_view) { before_text = before_text || said == 1; };
        said = 0;
        QVERIFY(loaded.generate(chat({{"user", text}}, 4), listener));
        QCOMPARE(said, 1);
        QVERIFY(before_text);
    }

    void aFullContextIsNeverASilentCut()
    {
        Loaded loaded(64);
        std::string long_text;
        for (int i = 0; i < 100; ++i)
            long_text += "again ";
        const auto refused = loaded.generate(chat({{"user", long_text}}));
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::ContextFull);

        const auto ended = loaded.generate(chat({{"user", "go on"}}, -1));
        QVERIFY2(ended, ended ? "" : ended.error().what.c_str());
        if (ended->reason != StopReason::EndOfTurn) {
            QCOMPARE(ended->reason, StopReason::ContextFull);
            QVERIFY(ended->answer.last <= 65);  // the last one said need not be kept
            QVERIFY(ended->telemetry.context_tokens <= 64);
        }
    }

    void theOldestTurnsAreDroppedOnRequestAndReported()
    {
        Loaded loaded(128);
        std::vector<Message> messages = {{"system", "be short"}};
        for (int i = 0; i < 8; ++i) {
            messages.push_back({"user", "question number one two three"});
            messages.push_back({"assistant", "some answer to that"});
        }
        messages.push_back({"user", "the last one"});
        auto request = chat(messages, 8);
        QCOMPARE(loaded.generate(request).error().code, Error::Code::ContextFull);

        request.full_context = FullContext::DropOldest;
        std::vector<Event> events;
        Listener listener;
        listener.on_event = [&](const Event& event) { events.push_back(event); };
        const auto turn = loaded.generate(request, listener);
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        const auto& dropped = turn->ledger.dropped_messages;
        QVERIFY(!dropped.empty());
        QCOMPARE(dropped.front(), 1);  // the system message stays
        QVERIFY(dropped.back() < int(messages.size()) - 1);
        QCOMPARE(turn->ledger.messages.size() + dropped.size(), messages.size());
        QCOMPARE(std::count_if(events.begin(), events.end(),
                               [](const Event& event) { return event.kind == Event::Kind::TurnsDropped; }),
                 1);
    }

    /// No more are dropped than must be, and it takes about as long as reading all of it once.
    void manyTurnsAreDroppedAtOnce()
    {
        Loaded loaded(128);
        std::vector<Message> messages = {{"system", "be short"}};
        for (int i = 0; i < 1000; ++i) {
            messages.push_back({"user", "question number " + std::to_string(i % 7)});
            messages.push_back({"assistant", i % 3 ? "some answer to that" : "no"});
        }
        messages.push_back({"user", "the last one"});
        auto request = chat(messages, 8);
        QElapsedTimer timer;
        timer.start();
        QVERIFY(loaded.engine->count_prompt(request, {}));
        const qint64 once = timer.nsecsElapsed();
        request.full_context = FullContext::DropOldest;
        timer.start();
        const auto turn = loaded.generate(request);
        QVERIFY2(timer.nsecsElapsed() < 20 * once + 500'000'000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        QVERIFY(turn->prompt.count() + request.max_tokens <= 128);
        // With one turn more there would be no room.
        const auto first = messages.begin() + 1;
        messages.erase(first, first + std::ptrdiff_t(turn->ledger.dropped_messages.size()) - 2);
        QVERIFY(loaded.engine->count_prompt(chat(messages), {})->total_tokens + request.max_tokens > 128);
    }
};

SPILLWAY_TEST(QCoreApplication, TestEngineContext)
#include "tst_engine_context.moc"
