// Tests that answers which are held to a grammar keep to it: whatever the model would rather say, at any temperature,
// with drafts and without, turn after turn, behind its thoughts. Where that cannot be, a sentence says so.
#include "engine/answer_grammar.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/grammar_states.h"
#include "tests/engine/run/loaded_engine.h"
#include "tests/support/chain_model.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>
#include <set>

using namespace engine;
using support::ChainModel;
using test_support::Loaded;

namespace {

constexpr const char* kGo = ChainModel::kGo;
constexpr const char* kPerson = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":12},"
                                "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":130},"
                                "\"tags\":{\"items\":{\"enum\":[\"a\",\"b\"]},\"maxItems\":3}},"
                                "\"required\":[\"name\",\"age\",\"tags\"]}";

bool follows(const std::string& gbnf, const std::string& text)
{
    const auto grammar = Grammar::parse(gbnf);
    GrammarStates states(*grammar);
    return states.may_end(states.after(states.start(), text));
}

struct LoadedChain {
    QTemporaryDir folder;
    std::unique_ptr<Engine> engine = make_engine();
    SequenceId sequence = 0;

    explicit LoadedChain(const ChainModel& model)
    {
        LoadRequest request;
        request.model = folder.filePath("chain.gguf").toStdString();
        request.kv_block_tokens = 16;
        model.save(request.model);
        (void)engine->load(request, {}, {});
        sequence = engine->create_sequence().value_or(0);
    }
};

/// As the template opens a thought that no single token closes: these do, and the model goes on with "b".
ChainModel closed_by(const std::vector<std::string>& tokens, const std::vector<std::string>& more = {})
{
    std::vector<std::string> words = tokens, said = {"<think>", "a"};
    words.insert(words.end(), more.begin(), more.end());
    said.insert(said.end(), tokens.begin(), tokens.end());
    said.emplace_back("b");
    said.emplace_back("<|over|>");
    return ChainModel({"<think>"}, words)
        .says(said)
        .chat_template("{% for m in messages %}<|turn|>{{ m.role }} {{ m.content }}<|over|>{% endfor %}"
                       "{% if add_generation_prompt %}<|go|><think>{% endif %}");
}

Request ruled(const std::string& grammar, std::vector<Message> messages = {{"user", "x"}})
{
    Request request = test_support::chat(std::move(messages), 60);
    request.grammar = grammar;
    return request;
}

}  // namespace

class TestRuledTurns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void holdAtAnyTemperature()
    {
        Loaded loaded;
        const std::string gbnf = "root ::= \"yes\" | \"no\" (\", \" [a-zä€]{3,8} \"!\"){1,3}";
        std::set<std::string> texts;
        for (unsigned seed = 1; seed <= 25; ++seed) {
            Request request = ruled(gbnf);
            request.sampling.temperature = seed == 1 ? 0.0f : 1.5f;
            request.sampling.top_k = seed % 3 == 0 ? 0 : 5;
            request.sampling.repeat_penalty = seed % 2 ? 1.0f : 1.3f;
            request.sampling.typical_p = seed % 5 == 0 ? 0.5f : 1.0f;
            request.sampling.xtc_probability = seed % 7 == 0 ? 1.0f : 0.0f;
            request.sampling.seed = seed;
            const auto turn = loaded.generate(request);
            QVERIFY(turn);
            QVERIFY2(follows(gbnf, turn->text), turn->text.c_str());
            QCOMPARE(turn->reason, StopReason::EndOfTurn);
            texts.insert(turn->text);
        }
        QVERIFY(texts.size() > 5);
    }

    void aSchemaHoldsTurnAfterTurn()
    {
        Loaded loaded;
        Request request = ruled("", {{"user", "who"}});
        request.max_tokens = -1;
        request.json_schema = kPerson;
        for (int i = 0; i < 3; ++i) {
            request.sampling.temperature = 1;
            request.sampling.seed = 7 + unsigned(i);
            const auto turn = loaded.generate(request);
            QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
            const auto json = nlohmann::json::parse(turn->text, nullptr, false);
            QVERIFY2(json.is_object() && json.size() == 3, turn->text.c_str());
            QVERIFY(json["age"].is_number_integer() && json["age"] <= 130 && json["tags"].size() <= 3);
            QCOMPARE(turn->reason, StopReason::EndOfTurn);
            request.messages.push_back({"assistant", turn->text});
            request.messages.push_back({"user", "and"});
        }
    }

    /// A grammar that repeats gives drafts something to guess: the vocabulary has letters only.
    void draftsChangeNothing()
    {
        const std::string gbnf = "root ::= (\"the cat \" (\"sat\" | \"ran\") \" on the mat and \"){8}";
        std::string texts[2];
        int accepted = 0;
        for (const int most : {0, 15}) {
            LoadedChain loaded(ChainModel({}));
            Request request = ruled(gbnf);
            request.max_tokens = -1;
            request.most_drafted = most;
            request.sampling.temperature = 1;
            request.sampling.seed = 11;
            const auto turn = loaded.engine->generate(loaded.sequence, request, {}, {});
            QVERIFY(turn);
            texts[most > 0 ? 1 : 0] = turn->text;
            accepted = turn->telemetry.accepted_tokens;
        }
        QVERIFY2(follows(gbnf, texts[0]), texts[0].c_str());
        QCOMPARE(texts[1], texts[0]);
        QVERIFY(accepted > 0);  // how many more depends on what a drafted row costs at the time
    }

    void otherEndsStillEnd()
    {
        Loaded loaded;
        Request request = ruled("root ::= [a-z]+");
        request.max_tokens = 5;
        auto turn = loaded.generate(request);
        QVERIFY(turn);
        QCOMPARE(turn->reason, StopReason::MaxTokens);
        request = ruled("root ::= \"abcdef\"");
        request.stop = {"cd"};
        turn = loaded.generate(request);
        QVERIFY(turn);
        QCOMPARE(turn->text, std::string("ab"));
        QCOMPARE(turn->reason, StopReason::StopString);
        request.stop = {"defx", "ef"};  // only the end says that the first of them does not come
        turn = loaded.generate(request);
        QVERIFY(turn);
        QCOMPARE(turn->text, std::string("abcd"));
        QCOMPARE(turn->reason, StopReason::StopString);
        QCOMPARE(turn->stop_string, std::string("ef"));
        turn = loaded.generate(ruled("root ::= \"\""));
        QVERIFY(turn);
        QCOMPARE(turn->text, std::string());
        QCOMPARE(turn->reason, StopReason::EndOfTurn);
    }

    void theEndMayBeIgnoredButNotThatOfTheRules()
    {
        LoadedChain chain(ChainModel({}).says({kGo, "a", "</s>"}));
        Request request = test_support::chat({{"user", "x"}}, 5);
        QCOMPARE(chain.engine->generate(chain.sequence, request, {}, {})->reason, StopReason::EndOfTurn);
        request.ignore_end = true;
        const auto longer = chain.engine->generate(chain.sequence, request, {}, {});
        QCOMPARE(longer->reason, StopReason::MaxTokens);
        QCOMPARE(longer->answer.count(), 5);
        request.grammar = "root ::= \"ab\"";
        const auto held = chain.engine->generate(chain.sequence, request, {}, {});
        QCOMPARE(held->reason, StopReason::EndOfTurn);
        QCOMPARE(held->text, std::string("ab"));
    }

    void textsAreBiasedByTheirTokens()
    {
        LoadedChain chain(ChainModel({}).says({kGo, "a", "</s>"}));
        Request request = test_support::chat({{"user", "x"}}, 5);
        request.sampling.logit_bias = {{.text = "a", .bias = -1000}, {.text = "hi", .bias = 500}};
        const auto turn = chain.engine->generate(chain.sequence, request, {}, {});
        QVERIFY(turn->text.find('a') == std::string::npos && turn->text.find('h') != std::string::npos);
    }

    void beginsBehindTheThoughts_data()
    {
        QTest::addColumn<ChainModel>("model");
        QTest::addColumn<std::string>("expected");
        QTest::newRow("the model thinks")
            << ChainModel({"[THINK]", "[/THINK]"}).says({kGo, "[THINK]", "a", "[/THINK]", "b", "</s>"})
            << std::string("[THINK]a[/THINK]cd");
        QTest::newRow("it does not") << ChainModel({"[THINK]", "[/THINK]"}).says({kGo, "c", "b", "</s>"})
                                     << std::string("cd");
        QTest::newRow("the template opens a thought")
            << ChainModel({"<think>", "</think>"})
                   .says({"<think>", "a", "</think>", "b", "<|over|>"})
                   .chat_template("{% for m in messages %}<|turn|>{{ m.role }} {{ m.content }}<|over|>{% endfor %}"
                                  "{% if add_generation_prompt %}<|go|><think>{% endif %}")
            << std::string("<think>a</think>cd");
        QTest::newRow("line breaks share a token with the end of the thought")
            << closed_by({"</", "think", ">\n\n"}) << std::string("<think>a</think>\n\ncd");
        QTest::newRow("the answer shares a token with the end of the thought")
            << closed_by({"</", "think", ">c"}) << std::string("<think>a</think>cd");
        QTest::newRow("so do line breaks and the answer")
            << closed_by({"</", "think", ">\nc"}) << std::string("<think>a</think>\ncd");
        QTest::newRow("gpt-oss") << ChainModel({"<|start|>", "<|end|>", "<|message|>", "<|channel|>"},
                                               {"analysis", "final", "assistant"})
                                        .says({kGo, "<|channel|>", "final", "<|message|>", "a", "<|end|>"})
                                 << std::string("<|channel|>final<|message|>cd");
    }

    void beginsBehindTheThoughts()
    {
        QFETCH(ChainModel, model);
        QFETCH(std::string, expected);
        LoadedChain loaded(model);
        const auto turn = loaded.engine->generate(loaded.sequence, ruled("root ::= \"cd\""), {}, {});
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        QCOMPARE(turn->text, expected);
        QCOMPARE(turn->reason, StopReason::EndOfTurn);
    }

    /// The model would rather end its thought and begin the answer in one token, as the grammar does not.
    void aThoughtDoesNotEndInATokenWithWhatTheRulesForbid()
    {
        const ChainModel model = closed_by({"</", "think", ">b"}, {">"});
        LoadedChain loaded(model);
        Request request = ruled("root ::= \"cd\"");
        request.sampling.logit_bias = {{.id = int(model.id(">")), .bias = 1}};  // it is second best everywhere
        const auto turn = loaded.engine->generate(loaded.sequence, request, {}, {});
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        QCOMPARE(turn->text, std::string("<think>a</think>cd"));
        QCOMPARE(turn->reason, StopReason::EndOfTurn);

        LoadedChain in_one(closed_by({"a</think>b"}));  // nobody looks for a whole mark within a token
        const auto none = in_one.engine->generate(in_one.sequence, ruled("root ::= \"cd\""), {}, {});
        QVERIFY(!none);
        QCOMPARE(int(none.error().code), int(Error::Code::BadRequest));
    }

    /// The marks around calls may be control tokens: rules speak of them where tools are offered, and of nothing else.
    void speaksOfMarksWhereToolsAreOffered()
    {
        LoadedChain loaded(ChainModel({"<tool_call>", "<other>"}).says({kGo, "a", "</s>"}));
        Request request = ruled("root ::= \"<tool_call>\" [bc] \"a\"");
        QVERIFY(!loaded.engine->generate(loaded.sequence, request, {}, {}));
        request.tools_json = "[{}]";
        const auto turn = loaded.engine->generate(loaded.sequence, request, {}, {});
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        QCOMPARE(turn->text, std::string("<tool_call>ba"));
        request.grammar = "root ::= \"<other>\"";
        QVERIFY(!loaded.engine->generate(loaded.sequence, request, {}, {}));
    }

    /// A call is a part of an answer that is not its last one: rules that read the marks of parts hold from the first
    /// on.
    void speaksOfChannelsWhereToolsAreOffered()
    {
        LoadedChain loaded(ChainModel({"<|start|>", "<|end|>", "<|message|>", "<|channel|>"}, {"analysis", "final"})
                               .says({kGo, "<|channel|>", "final", "<|message|>", "a", "</s>"}));
        Request request = ruled("root ::= \"<|channel|>analysis<|message|>c\" | \"c\"");
        auto turn = loaded.engine->generate(loaded.sequence, request, {}, {});
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        QCOMPARE(turn->text, std::string("<|channel|>final<|message|>c"));  // of what is behind its thoughts
        request.tools_json = "[{}]";
        turn = loaded.engine->generate(loaded.sequence, request, {}, {});
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        QCOMPARE(turn->text, std::string("<|channel|>analysis<|message|>c"));
    }

    /// The model would end here; the grammar has not.
    void doesNotEndInAThought()
    {
        LoadedChain loaded(ChainModel({"[THINK]", "[/THINK]"}).says({kGo, "[THINK]", "</s>"}));
        Request request = ruled("root ::= \"cd\"");
        request.max_tokens = 8;
        const auto turn = loaded.engine->generate(loaded.sequence, request, {}, {});
        QVERIFY(turn);
        QCOMPARE(turn->reason, StopReason::MaxTokens);
    }

    void goesOnWithAnAnswer()
    {
        Loaded loaded;
        Request request = ruled("root ::= \"one two\" \" three\"?", {{"user", "x"}, {"assistant", "one t"}});
        request.continue_last = true;
        auto turn = loaded.generate(request);
        QVERIFY(turn);
        QVERIFY2(turn->text == "wo" || turn->text == "wo three", turn->text.c_str());
        request.messages.back().text = "two";
        turn = loaded.generate(request);
        QVERIFY(!turn);
        QCOMPARE(turn.error().what, std::string("the answer that is to go on does not follow the grammar"));
    }

    /// Also within its thoughts, of which the grammar reads nothing.
    void goesOnWhereverItWasCutOff_data() { beginsBehindTheThoughts_data(); }
    void goesOnWhereverItWasCutOff()
    {
        QFETCH(ChainModel, model);
        QFETCH(std::string, expected);
        LoadedChain loaded(model);
        bool over = false;
        for (int cut = 1; !over; ++cut) {
            Request request = ruled("root ::= \"cd\"");
            request.max_tokens = cut;
            const auto first = loaded.engine->generate(loaded.sequence, request, {}, {});
            QVERIFY2(first, first ? "" : first.error().what.c_str());
            over = first->reason == StopReason::EndOfTurn;

            request = ruled("root ::= \"cd\"", {{"user", "x"}, {"assistant", first->text}});
            request.continue_last = true;
            const auto second = loaded.engine->generate(loaded.sequence, request, {}, {});
            QVERIFY2(second, (first->text + ": " + (second ? "" : second.error().what)).c_str());
            QCOMPARE(first->text + second->text, expected);
            QCOMPARE(second->reason, StopReason::EndOfTurn);
        }
    }

    /// Each letter is a state of its own, more than are remembered at once.
    void goesOnWithALongAnswer()
    {
        Loaded loaded;
        Request request = ruled("root ::= word{4096}\nword ::= [ab]{99} \" \"", {{"user", "x"}, {"assistant", {}}});
        for (int i = 0; i < 700; ++i)
            request.messages.back().text += std::string(99, 'a') + ' ';
        request.continue_last = true;
        const auto turn = loaded.generate(request);
        QVERIFY(!turn);
        QCOMPARE(int(turn.error().code), int(Error::Code::ContextFull));
    }

    void saysWhyNot_data()
    {
        QTest::addColumn<std::string>("grammar");
        QTest::addColumn<std::string>("schema");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("grammar") << std::string("root ::= a") << std::string()
                                 << "line 1 of the grammar: there is no rule 'a'";
        QTest::newRow("schema") << std::string() << std::string("{\"not\":{}}")
                                << "the schema's 'not' is not supported";
        QTest::newRow("both") << std::string("root ::= \"a\"") << std::string("{}")
                              << "an answer follows either a grammar or a JSON schema, not both";
        QTest::newRow("no such letter") << std::string("root ::= \"a\" \"B\"") << std::string()
                                        << "none of the model's tokens goes on with the grammar";
    }

    void saysWhyNot()
    {
        QFETCH(std::string, grammar);
        QFETCH(std::string, schema);
        QFETCH(QString, sentence);
        LoadedChain loaded(ChainModel({}).says({kGo, "a", "</s>"}));
        Request request = ruled(grammar);
        request.json_schema = schema;
        const auto turn = loaded.engine->generate(loaded.sequence, request, {}, {});
        QVERIFY(!turn);
        QCOMPARE(QString::fromStdString(turn.error().what), sentence);
        QCOMPARE(int(turn.error().code), int(Error::Code::BadRequest));
        const auto next = loaded.engine->generate(loaded.sequence, test_support::chat({{"user", "x"}}), {}, {});
        QVERIFY(next && next->text == "a");
    }
};

QTEST_APPLESS_MAIN(TestRuledTurns)
#include "tst_ruled_turns.moc"
