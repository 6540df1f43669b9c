// Tests that the fields of a request's JSON are read with their types and bounds, and that a wrong one is named.
#include "app/server/fields.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <limits>

using server::Fields;
using server::Json;
using server::parse_body;
using server::Refusal;

namespace {

/// An object of this many.
QByteArray members(int count)
{
    QByteArray text = "{";
    for (int i = 0; i < count; ++i)
        text += (i > 0 ? ",\"" : "\"") + QByteArray::number(i) + "\":1";
    return text + '}';
}

}  // namespace

class TestFields : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void badBodiesGetASentence_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("half") << QByteArray(R"({"a": )");
        QTest::newRow("more") << QByteArray("{} {}");
        QTest::newRow("an array") << QByteArray("[]");
        QTest::newRow("a number") << QByteArray("1");
        QTest::newRow("no UTF-8") << QByteArray("{\"a\": \"\xff\"}");
        QTest::newRow("a NUL") << QByteArray("{\"a\": \"\0\"}", 10);
        QTest::newRow("65 deep") << "{\"a\": " + QByteArray(64, '[') + QByteArray(64, ']') + '}';
        QTest::newRow("a million deep") << QByteArray(1'000'000, '[');
        QTest::newRow("an object of 100,000 members") << members(100'000);
        QTest::newRow("many objects of 6000 members")
            << R"({"a": [)" + (members(6000) + ',').repeated(20) + members(6000) + "]}";
        QTest::newRow("a comment") << QByteArray("{} // x");
        QTest::newRow("not a number") << QByteArray(R"({"a": NaN})");
    }

    void badBodiesGetASentence()
    {
        QFETCH(QByteArray, text);
        const auto body = parse_body(std::string_view(text.data(), std::size_t(text.size())));
        QVERIFY(!body);
        QVERIFY(body.error().kind == Refusal::Kind::BadRequest);
        QVERIFY(!body.error().sentence.empty());
    }

    void bracketsInTextsAreNotDeep()
    {
        QVERIFY(parse_body("{\"a\": \"\\\"" + std::string(1000, '[') + "\"}"));
        QVERIFY(parse_body("{\"a\": " + std::string(63, '[') + std::string(63, ']') + "}"));
    }

    void manyMembersAreTaken()
    {
        QVERIFY(parse_body(members(5000).toStdString()));
        const QByteArray many = R"({"a": [)" + (members(20) + ',').repeated(20'000) + "{}]}";
        QVERIFY(parse_body(many.toStdString()));
        QVERIFY(parse_body("{\"a\": \"" + std::string(1'000'000, ':') + "\"}"));
    }

    void aWrongTypeIsNamed()
    {
        const Json body = {{"text", 1},
                           {"flag", "yes"},
                           {"number", "1"},
                           {"low", -1},
                           {"high", 5},
                           {"half", 1.5},
                           {"huge", 1e300},
                           {"texts", {"a", 1}},
                           {"array", Json::object()},
                           {"object", Json::array()}};
        const auto refused = [&](const char* name, auto take) {
            Fields fields(body);
            take(fields);
            return fields.refusal() && fields.refusal()->field == name &&
                   fields.refusal()->sentence.find(name) != std::string::npos;
        };
        QVERIFY(refused("text", [](Fields& f) { f.text("text"); }));
        QVERIFY(refused("flag", [](Fields& f) { f.flag("flag"); }));
        QVERIFY(refused("number", [](Fields& f) { f.number("number", 0, 2); }));
        QVERIFY(refused("low", [](Fields& f) { f.number("low", 0, 2); }));
        QVERIFY(refused("high", [](Fields& f) { f.number("high", 0, 2); }));
        QVERIFY(refused("half", [](Fields& f) { f.integer("half", 0, 2); }));
        const auto most = std::numeric_limits<std::int64_t>::max();
        QVERIFY(refused("huge", [=](Fields& f) { f.integer("huge", -most, most); }));
        QVERIFY(refused("texts", [](Fields& f) { f.texts("texts"); }));
        QVERIFY(refused("array", [](Fields& f) { f.array("array"); }));
        QVERIFY(refused("object", [](Fields& f) { f.object("object"); }));
    }

    void whatIsThereIsTaken()
    {
        const Json body = {{"text", "a"},     {"flag", true}, {"number", 1.5},    {"whole", 3.0},
                           {"none", nullptr}, {"one", "x"},   {"two", {"x", "y"}}};
        Fields fields(body);
        QCOMPARE(fields.text("text").value(), std::string("a"));
        QCOMPARE(fields.flag("flag").value(), true);
        QCOMPARE(fields.number("number", 0, 2).value(), 1.5);
        QCOMPARE(fields.integer("whole", 0, 5).value(), 3);
        QVERIFY(!fields.text("none") && !fields.text("absent"));
        QCOMPARE(fields.texts("one").size(), std::size_t(1));
        QCOMPARE(fields.texts("two").size(), std::size_t(2));
        QVERIFY(!fields.refusal());
    }

    void whatIsNotSupportedIsNamed()
    {
        const Json body = {{"idle", 1}, {"none", nullptr}, {"empty", Json::object()}, {"wanted", 2}};
        Fields fields(body);
        for (const char* name : {"idle", "none", "empty", "absent"})
            fields.not_supported(name, 1);
        QVERIFY(!fields.refusal());
        fields.not_supported("wanted", 1);
        QVERIFY(fields.refusal()->kind == Refusal::Kind::NotSupported);
        QCOMPARE(fields.refusal()->field, std::string("wanted"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestFields)
#include "tst_fields.moc"
