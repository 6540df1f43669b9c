// Tests that the tools of a request and the types of their arguments are found, whether or not the request is
// well-formed.
#include "app/server/offered_tools.h"
#include "tests/support/test_program.h"

#include <QtTest>

using server::Json;

class TestOfferedTools : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findsToolsAmongWhateverIsThere()
    {
        const Json tools = Json::parse(R"([5, null, {"function": "now"}, {"function": {"name": 5}}, {"function": {}},
                                           {"function": {"name": "now"}}, {"function": {"name": "nowhere"}}])");
        QCOMPARE(server::offered_tool(tools, "now"), &tools[5]);
        QVERIFY(!server::offered_tool(tools, "no"));
        QVERIFY(server::begins_offered_tool(tools, "no"));
        QVERIFY(server::begins_offered_tool(tools, "nowh"));
        QVERIFY(!server::begins_offered_tool(tools, "nowx"));
        QVERIFY(!server::offered_tool(Json(), "now"));
        QVERIFY(!server::begins_offered_tool(Json(), "now"));
    }

    void saysOfWhatTypeAnArgumentIs()
    {
        const Json tools = Json::parse(R"([
            {"function": {"name": "a", "parameters": {"properties": {"x": {"type": "integer"}, "y": {"type": ["string", "null"]},
                                                                    "z": {}, "w": 5}}}},
            {"function": {"name": "b", "parameters": {"properties": 5}}}, {"function": {"name": "c"}}])");
        QVERIFY(server::type_of_argument(tools, "a", "x") == "integer");
        QVERIFY(server::type_of_argument(tools, "a", "y") == Json({"string", "null"}));
        for (const auto& [name, key] :
             {std::pair("a", "z"), {"a", "w"}, {"a", "v"}, {"b", "x"}, {"c", "x"}, {"d", "x"}})
            QVERIFY2(server::type_of_argument(tools, name, key).is_null(), key);
    }

    // As Pydantic, zod and others write what may be left out.
    void findsTypesInChoicesAndReferences_data()
    {
        QTest::addColumn<QByteArray>("schema");
        QTest::addColumn<QByteArray>("types");
        const auto row = [](const char* schema, const char* types) {
            // moc takes a '#' in a raw string for the beginning of a line of its own.
            QTest::newRow(schema) << QByteArray(schema).replace('@', '#') << QByteArray(types);
        };
        row(R"({"anyOf": [{"type": "string"}, {"type": "null"}]})", R"(["string","null"])");
        row(R"({"oneOf": [{"type": "string"}, {"type": ["string", "integer"]}]})", R"(["string","integer"])");
        row(R"({"allOf": [{"description": "x"}, {"$ref": "@/$defs/Name"}]})", R"(["string"])");
        row(R"({"$ref": "@/definitions/Old"})", R"("boolean")");
        row(R"({"enum": ["a", "b", null]})", R"(["string","null"])");
        row(R"({"const": 5})", R"("number")");
        row(R"({"anyOf": [{"type": "string"}, {}]})", "null");
        row(R"({"anyOf": [{"type": "string"}, true]})", "null");
        row(R"({"type": ["string", "words"]})", "null");
        row(R"({"type": 5})", "null");
        row(R"({"$ref": "@/$defs/Nobody"})", "null");
        row(R"({"$ref": "elsewhere"})", "null");
        row(R"({"$ref": 5})", "null");
        row(R"({"$ref": "@/$defs/Itself"})", "null");
        row(R"({"anyOf": []})", "null");
    }

    void findsTypesInChoicesAndReferences()
    {
        QFETCH(QByteArray, schema);
        QFETCH(QByteArray, types);
        Json parameters = Json::parse(R"({"definitions": {"Old": {"type": "boolean"}}})");
        parameters["properties"]["x"] = Json::parse(schema.toStdString());
        parameters["$defs"]["Name"] = {{"type", "string"}};
        const Json itself = {{"$ref", "#/$defs/Itself"}};
        parameters["$defs"]["Itself"]["anyOf"] = Json::array({itself, itself});
        const Json tools = Json::array({{{"function", {{"name", "f"}, {"parameters", parameters}}}}});
        QCOMPARE(QByteArray::fromStdString(server::type_of_argument(tools, "f", "x").dump()), types);
    }
};

SPILLWAY_TEST(QCoreApplication, TestOfferedTools)
#include "tst_offered_tools.moc"
