// Tests that members of JSON objects are found as they come: where each begins and ends, from every beginning of the
// text.
#include "app/server/json_members.h"
#include "tests/support/test_program.h"

#include <QtTest>

using server::JsonMembers;

namespace {

/// KEY=VALUE for each member, "..." behind the value that is not whole; then END:BYTES, "not yet" or "broken".
QByteArray members_of(const std::string& text)
{
    QByteArray all;
    for (JsonMembers members(text);;) {
        switch (members.next()) {
        case JsonMembers::Next::NotYet:
            return all + "not yet";
        case JsonMembers::Next::Broken:
            return all + "broken";
        case JsonMembers::Next::End:
            return all + "END:" + QByteArray::number(qulonglong(members.bytes_read()));
        case JsonMembers::Next::Member:
            all += QByteArray(members.key().data(), qsizetype(members.key().size())) + "=";
            all += QByteArray(members.value().data(), qsizetype(members.value().size()));
            if (!members.value_is_whole())
                return all + "...";
            all += " ";
        }
    }
}

}  // namespace

class TestJsonMembers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void takesOneAfterAnother_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("members");
        const auto row = [](const char* name, QByteArray text, QByteArray members) {
            QTest::newRow(name) << text.replace('\'', '"') << members.replace('\'', '"');
        };
        row("none", "{ }", "END:3");
        row("of each kind", "{'a': 'x', 'b':[1,']'] ,'c' : {'d':{}}, 'e':-1.5e3, 'f':null} g",
            "a='x' b=[1,']'] c={'d':{}} e=-1.5e3 f=null END:61");
        row("quotes in texts", "{'a\\'': 'x\\\\\\'}'}", "a\\'='x\\\\\\'}' END:17");
        row("a text is cut off", "{'a': 'x", "a='x...");
        row("an object is cut off", "{'a': {'b': 1", "a={'b': 1...");
        row("a number may go on", "{'a': 12", "a=12...");
        row("a key is cut off", "{'a': 1, 'b", "a=1 not yet");
        row("no value yet", "{'a' : ", "not yet");
        row("no colon", "{'a' 1}", "broken");
        row("no comma", "{'a': 1 'b': 2}", "a=1 broken");
        row("no value", "{'a': }", "broken");
        row("a key without quotes", "{a: 1}", "broken");
    }

    void takesOneAfterAnother()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, members);
        QCOMPARE(members_of(text.toStdString()), members);
    }

    void knowsHowLongAnObjectIs()
    {
        QCOMPARE(server::json_bytes("{} x"), std::optional<std::size_t>(2));
        QCOMPARE(server::json_bytes("[{\"a\": \"]}\"}, []]]"), std::optional<std::size_t>(17));
        QVERIFY(!server::json_bytes("{\"a\": {}"));
        QVERIFY(!server::json_bytes("{\"a}"));
    }

    void knowsWhetherAnObjectBegins()
    {
        QCOMPARE(server::begins_json_object("{ \"a"), std::optional(true));
        QCOMPARE(server::begins_json_object("{}"), std::optional(true));
        QCOMPARE(server::begins_json_object("{ a"), std::optional(false));
        QCOMPARE(server::begins_json_object("[]"), std::optional(false));
        QVERIFY(!server::begins_json_object("{ \n").has_value());
        QVERIFY(!server::begins_json_object("").has_value());
    }
};

SPILLWAY_TEST(QCoreApplication, TestJsonMembers)
#include "tst_json_members.moc"
