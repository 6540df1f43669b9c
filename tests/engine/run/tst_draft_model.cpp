// Tests that a draft model changes how an answer is computed, and nothing of it: with it and without, turns say the
// same and leave the same keys and values, whatever it guesses, and whatever goes wrong with it.
#include "engine/draft_model.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"
#include "engine/planner.h"
#include "engine/tokenizer/same_vocabulary.h"
#include "tests/engine/run/one_turn.h"
#include "tests/support/part_of_all.h"
#include "tests/support/placement_run.h"

#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QtTest>

#include <array>
#include <chrono>
#include <thread>

using namespace test_support;

namespace {

const std::string kText = "how are the weights kept, and where do the keys and values of a long conversation lie? ";

std::filesystem::path file_of(const QString& model)
{
    return (own_models_folder() + '/' + model + ".gguf").toStdString();
}

LoadRequest placed(const QString& model, const QString& where, const QString& draft)
{
    LoadRequest request = where == "emulated" ? emulated(model, 100, KvPolicy::Merge) : request_for(model);
    if (!draft.isEmpty())
        request.draft_model = file_of(draft);
    return request;
}

/// A model and one that guesses for it.
struct Pair {
    std::unique_ptr<LoadedModel> model;
    std::unique_ptr<DraftModel> draft;

    Pair(const QString& name, const QString& where, const QString& guesses)
    {
        const LoadRequest request = placed(name, where, guesses);
        model = load(request);
        if (!model)
            qFatal("%s does not load", qPrintable(name));
        auto loaded = DraftModel::load(request, *model,
                                       {[](const LoadProgress&) {}, [] { return false; }, [](const std::string&) {}});
        if (!loaded)
            qFatal("%s", loaded.error().what.c_str());
        draft = std::move(*loaded);
    }
};

/// Holds what can be seen of a turn.
struct Said {
    std::string text;
    StopReason reason = StopReason::EndOfTurn;
    std::vector<int> ids;       // in the KV cache at the end
    std::vector<float> logits;  // of one more token behind them: other keys and values give others
    Telemetry telemetry;
};

/// Runs a turn in this conversation; it is stopped when it gives the piece of text of this number.
Said say(Pair& pair, Conversation& conversation, const Request& request, int stop_at = -1)
{
    LoadedModel& model = *pair.model;
    const Turn turn = one_turn(model, pair.draft.get(), conversation, request, stop_at);
    Said said{turn.text, turn.reason, conversation.kv.ids, {}, turn.telemetry};
    const int length = conversation.kv.length(), one = 1;
    if (model.append(conversation.kv, std::span(&one, 1))) {
        const auto logits = model.logits(conversation.kv, 0);
        said.logits.assign(logits->begin(), logits->end());
        model.cache().truncate(conversation.kv, length);
    }
    return said;
}

Said say_anew(Pair& pair, const Request& request, int stop_at = -1)
{
    Conversation conversation;
    Said said = say(pair, conversation, request, stop_at);
    pair.model->cache().truncate(conversation.kv, 0);
    return said;
}

Request question(std::string text, const QString& how, int max_tokens)
{
    Request request;
    request.raw_prompt = std::move(text);
    request.max_tokens = max_tokens;
    request.sampling.temperature = how == "greedy" ? 0.0f : how == "cool" ? 0.2f : 0.8f;
    if (how == "penalties") {
        request.sampling.repeat_penalty = 1.05f;
        request.sampling.frequency_penalty = 0.02f;
        request.sampling.dry_multiplier = 0.1f;
        request.sampling.xtc_probability = 0.2f;
    }
    if (how == "grammar")
        request.grammar = "root ::= [a-z ]+";
    return request;
}

Request with_drafts(Request request, int most, Drafters drafters = Drafters::Model)
{
    request.most_drafted = most;
    request.drafters = drafters;
    request.draft_depth = DraftDepth::Fixed;
    return request;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void compare(const Said& with, const Said& without)
{
    QCOMPARE(with.text, without.text);
    QCOMPARE(with.reason, without.reason);
    QCOMPARE(with.ids, without.ids);
    QVERIFY(same_bits(with.logits, without.logits));
    QCOMPARE(with.telemetry.generated_tokens, without.telemetry.generated_tokens);
}

/// Holds what the engine's listener hears.
struct Heard {
    std::string text;
    std::vector<std::string> warnings;
    Telemetry last;
    Listener listener()
    {
        Listener l;
        l.on_text = [this](std::string_view piece) { text += piece; };
        l.on_event = [this](const Event& event) {
            if (event.kind == Event::Kind::Warning)
                warnings.push_back(event.sentence);
        };
        l.on_telemetry = [this](const Telemetry& frame) { last = frame; };
        return l;
    }
};

std::unique_ptr<Engine> engine_with(const LoadRequest& request, Heard& heard)
{
    auto engine = make_engine();
    if (const auto info = engine->load(request, heard.listener(), {}); !info)
        qFatal("%s", info.error().what.c_str());
    return engine;
}

std::string answer(Engine& engine, SequenceId sequence, const Request& request)
{
    const auto turn = engine.generate(sequence, request, {}, {});
    return turn ? turn->text : turn.error().what;
}

Vocabulary vocabulary(int tokens)
{
    Vocabulary v;
    v.model = "gpt2";
    for (int i = 0; i < tokens; ++i)
        v.tokens.push_back("t" + std::to_string(i));
    v.types.assign(std::size_t(tokens), TokenType::Normal);
    return v;
}

}  // namespace

class TestDraftModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void bothModelsShareTheMemoryThatIsLeft()
    {
        Pair pair("llama", "cpu", "llama");
        const auto limit = [](LoadedModel& model) { return model.cache().memory_limit().bytes; };
        const std::int64_t half = limit(*pair.model);
        if (half == KvMemoryLimit().bytes)
            QSKIP("this machine does not tell how much memory is free");
        QCOMPARE(limit(pair.draft->model()), half);
        pair.draft.reset();
        QVERIFY(std::abs(limit(*pair.model) - 2 * half) <= 1);
    }

    void theAnswerIsThatWithout_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("draft");
        QTest::addColumn<QString>("where");
        const std::pair<const char*, const char*> pairs[] = {
            {"llama", "llama"},     {"llama", "qwen2"},       {"gemma3", "qwen35"}, {"deepseek2", "llama"},
            {"llama", "falcon-h1"}, {"qwen3moe", "qwen3moe"}, {"qwen35", "llama"}};
        PartOfAll part(2);
        for (const auto& [name, draft] : pairs)
            for (const char* const where : {"cpu", "emulated"})
                if (part.takes_next())
                    QTest::addRow("%s, %s guesses, %s", name, draft, where) << name << draft << where;
    }

    /// Answers end by themselves, at random bounds, stopped at random pieces, by strings that lie in them, and by a
    /// grammar.
    void theAnswerIsThatWithout()
    {
        QFETCH(const QString, name);
        QFETCH(const QString, draft);
        QFETCH(const QString, where);
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        Pair pair(name, where, draft);
        for (const char* const how : {"greedy", "cool", "warm", "penalties", "grammar"}) {
            Request request = question(kText, how, 60);
            Said whole;
            const auto both = [&](int stop_at) {
                const auto drafters = random() % 3 == 0 ? Drafters::All : Drafters::Model;
                whole = say_anew(pair, request, stop_at);
                const Said with = say_anew(pair, with_drafts(request, 1 + int(random() % 15), drafters), stop_at);
                compare(with, whole);
                QCOMPARE(whole.telemetry.drafted_tokens, 0);
                QVERIFY(with.telemetry.draft_model);
                const DraftModelTelemetry& guessed = *with.telemetry.draft_model;
                QVERIFY(guessed.drafted_tokens <= with.telemetry.drafted_tokens);
                QVERIFY(guessed.accepted_tokens <= guessed.drafted_tokens);
                if (name == draft && QString(how) != "penalties" && QString(how) != "grammar")
                    QCOMPARE(guessed.accepted_tokens + cut_short(with), guessed.drafted_tokens);
                drafted_ += guessed.drafted_tokens;
                accepted_ += guessed.accepted_tokens;
            };
            both(-1);
            const std::string text = whole.text;
            both(1 + int(random() % 40));
            request.max_tokens = int(random() % 40);
            both(-1);
            request.max_tokens = 60;
            if (text.size() > 8 && QString(how) != "grammar") {
                request.stop = {text.substr(random() % (text.size() - 3), 3)};
                both(-1);
            }
        }
        qInfo("%d of %d guesses stood", accepted_, drafted_);
        QVERIFY(drafted_ > 0);
    }

    /// The draft model goes back with the conversation: its next answers, other versions and branches are guessed from
    /// the text as it is, of which what it has read is not read again.
    void itFollowsTheConversation_data()
    {
        QTest::addColumn<QString>("draft");
        QTest::newRow("llama") << "llama";
        QTest::newRow("recurrent") << "qwen35";
    }

    void itFollowsTheConversation()
    {
        QFETCH(const QString, draft);
        Pair pair("llama", "cpu", draft);
        Conversation one;
        const Request first = with_drafts(question(kText, "greedy", 40), 4);
        const Said said = say(pair, one, first);
        QVERIFY(said.telemetry.draft_model->drafted_tokens > 0);
        QVERIFY(one.draft);
        const KvSequence& kv = one.draft->kv;
        const auto follows = [&] {  // but for the last guesses, and the newest tokens
            const std::size_t length = std::min(kv.ids.size(), one.kv.ids.size());
            return length + 6 > one.kv.ids.size() &&
                   std::mismatch(kv.ids.begin(), kv.ids.end(), one.kv.ids.begin(), one.kv.ids.end()).first -
                           kv.ids.begin() + 6 >
                       std::ptrdiff_t(one.kv.ids.size());
        };
        QVERIFY(follows());

        Request second = first;  // goes on
        second.raw_prompt += said.text + "and then?";
        const Said more = say(pair, one, second);
        compare(more, say_anew(pair, with_drafts(second, 0)));
        QVERIFY(follows());

        Request edited = first;  // another question
        edited.raw_prompt = kText.substr(0, 40) + "what else is kept?";
        const Said other = say(pair, one, edited);
        compare(other, say_anew(pair, with_drafts(edited, 0)));
        QVERIFY(follows());

        Conversation two;  // a branch
        two.kv = pair.model->cache().branch(one.kv, 20);
        two.draft = one.draft->branch(20);
        QVERIFY(two.draft->kv.length() <= 20);
        compare(say(pair, two, first), said);
        compare(say(pair, one, edited), other);
        pair.model->cache().truncate(one.kv, 0);
        pair.model->cache().truncate(two.kv, 0);
        one.draft.reset();
        two.draft.reset();
        QCOMPARE(pair.draft->model().cache().used_pages(), 0);
        QCOMPARE(pair.draft->model().cache().states().used(), 0);
    }

    /// Of a conversation that does not guess now the draft model's checkpoints go first, then the rest.
    void checkpointsOfAnIdleConversationGoFirst()
    {
        Pair pair("llama", "cpu", "qwen35");
        Conversation idle;
        (void)say(pair, idle, with_drafts(question(kText, "greedy", 20), 4));
        const KvSequence& kv = idle.draft->kv;
        const int read = kv.length();
        QVERIFY(read > 0 && !kv.checkpoints.empty());
        QVERIFY(!pair.draft->make_room());  // it is the one in use
        DraftSequence guesses(*pair.draft);
        pair.draft->use(guesses);
        for (std::size_t left = kv.checkpoints.size(); left-- > 0;) {
            QVERIFY(pair.draft->make_room());
            QCOMPARE(kv.checkpoints.size(), left);
            QCOMPARE(kv.length(), read);
        }
        QVERIFY(pair.draft->make_room());
        QCOMPARE(kv.length(), 0);
        QVERIFY(!pair.draft->make_room());
        pair.model->cache().truncate(idle.kv, 0);
    }

    /// Where what it reads finds no room, an idle conversation gives up its own: no step goes without guesses for it.
    void roomThatAnIdleConversationGivesUpIsUsedAtOnce()
    {
        Pair pair("llama", "cpu", "llama");
        const Request request = with_drafts(question(kText, "greedy", 40), 4);
        Conversation idle, next;
        const Said first = say(pair, idle, request);
        QVERIFY(first.telemetry.draft_model->drafted_tokens > 0);
        KvCache& cache = pair.draft->model().cache();
        QVERIFY(cache.used_pages() > 2);
        cache.limit_memory({.bytes = std::int64_t(cache.used_pages() + 1) * std::int64_t(cache.page_bytes())});
        const Said second = say(pair, next, request);
        QCOMPARE(idle.draft->kv.length(), 0);
        compare(second, first);
        QCOMPARE(second.telemetry.plain_steps.count, first.telemetry.plain_steps.count);
        QCOMPARE(second.telemetry.draft_model->drafted_tokens, first.telemetry.draft_model->drafted_tokens);
        pair.model->cache().truncate(idle.kv, 0);
        pair.model->cache().truncate(next.kv, 0);
    }

    /// A long prompt is read beside the answer, a piece with each step.
    void aLongPromptIsReadInPieces()
    {
        Pair pair("llama", "cpu", "llama");
        std::string text;
        while (text.size() < 300)
            text += kText;
        Request request = with_drafts(question(text, "greedy", 30), 4);
        const Said with = say_anew(pair, request);
        compare(with, say_anew(pair, with_drafts(request, 0)));
        QVERIFY(with.telemetry.prompt_tokens > 150);  // more than two pieces
        QVERIFY(with.telemetry.draft_model->drafted_tokens > 0);
        QVERIFY(with.telemetry.plain_steps.count < with.telemetry.shares->steps);
    }

    /// A turn can be stopped while the draft model computes, too: what it was reading or guessing is lost, and read
    /// again.
    void stoppedAtAnyTime_data() { itFollowsTheConversation_data(); }

    void stoppedAtAnyTime()
    {
        QFETCH(const QString, draft);
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        Pair pair("llama", "cpu", draft);
        const Request request = with_drafts(question(kText, "warm", 60), 15);
        const std::string whole = say_anew(pair, with_drafts(request, 0)).text;
        Conversation conversation;
        for (int i = 0; i < 20; ++i) {
            std::stop_source stop;
            const auto after = std::chrono::microseconds(random() % 20000);
            const std::jthread stopping([&stop, after] {
                std::this_thread::sleep_for(after);
                stop.request_stop();
            });
            pair.model->placement().begin_turn({});
            TurnHost host{*pair.model, conversation.frames, {}, stop.get_token(), [](Conversation&) { return false; }};
            host.draft = pair.draft.get();
            const auto turn = TurnStepper(std::move(host), conversation, request, 4711).run([] {});
            QVERIFY(turn);
            QVERIFY(whole.starts_with(turn->text));
        }
        QCOMPARE(say(pair, conversation, request).text, whole);
        QVERIFY(!pair.draft->given_up());
    }

    /// A draft model turns itself off where it does not pay, as here, where it is as large as the model.
    void itStopsWhereItDoesNotPay()
    {
        Pair pair("deepseek2", "cpu", "gemma3n");
        Request request = question(kText, "greedy", 200);  // guesses fall, so that no clock is asked whether they pay
        request.most_drafted = 15;
        request.drafters = Drafters::Model;
        const Said with = say_anew(pair, request);
        QVERIFY(with.telemetry.generated_tokens > 100);
        QVERIFY2(with.telemetry.drafted_tokens < 300, qPrintable(QString::number(with.telemetry.drafted_tokens)));
    }

    void throughTheFrontDoor()
    {
        const auto ask = [](Engine& engine, int drafts) {
            std::vector<std::string> texts;
            const SequenceId sequence = *engine.create_sequence();
            Request request;
            request.messages = {{"user", "how are the weights kept?", {}}};
            request.sampling.temperature = 0;
            request.max_tokens = 20;
            request = with_drafts(request, drafts, Drafters::All);
            texts.push_back(answer(engine, sequence, request));
            request.messages.push_back({"assistant", texts[0], {}});
            request.messages.push_back({"user", "and the KV?", {}});
            texts.push_back(answer(engine, sequence, request));
            const SequenceId branch = *engine.branch(sequence, 30);
            request.messages.back().text = "and the states?";
            texts.push_back(answer(engine, branch, request));
            texts.push_back(answer(engine, sequence, request));
            engine.end_sequence(branch);
            // Two at once, with one ending before the other.
            const SequenceId other = *engine.create_sequence();
            const TurnId a = *engine.begin(sequence, request, {}, {});
            request.messages.resize(1);
            request.max_tokens = 5;
            const TurnId b = *engine.begin(other, request, {}, {});
            while (engine.step({}).size() < 2) {
            }
            texts.push_back(engine.end(a)->text);
            texts.push_back(engine.end(b)->text);
            engine.post(SetThreads{2});
            engine.poll({});
            texts.push_back(answer(engine, other, request));
            return texts;
        };
        Heard without, with;
        const auto plain = engine_with(placed("llama", "cpu", {}), without);
        const auto drafting = engine_with(placed("llama", "cpu", "qwen2"), with);
        QVERIFY(!without.last.draft_model);
        QVERIFY(with.last.draft_model);
        QVERIFY(with.last.draft_model->weight_bytes > 0);
        QCOMPARE(ask(*drafting, 6), ask(*plain, 0));
        QVERIFY(with.warnings.empty());
    }

    void itsMemoryIsInThePlan()
    {
        const auto model = inspect_model(file_of("llama")), draft = inspect_model(file_of("qwen2"));
        QVERIFY(model && draft);
        LoadRequest request = placed("llama", "cpu", "qwen2");
        const MemoryNeed alone = memory_need(*model, request), both = memory_need(*model, request, &*draft);
        const MemoryNeed of_draft = memory_need(*draft, as_draft(request, request.context_tokens));
        QCOMPARE(both.draft_bytes, of_draft.total());
        QCOMPARE(both.total(), alone.total() + of_draft.total());
        request.context_tokens = 0;
        const std::int64_t budget = alone.total() + of_draft.total() / 2;
        QVERIFY(largest_context(*model, request, budget, &*draft) < largest_context(*model, request, budget));

        const auto planner = Planner::open(request.model);
        QVERIFY(planner);
        const std::array contexts{0, 512};
        const auto plan = planner->plan(placed("llama", "cpu", "qwen2"), contexts, nullptr);
        QVERIFY(plan && plan->rows[0].draft_model && plan->rows[1].draft_model);
        QCOMPARE(plan->rows[0].draft_model->kv_bytes, 0);
        QCOMPARE(plan->rows[1].draft_model->total(), of_draft.total());
        QVERIFY(!planner->plan(request_for("llama"), contexts, nullptr)->rows[1].draft_model);

        Pair pair("llama", "cpu", "qwen2");
        const Said said = say_anew(pair, with_drafts(question(kText, "greedy", 20), 4));
        const DraftModelTelemetry& t = *said.telemetry.draft_model;
        QCOMPARE(t.weight_bytes, pair.draft->info().weight_bytes);
        QVERIFY(t.kv_bytes > 0);
        QVERIFY(t.kv_bytes <= of_draft.kv_bytes);
        QVERIFY(t.scratch_bytes > 0);
    }

    void anotherVocabularyIsRefused()
    {
        const std::filesystem::path guide = SPILLWAY_SOURCE_DIR "/resources/guide-model/guide.gguf";
        LoadRequest request = request_for("llama");
        request.draft_model = guide;
        const auto engine = make_engine();
        const auto info = engine->load(request, {}, {});
        QVERIFY(!info);
        QCOMPARE(info.error().code, Error::Code::BadRequest);
        QVERIFY2(info.error().what.starts_with("the draft model has another vocabulary than the model: "),
                 info.error().what.c_str());
        QVERIFY(!engine->loaded());
        QVERIFY(!may_draft(file_of("llama"), guide));
        QVERIFY(may_draft(file_of("llama"), file_of("qwen35")));
    }

    void vocabulariesAreComparedTokenByToken()
    {
        const Vocabulary model = vocabulary(1000);
        QVERIFY(same_vocabulary(model, model));
        QVERIFY(same_vocabulary(model, vocabulary(900)));  // padding
        QVERIFY(same_vocabulary(vocabulary(900), model));
        QVERIFY(!same_vocabulary(model, vocabulary(800)));
        Vocabulary other = model;
        other.tokens[17] = "x";
        QCOMPARE(same_vocabulary(model, other).error().what,
                 std::string("the draft model has another vocabulary than the model: token 17 is another one"));
        other = model;
        other.types[999] = TokenType::Control;
        QVERIFY(!same_vocabulary(model, other));
        other = model;
        other.model = "llama";
        QVERIFY(!same_vocabulary(model, other));
    }

    void aDamagedFileIsRefused()
    {
        const QTemporaryDir folder;
        const QString cut = folder.filePath("cut.gguf");
        QVERIFY(QFile::copy(own_models_folder() + "/qwen2.gguf", cut));
        QVERIFY(QFile::resize(cut, QFileInfo(cut).size() / 2));
        for (const QString& path : {cut, folder.filePath("not there.gguf"), folder.path()}) {
            LoadRequest request = request_for("llama");
            request.draft_model = path.toStdString();
            const auto engine = make_engine();
            const auto info = engine->load(request, {}, {});
            QVERIFY(!info);
            QVERIFY2(info.error().what.starts_with("the draft model cannot be used: "), info.error().what.c_str());
            QVERIFY(!engine->loaded());
        }
    }

    /// The answer goes on without it, and says so.
    void aFileThatIsCutWhileItGuesses()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath("draft.gguf");
        QVERIFY(QFile::copy(own_models_folder() + "/qwen2.gguf", path));
        QVERIFY(QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner));
        LoadRequest request = request_for("llama");
        Heard plain_heard, heard;
        const auto plain = engine_with(request, plain_heard);
        request.draft_model = path.toStdString();
        const auto engine = engine_with(request, heard);
        const SequenceId sequence = *engine->create_sequence();
        const Request asked = with_drafts(question(kText, "greedy", 30), 4);
        bool cut = false;
        Listener listener = heard.listener();
        listener.on_text = [&](std::string_view) {
            if (!std::exchange(cut, true))
                QVERIFY(QFile::resize(path, 4096));
        };
        const auto turn = engine->generate(sequence, asked, listener, {});
        QVERIFY(turn);
        QCOMPARE(turn->text, answer(*plain, *plain->create_sequence(), with_drafts(asked, 0)));
        QCOMPARE(heard.warnings.size(), std::size_t(1));
        QVERIFY2(heard.warnings[0].starts_with("the draft model guesses nothing more: "), heard.warnings[0].c_str());
        QCOMPARE(answer(*engine, sequence, asked), turn->text);
        QCOMPARE(heard.warnings.size(), std::size_t(1));
    }

private:
    /// Returns how many guesses of the last step may have been right and yet fell, since the answer ended before them.
    static int cut_short(const Said& said)
    {
        const DraftModelTelemetry& guessed = *said.telemetry.draft_model;
        const int left = guessed.drafted_tokens - guessed.accepted_tokens;
        return left < kMostRowsTogether ? left : 0;
    }
    int drafted_ = 0, accepted_ = 0;
};

QTEST_APPLESS_MAIN(TestDraftModel)
#include "tst_draft_model.moc"
