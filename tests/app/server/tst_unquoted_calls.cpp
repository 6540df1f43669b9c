// Tests that calls without quotes around the names of arguments are read: Gemma's and Python's.
#include "app/server/unquoted_calls.h"
#include "tests/app/server/read_bodies.h"
#include "tests/support/test_program.h"

#include <QtTest>

class TestUnquotedCalls : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void saysWhatStandsThere_data()
    {
        using namespace server;
        ReadBodies::add_columns();
        const auto row = ReadBodies::add_row;
        row("Gemma", read_gemma_call, "<tool_call|>", "call:weather{city:<|'|>R<|'|>}<tool_call|>",
            "30: weather({'city':'R'})", "30: weather({'city':'R'})");
        row("Gemma, no arguments", read_gemma_call, "<tool_call|>", "call:now{}", "10: now({})", "10: now({})");
        row("Gemma, cut off", read_gemma_call, "<tool_call|>", "call:weather{city:<|'|>R", "not yet", "not yet");
        row("Gemma, a list in place of an object", read_gemma_call, "<tool_call|>", "call:now[1]", "none", "none");
        row("Gemma, words", read_gemma_call, "<tool_call|>", "calls are made", "none", "none");
        row("Python", read_python_calls, "", "[weather(city='R', days=3), now()] x",
            "34: weather({'city':'R','days':3}) now({})", "34: weather({'city':'R','days':3}) now({})");
        row("Python, of all kinds", read_python_calls, "", "[now(a=True, b=None, c=[1.5, {'k': False}])]",
            "44: now({'a':true,'b':null,'c':[1.5,{'k':false}]})", "44: now({'a':true,'b':null,'c':[1.5,{'k':false}]})");
        row("Python, cut off", read_python_calls, "", "[now(), weather(city='R", "not yet", "not yet");
        row("Python, an argument without a name", read_python_calls, "", "[weather('R')]", "none", "none");
        row("JSON in the list", read_python_calls, "", "[{'name': 'now'}]", "17: now({})", "17: now({})");
        row("a link", read_python_calls, "", "[weather](https://x)", "none", "none");
        row("an empty list", read_python_calls, "", "[]", "none", "none");
        row("a call without a list", read_python_calls, "", "now()", "none", "none");
    }

    void saysWhatStandsThere() { ReadBodies::try_row(); }
};

SPILLWAY_TEST(QCoreApplication, TestUnquotedCalls)
#include "tst_unquoted_calls.moc"
