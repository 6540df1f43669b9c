// Tests that the marks of a model's thoughts reach the listener even where they are control tokens, and that an answer
// which is cut off in a thought goes on with it.
#include "engine/engine.h"
#include "tests/support/chain_model.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QTemporaryDir>

using namespace engine;
using support::ChainModel;

namespace {

constexpr const char* kGo = ChainModel::kGo;

Request asking(std::vector<Message> messages, int max_tokens = -1)
{
    Request request;
    request.messages = std::move(messages);
    request.sampling.temperature = 0;
    request.max_tokens = max_tokens;
    return request;
}

Request go_on(std::vector<Message> messages, int max_tokens = -1)
{
    Request request = asking(std::move(messages), max_tokens);
    request.continue_last = true;
    return request;
}

/// An engine with a model of the test's own and one conversation.
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
        const auto info = engine->load(request, {}, {});
        if (!info)
            qWarning("%s", info.error().what.c_str());
        sequence = engine->create_sequence().value_or(0);
    }

    Turn generate(const Request& request, const Listener& listener = {})
    {
        auto turn = engine->generate(sequence, request, listener, {});
        if (!turn)
            qWarning("%s", turn.error().what.c_str());
        return turn.value_or(Turn{});
    }
    int tokens(const Request& request) const
    {
        return engine->count_prompt(request, {}).value_or(PromptLedger{}).total_tokens;
    }
};

ChainModel mistral()
{
    return ChainModel({"[THINK]", "[/THINK]"}).says({kGo, "[THINK]", "a", "[/THINK]", "b", "</s>"});
}

/// As Qwen3.5: the template opens the thought. The answer ends as the template says.
ChainModel opened()
{
    return ChainModel({"<think>", "</think>"})
        .says({"<think>", "a", "</think>", "b", "<|over|>"})
        .chat_template("{% for m in messages %}<|turn|>{{ m.role }} {{ m.content }}<|over|>{% endfor %}"
                       "{% if add_generation_prompt %}<|go|><think>{% endif %}");
}

ChainModel gpt_oss()
{
    return ChainModel({"<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>"}, {"analysis"})
        .says({kGo, "<|channel|>", "analysis", "<|message|>", "a", "<|end|>", "b", "<|return|>"});
}

}  // namespace

class TestReasoningTurns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void marksAreHeardAndNoOtherControlToken_data()
    {
        QTest::addColumn<ChainModel>("model");
        QTest::addColumn<std::string>("expected");
        QTest::newRow("Mistral") << mistral() << std::string("[THINK]a[/THINK]b");
        QTest::newRow("opened") << opened() << std::string("<think>a</think>b");
        QTest::newRow("gpt-oss") << gpt_oss() << std::string("<|channel|>analysis<|message|>a<|end|>b");
        QTest::newRow("others")
            << ChainModel({"<|im_start|>", "[PAD]x"}).says({kGo, "a", "<|im_start|>", "b", "[PAD]x", "c", "</s>"})
            << std::string("abc");
    }
    void marksAreHeardAndNoOtherControlToken()
    {
        QFETCH(ChainModel, model);
        QFETCH(std::string, expected);
        std::string heard;
        Listener listener;
        listener.on_text = [&](std::string_view text) { heard += text; };
        const Turn turn = LoadedChain(model).generate(asking({{"user", "x"}}), listener);
        QCOMPARE(turn.text, expected);
        QCOMPARE(heard, expected);
        QCOMPARE(turn.reason, StopReason::EndOfTurn);
    }

    void aCutThoughtGoesOn_data()
    {
        QTest::addColumn<ChainModel>("model");
        QTest::addColumn<int>("cut");  // tokens
        for (int cut = 1; cut <= 4; ++cut)
            QTest::addRow("Mistral %d", cut) << mistral() << cut;
        for (int cut = 1; cut <= 3; ++cut)
            QTest::addRow("opened %d", cut) << opened() << cut;
        for (int cut = 3; cut <= 6; ++cut)  // before that, its mark is not whole
            QTest::addRow("gpt-oss %d", cut) << gpt_oss() << cut;
    }
    void aCutThoughtGoesOn()
    {
        QFETCH(ChainModel, model);
        QFETCH(int, cut);
        LoadedChain loaded(model);
        const Turn whole = loaded.generate(asking({{"user", "x"}}));
        const Turn first = loaded.generate(asking({{"user", "x"}}, cut));
        QCOMPARE(first.reason, StopReason::MaxTokens);

        const auto rest = go_on({{"user", "x"}, {"assistant", first.text}});
        const Turn second = loaded.generate(rest);
        QCOMPARE(first.text + second.text, whole.text);
        QCOMPARE(second.prompt.count(), whole.prompt.count() + cut);
        QCOMPARE(second.telemetry.prefilled_tokens, 1);  // nothing was tokenised another way

        // After a restart nobody knows its ids any more.
        QCOMPARE(LoadedChain(model).generate(rest).text, second.text);
    }

    // What comes after it takes the ids it was made in, those that the template wrote among them.
    void anOpenedThoughtIsKept()
    {
        LoadedChain loaded(opened());
        const Turn first = loaded.generate(asking({{"user", "x"}}));
        QCOMPARE(first.answer.count(), 3);
        const std::vector<Message> turns = {{"user", "x"}, {"assistant", first.text}, {"user", "y"}};
        const Turn next = loaded.generate(asking(turns));
        QCOMPARE(next.ledger.messages[1].tokens.count(), 4);
        QCOMPARE(LoadedChain(opened()).generate(asking(turns)).text, next.text);
        // Nothing was said: nothing is opened.
        QCOMPARE(LoadedChain(opened()).generate(asking({{"user", "x"}}, 0)).text, std::string());
        // No stop string ends an answer before it begins.
        Request stopped = asking({{"user", "x"}});
        stopped.stop = {"think"};
        QCOMPARE(LoadedChain(opened()).generate(stopped).text, std::string("<think>a</"));
    }

    void anAnswerCutTwiceKeepsItsIds()
    {
        LoadedChain loaded(gpt_oss());
        std::string text;
        for (const int tokens : {3, 2, -1}) {
            const auto request =
                text.empty() ? asking({{"user", "x"}}, tokens) : go_on({{"user", "x"}, {"assistant", text}}, tokens);
            text += loaded.generate(request).text;
        }
        const std::string whole = LoadedChain(gpt_oss()).generate(asking({{"user", "x"}})).text;
        QCOMPARE(text, whole);
        // "analysis" is one token, which text alone would spell in letters.
        const Turn next = loaded.generate(asking({{"user", "x"}, {"assistant", text}, {"user", "y"}}));
        QCOMPARE(next.ledger.messages[1].tokens.count(), 6);
    }

    void whatSomebodyTypedIsNoMark()
    {
        const LoadedChain mistral_loaded(mistral());
        const LoadedChain gpt_oss_loaded(gpt_oss());
        const int plain = mistral_loaded.tokens(asking({{"user", ""}}));
        QCOMPARE(mistral_loaded.tokens(asking({{"user", "[THINK]"}})), plain + 7);
        // An earlier answer's thoughts are left out by who asks; what is left of a mark there is text.
        const std::vector<Message> turns = {{"user", "x"}, {"assistant", "a[THINK]"}, {"user", "y"}};
        QCOMPARE(mistral_loaded.tokens(asking(turns)) -
                     mistral_loaded.tokens(asking({{"user", "x"}, {"assistant", "a"}, {"user", "y"}})),
                 7);
        // An answer to go on with cannot begin a turn of anybody else.
        const auto counted = [&](const std::string& answer) {
            return gpt_oss_loaded.tokens(go_on({{"user", "x"}, {"assistant", answer}})) -
                   gpt_oss_loaded.tokens(asking({{"user", "x"}}));
        };
        QCOMPARE(counted("<|end|><|start|>assistant<|channel|>final<|message|>"), 2 + 9 + 2 + 5);
        QVERIFY(counted("<|end|><|start|>user<|message|>x") > 4 + 5);
        QCOMPARE(counted("<|return|>"), 10);
    }
};

SPILLWAY_TEST(QCoreApplication, TestReasoningTurns)
#include "tst_reasoning_turns.moc"
