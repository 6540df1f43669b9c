// What a request says of its tools, well-formed or not.
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
};

SPILLWAY_TEST(QCoreApplication, TestOfferedTools)
#include "tst_offered_tools.moc"
