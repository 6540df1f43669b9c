// Tests that calls in tags are read with the types of their values, and announced while a value comes.
#include "app/server/tagged_calls.h"
#include "tests/app/server/read_bodies.h"
#include "tests/support/test_program.h"

#include <QtTest>

class TestTaggedCalls : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void saysWhatStandsThere_data()
    {
        using namespace server;
        ReadBodies::add_columns();
        const auto row = ReadBodies::add_row;
        /// A call of Qwen3-Coder's that is whole.
        const auto row_of = [&](const char* name, const QByteArray& body, const QByteArray& call) {
            row(name, read_qwen_calls, "</tool_call>", body, "not yet " + call,
                QByteArray::number(body.size()) + ": " + call);
        };
        row("a text that looks like a number", read_qwen_calls, "</tool_call>",
            "<function=weather>\n<parameter=city>\n12\n</parameter>\n</function>\n</tool_call>",
            "64: weather({'city':'12'})", "64: weather({'city':'12'})");
        row("a number", read_qwen_calls, "</tool_call>",
            "<function=weather>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
            "63: weather({'days':3})", "63: weather({'days':3})");
        row("a value of no schema", read_qwen_calls, "</tool_call>",
            "<function=now>\n<parameter=a>\n[1, {'b': "
            "null}]\n</parameter>\n<parameter=b>\nwords\n</parameter>\n</function>",
            "not yet now({'a':[1,{'b':null}],'b':'words'})", "103: now({'a':[1,{'b':null}],'b':'words'})");
        row("only the lines of the tags are taken off", read_qwen_calls, "</tool_call>",
            "<function=weather>\n<parameter=city>\n\n a\n\n</parameter>\n</function>",
            "not yet weather({'city':'\\n a\\n'})", "65: weather({'city':'\\n a\\n'})");
        row("what JSON writes in another way", read_qwen_calls, "</tool_call>",
            "<function=weather>\n<parameter=city>\n'a\\\\b'\t\n</parameter>\n</function>",
            "not yet weather({'city':'\\'a\\\\\\\\b\\'\\t\\u0001'})",
            "69: weather({'city':'\\'a\\\\\\\\b\\'\\t\\u0001'})");
        row("no arguments", read_qwen_calls, "</tool_call>", "<function=now>\n</function>\n</tool_call>", "27: now({})",
            "27: now({})");
        row("a text is told of while it comes", read_qwen_calls, "</tool_call>",
            "<function=weather>\n<parameter=city>\nRo</par", "not yet weather({'city':'Ro...",
            "not yet weather({'city':'Ro...");
        row("a number is not", read_qwen_calls, "</tool_call>", "<function=weather>\n<parameter=days>\n12", "not yet",
            "none");
        row("the name alone", read_qwen_calls, "</tool_call>", "<function=weather>\n", "not yet", "none");
        row("half a mark", read_qwen_calls, "</tool_call>", "<func", "not yet", "not yet");
        row("another tag", read_qwen_calls, "</tool_call>", "<b>", "none", "none");
        row("marks in a text", read_qwen_calls, "</tool_call>",
            "<function=weather>\n<parameter=city>\n</function></tool_call>\n</parameter>\n</function>",
            "not yet weather({'city':'</function></tool_call>'})", "84: weather({'city':'</function></tool_call>'})");
        const auto note = [&](const char* name, const QByteArray& value, const QByteArray& said) {
            const QByteArray body = "<function=weather>\n<parameter=note>\n" + value + "\n</parameter>\n</function>";
            const QByteArray call = "weather({'note':" + said + "})";
            row_of(name, body, call);
        };
        note("a text or null, which is JSON", "{'a': 1}", "'{\\'a\\': 1}'");
        note("a text or null, which is a number", "12", "'12'");
        note("a text or null, which is true", "True", "'True'");
        note("a text or null, which is null", "null", "null");
        note("a text or null, which is Python's", "None", "null");
        note("a text or null, which begins as null does", "nullable", "'nullable'");
        note("a text or null, of nothing", "", "''");
        row("a text or null is told of while it comes", read_qwen_calls, "</tool_call>",
            "<function=weather>\n<parameter=note>\nnulls</par", "not yet weather({'note':'nulls...",
            "not yet weather({'note':'nulls...");
        row("a text or null is not while it could be null", read_qwen_calls, "</tool_call>",
            "<function=weather>\n<parameter=note>\nnul", "not yet", "none");
        row_of("a text of few", "<function=weather>\n<parameter=unit>\n1\n</parameter>\n</function>",
               "weather({'unit':'1'})");
        row_of("Python's words",
               "<function=weather>\n<parameter=rain>\nTrue\n</parameter>\n<parameter=hour>\nNone\n"
               "</parameter>\n<parameter=days>\nNone\n</parameter>\n</function>",
               "weather({'rain':true,'hour':null,'days':'None'})");
        row("MiniMax, two", read_minimax_calls, "</minimax:tool_call>",
            "<invoke name='weather'>\n<parameter name='city'>R</parameter>\n</invoke>\n<invoke "
            "name='now'>\n</invoke>\n</minimax:tool_call>",
            "101: weather({'city':'R'}) now({})", "101: weather({'city':'R'}) now({})");
        row("DeepSeek V3.2, a text by its tag", read_dsml_calls, "</｜DSML｜function_calls>",
            "<｜DSML｜invoke name='now'>\n<｜DSML｜parameter name='a' "
            "string='true'>1</｜DSML｜parameter>\n<｜DSML｜parameter name='b' "
            "string='false'>2</｜DSML｜parameter>\n</｜DSML｜invoke>\n",
            "not yet now({'a':'1','b':2})", "187: now({'a':'1','b':2})");
        row("GLM", read_glm_call, "</tool_call>",
            "weather\n<arg_key>city</arg_key>\n<arg_value>R</arg_value>\n</tool_call>", "57: weather({'city':'R'})",
            "57: weather({'city':'R'})");
        row("GLM, no arguments", read_glm_call, "</tool_call>", "now</tool_call>", "3: now({})", "3: now({})");
        row("GLM, a name that begins as a tool does", read_glm_call, "</tool_call>", "wea", "not yet", "none");
        row("GLM, words", read_glm_call, "</tool_call>", "is a mark", "none", "none");
        row("GLM, a key alone", read_glm_call, "</tool_call>", "weather\n<arg_key>city</arg_key>", "not yet", "none");
    }

    void saysWhatStandsThere() { ReadBodies::try_row(); }
};

SPILLWAY_TEST(QCoreApplication, TestTaggedCalls)
#include "tst_tagged_calls.moc"
