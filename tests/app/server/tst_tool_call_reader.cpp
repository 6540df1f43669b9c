// Tests that the calls which each family writes are read alike wherever the answer is cut.
#include "app/server/tool_call_reader.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <random>

using server::Json;
using server::ToolCallReader;

namespace {

Json tools()
{
    const Json city = {{"type", "string"}}, days = {{"type", "integer"}};
    const Json schema = {{"type", "object"}, {"properties", {{"city", city}, {"days", days}}}};
    const Json weather = {{"name", "weather"}, {"parameters", schema}}, now = Json::object({{"name", "now"}});
    return Json::array(
        {Json{{"type", "function"}, {"function", weather}}, Json{{"type", "function"}, {"function", now}}});
}

struct Call {
    std::string name, arguments;
    bool whole = false;
};

struct Read {
    std::string text;
    std::vector<Call> told = {};

    ToolCallReader::Sink sink()
    {
        return {[this](std::string_view piece) { text += piece; },
                [this](const std::string& name) {
                    told.push_back({name, {}});
                },
                [this](std::string_view piece) { told.back().arguments += piece; },
                [this] { told.back().whole = true; }};
    }
    /// Arguments that are no JSON, as those that were cut off, as they were written.
    Json calls() const
    {
        Json all = Json::array();
        for (const Call& call : told) {
            Json arguments = Json::parse(call.arguments, nullptr, false);
            all.push_back({{"name", call.name},
                           {"arguments", arguments.is_discarded() ? Json(call.arguments) : std::move(arguments)}});
            if (!call.whole)
                all.back()["cut off"] = true;
        }
        return all;
    }
};

Read read_in_pieces(const std::string& answer, std::size_t piece)
{
    Read read;
    ToolCallReader reader(tools(), read.sink());
    for (std::size_t at = 0; at < answer.size(); at += piece)
        reader.feed(std::string_view(answer).substr(at, piece));
    reader.finish();
    return read;
}

}  // namespace

class TestToolCallReader : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findsCallsHoweverTheyAreCut_data()
    {
        QTest::addColumn<QByteArray>("answer");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("calls");
        const auto row = [](const char* name, const QByteArray& answer, const QByteArray& text,
                            const QByteArray& calls) {
            const auto quoted = [](QByteArray with) { return with.replace('\'', '"'); };
            QTest::newRow(name) << quoted(answer) << quoted(text) << quoted(calls);
        };
        const QByteArray rome = "[{'name':'weather','arguments':{'city':'Rome'}}]";
        const QByteArray two = "[{'name':'weather','arguments':{'city':'Rome'}},{'name':'now','arguments':{}}]";
        row("no call", "Just text, a < b { c }\n", "Just text, a < b { c }\n", "[]");
        row("Hermes, Qwen", "<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Rome'}}\n</tool_call>", "", rome);
        row("text before it", "I look.\n\n<tool_call>{'name': 'weather', 'arguments': {'city': 'Rome'}}</tool_call>",
            "I look.", rome);
        row("two of them",
            "<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Rome'}}\n</tool_call>\n"
            "<tool_call>\n{'name': 'now', 'arguments': {}}\n</tool_call>\n",
            "", two);
        row("the last mark is missing", "<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Rome'}}\n", "", rome);
        row("arguments as a text",
            "<tool_call>{'name': 'weather', 'arguments': '{\\'city\\': \\'Rome\\'}'}</tool_call>", "", rome);
        row("marks and brackets in a text",
            "<tool_call>{'name': 'weather', 'arguments': {'city': 'a}]\\'</tool_call>{'}}</tool_call>", "",
            "[{'name':'weather','arguments':{'city':'a}]\\'</tool_call>{'}}]");
        row("Qwen3-Coder",
            "<tool_call>\n<function=weather>\n<parameter=city>\n12\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
            "</function>\n</tool_call>",
            "", "[{'name':'weather','arguments':{'city':'12','days':3}}]");
        row("Qwen3-Coder, several lines",
            "<tool_call>\n<function=weather>\n<parameter=city>\na\n<b>\n</parameter>\n</function>\n</tool_call>", "",
            "[{'name':'weather','arguments':{'city':'a\\n<b>'}}]");
        row("Qwen3-Coder, no arguments", "<tool_call>\n<function=now>\n</function>\n</tool_call>", "",
            "[{'name':'now','arguments':{}}]");
        row("Mistral",
            "[TOOL_CALLS][{'name': 'weather', 'arguments': {'city': 'Rome'}}, {'name': 'now', "
            "'arguments': {}}]",
            "", two);
        row("Mistral, newer", "[TOOL_CALLS]weather[ARGS]{'city': 'Rome'}[TOOL_CALLS]now[ARGS]{}", "", two);
        row("Mistral, with an id", "[TOOL_CALLS]weather[CALL_ID]abc123456[ARGS]{'city': 'Rome'}", "", rome);
        row("Llama 3", "{'name': 'weather', 'parameters': {'city': 'Rome'}}", "", rome);
        row("Llama 3 with its mark", "<|python_tag|>{'name': 'weather', 'parameters': {'city': 'Rome'}}", "", rome);
        row("Granite", "<|tool_call|>[{'name': 'weather', 'arguments': {'city': 'Rome'}}]", "", rome);
        row("Granite, in the other mark", "<tool_call>[{'name': 'weather', 'arguments': {'city': 'Rome'}}]</tool_call>",
            "", rome);
        row("a list alone", "[{'name': 'weather', 'arguments': {'city': 'Rome'}}]", "", rome);
        row("GLM",
            "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>12</arg_value>\n<arg_key>days</arg_key>\n"
            "<arg_value>3</arg_value>\n</tool_call>",
            "", "[{'name':'weather','arguments':{'city':'12','days':3}}]");
        row("GLM, on one line, twice",
            "Yes.<tool_call>weather<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>\n"
            "<tool_call>now</tool_call>",
            "Yes.", two);
        row("gpt-oss", "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{'city': 'Rome'}", "",
            rome);
        row("gpt-oss, after a few words",
            "I look.<|end|><|start|>assistant<|channel|>commentary to=functions.weather "
            "<|constrain|>json<|message|>{'city': 'Rome'}",
            "I look.", rome);
        row("gpt-oss, the name first",
            " to=functions.weather<|channel|>commentary json<|message|>{'city': 'Rome'}"
            "<|start|>assistant to=functions.now<|channel|>commentary json<|message|>{}",
            "", two);
        row("Gemma 4", "<|tool_call>call:weather{city:<|'|>Rome<|'|>}<tool_call|>", "", rome);
        row("Gemma 4, of all kinds",
            "<|tool_call>call:now{a:[1,<|'|>x}<|'|>],b:{c:true,d:-2.5e1},e:null,f:<|'|><|'|>}<tool_call|>"
            "<|tool_call>call:now{}<tool_call|>",
            "",
            "[{'name':'now','arguments':{'a':[1,'x}'],'b':{'c':true,'d':-25.0},'e':null,'f':''}},"
            "{'name':'now','arguments':{}}]");
        row("LFM2", "<|tool_call_start|>[weather(city='Rome'), now()]<|tool_call_end|>", "", two);
        row("LFM2, and words", "<|tool_call_start|>[weather(city='Rome')]<|tool_call_end|>Checking.", "Checking.",
            rome);
        row("LFM2, in JSON", "<|tool_call_start|>[{'name': 'weather', 'arguments': {'city': 'Rome'}}]<|tool_call_end|>",
            "", rome);
        row("Llama, Python's calls",
            "[weather(city='a\\'b)]', days=3, sure=True, none=None, more=['x', {'k': 1.5}]), now()]", "",
            "[{'name':'weather','arguments':{'city':'a\\'b)]','days':3,'sure':true,'none':null,'more':['x',{'k':1.5}]}}"
            ","
            "{'name':'now','arguments':{}}]");
        row("DeepSeek R1 and V3",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{'city': 'Rome'}\n"
            "```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n"
            "```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "", two);
        row("DeepSeek V3.1",
            "Well.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{'city': 'Rome'}<｜tool▁call▁end｜>"
            "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "Well.", two);
        row("DeepSeek V3.2",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name='weather'>\n<｜DSML｜parameter name='city' "
            "string='true'>12</｜DSML｜parameter>\n<｜DSML｜parameter name='days' string='false'>3"
            "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            "", "[{'name':'weather','arguments':{'city':'12','days':3}}]");
        row("Kimi",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>"
            "{'city': 'Rome'}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}"
            "<|tool_call_end|><|tool_calls_section_end|>",
            "", two);
        row("MiniMax",
            "<minimax:tool_call>\n<invoke name='weather'>\n<parameter name='city'>Rome</parameter>\n</invoke>\n"
            "<invoke name='now'>\n</invoke>\n</minimax:tool_call>",
            "", two);
        row("Seed-OSS",
            "<seed:tool_call>\n<function=weather>\n<parameter=city>Rome</parameter>\n</function>\n</seed:tool_call>",
            "", rome);
        row("Command R7B",
            "<|START_ACTION|>[\n {'tool_call_id': '0', 'tool_name': 'weather', 'parameters': {'city': 'Rome'}}\n]"
            "<|END_ACTION|>",
            "", rome);
        // What is no call stays text, to the letter.
        row("a footnote", "[1] says so (in 'a' list).", "[1] says so (in 'a' list).", "[]");
        row("a list alone, cut off", "[{'name': 'now', 'arguments': {}}, {'name': 'weather', 'arguments': {'ci", "",
            "[{'name':'now','arguments':{}},{'name':'weather','arguments':'{\\'ci','cut off':true}]");
        row("a list of other things", "[{'name': 'Rome', 'arguments': {'x': 1}}, {'name': 'now', 'arguments': {}}]",
            "[{'name': 'Rome', 'arguments': {'x': 1}}, {'name': 'now', 'arguments': {}}]", "[]");
        row("Python of no tool", "[print(x='y')]", "[print(x='y')]", "[]");
        row("a list of links", "[weather](https://x)", "[weather](https://x)", "[]");
        row("GLM's words", "<tool_call> is a mark", "<tool_call> is a mark", "[]");
        row("GLM, cut off", "<tool_call>weather\n<arg_key>city</arg_key>",
            "<tool_call>weather\n<arg_key>city</arg_key>", "[]");
        row("Qwen3-Coder, cut off", "<tool_call>\n<function=weather>\n", "<tool_call>\n<function=weather>\n", "[]");
        row("Gemma 4, cut off", "<|tool_call>call:weather{city:<|'|>Ro", "<|tool_call>call:weather{city:<|'|>Ro", "[]");
        // What has begun as a call is one, and is cut off as it is.
        row("gpt-oss, cut off", "<|channel|>commentary to=functions.weather json<|message|>{'ci", "",
            "[{'name':'weather','arguments':'{\\'ci','cut off':true}]");
        row("Hermes, cut off", "I look. <tool_call>{'name': 'weather', 'arguments': {'city': 'Ro", "I look.",
            "[{'name':'weather','arguments':'{\\'city\\': \\'Ro','cut off':true}]");
        row("Qwen3-Coder, cut off in a text", "<tool_call>\n<function=weather>\n<parameter=city>\nRo", "",
            "[{'name':'weather','arguments':'{\\'city\\':\\'Ro','cut off':true}]");
        row("Qwen3-Coder, cut off between",
            "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n1", "",
            "[{'name':'weather','arguments':'{\\'city\\':\\'Rome\\'','cut off':true}]");
        row("arguments that are no JSON", "<tool_call>{'name': 'weather', 'arguments': {'city': Rome}}</tool_call>.",
            ".", "[{'name':'weather','arguments':'{\\'city\\': Rome}'}]");
        row("a list that goes on with something else", "[TOOL_CALLS][{'name': 'now', 'arguments': {}}, 5]", "",
            "[{'name':'now','arguments':{}}]");
        row("Qwen3-Coder, marks in a text",
            "<tool_call>\n<function=weather>\n<parameter=city>\n</function></tool_call>\n</parameter>\n</function>\n"
            "</tool_call>",
            "", "[{'name':'weather','arguments':{'city':'</function></tool_call>'}}]");
        row("GLM, a mark in a text",
            "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value></tool_call></arg_value>\n</tool_call>", "",
            "[{'name':'weather','arguments':{'city':'</tool_call>'}}]");
        row("JSON that was asked for", "{'name': 'Rome', 'is': 'a city'}", "{'name': 'Rome', 'is': 'a city'}", "[]");
        row("JSON that is none", "{ nothing }", "{ nothing }", "[]");
        row("half an object", "{'name': 'weather', ", "{'name': 'weather', ", "[]");
        row("a mark alone", "<tool_call>", "<tool_call>", "[]");
        row("half a mark", "x <tool_c", "x <tool_c", "[]");
        row("no name", "<tool_call>{'arguments': {}}</tool_call>", "<tool_call>{'arguments': {}}</tool_call>", "[]");
        row("arguments of no kind", "<tool_call>{'name': 'now', 'arguments': 5}</tool_call>",
            "<tool_call>{'name': 'now', 'arguments': 5}</tool_call>", "[]");
        row("broken JSON", "<tool_call>{'name': }</tool_call> then", "<tool_call>{'name': }</tool_call> then", "[]");
        row("a call that is cut off", "<tool_call>{'name': 'now', 'argum", "<tool_call>{'name': 'now', 'argum", "[]");
        row("another mark's word", "[TOOL_CALLS] are what I make", "[TOOL_CALLS] are what I make", "[]");
    }

    void findsCallsHoweverTheyAreCut()
    {
        QFETCH(QByteArray, answer);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, calls);
        for (std::size_t piece = 1; piece <= std::size_t(answer.size()); ++piece) {
            const Read read = read_in_pieces(answer.toStdString(), piece);
            QCOMPARE(read.text, text.toStdString());
            QCOMPARE(read.calls().dump(), Json::parse(calls.toStdString()).dump());
        }
    }

    void textIsNotHeldBack()
    {
        Read read;
        ToolCallReader reader(tools(), read.sink());
        reader.feed("Hello <");
        QCOMPARE(read.text, std::string("Hello"));
        reader.feed("b");
        QCOMPARE(read.text, std::string("Hello <b"));
    }

    /// A call is told of once its arguments have begun, and as much of them as is sure.
    void argumentsAreNotHeldBack_data()
    {
        QTest::addColumn<QByteArray>("answer");
        QTest::addColumn<QByteArray>("arguments");
        const auto row = [](const char* name, QByteArray answer, QByteArray arguments) {
            QTest::newRow(name) << answer.replace('\'', '"') << arguments.replace('\'', '"');
        };
        row("Hermes", "<tool_call>{'name': 'weather', 'arguments': {'city': 'Ro", "{'city': 'Ro");
        row("Hermes, other members", "<tool_call>{'id': [1, {'x': 2}], 'name': 'weather', 'arguments': {'city'",
            "{'city'");
        row("Llama 3", "{'name': 'weather', 'parameters': {'city': 'R", "{'city': 'R");
        row("Mistral", "[TOOL_CALLS]weather[ARGS]{'city': 'R", "{'city': 'R");
        row("Mistral, in a list", "[TOOL_CALLS] [{'name': 'weather', 'arguments': {'city': 'R", "{'city': 'R");
        row("gpt-oss", "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{'city': 'R",
            "{'city': 'R");
        row("Kimi",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{'city': 'R",
            "{'city': 'R");
        row("DeepSeek R1",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{'city': 'R",
            "{'city': 'R");
        row("Command R7B",
            "<|START_ACTION|>[\n {'tool_call_id': '0', 'tool_name': 'weather', 'parameters': {'city': 'R",
            "{'city': 'R");
        // A text in tags but for what may belong to the mark behind it, other values when they are whole.
        row("Qwen3-Coder", "<tool_call>\n<function=weather>\n<parameter=city>\na\n'b'\n</para", "{'city':'a\n\\'b\\'");
        row("Qwen3-Coder, a number",
            "<tool_call>\n<function=weather>\n<parameter=days>\n12\n</parameter>\n<parameter=city>\n",
            "{'days':12,'city':'");
        row("GLM", "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>R", "{'city':'R");
        row("MiniMax", "<minimax:tool_call>\n<invoke name='weather'>\n<parameter name='city'>R", "{'city':'R");
        row("DeepSeek V3.2",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name='weather'>\n<｜DSML｜parameter name='any' string='true'>R",
            "{'any':'R");
    }

    void argumentsAreNotHeldBack()
    {
        QFETCH(QByteArray, answer);
        QFETCH(QByteArray, arguments);
        arguments.replace("a\n\\", "a\\n\\");
        Read read;
        ToolCallReader reader(tools(), read.sink());
        for (const char byte : answer)
            reader.feed(std::string_view(&byte, 1));
        QCOMPARE(read.text, std::string());
        QCOMPARE(read.told.size(), std::size_t(1));
        QCOMPARE(read.told.front().name, std::string("weather"));
        QCOMPARE(read.told.front().arguments, arguments.toStdString());
        QVERIFY(!read.told.front().whole);
    }

    void theFirstOfSeveralIsToldOfBeforeTheSecond()
    {
        Read read;
        ToolCallReader reader(tools(), read.sink());
        reader.feed("[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}}");
        QCOMPARE(read.told.size(), std::size_t(1));
        QVERIFY(read.told.front().whole);
        reader.feed(", {\"name\": \"weather\", \"arguments\": {\"city\": \"x");
        QCOMPARE(read.told.back().arguments, std::string("{\"city\": \"x"));
    }

    /// An argument may be a file.
    void longArgumentsTakeNoTime()
    {
        const std::string line = "<p class=\"x\">{[ é\\ ]}</p>\n",
                          head = "<tool_call>\n<function=weather>\n<parameter=city>\n";
        std::string value;
        Read read;
        ToolCallReader reader(tools(), read.sink());
        QElapsedTimer timer;
        timer.start();
        reader.feed(head);
        for (int i = 0; i < 1500; ++i) {
            value += line;
            reader.feed(line);
        }
        reader.feed("</parameter>\n</function>\n</tool_call>");
        reader.finish();
        value.pop_back();  // the line end before the mark
        QCOMPARE(Json::parse(read.told.front().arguments)["city"].get<std::string>(), value);
        QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
    }

    void noTextBreaksIt()
    {
        const std::uint64_t seed = QDateTime::currentMSecsSinceEpoch();
        qInfo("seed %llu", static_cast<unsigned long long>(seed));
        std::mt19937_64 random(seed);
        const std::vector<std::string> words = {"<tool_call>",
                                                "</tool_call>",
                                                "[TOOL_CALLS]",
                                                "[ARGS]",
                                                "{",
                                                "}",
                                                "[",
                                                "]",
                                                "\"",
                                                "\\",
                                                "name",
                                                ":",
                                                ",",
                                                " ",
                                                "\n",
                                                "<function=",
                                                "<parameter=",
                                                ">",
                                                "</parameter>",
                                                "weather",
                                                "now",
                                                "(",
                                                ")",
                                                "=",
                                                "'",
                                                "1",
                                                "call:",
                                                "<|\"|>",
                                                "<|tool_call>",
                                                "<tool_call|>",
                                                "<|tool_call_start|>",
                                                "<|tool_call_end|>",
                                                "<arg_key>",
                                                "</arg_key>",
                                                "<arg_value>",
                                                "</arg_value>",
                                                "<｜tool▁calls▁begin｜>",
                                                "<｜tool▁calls▁end｜>",
                                                "<｜tool▁call▁begin｜>",
                                                "<｜tool▁sep｜>",
                                                "<|channel|>commentary to=functions.",
                                                "<|message|>",
                                                "\"name\": \"now\"",
                                                "\xc3\xa9"};
        for (int round = 0; round < 3000; ++round) {
            std::string answer;
            for (std::size_t n = random() % 20; n > 0; --n)
                answer += words[random() % words.size()];
            const Read whole = read_in_pieces(answer, std::max<std::size_t>(answer.size(), 1));
            for (const std::size_t piece : {std::size_t(1), std::size_t(3)}) {
                const Read cut = read_in_pieces(answer, piece);
                QVERIFY2(cut.text == whole.text, (answer + " is read as " + cut.text + " and " + whole.text).c_str());
                QCOMPARE(cut.calls().dump(), whole.calls().dump());
            }
            if (whole.calls().empty())
                QVERIFY2(whole.text == answer, (answer + " is read as " + whole.text).c_str());
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestToolCallReader)
#include "tst_tool_call_reader.moc"
