// Tests that calls in JSON are told from other JSON, and announced before they are whole.
#include "app/server/json_calls.h"
#include "tests/app/server/read_bodies.h"
#include "tests/support/test_program.h"

#include <QtTest>

class TestJsonCalls : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void saysWhatStandsThere_data()
    {
        using namespace server;
        ReadBodies::add_columns();
        const auto row = ReadBodies::add_row;
        row("a call", read_json_calls, "", "{'name': 'now', 'arguments': {}}, more", "32: now({})", "32: now({})");
        row("its name is cut off", read_json_calls, "", "{'name': 'weath", "not yet", "not yet");
        row("its arguments have begun", read_json_calls, "", "{'name': 'weather', 'arguments': {'city': 'Ro",
            "not yet weather({'city': 'Ro...", "not yet weather({'city': 'Ro...");
        row("its arguments are whole, it is not", read_json_calls, "", "{'name': 'now', 'arguments': {'a': [1]}",
            "not yet now({'a': [1]})", "not yet now({'a': [1]})");
        row("the name comes last", read_json_calls, "", "{'arguments': {'a': 1}, 'name': 'now'}", "38: now({'a': 1})",
            "38: now({'a': 1})");
        row("the name comes last, and is cut off", read_json_calls, "", "{'arguments': {'a': 1}, 'name': 'no",
            "not yet", "not yet");
        row("other members, nested", read_json_calls, "",
            "{'id': [1, {'x': '}'}], 'tool_name': 'now', 'parameters': {}}", "61: now({})", "61: now({})");
        row("no arguments", read_json_calls, "", "{'name': 'now'}", "15: now({})", "15: now({})");
        row("arguments as a text", read_json_calls, "", "{'name': 'now', 'arguments': '{\\'a\\': 1}'}",
            "42: now({'a': 1})", "42: now({'a': 1})");
        row("arguments as a text that is none", read_json_calls, "", "{'name': 'now', 'arguments': '[1]'}", "none",
            "none");
        row("brackets in a text", read_json_calls, "", "{'name': 'now', 'arguments': {'a': ']}\\\\\\'}'}}",
            "46: now({'a': ']}\\\\\\'}'})", "46: now({'a': ']}\\\\\\'}'})");
        row("no name", read_json_calls, "", "{'arguments': {}}", "none", "none");
        row("a name that is no text", read_json_calls, "", "{'name': 5, 'arguments': {}}", "none", "none");
        row("arguments that are a number", read_json_calls, "", "{'name': 'now', 'arguments': 5}", "none", "none");
        row("an object that is no JSON", read_json_calls, "", "{ nothing }", "none", "none");
        row("arguments that begin as no object does", read_json_calls, "", "{'name': 'now', 'arguments': { x", "none",
            "none");
        row("arguments without quotes in them", read_json_calls, "", "{'name': 'now', 'arguments': {'a': b}}",
            "38: now({'a': b})", "38: now({'a': b})");
        row("a list", read_json_calls, "", "[{'name': 'now'}, {'name': 'weather', 'arguments': {}}] x",
            "55: now({}) weather({})", "55: now({}) weather({})");
        row("a list that goes on", read_json_calls, "", "[{'name': 'now'}, {'name': 'weather', 'arguments': {'c",
            "not yet now({}) weather({'c...", "not yet now({}) weather({'c...");
        row("a list of something else", read_json_calls, "", "[1, {'name': 'now'}]", "none", "none");
        row("a list that goes on with something else", read_json_calls, "", "[{'name': 'now'}, 5]", "20: now({})",
            "20: now({})");
        row("an empty list", read_json_calls, "", "[]", "none", "none");
        row("words", read_json_calls, "", "are what I make", "none", "none");
    }

    void saysWhatStandsThere() { ReadBodies::try_row(); }
};

SPILLWAY_TEST(QCoreApplication, TestJsonCalls)
#include "tst_json_calls.moc"
