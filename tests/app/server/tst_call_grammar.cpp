// Tests that the grammars for tool calls take what the families write, and that every text which follows one is read as
// a call of the offered tools, with arguments as their schemas ask for.
#include "app/server/call_grammar.h"
#include "app/server/prompted_tools.h"
#include "app/server/tool_call_reader.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/grammar_states.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QDir>

#include <ctime>
#include <map>
#include <random>
#include <unordered_map>

using engine::Grammar;
using engine::GrammarStates;
using server::Ask;
using server::CallForm;
using server::Json;

namespace {

Json function_tool(const char* name, const char* parameters, bool strict = false)
{
    Json function = {{"name", name}, {"parameters", Json::parse(parameters)}};
    if (strict)
        function["strict"] = true;
    return {{"type", "function"}, {"function", function}};
}

constexpr const char* kWeather = R"({"type": "object", "properties": {"city": {"type": "string"},
    "days": {"type": "integer", "minimum": 1, "maximum": 9}, "unit": {"type": "string", "enum": ["°C", "F"]},
    "more": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
    "place": {"type": ["string", "null"]}}, "required": ["city", "days"], "additionalProperties": false})";
constexpr const char* kNothing = R"({"type": "object", "properties": {}, "additionalProperties": false})";

Ask two_tools(bool strict = false)
{
    Ask ask;
    ask.turn.messages = {{"user", "x"}};
    ask.turn.tools_json =
        Json::array({function_tool("weather", kWeather, strict), function_tool("now", kNothing)}).dump();
    return ask;
}

std::string rules_of(Ask ask, std::string_view chat_template)
{
    const auto ok = server::add_call_rules(ask, chat_template);
    return ok ? ask.turn.grammar : "error: " + ok.error().what;
}

/// Returns what a template says that asks for calls of this form.
std::string template_of(const CallForm& form)
{
    return std::string(form.in_template[0]) + " tools " + std::string(form.in_template[1]);
}

class Rules
{
public:
    explicit Rules(const std::string& gbnf)
        : grammar_(Grammar::parse(gbnf))
        , states_(grammar_ ? std::make_unique<GrammarStates>(*grammar_) : nullptr)
    {
        if (!grammar_)
            qFatal("%s\n%s", grammar_.error().what.c_str(), gbnf.c_str());
    }
    bool allow(const std::string& text)
    {
        const auto state = states_->after(states_->start(), text);
        return states_->may_end(state) && !states_->gave_up();
    }
    bool allow_beginning(const std::string& text)
    {
        return states_->after(states_->start(), text) != GrammarStates::kDead;
    }

    /// Returns a text that follows the rules: for some bytes anything that may come, then the shortest way to an end.
    std::string any(std::mt19937_64& random)
    {
        std::string text;
        auto state = states_->start();
        const auto go = [&](char byte) {
            text += byte;
            state = states_->after(state, std::uint8_t(byte));
        };
        for (int round = int(random() % 8); round > 0; --round) {
            for (int n = int(random() % 4); n > 0; --n) {
                std::vector<char> may_come;
                for (int byte = 0; byte < 256; ++byte)
                    if (states_->after(state, std::uint8_t(byte)) != GrammarStates::kDead)
                        may_come.push_back(char(byte));
                if (!may_come.empty())
                    go(may_come[random() % may_come.size()]);
            }
            const std::string way = way_to_end(state);
            for (const char byte : way.substr(0, random() % (way.size() + 1)))
                go(byte);
        }
        return text + way_to_end(state);
    }

private:
    /// Returns what leads from there to an end: what is known of states on the way is used again.
    std::string way_to_end(GrammarStates::State from)
    {
        std::unordered_map<GrammarStates::State, std::pair<GrammarStates::State, char>> before;
        std::vector<GrammarStates::State> queue = {from};
        const auto is_known = [&](GrammarStates::State at) { return states_->may_end(at) || next_.contains(at); };
        std::size_t next = 0;
        for (; next < queue.size() && !is_known(queue[next]); ++next)
            for (int byte = 0; byte < 256; ++byte) {
                const auto after = states_->after(queue[next], std::uint8_t(byte));
                if (after != GrammarStates::kDead && after != from &&
                    before.try_emplace(after, queue[next], char(byte)).second)
                    queue.push_back(after);
            }
        if (next == queue.size())
            return {};
        for (auto step = queue[next]; step != from; step = before[step].first)
            next_[before[step].first] = before[step].second;
        std::string way;
        for (auto at = from; !states_->may_end(at); at = states_->after(at, std::uint8_t(way.back())))
            way += next_.at(at);
        return way;
    }

    engine::Result<Grammar> grammar_;
    std::unique_ptr<GrammarStates> states_;
    std::unordered_map<GrammarStates::State, char> next_;  // the byte that leads from a state towards an end
};

struct Said {
    std::string text;
    std::vector<std::pair<std::string, Json>> calls;
    std::string arguments;  // of the call that is being told of
};

Said said(const Ask& ask, const std::string& answer)
{
    Said all;
    server::ToolCallReader reader(
        Json::parse(ask.turn.tools_json),
        {[&](std::string_view text) { all.text += text; },
         [&](const std::string& name) { all.calls.emplace_back(name, Json()); },
         [&](std::string_view piece) { all.arguments += piece; },
         [&] { all.calls.back().second = Json::parse(std::exchange(all.arguments, {}), nullptr, false); }});
    reader.feed(answer);
    reader.finish();
    return all;
}

/// Returns the answer from its call on. The thought that gpt-oss writes before it is not for those who read calls.
std::string without_thought(const std::string& answer)
{
    const std::size_t call = answer.find("<|start|>assistant");
    return call == std::string::npos ? answer : answer.substr(call);
}

bool is_weathers(const Json& arguments)
{
    if (!arguments.is_object() || !arguments.contains("city") || !arguments.contains("days"))
        return false;
    for (const auto& [name, value] : arguments.items()) {
        const bool fits = name == "city"    ? value.is_string()
                          : name == "days"  ? value.is_number_integer() && value >= 1 && value <= 9
                          : name == "unit"  ? value == "°C" || value == "F"
                          : name == "more"  ? value.is_array() && value.size() <= 2
                          : name == "place" ? value.is_string() || value.is_null()
                                            : false;
        if (!fits)
            return false;
    }
    return true;
}

}  // namespace

class TestCallGrammar : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void familiesWriteWhatTheirRulesAllow_data()
    {
        QTest::addColumn<QString>("family");
        QTest::addColumn<QString>("answer");
        const auto row = [](const char* family, QString answer) {
            QTest::newRow(family) << QString(family) << answer.replace('\'', '"');
        };
        row("Hermes", "<tool_call>\n{'name': 'weather', 'arguments': {'city': 'Rome', 'days': 3}}\n</tool_call>\n"
                      "<tool_call>\n{'name': 'now', 'arguments': {}}\n</tool_call>");
        row("Qwen3-Coder",
            "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n"
            "</parameter>\n<parameter=unit>\n°C\n</parameter>\n</function>\n</tool_call>");
        row("Seed-OSS", "<seed:tool_call>\n<function=weather>\n<parameter=city>Rome</parameter>\n"
                        "<parameter=days>3</parameter>\n</function>\n</seed:tool_call>");
        row("GLM", "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n<arg_key>days</arg_key>\n"
                   "<arg_value>3</arg_value>\n</tool_call>");
        row("MiniMax", "<minimax:tool_call>\n<invoke name='weather'>\n<parameter name='city'>Rome</parameter>\n"
                       "<parameter name='days'>3</parameter>\n</invoke>\n</minimax:tool_call>");
        row("DeepSeek V3.2",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name='weather'>\n<｜DSML｜parameter name='city' "
            "string='true'>Rome</｜DSML｜parameter>\n<｜DSML｜parameter name='days' string='false'>3"
            "</｜DSML｜parameter>\n<｜DSML｜parameter name='unit' string='true'>°C</｜DSML｜parameter>\n"
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>");
        row("Kimi", "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>"
                    "{'city': 'Rome', 'days': 3}<|tool_call_end|><|tool_calls_section_end|>");
        row("DeepSeek R1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n"
                           "{'city': 'Rome', 'days': 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>");
        row("DeepSeek V3.1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{'city': 'Rome', 'days': "
                             "3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>");
        row("Gemma 4", "<|tool_call>call:weather{city:<|'|>Rome<|'|>,days:3}<tool_call|>");
        row("LFM2", "<|tool_call_start|>[weather(city='Rome', days=3), now()]<|tool_call_end|>");
        row("Command R7B",
            "<|START_ACTION|>[\n    {'tool_call_id': '0', 'tool_name': 'weather', 'parameters': {'city': "
            "'Rome', 'days': 3}}\n]<|END_ACTION|>");
        row("Mistral", "[TOOL_CALLS]weather[ARGS]{'city': 'Rome', 'days': 3}[TOOL_CALLS]now[ARGS]{}");
        row("Mistral, in a list", "[TOOL_CALLS] [{'name': 'weather', 'arguments': {'city': 'Rome', 'days': 3}}]");
        row("Granite 3", "<|tool_call|>[{'name': 'weather', 'arguments': {'city': 'Rome', 'days': 3}}]");
        row("Nemotron Nano 2", "<TOOLCALL>[{'name': 'weather', 'arguments': {'city': 'Rome', 'days': 3}}]</TOOLCALL>");
        row("gpt-oss",
            "<|channel|>analysis<|message|>Let me think: to=x.<|end|><|start|>assistant<|channel|>commentary "
            "to=functions.weather <|constrain|>json<|message|>{'city': 'Rome', 'days': 3}");
        row("Llama", "{'name': 'weather', 'parameters': {'city': 'Rome', 'days': 3}}");
        row("JSON",
            "[{'name': 'weather', 'arguments': {'city': 'Rome', 'days': 3}}, {'name': 'now', 'arguments': {}}]");
    }

    void familiesWriteWhatTheirRulesAllow()
    {
        QFETCH(QString, family);
        QFETCH(QString, answer);
        const auto form = std::ranges::find(server::call_forms(), family.toStdString(), &CallForm::family);
        QVERIFY(form != server::call_forms().end());
        QCOMPARE(&server::form_of_calls(template_of(*form)), &*form);
        Ask ask = two_tools();
        ask.must_call = true;
        const std::string text = answer.toStdString(), gbnf = rules_of(ask, template_of(*form));
        QVERIFY2(Rules(gbnf).allow(text), gbnf.c_str());

        // Where a call is no must, words may come first, and an answer may be nothing but words.
        Rules free(rules_of(two_tools(true), template_of(*form)));
        QVERIFY(free.allow(text));
        QVERIFY(free.allow("Well, 1 < 2: \"x\" {"));
        QVERIFY(free.allow(""));
        if (!form->mark.empty() && form->before.empty())
            QVERIFY(free.allow("I look.\n" + text));
        QString wrong = answer;
        wrong.replace("weather", "wether");
        QVERIFY2(!free.allow_beginning(wrong.toStdString()), qPrintable(wrong));
        wrong = answer;
        wrong.replace("3", "30");
        QVERIFY2(!free.allow_beginning(wrong.toStdString()), qPrintable(wrong));
    }

    void whateverFollowsThemIsRead_data()
    {
        QTest::addColumn<int>("form");
        for (std::size_t i = 0; i < server::call_forms().size(); ++i)
            QTest::newRow(std::string(server::call_forms()[i].family).c_str()) << int(i);
    }

    void whateverFollowsThemIsRead()
    {
        QFETCH(int, form);
        const std::uint64_t seed = QDateTime::currentMSecsSinceEpoch();
        qInfo("seed %llu", static_cast<unsigned long long>(seed));
        std::mt19937_64 random(seed);
        const CallForm& of = server::call_forms()[std::size_t(form)];
        Ask ask = two_tools();
        ask.must_call = true;
        Rules rules(rules_of(ask, template_of(of)));
        for (int i = 0; i < 60; ++i) {
            const std::string answer = without_thought(rules.any(random));
            const Said read = said(ask, answer);
            QVERIFY2(!read.calls.empty(), answer.c_str());
            QVERIFY2(read.text.empty(), answer.c_str());
            for (const auto& [name, arguments] : read.calls)
                QVERIFY2(name == "weather" ? is_weathers(arguments) : name == "now" && arguments.is_object(),
                         (answer + "\n" + arguments.dump()).c_str());
        }
    }

    void onlyWhatIsAskedForMayBeCalled()
    {
        const std::string hermes = "<tool_call> tools";
        const std::string now = R"(<tool_call>{"name": "now", "arguments": {}}</tool_call>)";
        const std::string weather =
            R"(<tool_call>{"name": "weather", "arguments": {"city": "x", "days": 1}}</tool_call>)";
        Ask ask = two_tools();
        QCOMPARE(rules_of(ask, hermes), std::string());  // no rules are needed
        ask.must_call = true;
        QVERIFY(Rules(rules_of(ask, hermes)).allow(now + weather));
        QVERIFY(!Rules(rules_of(ask, hermes)).allow("well"));
        QVERIFY(!Rules(rules_of(ask, hermes)).allow(""));
        std::string many;
        for (int i = 0; i < 16; ++i)
            many += now;
        QVERIFY(Rules(rules_of(ask, hermes)).allow(many));
        QVERIFY(!Rules(rules_of(ask, hermes)).allow(many + now));
        ask.one_call = true;
        QVERIFY(Rules(rules_of(ask, hermes)).allow(now));
        QVERIFY(!Rules(rules_of(ask, hermes)).allow(now + now));
        ask.callable = {"weather"};
        QVERIFY(Rules(rules_of(ask, hermes)).allow(weather));
        QVERIFY(!Rules(rules_of(ask, hermes)).allow(now));
        ask.must_call = false;
        QVERIFY(Rules(rules_of(ask, hermes)).allow("well"));
        QVERIFY(!Rules(rules_of(ask, hermes)).allow("well " + now));
    }

    void anAnswerOfAFormOrACall()
    {
        for (const CallForm& form : server::call_forms()) {
            Ask ask = two_tools();
            Ask formed = ask;
            formed.turn.grammar =
                "root ::= \"yes\" | member-1\nmember-1 ::= \"no\" ws\nws ::= \" \"? | \"\\n\" \" \"{0,40}\n";
            Rules rules(rules_of(formed, template_of(form)));
            const std::string before = form.before_answer.empty() ? "" : "<|channel|>final<|message|>";
            QVERIFY(rules.allow(before + "yes"));
            QVERIFY(rules.allow(before + "no "));
            QVERIFY(!rules.allow_beginning(before + "maybe"));
            ask.must_call = true;
            std::mt19937_64 random(7);
            QVERIFY(rules.allow(Rules(rules_of(ask, template_of(form))).any(random)));
        }
    }

    void whatCannotBeHeldToIsLetBeUnlessStrict()
    {
        const char* odd = R"({"type": "object", "properties": {"city": {"type": "string", "pattern": "^(a|b)$"}},
                              "patternProperties": {"x": true}})";
        const char* qwen = "<tool_call> <function= tools";
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = Json::array({function_tool("f", odd)}).dump();
        QVERIFY(Rules(rules_of(ask, "<tool_call> tools"))
                    .allow(R"(<tool_call>{"name": "f", "arguments": {"any": [1]}}</tool_call>)"));
        QVERIFY(Rules(rules_of(ask, qwen))
                    .allow("<tool_call>\n<function=f>\n<parameter=city>\nz\n</parameter>\n</function>\n</tool_call>"));
        ask.turn.tools_json = Json::array({function_tool("f", odd, true)}).dump();
        QVERIFY(rules_of(ask, "<tool_call> tools").starts_with("error: the schema's 'patternProperties'"));
        QVERIFY(rules_of(ask, qwen).starts_with("error: the text 'city' of the strict function 'f'"));
    }

    // What stands beside it is held to all the same.
    void aFormatThatIsNotKnownAsksForNothingUnlessStrict()
    {
        const char* odd = R"({"type": "object", "properties": {"at": {"type": "string", "format": "iri"},
                              "days": {"type": "integer"}}, "required": ["at", "days"]})";
        const std::string call = R"(<tool_call>{"name": "f", "arguments": {"at":"é","days":)";
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = Json::array({function_tool("f", odd)}).dump();
        Rules rules(rules_of(ask, "<tool_call> tools"));
        QVERIFY(rules.allow(call + "3}}</tool_call>"));
        QVERIFY(!rules.allow_beginning(call + "\""));
        ask.turn.tools_json = Json::array({function_tool("f", odd, true)}).dump();
        QVERIFY(rules_of(ask, "<tool_call> tools").starts_with("error: the schema's format 'iri' is not supported"));
    }

    // zod's address has a pattern that looks ahead, pydantic's place of the web has bounds.
    void strictTextsInTagsMayHaveFormats()
    {
        const char* formats = R"({"type": "object", "properties": {
            "to": {"type": "string", "format": "email", "pattern": "^(?!\\.)[a-z.]+@[a-z.]+$"},
            "at": {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083}}, "required": ["to", "at"]})";
        const auto call = [](const char* to, const char* at) {
            return std::string("<tool_call>\n<function=f>\n<parameter=to>\n") + to +
                   "\n</parameter>\n<parameter=at>\n" + at + "\n</parameter>\n</function>\n</tool_call>";
        };
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = Json::array({function_tool("f", formats, true)}).dump();
        Rules rules(rules_of(ask, "<tool_call> <function= tools"));
        QVERIFY(rules.allow(call("a@b.co", "https://example.com/%20")));
        QVERIFY(!rules.allow(call("a", "https://example.com/")));
        QVERIFY(!rules.allow(call("a@b.co", "example.com")));
    }

    void schemasMayReferToWhatTheyDefine()
    {
        const char* refers = R"({"type": "object", "properties": {"at": {"$ref": "#/$defs/place"}}, "required": ["at"],
            "additionalProperties": false, "$defs": {"place": {"enum": ["here", "there"]}}})";
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = Json::array({function_tool("go", refers, true)}).dump();
        for (const CallForm& form : server::call_forms()) {
            std::mt19937_64 random(3);
            const std::string answer = Rules(rules_of(ask, template_of(form))).any(random);
            const Said read = said(ask, without_thought(answer));
            QVERIFY2(!read.calls.empty(), answer.c_str());
            const Json at = read.calls.front().second["at"];
            QVERIFY2(at == "here" || at == "there", answer.c_str());
        }
    }

    void manyToolsAreNotTooMany()
    {
        Json tools = Json::array();
        for (int i = 0; i < 128; ++i)
            tools.push_back(function_tool(("tool_" + std::to_string(i)).c_str(), kWeather));
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = tools.dump();
        const std::string arguments = R"({"city": "Rome", "days": 3})";
        QVERIFY(Rules(rules_of(ask, "<tool_call> tools"))
                    .allow(R"(<tool_call>{"name": "tool_127", "arguments": )" + arguments + "}</tool_call>"));
        QVERIFY(Rules(rules_of(ask, "<tool_call> <function= tools"))
                    .allow("<tool_call><function=tool_127><parameter=city>x</parameter><parameter=days>3</parameter>"
                           "</function></tool_call>"));
        ask.must_call = false;
        ask.callable = {"tool_127"};
        QVERIFY(Rules(rules_of(ask, "functions. <|channel|> tools"))
                    .allow("x to=functions.tool_127<|message|>" + arguments));
    }

    /// Each of many members refers to what is large.
    void schemasThatMultiplyAreRefused()
    {
        Json parameters = {{"type", "object"},
                           {"$defs", {{"large", {{"enum", Json::array({std::string(100'000, 'x')})}}}}}};
        for (int i = 0; i < 500; ++i)
            parameters["properties"]["p" + std::to_string(i)] = {{"$ref", "#/$defs/large"}};
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = Json::array({function_tool("f", parameters.dump().c_str(), true)}).dump();
        const std::clock_t begun = std::clock();
        QCOMPARE(rules_of(ask, "<tool_call> <function= tools"),
                 std::string("error: the schemas are more than 1 MiB in all"));
        QVERIFY(std::clock() - begun < 20 * CLOCKS_PER_SEC);
    }

    /// Also where they need not be held to: then such a call may be given any object, and nobody waits.
    void schemasThatMultiplyEndForLooseFunctions()
    {
        Json parameters = {{"type", "object"},
                           {"$defs", {{"large", {{"enum", Json::array({std::string(500'000, 'x')})}}}}}};
        for (int i = 0; i < 5000; ++i)
            parameters["properties"]["p" + std::to_string(i)] = {{"$ref", "#/$defs/large"}};
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = Json::array({function_tool("f", parameters.dump().c_str())}).dump();
        const std::clock_t begun = std::clock();
        QCOMPARE(rules_of(ask, "<tool_call> <function= tools"),
                 std::string("error: the schemas are more than 1 MiB in all"));
        QVERIFY(std::clock() - begun < 20 * CLOCKS_PER_SEC);
    }

    /// A format is many times as long as its name.
    void formatsThatMultiplyAreRefused()
    {
        Json parameters = {{"type", "object"}};
        for (int i = 0; i < 3000; ++i)
            parameters["properties"]["p" + std::to_string(i)] = {{"type", "string"}, {"format", "uri"}};
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = Json::array({function_tool("f", parameters.dump().c_str(), true)}).dump();
        QCOMPARE(rules_of(ask, "<tool_call> <function= tools"),
                 std::string("error: the schemas are more than 1 MiB in all"));
    }

    void aNameIsNothingButAName()
    {
        Ask ask = two_tools();
        ask.must_call = true;
        ask.turn.tools_json = Json::array({function_tool("$ARGUMENTS$NAME$QUOTED", kNothing)}).dump();
        Rules rules(rules_of(ask, "<tool_call> tools"));
        QVERIFY(rules.allow("<tool_call>\n{\"name\": \"$ARGUMENTS$NAME$QUOTED\", \"arguments\": {}}\n</tool_call>"));
    }

    /// What real templates say.
    void templatesAreKnown()
    {
        const QString golden = qEnvironmentVariable("SPILLWAY_GOLDEN");
        if (golden.isEmpty())
            QSKIP("SPILLWAY_GOLDEN is not set");
        const std::map<QString, std::string> expected = {
            {"Qwen3-Coder", "Qwen3-Coder"},
            {"Qwen3.5-4B", "Qwen3-Coder"},
            {"NVIDIA-Nemotron-3-Super", "Qwen3-Coder"},
            {"NVIDIA-Nemotron-Nano-v2", "Nemotron Nano 2"},
            {"Qwen3-Instruct-2507", "Hermes"},
            {"ibm-granite-granite-4.1", "Hermes"},
            {"ibm-granite-granite-3.3-2B-Instruct", "Granite 3"},
            {"GLM-4.5", "GLM"},
            {"MiniMax-M2", "MiniMax"},
            {"ByteDance-Seed-OSS", "Seed-OSS"},
            {"Kimi-K2-Instruct", "Kimi"},
            {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "DeepSeek R1"},
            {"deepseek-ai-DeepSeek-V3.1", "DeepSeek V3.1"},
            {"deepseek-ai-DeepSeek-V3.2", "DeepSeek V3.2"},
            {"google-gemma-4-31B-it", "Gemma 4"},
            {"google-gemma-3-it", "JSON"},
            {"LFM2", "LFM2"},
            {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", "Command R7B"},
            {"mistralai-Mistral-Nemo-Instruct-2407", "Mistral, in a list"},
            {"meta-llama-Llama-3.1-8B-Instruct", "Llama"},
            {"meta-llama-Llama-3.2-3B-Instruct", "Llama"},
        };
        for (const auto& [name, family] : expected) {
            QFile file(golden + "/chat-templates/" + name + ".jinja");
            QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(name));
            const std::string found(server::form_of_calls(file.readAll().toStdString()).family);
            QVERIFY2(found == family, (name.toStdString() + ": " + found).c_str());
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestCallGrammar)
#include "tst_call_grammar.moc"
