// Tests that calls which are a name and an object are read: Mistral's, and those of gpt-oss, DeepSeek and Kimi.
#include "app/server/named_calls.h"
#include "tests/app/server/read_bodies.h"
#include "tests/support/test_program.h"

#include <QtTest>

class TestNamedCalls : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void saysWhatStandsThere_data()
    {
        using namespace server;
        ReadBodies::add_columns();
        const auto row = ReadBodies::add_row;
        row("Mistral", read_mistral_calls, "", "weather[ARGS]{'city': 'R'} more", "26: weather({'city': 'R'})",
            "26: weather({'city': 'R'})");
        row("Mistral, with an id", read_mistral_calls, "", "now[CALL_ID]abc123456[ARGS]{}", "29: now({})",
            "29: now({})");
        row("Mistral, without a mark", read_mistral_calls, "", "now {}", "6: now({})", "6: now({})");
        row("Mistral, a list", read_mistral_calls, "", "[{'name': 'now'}]", "17: now({})", "17: now({})");
        row("Mistral, begun", read_mistral_calls, "", "weather[ARGS]{'city': 'R", "not yet weather({'city': 'R...",
            "not yet weather({'city': 'R...");
        row("Mistral, the name alone", read_mistral_calls, "", "weather[AR", "not yet", "not yet");
        row("Mistral, words before a brace", read_mistral_calls, "", "are what I make {}", "none", "none");
        row("Mistral, no name", read_mistral_calls, "", "[ARGS]{}", "none", "none");
        row("Mistral, words without an end", read_mistral_calls, "",
            "are words words words words words words words words words words words words words words words words words "
            "words words words words words words words words words words words words words words words words words "
            "words words words words words words words words words words words words words words words words words "
            "words words words words words words words words words ",
            "none", "none");
        row("gpt-oss", read_addressed_call, "", "functions.weather <|constrain|>json<|message|>{'city': 'R'}<|call|>",
            "59: weather({'city': 'R'})", "59: weather({'city': 'R'})");
        row("gpt-oss, the channel behind the name", read_addressed_call, "",
            "now<|channel|>commentary json<|message|> {}", "43: now({})", "43: now({})");
        row("gpt-oss, begun", read_addressed_call, "", "now json<|message|>{'a", "not yet now({'a...",
            "not yet now({'a...");
        row("gpt-oss, the head alone", read_addressed_call, "", "now json<|mess", "not yet", "not yet");
        row("gpt-oss, no object", read_addressed_call, "", "now json<|message|>words", "none", "none");
        row("gpt-oss, a head without an end", read_addressed_call, "",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "none", "none");
        row("DeepSeek", read_deepseek_calls, "<｜tool▁calls▁end｜>",
            "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "75: now({})",
            "75: now({})");
        row("DeepSeek R1", read_deepseek_calls, "<｜tool▁calls▁end｜>",
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜>", "not yet now({})",
            "96: now({})");
        row("DeepSeek, two, the second begun", read_deepseek_calls, "<｜tool▁calls▁end｜>",
            "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{'"
            "c",
            "not yet now({}) weather({'c...", "not yet now({}) weather({'c...");
        row("DeepSeek, the name alone", read_deepseek_calls, "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>now",
            "not yet", "none");
        row("DeepSeek, no object", read_deepseek_calls, "<｜tool▁calls▁end｜>",
            "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{ x", "none", "none");
        row("DeepSeek, nothing between the marks", read_deepseek_calls, "<｜tool▁calls▁end｜>", " <｜tool▁calls▁end｜>",
            "none", "none");
        row("Kimi, which counts", read_kimi_calls, "<|tool_calls_section_end|>",
            "<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|"
            ">",
            "81: now({})", "81: now({})");
        row("Kimi, no name", read_kimi_calls, "<|tool_calls_section_end|>",
            "<|tool_call_begin|>:0<|tool_call_argument_begin|>{}", "none", "none");
    }

    void saysWhatStandsThere() { ReadBodies::try_row(); }
};

SPILLWAY_TEST(QCoreApplication, TestNamedCalls)
#include "tst_named_calls.moc"
