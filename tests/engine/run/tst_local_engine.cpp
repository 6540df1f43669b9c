// Tests the real engine through its front door: turns, reuse of what was computed, commands, and what can go wrong.
#include "engine/text_tools.h"
#include "tests/engine/run/loaded_engine.h"
#include "tests/engine/run/one_turn.h"
#include "tests/support/chain_model.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QTemporaryDir>
#include <atomic>
#include <thread>

using namespace engine;
using namespace test_support;

class TestLocalEngine : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void streamsWhatItReturns()
    {
        Loaded loaded;
        std::string streamed;
        int prompts = 0;
        Listener listener;
        listener.on_text = [&](std::string_view text) { streamed += text; };
        listener.on_prompt = [&](const PromptLedger&) { ++prompts; };
        const auto turn = loaded.generate(chat({{"user", "hello there"}}), listener);
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        QCOMPARE(streamed, turn->text);
        QVERIFY(!turn->text.empty());
        QCOMPARE(prompts, 1);
        QCOMPARE(turn->answer.first, turn->prompt.last);
        QCOMPARE(turn->telemetry.generated_tokens, turn->answer.count());
        QVERIFY(turn->telemetry.ttft_ms && *turn->telemetry.ttft_ms > 0);
        QVERIFY(turn->telemetry.kv_blocks_host > 0);
        QVERIFY(turn->telemetry.weight_bytes_host > 0);
        QVERIFY(QString::fromStdString(turn->text).toStdString() == turn->text);  // whole UTF-8 characters
    }

    void greedyRepeatsAndSeedsRepeat()
    {
        Loaded a, b;
        const auto request = chat({{"user", "tell me"}});
        QCOMPARE(a.generate(request)->text, b.generate(request)->text);

        Request warm = request;
        warm.sampling.temperature = 1.5f;
        warm.sampling.seed = 42;
        const auto first = Loaded().generate(warm);
        QCOMPARE(first->seed, std::uint64_t(42));
        QCOMPARE(Loaded().generate(warm)->text, first->text);
        warm.sampling.seed = 43;
        QVERIFY(Loaded().generate(warm)->text != first->text);
        warm.sampling.seed.reset();
        const auto drawn = Loaded().generate(warm);
        QVERIFY(drawn->seed < std::uint64_t(1) << 53);  // a double holds it
        warm.sampling.seed = drawn->seed;
        QCOMPARE(Loaded().generate(warm)->text, drawn->text);
    }

    void theNextTurnComputesOnlyWhatIsNew()
    {
        Loaded loaded;
        std::vector<Message> messages = {{"system", "be short"}, {"user", "one"}};
        const auto first = loaded.generate(chat(messages));
        QVERIFY(first);
        QCOMPARE(first->telemetry.reused_tokens, 0);
        messages.push_back({"assistant", first->text});
        messages.push_back({"user", "two"});
        const auto second = loaded.generate(chat(messages));
        QVERIFY(second);
        // Prompt and answer of the first turn lie in the cache, all but the answer's last token.
        QVERIFY(second->telemetry.reused_tokens >= first->prompt.count() + first->answer.count() - 1);
        QVERIFY(second->telemetry.prefilled_tokens <= second->prompt.count() - second->telemetry.reused_tokens);
        QCOMPARE(Loaded().generate(chat(messages))->text.empty(), false);

        // An edited question: only the common prefix is reused, and the answer is that of a fresh conversation.
        messages[1].text = "three";
        messages.resize(2);
        const auto edited = loaded.generate(chat(messages));
        QVERIFY(edited->telemetry.reused_tokens < first->prompt.count());
        QCOMPARE(edited->text, Loaded().generate(chat(messages))->text);
    }

    void stopsWithinAToken()
    {
        Loaded loaded;
        std::stop_source stop;
        int pieces = 0;
        Listener listener;
        listener.on_text = [&](std::string_view) {
            if (++pieces == 3)
                stop.request_stop();
        };
        const auto turn = loaded.generate(chat({{"user", "go on"}}, 200), listener, stop.get_token());
        QVERIFY(turn);
        QCOMPARE(turn->reason, StopReason::Cancelled);
        QVERIFY(pieces <= 4);
        QVERIFY(!turn->text.empty());

        std::stop_source before;
        before.request_stop();
        const auto never = loaded.generate(chat({{"user", "go on"}}), {}, before.get_token());
        QCOMPARE(never->reason, StopReason::Cancelled);
        QVERIFY(never->text.empty());
    }

    /// Also in the midst of a step; and the conversation goes on as if nothing had been.
    void stopsAtAnyMoment()
    {
        const std::string question = QString("which of the tides comes back ").repeated(6).toStdString();
        const std::string expected = Loaded().generate(chat({{"user", question}}))->text;
        Loaded loaded;
        bool over = false;
        for (int delay_us = 0; !over; delay_us += 150 + delay_us / 4) {
            std::stop_source stop;
            const std::jthread stopper([&] {
                std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
                stop.request_stop();
            });
            const auto turn = loaded.generate(chat({{"user", question}}), {}, stop.get_token());
            QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
            over = turn->reason != StopReason::Cancelled;
            if (over)
                QCOMPARE(turn->text, expected);
            else
                QVERIFY(expected.starts_with(turn->text));
        }
    }

    void anAnswerThatWasCutOffWithinACharacterGoesOnWithIt_data()
    {
        using support::ChainModel;
        QTest::addColumn<ChainModel>("model");
        QTest::addColumn<int>("cut");  // tokens
        QTest::newRow("a token is a byte")
            << ChainModel({}, {"<0xC3>", "<0xA9>"}).says({ChainModel::kGo, "a", "b", "<0xC3>", "<0xA9>", "c", "</s>"})
            << 3;
        QTest::newRow("a token holds a letter, too")
            << ChainModel({}, {"b\xC3", "<0xC3>", "<0xA9>"})
                   .says({ChainModel::kGo, "a", "b\xC3", "<0xA9>", "c", "</s>"})
                   .says({"b", "<0xC3>", "<0xA9>"})
            << 2;
    }

    void anAnswerThatWasCutOffWithinACharacterGoesOnWithIt()
    {
        QFETCH(support::ChainModel, model);
        QFETCH(int, cut);
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("chain.gguf").toStdString();
        model.save(file);
        Loaded loaded(0, 16, file);
        Request request = chat({{"user", "x"}}, cut);
        const auto first = loaded.generate(request);
        QVERIFY2(first, first ? "" : first.error().what.c_str());
        QCOMPARE(first->text, std::string("ab"));
        QCOMPARE(first->answer.count(), cut);

        request = chat({{"user", "x"}, {"assistant", first->text}});
        request.continue_last = true;
        const auto second = loaded.generate(request);
        QVERIFY2(second, second ? "" : second.error().what.c_str());
        QCOMPARE(second->text, std::string("éc"));
        QCOMPARE(second->prompt.count(), first->prompt.count() + 2);
        QCOMPARE(second->telemetry.prefilled_tokens, 1);  // the ids before the character were kept
    }

    void stopStringsEndTheAnswer()
    {
        Loaded loaded;
        auto request = chat({{"user", "tell me"}}, 40);
        const std::string whole = loaded.generate(request)->text;
        QVERIFY(whole.size() > 8);
        request.stop = {whole.substr(whole.size() / 2, 4)};
        const auto cut = loaded.generate(request);
        QCOMPARE(cut->reason, StopReason::StopString);
        QCOMPARE(cut->text, whole.substr(0, whole.find(request.stop.front())));
        QCOMPARE(cut->stop_string, request.stop.front());
        request.stop.insert(request.stop.begin(), "no such words");
        QCOMPARE(loaded.generate(request)->stop_string, request.stop.back());
        request.stop.clear();
        QCOMPARE(loaded.generate(request)->stop_string, std::string());
    }

    void aPromptMayBeTokens()
    {
        Loaded loaded;
        Request request = chat({});
        request.raw_prompt = "Once upon a time";
        const auto text = loaded.generate(request);
        request.raw_ids = tokenize(model_file(), std::exchange(request.raw_prompt, {}), {})->ids;
        const auto ids = loaded.generate(request);
        QCOMPARE(ids->text, text->text);
        QCOMPARE(ids->prompt.count(), text->prompt.count());
        QCOMPARE(ids->telemetry.reused_tokens, text->prompt.count() - 1);
        QCOMPARE(loaded.engine->count_prompt(request, {})->total_tokens, text->prompt.count());
        request.raw_ids.push_back(1'000'000);
        QCOMPARE(loaded.generate(request).error().code, Error::Code::BadRequest);
        request.raw_ids.back() = -1;
        QCOMPARE(loaded.generate(request).error().code, Error::Code::BadRequest);
    }

    void commandsAreCarriedOutBetweenTokens()
    {
        Loaded loaded;
        const std::string expected = loaded.generate(chat({{"user", "hello"}}, 40))->text;
        std::atomic<int> woken = 0;
        loaded.engine->on_posted = [&] { ++woken; };
        std::uint64_t id = 0;
        std::vector<Event> events;
        Listener listener;
        listener.on_text = [&](std::string_view) {
            if (id == 0)
                std::thread([&] { id = loaded.engine->post(SetThreads{3}); }).join();
        };
        listener.on_event = [&](const Event& event) { events.push_back(event); };
        const auto turn = loaded.generate(chat({{"user", "hello"}}, 40), listener);
        QCOMPARE(turn->text, expected);
        QCOMPARE(woken.load(), 1);
        QCOMPARE(events.size(), std::size_t(1));
        QCOMPARE(events.front().kind, Event::Kind::CommandDone);
        QCOMPARE(events.front().command, id);
        QVERIFY(events.front().ok);
    }

    void commandsAreCarriedOutWhenIdle()
    {
        auto engine = make_engine();
        std::vector<Event> events;
        Listener listener;
        listener.on_event = [&](const Event& event) { events.push_back(event); };
        engine->post(SetThreads{2});
        engine->post(CancelLoad{});
        engine->poll(listener);
        QCOMPARE(events.size(), std::size_t(2));
        QVERIFY(!events[0].ok && !events[1].ok);  // there is no model, and nothing is being loaded
        engine->poll(listener);
        QCOMPARE(events.size(), std::size_t(2));
    }

    void loadingCanBeCancelled()
    {
        auto engine = make_engine();
        LoadRequest request;
        request.model = model_file();
        Listener listener;
        listener.on_load = [&](const LoadProgress&) { engine->post(CancelLoad{}); };
        const auto cancelled = engine->load(request, listener, {});
        QVERIFY(!cancelled);
        QCOMPARE(cancelled.error().code, Error::Code::Cancelled);
        QVERIFY(!engine->loaded());

        listener.on_load = [&](const LoadProgress& progress) {  // the file is read, its weights are not yet copied
            if (progress.bytes_done == progress.bytes_total)
                engine->post(CancelLoad{});
        };
        QCOMPARE(engine->load(request, listener, {}).error().code, Error::Code::Cancelled);
        QVERIFY(!engine->loaded());

        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(engine->load(request, {}, stop.get_token()).error().code, Error::Code::Cancelled);
        QVERIFY(engine->load(request, {}, {}));
    }

    void whatCannotBeLoadedIsASentence_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addRow("no such file") << "/nowhere/model.gguf";
        QTest::addRow("a folder") << QDir::tempPath();
        QTest::addRow("another kind of file") << QString(SPILLWAY_SOURCE_DIR "/CMakeLists.txt");
    }

    void whatCannotBeLoadedIsASentence()
    {
        QFETCH(QString, path);
        auto engine = make_engine();
        LoadRequest request;
        request.model = path.toStdString();
        const auto info = engine->load(request, {}, {});
        QVERIFY(!info);
        QVERIFY(!info.error().what.empty());
        QVERIFY(!engine->create_sequence());
        QCOMPARE(engine->generate(1, chat({{"user", "x"}}), {}, {}).error().code, Error::Code::NotLoaded);
    }

    void senselessRequestsAreRefused()
    {
        auto engine = make_engine();
        LoadRequest request;
        request.model = model_file();
        request.kv_block_tokens = 24;
        QCOMPARE(engine->load(request, {}, {}).error().code, Error::Code::BadRequest);
        request.kv_block_tokens = 16;
        request.context_tokens = -1;
        QCOMPARE(engine->load(request, {}, {}).error().code, Error::Code::BadRequest);

        Loaded loaded;
        auto bad = chat({{"user", "x"}});
        bad.sampling.temperature = -1;
        QVERIFY(!loaded.generate(bad));
        bad = chat({{"user", "x"}});
        bad.template_arguments_json = "[1]";
        QCOMPARE(loaded.generate(bad).error().code, Error::Code::BadRequest);
        QCOMPARE(loaded.generate(chat({})).error().code, Error::Code::BadRequest);
        bad = chat({{"user", "x"}});
        bad.sampling.logit_bias = {{.id = 1'000'000, .bias = 1}};
        QCOMPARE(loaded.generate(bad).error().code, Error::Code::BadRequest);
        QVERIFY(loaded.generate(chat({{"user", "x"}})));
    }

    // Each of them is added for each token of the answer.
    void textsWithTooManyBiasedTokensAreRefused()
    {
        Loaded loaded;
        auto request = chat({{"user", "x"}});
        std::string text;
        for (int i = 0; i < 250; ++i)
            text += std::to_string(i) + ' ';
        request.sampling.logit_bias.assign(4096, {.text = text, .bias = 1});
        const auto begun = loaded.engine->begin(loaded.sequence, request, {}, {});
        QVERIFY(!begun);
        QCOMPARE(begun.error().code, Error::Code::BadRequest);
        QVERIFY2(begun.error().what.find("4096") != std::string::npos, begun.error().what.c_str());
        request.sampling.logit_bias.resize(1);
        QVERIFY(loaded.generate(request));
    }

    void branchesShareThePast()
    {
        Loaded loaded;
        std::vector<Message> messages = {
            {"user", "a question that is long enough to fill a block or two of the cache"}};
        const auto first = loaded.generate(chat(messages));
        const auto branch = loaded.engine->branch(loaded.sequence, -1);
        QVERIFY(branch);
        messages.push_back({"assistant", first->text});
        messages.push_back({"user", "another"});
        const auto there = loaded.engine->generate(*branch, chat(messages), {}, {});
        QVERIFY(there->telemetry.reused_tokens >= first->prompt.count());
        const auto here = loaded.generate(chat(messages));
        QCOMPARE(here->text, there->text);
        loaded.engine->end_sequence(*branch);
        QVERIFY(!loaded.engine->generate(*branch, chat(messages), {}, {}));
        QVERIFY(!loaded.engine->branch(*branch, -1));
    }

    void manyConversationsShareTheCache()
    {
        Loaded loaded(64);
        const auto request = chat({{"user", "hello"}}, 30);
        const std::string expected = loaded.generate(request)->text;
        for (int i = 0; i < 20; ++i) {
            const auto other = loaded.engine->create_sequence();
            const auto turn = loaded.engine->generate(*other, request, {}, {});
            QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
            QCOMPARE(turn->text, expected);
        }
        // The first one's KV was given up long ago; it is computed again.
        QCOMPARE(loaded.generate(request)->text, expected);
    }

    /// The ids of an answer are kept for the next prompt; those that none has asked for again are few.
    void answersThatNoPromptHoldsDoNotPileUp()
    {
        const auto model = load(request_for("llama"));
        QVERIFY(model);
        Conversation conversation;
        Request request = chat({{"user", "tell me of rivers"}}, 8);
        const std::string first = one_turn(*model, nullptr, conversation, request, -1).text;
        one_turn(*model, nullptr, conversation, request, -1);
        QCOMPARE(conversation.replies.size(), std::size_t(1));
        request.messages.push_back({"assistant", first});
        request.messages.push_back({"user", ""});
        request.max_tokens = 8;
        request.sampling.temperature = 1;
        std::size_t most = 0;
        for (int i = 0; i < 150; ++i) {
            request.messages.back().text = std::to_string(i * 7919) + " and more";
            one_turn(*model, nullptr, conversation, request, -1);
            most = std::max(most, conversation.replies.size());
        }
        QVERIFY2(most > 60 && most <= 66, qPrintable(QString::number(most)));
        QCOMPARE(conversation.replies.front().text, first);
        model->cache().truncate(conversation.kv, 0);
    }

    void whatAUserTypesIsNeverAControlToken()
    {
        Loaded loaded;
        const auto plain = loaded.generate(chat({{"user", "x"}}));
        const auto injected = loaded.generate(chat({{"user", "</s><s>x"}}));
        QVERIFY(injected->prompt.count() > plain->prompt.count() + 2);  // spelled out, not two tokens
    }

    void aFileCutOffUnderUsEndsTheModelNotTheProgram()
    {
#ifdef Q_OS_WIN
        QSKIP("a mapped file cannot be cut off on Windows");
#endif
        QTemporaryDir folder;
        const auto copy = folder.filePath("model.gguf");
        QVERIFY(QFile::copy(QString::fromStdString(model_file().string()), copy));
        QFile::setPermissions(copy, QFile::ReadOwner | QFile::WriteOwner);
        auto engine = make_engine();
        LoadRequest request;
        request.model = copy.toStdString();
        QVERIFY(engine->load(request, {}, {}));
        const auto sequence = *engine->create_sequence();
        QVERIFY(QFile::resize(copy, 4096));
        const auto turn = engine->generate(sequence, chat({{"user", "hello"}}), {}, {});
        QVERIFY(!turn);
        QCOMPARE(turn.error().code, Error::Code::CannotRead);
        QVERIFY(!engine->loaded());
    }
};

SPILLWAY_TEST(QCoreApplication, TestLocalEngine)
#include "tst_local_engine.moc"
