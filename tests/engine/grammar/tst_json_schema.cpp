// Tests that a JSON Schema becomes a grammar which accepts only texts that fit it, and that schemas which cannot be
// followed are refused. Quotes of JSON are written ' here.
#include "engine/answer_grammar.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/grammar_states.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

using engine::Grammar;
using engine::GrammarStates;
using Json = nlohmann::ordered_json;

namespace {

std::string json(QByteArray text)
{
    return text.replace('\'', '"').toStdString();
}

std::string repeated(const std::string& text, int times)
{
    std::string all;
    for (int i = 0; i < times; ++i)
        all += text;
    return all;
}

/// A text that the grammar takes, of random bytes; nothing: it would be long.
std::optional<std::string> text_of(GrammarStates& states, std::mt19937& random)
{
    std::string text;
    auto state = states.start();
    for (int step = 0; step < 4000; ++step) {
        if (states.may_end(state) && (!states.may_go_on(state) || random() % 4 == 0))
            return text;
        std::vector<int> bytes;
        for (int byte = 0; byte < 256; ++byte)
            if (states.after(state, std::uint8_t(byte)) != GrammarStates::kDead)
                bytes.push_back(byte);
        const auto closes = [&](int byte) { return byte == '"' || byte == '}' || byte == ']'; };
        int byte = bytes[random() % bytes.size()];
        if (const auto end = std::ranges::find_if(bytes, closes); end != bytes.end() && random() % 3 == 0)
            byte = *end;
        text += char(byte);
        state = states.after(state, std::uint8_t(byte));
    }
    return {};
}

Json random_schema(std::mt19937& random, int depth)
{
    const auto up_to = [&](int most) { return int(random() % unsigned(most + 1)); };
    switch (up_to(depth > 0 ? 8 : 5)) {
    case 0:
        return {{"type", "boolean"}};
    case 1:
        return {{"type", "string"}, {"minLength", up_to(2)}, {"maxLength", 2 + up_to(3)}};
    case 2: {
        const int a = up_to(3000) - 1500, b = a + up_to(up_to(1) ? 5 : 3000);
        return {{"type", "integer"}, {"minimum", a}, {"maximum", b}};
    }
    case 3:
        return {{"enum", {1, "a\"\\\n", nullptr, {{"b", true}}}}};
    case 4:
        return {{"type", {"null", "number"}}};
    case 5: {
        const double unit = std::pow(10, up_to(3)), a = (up_to(3000) - 1500) / unit;
        const double b = a + (1 + up_to(up_to(1) ? 5 : 3000)) / unit;
        const char* const least = up_to(1) ? "minimum" : "exclusiveMinimum";
        const char* const most = up_to(1) ? "maximum" : "exclusiveMaximum";
        return {{"type", "number"}, {least, a}, {most, std::round(b * unit) / unit}};
    }
    case 6: {
        const int least = up_to(2);
        return {{"type", "array"},
                {"items", random_schema(random, depth - 1)},
                {"minItems", least},
                {"maxItems", least + up_to(2)}};
    }
    case 7: {
        Json s = {{"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}};
        for (const char* name : {"a", "ab", "ä\"", "b"})
            if (up_to(2) > 0) {
                s["properties"][name] = random_schema(random, depth - 1);
                if (up_to(1))
                    s["required"].push_back(name);
            }
        if (up_to(2) == 0)
            s["additionalProperties"] = random_schema(random, 0);
        else
            s["additionalProperties"] = false;
        return s;
    }
    default:
        return {{"anyOf", {random_schema(random, depth - 1), random_schema(random, depth - 1)}}};
    }
}

std::ptrdiff_t code_points(const std::string& utf8)
{
    return std::ranges::count_if(utf8, [](char byte) { return (byte & 0xC0) != 0x80; });
}

bool fits(const Json& s, const Json& value)
{
    if (s.contains("anyOf"))
        return fits(s["anyOf"][0], value) || fits(s["anyOf"][1], value);
    if (s.contains("enum"))
        return std::ranges::find(s["enum"], value) != s["enum"].end();
    if (s["type"].is_array())
        return value.is_null() || value.is_number();
    const std::string type = s["type"];
    if (type == "boolean")
        return value.is_boolean();
    if (type == "string") {
        const auto length = value.is_string() ? code_points(value.get<std::string>()) : -1;
        return length >= s["minLength"] && length <= s["maxLength"];
    }
    if (type == "integer")
        return value.is_number_integer() && value >= s["minimum"] && value <= s["maximum"];
    if (type == "number")
        return value.is_number() && (!s.contains("minimum") || value >= s["minimum"]) &&
               (!s.contains("exclusiveMinimum") || value > s["exclusiveMinimum"]) &&
               (!s.contains("maximum") || value <= s["maximum"]) &&
               (!s.contains("exclusiveMaximum") || value < s["exclusiveMaximum"]);
    if (type == "array")
        return value.is_array() && value.size() >= s["minItems"] && value.size() <= s["maxItems"] &&
               std::ranges::all_of(value, [&](const Json& item) { return fits(s["items"], item); });
    if (!value.is_object())
        return false;
    for (const Json& name : s["required"])
        if (!value.contains(name.get<std::string>()))
            return false;
    for (const auto& [name, member] : value.items()) {
        const Json& of = s["properties"].contains(name) ? s["properties"][name] : s["additionalProperties"];
        if (of == false || !fits(of, member))
            return false;
    }
    return true;
}

}  // namespace

class TestJsonSchema : public QObject
{
    Q_OBJECT

private slots:
    void takesWhatFits_data()
    {
        QTest::addColumn<QByteArray>("schema");
        QTest::addColumn<QByteArrayList>("taken");
        QTest::addColumn<QByteArrayList>("refused");
        const auto row = [](const QByteArray& schema, const QByteArrayList& taken, const QByteArrayList& refused) {
            QTest::addRow("%s", schema.left(60).constData()) << schema << taken << refused;
        };
        row("{}", {"1", "'a'", "{'a': [null]}", "[]", "-0.5e+3", "true"}, {"", "01", "{a:1}", "[1,]", "'\n'", "{} "});
        row("true", {"1"}, {""});
        row("{'type':'object'}", {"{}", "{ }", "{'a':1,'b': {'c':[]}}", "{\n  'a': 1,\n  'b': 2\n}"},
            {"[]", "{'a'}", "{'a':1,}"});
        row("{'type':'array'}", {"[]", "[1, 'a', [true]]"}, {"{}", "[1 2]"});
        row("{'type':'string'}", {"''", "'ä€😀'", "'\\u00e4\\n\\''"}, {"'", "a", "'\t'", "'\\x'"});
        row("{'type':'string','maxLength':1}", {"'\\uD83d\\uDe00'", "'\\ud7FF'", "'\\uE000'"},
            {"'\\udCa9'", "'\\ud83d'", "'\\ud83dx'", "'\\ud83d\\u0041'", "'\\udcff\\ud83d'"});
        row("{'type':['integer','null']}", {"0", "-12", "null"}, {"1.5", "'1'"});
        row("{'type':'number'}", {"0", "-1.25", "1e9"}, {".5", "1.", "+1"});
        row("{'const':{'a':['x',1]}}", {"{'a':['x',1]}"}, {"{'a':['x', 1]}", "{}"});
        row("{'enum':['red','green',3,null]}", {"'red'", "3", "null"}, {"red", "'blue'", "4"});
        row("{'properties':{'a':{'type':'integer'},'b':{'type':'boolean'}},'required':['b']}",
            {"{'a': 1, 'b': true}", "{'b':false}"},
            {"{}", "{'a':1}", "{'b':true,'a':1}", "{'b':true,'c':1}", "{,'b':true}"});
        row("{'properties':{'a':true,'b':true,'c':true}}",
            {"{}", "{'a':1}", "{'b':1}", "{'c':1}", "{'a':1,'c':1}", "{'b':1,'c':1}", "{'a':1,'b':1,'c':1}"},
            {"{'b':1,'a':1}", "{'a':1 'b':1}", "{'a':1,}"});
        row("{'required':['x']}", {"{'x':[1]}"}, {"{}", "{'y':1}"});
        row("{'properties':{'ab':{'type':'null'}},'additionalProperties':{'type':'integer'}}",
            {"{}", "{'ab':null}", "{'a':1}", "{'abc':1,'b':2}", "{'ab':null,'':3,'x':4}"},
            {"{'ab':1}", "{'a':null}", "{'a':1,'ab':1}"});
        row("{'additionalProperties':{'type':'null'}}", {"{}", "{'a':null,'b':null}"}, {"{'a':1}"});
        row("{'items':{'type':'boolean'},'minItems':1,'maxItems':3}", {"[true]", "[true, false,true]"},
            {"[]", "[true,true,true,true]", "[1]"});
        row("{'items':{'type':'boolean'},'maxItems':0}", {"[]"}, {"[true]"});
        row("{'prefixItems':[{'type':'integer'},{'type':'string'}]}", {"[1,'a']"}, {"[1]", "[1,'a',2]", "['a',1]"});
        row("{'items':[{'type':'integer'},{'type':'string'}],'minItems':2,'maxItems':2}", {"[1,'a']"},
            {"[1]", "[1,'a',2]", "['a',1]"});
        row("{'items':[{'type':'integer'}],'additionalItems':{'type':'null'},'minItems':2}",
            {"[1,null]", "[1,null,null]"}, {"[1]", "[1,2]", "[null,1]"});
        row("{'items':[{'type':'integer'}],'additionalItems':false}", {"[1]"}, {"[]", "[1,2]"});
        row("{'items':{'type':'integer'},'additionalItems':false}", {"[]", "[1,2]"}, {"['a']"});
        row("{'prefixItems':[{'type':'integer'}],'items':{'type':'null'},'minItems':2}", {"[1,null]", "[1,null,null]"},
            {"[1]", "[1,2]"});
        row("{'type':'string','minLength':2,'maxLength':3}", {"'ab'", "'äöü'", "'\\n\\n'"}, {"'a'", "'abcd'"});
        row("{'type':'integer','minimum':-5,'maximum':120}", {"-5", "-1", "0", "9", "99", "120"},
            {"-6", "121", "-0", "007", "1000"});
        row("{'type':'integer','exclusiveMinimum':0}", {"1", "10", "987654321"}, {"0", "-1"});
        row("{'type':'integer','maximum':-10}", {"-10", "-99", "-12345"}, {"-9", "0", "5"});
        row("{'type':'integer','minimum':95,'maximum':1005}", {"95", "100", "999", "1005"}, {"94", "1006", "9999"});
        row("{'type':'integer','minimum':-9007199254740991,'maximum':9007199254740991}",
            {"-9007199254740991", "9007199254740991", "0"}, {"9007199254740992", "-9007199254740992"});
        row("{'type':'number','minimum':0,'maximum':1}", {"0", "0.25", "0.0", "1", "1.0", "0.00000000000001"},
            {"1.5", "-0.1", "1e9", "1.00000000000001", "-0", "2", "00.5", ".5", "0.", "01"});
        row("{'type':'number','exclusiveMinimum':0,'exclusiveMaximum':1}", {"0.5", "0.05", "0.99999999999999"},
            {"0", "0.0", "0.00", "1", "1.0", "-0.5", "0.99999999999999999999"});
        row("{'type':'number','exclusiveMinimum':0}", {"0.5", "1", "7.25", "123456789.5"}, {"0", "0.0", "-1", "-0.5"});
        row("{'type':'number','minimum':-90,'maximum':90}", {"-90", "-90.0", "-0.5", "0", "51.4778", "89.99", "9"},
            {"-90.1", "90.5", "100", "-100", "-0", "-0.0"});
        row("{'type':'number','maximum':-10}", {"-10", "-10.5", "-99", "-10.0"}, {"-9", "-9.9", "0", "10", "5.5"});
        row("{'minimum':0.05,'maximum':12.5}", {"0.05", "0.050", "0.1", "0.06", "1", "7.25", "12.5", "12.50", "12.499"},
            {"0.04", "0.0499", "0", "12.51", "12.501", "13", "-1"});
        row("{'type':'number','minimum':-0.5,'exclusiveMaximum':0.25}", {"-0.5", "-0.49", "0", "0.2", "0.2499"},
            {"-0.51", "-1", "0.25", "0.250", "0.3", "1"});
        row("{'type':'number','minimum':3,'maximum':3}", {"3", "3.0"}, {"3.1", "2.9", "4"});
        row("{'type':'integer','multipleOf':5}", {"0", "5", "-5", "10", "123455"}, {"1", "-3", "12", "05", "-0", "51"});
        row("{'type':'integer','multipleOf':100,'minimum':100}", {"100", "2500"}, {"0", "10", "150", "-100"});
        row("{'type':'integer','multipleOf':15,'minimum':0,'maximum':1440}", {"0", "15", "705", "1440"},
            {"1", "20", "1455", "-15"});
        row("{'type':'integer','multipleOf':1.5,'minimum':1,'maximum':9}", {"3", "6", "9"}, {"0", "1", "4", "12"});
        row("{'type':'integer','multipleOf':0.5}", {"0", "1", "-7"}, {"1.5"});
        row("{'type':'number','multipleOf':0.01}", {"0", "19.99", "19.9", "12", "-0.5", "100.00"},
            {"0.001", "19.999", "1e2", "-0", ".5"});
        row("{'type':'number','multipleOf':0.5,'minimum':-1,'maximum':10}", {"-1", "-0.5", "0", "0.5", "7.5", "10.0"},
            {"0.25", "10.5", "-1.5", "0.1", "11"});
        row("{'multipleOf':0.25,'exclusiveMinimum':0}", {"0.25", "0.5", "0.50", "3", "1.75", "100.25"},
            {"0", "0.0", "0.2", "1.7", "-0.25"});
        // The ends of integers of 64 bits, and of doubles.
        row("{'type':'integer','minimum':-9223372036854775808,'maximum':9223372036854775807}",
            {"0", "-12", "9007199254740993"}, {"1.5"});
        row("{'type':'number','minimum':0,'maximum':1.7976931348623157e308}", {"0", "12.5"}, {"-1"});
        row("{'type':'number','maximum':1e300}", {"-3.5", "7"}, {"1e301"});
        // As pydantic writes a decimal that may be missing.
        row("{'anyOf':[{'type':'number'},{'pattern':'^(?!^[-+.]*$)[+-]?0*\\\\d*\\\\.?\\\\d*$','type':'string'},"
            "{'type':'null'}]}",
            {"12.5", "-3", "null"}, {"'12.5'", "'a'"});
        // As pydantic and zod write maps whose keys are an enum.
        row("{'type':'object','propertyNames':{'$ref':'#/$defs/c'},'additionalProperties':{'type':'integer'},"
            "'$defs':{'c':{'type':'string','enum':['red','blue']}}}",
            {"{}", "{'blue':1}", "{'red': 1, 'blue': 2}"}, {"{'green':1}", "{'red':'a'}"});
        row("{'propertyNames':{'type':'string','enum':['a','b']},'additionalProperties':{'type':'null'},"
            "'required':['a','b']}",
            {"{'a':null,'b':null}"}, {"{}", "{'a':null}", "{'a':null,'b':1}"});
        row("{'required':['x'],'additionalProperties':{'type':'null'}}", {"{'x':null}", "{'x':null,'y':null}"},
            {"{}", "{'x':1}"});
        row("{'propertyNames':{'type':'string'},'additionalProperties':{'type':'null'}}", {"{}", "{'a':null}"},
            {"{'a':1}"});
        row("{'propertyNames':true,'required':['a']}", {"{'a':1}"}, {"{}"});
        row("{'pattern':'^[A-Z]{2}-\\\\d+(a|b)?$'}", {"'AB-1'", "'XY-123b'"}, {"'AB-'", "'ab-1'", "'AB-1c'"});
        row("{'pattern':'b.d'}", {"'bad'", "'xbodx'"}, {"'bd'", "''"});
        row("{'pattern':'^\\'\\\\\\\\[^a]\\\\w$'}", {"'\\'\\\\b_'"}, {"'\\'\\\\a_'", "'\\\\b_'"});
        row("{'pattern':'^[ -~]{2}$'}", {"'ab'", "'\\'\\\\'"}, {"'\\'", "'a'b'", "'\\a'", "'\\\\\\\\\\\\'"});
        row("{'pattern':'^[A-z]$'}", {"'a'", "'^'", "'\\\\'"}, {"'\\'", "'\\n'", "'!'"});
        row("{'pattern':'^[\\'\\\\\\\\]$'}", {"'\\''", "'\\\\'"}, {"'a'", "'\\n'"});
        row("{'pattern':'^[à-ü€\\'-]+$'}", {"'éü€-'", "'\\'é'"}, {"'a'", "''", "'é'é'"});
        row("{'pattern':'^[+-\\\\d]$'}", {"'+'", "'-'", "'5'"}, {"','", "'.'"});
        row("{'pattern':'^[\\\\w-.][^a-y]$'}", {"'_z'", "'-ä'", "'..'"}, {"',z'", "'ab'", "'a''"});
        row("{'format':'date'}", {"'2026-11-26'"}, {"'2026-13-26'", "'26-11-26'"});
        row("{'format':'date-time'}", {"'2026-11-26T14:20:00Z'", "'2026-11-26T14:20:00.5+01:00'"}, {"'2026-11-26'"});
        row("{'format':'time'}", {"'23:59:59Z'"}, {"'24:00:00Z'", "'12:00'"});
        row("{'format':'uuid'}", {"'123e4567-e89b-12d3-a456-426614174000'"}, {"'123e4567'"});
        row("{'format':'uuid','minLength':36,'maxLength':40}", {"'123e4567-e89b-12d3-a456-426614174000'"}, {"'1'"});
        row("{'format':'email','maxLength':254}", {"'a@b.co'", "'first.last+tag@mail.example.com'"},
            {"'a'", "'a@b'", "'@b.co'", "'a..b@c.de'", "'.a@b.co'", "'a@b..co'", "'a@-b.co'", "'a b@c.de'"});
        row("{'format':'hostname'}", {"'localhost'", "'a-1.example.com'", "'db.abc.eu-west-1.rds.example.com'"},
            {"''", "'-a'", "'a-'", "'a..b'", "'a_b'"});
        row("{'format':'ipv4'}", {"'127.0.0.1'", "'255.255.255.255'"}, {"'256.0.0.1'", "'1.2.3'", "'01.2.3.4'"});
        row("{'format':'ipv6'}",
            {"'::'", "'::1'", "'2001:db8::8a2e:370:7334'", "'1:2:3:4:5:6:7:8'", "'1::2:3:4:5:6:7'", "'1:2:3:4:5:6:7::'",
             "'fe80::'"},
            {"'1'", "':1'", "'1:2:3:4:5:6:7'", "'1::2::3'", "'::2:3:4:5:6:7:8:9'", "'12345::'", "'g::'"});
        // As zod writes an address and an id, pydantic a place of the web.
        row("{'format':'email','pattern':'^(?!\\\\.)(?!.*\\\\.\\\\.)([A-Za-z0-9_+.-]*)[A-Za-z0-9_+-]@"
            "([A-Za-z0-9][A-Za-z0-9-]*\\\\.)+[A-Za-z]{2,}$','maxLength':254}",
            {"'a@b.co'"}, {"'a'", "'a..b@c.de'"});
        row("{'format':'uuid','pattern':'^([0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|"
            "00000000-0000-0000-0000-000000000000)$'}",
            {"'123e4567-e89b-12d3-a456-426614174000'", "'00000000-0000-0000-0000-000000000000'"},
            {"'123e4567-e89b-02d3-a456-426614174000'", "'a'"});
        row("{'format':'uri','minLength':1,'maxLength':2083}", {"'https://example.com/a?b=%20c#d'", "'mailto:a@b.co'"},
            {"'example.com'", "'http://a b'"});
        row("{'format':'duration'}", {"'P3D'", "'PT1H30M'", "'P1Y2M3DT4H5M6S'", "'P2W'", "'PT30S'", "'P1M'"},
            {"'P'", "'PT'", "'P1DT'", "'1D'", "'P1Y3D'", "'PT1H6S'", "'P1W1D'"});
        row("{'format':'uri'}",
            {"'https://example.com'", "'http://localhost:8080/a/b%20c?x=1&y=/?#top'", "'mailto:a@b.co'",
             "'urn:isbn:0451450523'", "'https://example.com/'", "'https://a.s3.eu-west-1.example.com?b'"},
            {"'example.com'", "'https://'", "'http://a b'", "'http://a/%2'", "'://a'", "'http://a/<b>'", "'a:'"});
        row("{'anyOf':[{'type':'null'},{'properties':{'a':{'type':'null'}},'required':['a']}]}", {"null", "{'a':null}"},
            {"{}", "1"});
        row("{'type':'object','properties':{'a':{'type':'null'}},'oneOf':[{'required':['a']},"
            "{'properties':{'b':{'type':'null'}},'required':['b']}]}",
            {"{'a':null}", "{'b':null}", "{'a':null,'b':null}"}, {"{}"});
        row("{'allOf':[{'properties':{'a':{'type':'integer'}},'required':['a']},{'$ref':'#/$defs/b'}],"
            "'$defs':{'b':{'properties':{'a':{'minimum':5},'b':{'type':'null'}}}}}",
            {"{'a':5}", "{'a':7,'b':null}"}, {"{'a':4}", "{'b':null}"});
        row("{'$defs':{'n/o~d':{'type':'object','properties':{'v':{'type':'integer'},'next':{'$ref':'#/$defs/n~1o~0d',"
            "'description':'the rest'}},'required':['v']}},'$ref':'#/$defs/n~1o~0d'}",
            {"{'v':1}", "{'v':1,'next':{'v':2,'next':{'v':3}}}"}, {"{'next':{}}", "{'v':1,'next':1}"});
        row("{'type':'array','items':{'$ref':'#'}}", {"[]", "[[],[[]]]"}, {"[1]"});
        row("{'definitions':{'a':{'type':'null'}},'properties':{'a':{'allOf':[{'$ref':'#/definitions/"
            "a'}],'default':1}}}",
            {"{'a':null}", "{}"}, {"{'a':1}"});
    }

    void takesWhatFits()
    {
        QFETCH(QByteArray, schema);
        QFETCH(QByteArrayList, taken);
        QFETCH(QByteArrayList, refused);
        const auto gbnf = engine::gbnf_of_json_schema(json(schema));
        QVERIFY2(gbnf, gbnf ? "" : gbnf.error().what.c_str());
        const auto grammar = Grammar::parse(*gbnf);
        QVERIFY2(grammar, gbnf->c_str());
        GrammarStates states(*grammar);
        for (const QByteArray& text : taken)
            QVERIFY2(states.may_end(states.after(states.start(), json(text))), text + "\n" + gbnf->c_str());
        for (const QByteArray& text : refused)
            QVERIFY2(!states.may_end(states.after(states.start(), json(text))), text + "\n" + gbnf->c_str());
    }

    // A lenient reader keeps to the parts of a schema that a grammar can express, and leaves out the others.
    void lessIsHeldToWhereItMayBe_data()
    {
        QTest::addColumn<QByteArray>("schema");
        QTest::addColumn<QByteArray>("taken");
        QTest::addColumn<QByteArray>("refused");
        const auto row = [](const char* name, const char* schema, const char* taken, const char* refused) {
            QTest::newRow(name) << QByteArray(schema) << QByteArray(taken) << QByteArray(refused);
        };
        row("a format that is not known", "{'format':'iri'}", "'é'", "1");
        row("with a length", "{'format':'iri','maxLength':4}", "'é'", "'abcde'");
        row("a format and a length", "{'format':'date','maxLength':9}", "'2026-11-26'", "'2026'");
        row("a pattern and a format", "{'format':'date','pattern':'^2026-'}", "'2026-'", "'2025-11-26'");
        row("a pattern and a length", "{'maxLength':2,'pattern':'^(?!x)'}", "'ab'", "'abc'");
        // As pydantic writes a set, and Home Assistant a choice of several.
        row("items that differ", "{'items':{'enum':['a','b']},'uniqueItems':true}", "['a','a']", "['c']");
        row("multiples without end", "{'type':'integer','multipleOf':7,'minimum':1}", "8", "0");
        row("multiples of next to nothing", "{'type':'number','multipleOf':1e-8}", "0.00000001", "'0'");
        row("integers of them", "{'type':'integer','multipleOf':1e-8,'minimum':1}", "8", "0");
        row("multiples of what is far away", "{'type':'number','multipleOf':1e16}", "1e17", "'0'");
        row("names", "{'propertyNames':{'pattern':'^a'},'additionalProperties':{'type':'null'}}", "{'b':null}",
            "{'b':1}");
        row("how many members", "{'minProperties':1,'additionalProperties':{'type':'null'}}", "{}", "{'a':1}");
    }

    void lessIsHeldToWhereItMayBe()
    {
        QFETCH(QByteArray, schema);
        QFETCH(QByteArray, taken);
        QFETCH(QByteArray, refused);
        QVERIFY(!engine::gbnf_of_json_schema(json(schema)));
        const auto gbnf = engine::gbnf_of_json_schema(json(schema), engine::SchemaRigour::Lenient);
        QVERIFY2(gbnf, gbnf ? "" : gbnf.error().what.c_str());
        const auto grammar = Grammar::parse(*gbnf);
        QVERIFY2(grammar, gbnf->c_str());
        GrammarStates states(*grammar);
        QVERIFY2(states.may_end(states.after(states.start(), json(taken))), gbnf->c_str());
        QVERIFY2(!states.may_end(states.after(states.start(), json(refused))), gbnf->c_str());
    }

    // An address with a signature may be longer than its schema says. Only a strict reader cuts it off there.
    void addressesMayBeLong()
    {
        const auto takes = [](engine::SchemaRigour rigour, int letters) {
            const auto gbnf = engine::gbnf_of_json_schema(json("{'format':'uri','maxLength':2083}"), rigour);
            const auto grammar = Grammar::parse(gbnf.value_or(std::string()));
            if (!grammar)
                return false;
            GrammarStates states(*grammar);
            const std::string address = "\"https://example.com/" + repeated("a", letters) + '"';
            return states.may_end(states.after(states.start(), address));
        };
        QVERIFY(takes(engine::SchemaRigour::Strict, 500));
        QVERIFY(!takes(engine::SchemaRigour::Strict, 2100));
        QVERIFY(takes(engine::SchemaRigour::Lenient, 2100));
    }

    void whatCannotBeHeldToIsSaidAllTheSame()
    {
        for (const char* schema : {"{'pattern':'^(?!x)'}", "{'pattern':'^(?!x)','format':'iri'}", "{'not':{}}",
                                   "{'type':'integer','minimum':0.5}", "{'multipleOf':0}", "{'multipleOf':-1e-8}",
                                   "{'type':'number','multipleOf':'1'}"})
            QVERIFY(!engine::gbnf_of_json_schema(json(schema), engine::SchemaRigour::Lenient));
    }

    void saysWhatIsNotSupported_data()
    {
        QTest::addColumn<QByteArray>("schema");
        QTest::addColumn<QByteArray>("sentence");
        const auto row = [](const QByteArray& schema, const char* sentence) {
            QTest::addRow("%s", schema.left(60).constData()) << schema << QByteArray(sentence);
        };
        row("{'type':", "the schema is no JSON");
        row("[]", "a schema must be an object");
        row("false", "the schema asks for 'false', which no value is");
        row("{'type':'thing'}", "the schema has the type 'thing', which there is not");
        row("{'type':''}", "the schema has the type '', which there is not");
        row("{'type':3}", "the schema has a 'type' that is neither a name nor a list of names");
        row("{'not':{}}", "the schema's 'not' is not supported");
        row("{'properties':{'a':{'patternProperties':{}}}}", "the schema's 'patternProperties' is not supported");
        row("{'type':'array','uniqueItems':true}", "the schema's 'uniqueItems' is not supported");
        row("{'type':'integer','minimum':0.5}", "the schema's 'minimum' must be a whole number below 2^53");
        row("{'type':'integer','maximum':9007199254740992}", "the schema's 'maximum' must be a whole number below");
        row("{'type':'integer','maximum':'9'}", "the schema's 'maximum' must be a whole number below 2^53");
        row("{'type':'number','minimum':0.0000001}", "the schema's 'minimum' must be a number of at most 15 digits");
        row("{'type':'number','exclusiveMinimum':true}", "the schema's 'exclusiveMinimum' must be a number");
        row("{'type':'number','maximum':1e16}", "the schema's 'maximum' must be a number of at most 15 digits");
        row("{'type':'number','minimum':0.5,'maximum':9e15}", "each bound of a number in the schema must be a number");
        row("{'type':'number','minimum':1,'exclusiveMaximum':1}",
            "no number lies between the schema's 'minimum' and 'maximum'");
        row("{'type':'integer','minimum':1e20}", "the schema's 'minimum' must be a whole number below 2^53");
        row("{'multipleOf':0}", "the schema's 'multipleOf' must be a number above zero");
        row("{'multipleOf':0.0000001}", "the schema's 'multipleOf' must be a number above zero with at most 6 digits");
        row("{'type':'integer','multipleOf':7}", "the schema's 'multipleOf' is only supported where at most 1000");
        row("{'type':'integer','multipleOf':5,'minimum':1,'maximum':4}",
            "no multiple of the schema's 'multipleOf' lies between its bounds");
        row("{'propertyNames':{'pattern':'^a'}}", "the schema's 'propertyNames' is not supported");
        row("{'format':'date','maxLength':9}", "the schema's 'pattern', 'format' and bounds of length are not");
        row("{'format':'uuid','pattern':'^a'}", "the schema's 'pattern', 'format' and bounds of length are not");
        row("{'type':'integer','minimum':3,'maximum':2}",
            "no integer lies between the schema's 'minimum' and 'maximum'");
        row("{'type':'string','format':'iri'}", "the schema's format 'iri' is not supported");
        row("{'format':'iri','pattern':'^(?!x)a$'}", "the schema's pattern '^(?!x)a$' has a group of the kind '(?'");
        row("{'format':'uuid','pattern':'^a$','maxLength':3}",
            "the schema's 'pattern', 'format' and bounds of length are not");
        row("{'format':'uri','maxLength':255}", "the schema's 'pattern', 'format' and bounds of length are not");
        row("{'type':'string','maxLength':100000}", "the schema's 'maxLength' must be a number from 0 to 4096");
        row("{'type':'string','minLength':3,'maxLength':2}", "the schema's 'maxLength' is less than its 'minLength'");
        row("{'type':'array','maxItems':-1}", "the schema's 'maxItems' must be a number from 0 to 4096");
        row("{'pattern':'(?=a)'}", "the schema's pattern '(?=a)' has a group of the kind '(?', which is not supported");
        row("{'pattern':'a\\\\b'}", "the schema's pattern 'a\\b' has the escape '\\b', which is not supported");
        row("{'pattern':'(a'}", "the schema's pattern '(a' has a group without ')', which is not supported");
        row("{'pattern':'a)'}", "the schema's pattern 'a)' has a ')' too many, which is not supported");
        row("{'pattern':'[z-a]'}", "the schema's pattern '[z-a]' has a range of characters that runs backwards");
        row("{'pattern':'[a-'}", "the schema's pattern '[a-' has a class without ']'");
        row("{'enum':[]}", "the schema has an 'enum' that is no list of values");
        row("{'anyOf':{}}", "the schema has an 'anyOf' that is no list of schemas");
        row("{'allOf':[{'type':'null'},{'type':'string'}]}",
            "the schema asks for two different things with 'type' at once");
        row("{'$ref':'http://localhost/a'}", "the schema's '$ref' to 'http://localhost/a' leads out of it");
        row("{'$ref':'#/$defs/a'}", "the schema's '$ref' to '#/$defs/a' leads to nothing");
        row("{'$ref':'#'}", "the schema asks for what cannot be written: line 1 of the grammar: no text that follows "
                            "the rule 'ref-1' has an end");
        row("{'allOf':[{'$ref':'#/$defs/a'},{'minimum':1}],'$defs':{'a':{'$ref':'#/$defs/a'}}}",
            "the schema's '$ref' to '#/$defs/a' leads back to itself");
        row("{'properties':{'a':{'$ref':'#'}},'required':['a']}", "the schema asks for what cannot be written");
        row(QByteArray::fromStdString(repeated("{'items':", 150) + "{}" + repeated("}", 150)),
            "the schema is nested too deeply");
        row(QByteArray::fromStdString(repeated("{'items':", 100000)), "the schema is nested too deeply");
        const std::string letters = repeated("a", 100'000);
        row(QByteArray::fromStdString("{'type':[" + repeated("'string',", 50) + "'null'],'pattern':'" + letters + "'}"),
            "the schema has a 'type' that names 'string' twice");
        const std::string values = "'$defs':{'e':{'enum':['" + letters + "']}}";
        row(QByteArray::fromStdString("{'anyOf':[" + repeated("{'allOf':[{'$ref':'#/$defs/e'},{}]},", 50) + "{}]," +
                                      values + "}"),
            "the schema is too large");
        row(QByteArray::fromStdString("{'prefixItems':[" + repeated("{'$ref':'#/$defs/e','a':1},", 50) + "{}]," +
                                      values + "}"),
            "the schema is too large");
        row(QByteArray::fromStdString("{'pattern':'" + letters + letters + letters + "'}"), "the schema is too large");
        std::string long_names = "{'additionalProperties':{},'required':['x'";
        for (char first = 'a'; first <= 'w'; ++first)
            long_names += ",'" + std::string(1, first) + repeated("y", 199) + "'";
        row(QByteArray::fromStdString(long_names + "]}"), "the schema is too large");
        // Each level has both of the next one's choices twice: 2^16 of them.
        std::string wide = "{'$defs':{";
        for (int i = 0; i < 16; ++i) {
            const std::string next = "{'allOf':[{'$ref':'#/$defs/d" + std::to_string(i + 1) + "'},{'minimum':1}]}";
            wide += "'d" + std::to_string(i) + "':{'anyOf':[" + next + "," + next + "]},";
        }
        row(QByteArray::fromStdString(wide + "'d16':{'type':'integer'}},'$ref':'#/$defs/d0'}"),
            "the schema is too large");
        // Texts that may be left out beside a number are counted like others, wherever the number stands.
        const std::string texts = repeated("{'type':'string','pattern':'(?=a)'},", 25'000);
        row(QByteArray::fromStdString("{'anyOf':[{'type':'number'}," + texts + "{'type':'null'}]}"),
            "the schema is too large");
        row(QByteArray::fromStdString("{'anyOf':[" + texts + "{'type':'number'}]}"), "the schema is too large");
        // What stands beside is copied for each choice, and what is referred to for each reference.
        std::string words = "{'anyOf':[" + repeated("{},", 10'000) + "{}]";
        for (int i = 0; i < 8'000; ++i)
            words += ",'x" + std::to_string(i) + "':1";
        row(QByteArray::fromStdString(words + "}"), "the schema is too large");
        row(QByteArray::fromStdString("{'allOf':[" + repeated("{'$ref':'#/d'},", 40'000) + "{}],'d':{'x':[" +
                                      repeated("1,", 150'000) + "1]}}"),
            "the schema is too large");
        std::string parts = "{'allOf':[{}";
        for (int i = 0; i < 40'000; ++i)
            parts += ",{'x" + std::to_string(i) + "':1}";
        row(QByteArray::fromStdString(parts + "]}"), "the schema is too large");
        std::string up, down;
        for (int i = 0; i < 70'000; ++i) {
            up += "," + std::to_string(i);
            down += "," + std::to_string(200'000 - i);
        }
        row(QByteArray::fromStdString("{'allOf':[{'enum':[-1" + up + "]},{'enum':[-2" + down + "]}]}"),
            "the schema asks for two different things with 'enum' at once");
    }

    void saysWhatIsNotSupported()
    {
        QFETCH(QByteArray, schema);
        QFETCH(QByteArray, sentence);
        const auto gbnf = engine::gbnf_of_json_schema(json(schema));
        QVERIFY(!gbnf);
        QVERIFY2(QByteArray::fromStdString(gbnf.error().what).startsWith(sentence), gbnf.error().what.c_str());
        QCOMPARE(int(gbnf.error().code), int(engine::Error::Code::BadRequest));
    }

    // Written as short as they may be.
    void ofNumbersTheMultiplesAreTaken()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        const auto text = [](int number, int places) {
            std::string digits = std::to_string(std::abs(number));
            digits.insert(0, std::size_t(std::max(places + 1 - int(digits.size()), 0)), '0');
            digits.insert(digits.size() - std::size_t(places), ".");
            digits.erase(digits.find_last_not_of('0') + 1);
            if (digits.ends_with('.'))
                digits.pop_back();
            return (number < 0 ? "-" : "") + digits;
        };
        for (int i = 0; i < 40; ++i) {
            constexpr int kSteps[] = {1, 2, 3, 4, 5, 7, 8, 10, 12, 15, 25, 40, 50, 100, 125};
            const int step = kSteps[random() % std::size(kSteps)], places = int(random() % 3);
            const int least = int(random() % 3000) - 1500, most = least + int(random() % 800);
            const double unit = std::pow(10, places);
            const Json schema = {{"type", places == 0 ? "integer" : "number"},
                                 {"minimum", least / unit},
                                 {"maximum", most / unit},
                                 {"multipleOf", step / unit}};
            const auto gbnf = engine::gbnf_of_json_schema(schema.dump());
            int taken = 0;
            std::optional<Grammar> grammar;
            if (gbnf)
                grammar = *Grammar::parse(*gbnf);
            std::optional<GrammarStates> states;
            if (grammar)
                states.emplace(*grammar);
            for (int number = least - 20; number <= most + 20; ++number) {
                const bool fits = number >= least && number <= most && number % step == 0;
                const bool is_taken = states && states->may_end(states->after(states->start(), text(number, places)));
                QVERIFY2(is_taken == fits, (schema.dump() + " " + text(number, places)).c_str());
                taken += is_taken ? 1 : 0;
            }
            QCOMPARE(taken > 0, gbnf.has_value());
        }
    }

    void letsThroughOnlyWhatFits()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        int texts = 0;
        for (int i = 0; i < 150; ++i) {
            const Json schema = random_schema(random, 3);
            const auto gbnf = engine::gbnf_of_json_schema(schema.dump());
            QVERIFY2(gbnf, (schema.dump() + (gbnf ? "" : gbnf.error().what)).c_str());
            const auto grammar = Grammar::parse(*gbnf);
            QVERIFY(grammar);
            GrammarStates states(*grammar);
            for (int j = 0; j < 6; ++j) {
                const auto text = text_of(states, random);
                if (!text)
                    continue;
                ++texts;
                const Json value = Json::parse(*text, nullptr, false);
                QVERIFY2(!value.is_discarded(), text->c_str());
                QVERIFY2(fits(schema, value), (schema.dump() + "\n" + *text).c_str());
            }
        }
        qInfo("%d texts", texts);
        QVERIFY(texts > 300);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestJsonSchema)
#include "tst_json_schema.moc"
