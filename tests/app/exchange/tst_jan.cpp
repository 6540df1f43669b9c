// Tests that Jan's conversations are read from their two files, from either file alone, and past damaged lines.
#include "tests/app/exchange/imported_case.h"
#include "tests/support/test_program.h"

namespace {

QByteArray line(const QByteArray& role, const QByteArray& text)
{
    return R"({"object":"thread.message","thread_id":"x","role":")" + role +
           R"(","content":[{"type":"text","text":{"value":")" + text + "\"}}]}\n";
}

/// One of a thread with versions: `parent` and `active` are JSON; without the latter the newest is shown.
QByteArray versionLine(const QByteArray& id, const QByteArray& role, const QByteArray& parts, const QByteArray& parent,
                       const QByteArray& active = {})
{
    return R"({"object":"thread.message","id":")" + id + R"(","role":")" + role + R"(","content":[)" + parts +
           R"(],"metadata":{"parentId":)" + parent +
           (active.isEmpty() ? QByteArray() : R"(,"activeChildId":)" + active) + "}}\n";
}

QByteArray part(const QByteArray& type, const QByteArray& text)
{
    return R"({"type":")" + type + R"(","text":{"value":")" + text + "\"}}";
}

}  // namespace

class TestJan : public test_support::ImportedCase
{
    Q_OBJECT

private Q_SLOTS:
    void eitherFileWillDo_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("messages") << "jan/messages.jsonl";
        QTest::newRow("thread") << "jan/thread.json";
    }
    void eitherFileWillDo()
    {
        QFETCH(QString, name);
        const Imported all = fromData(name);
        QCOMPARE(all.error, "");
        QCOMPARE(all.leftOut, 2);  // a picture and a cut line
        const StoredConversation& one = all.conversations.value(0);
        QCOMPARE(one.header.title, "Bread");
        QCOMPARE(one.header.settings.systemPrompt, "You bake.");
        QCOMPARE(one.header.createdMs, 1'757'000'000'000);
        QCOMPARE(one.header.changedMs, 1'757'000'300'500);
        QCOMPARE(outline(one), "0<- user: How long?\n"
                               "1<0 assistant: <think>|It depends.|</think>||An hour.\n"
                               "2<1 user: […]||And this? *");
        QCOMPARE(one.messages[1].model, "baker-3b");
        QCOMPARE(one.messages[1].createdMs, 1'757'000'005'000);
        QCOMPARE(one.header.id, fromData("jan/messages.jsonl").conversations[0].header.id);
    }

    void aloneWithoutATitle()
    {
        const Imported all = imported(line("user", "A") + line("assistant", "B"), "m.jsonl");
        QCOMPARE(all.error, "");
        QVERIFY(!all.conversations[0].header.titleByUser);
        QCOMPARE(outline(all.conversations[0]), "0<- user: A\n1<0 assistant: B *");
        const Imported single = imported(line("user", "A"), "m.jsonl");  // is JSON as a whole
        QCOMPARE(outline(single.conversations.value(0)), "0<- user: A *");
    }

    void versionsStandSideBySide()
    {
        const QByteArray thread =
            versionLine("a", "user", part("text", "A"), "null", "\"b1\"") +
            versionLine("b1", "assistant", part("reasoning", "Hm.") + ',' + part("text", "B1"), R"("a")") +
            versionLine("b2", "assistant", part("text", "B2"), R"("a")") +
            versionLine("c", "user", part("text", "C"), R"("b2")");
        const Imported all = imported(thread, "v.jsonl");
        QCOMPARE(all.error, "");
        QCOMPARE(all.leftOut, 0);
        QCOMPARE(outline(all.conversations[0]), "0<- user: A\n"
                                                "1<0 assistant: <think>|Hm.|</think>||B1 *\n"
                                                "2<0 assistant: B2\n"
                                                "3<2 user: C");
        const Imported newest = imported(QByteArray(thread).replace(R"("b1"}})", R"("gone"}})"), "n.jsonl");
        QVERIFY(outline(newest.conversations[0]).endsWith("user: C *"));
    }

    void versionsWhosePlaceIsNotSaid()
    {
        const QByteArray thread = versionLine("a", "user", part("text", "A"), "null") +
                                  versionLine("b", "assistant", part("text", "B"), "null") +  // a fault of Jan's
                                  versionLine("c", "user", R"({"type":"tool_call"})", R"("b")") +
                                  versionLine("d", "assistant", part("text", "D"), R"("c")") +
                                  versionLine("e", "user", part("text", "E"), R"("lost")") +
                                  versionLine("e", "user", part("text", "twice"), R"("a")") +
                                  versionLine("f", "user", part("text", "F"), R"("g")") +
                                  versionLine("g", "user", part("text", "G"), R"("f")");
        const Imported all = imported(thread, "p.jsonl");
        QCOMPARE(all.error, "");
        QCOMPARE(all.leftOut, 2);  // a call and what had another's id
        QCOMPARE(outline(all.conversations[0]), "0<- user: A\n1<0 assistant: B\n2<1 assistant: D\n3<2 user: E\n"
                                                "4<- user: F\n5<4 user: G *");
    }

    void aThreadAlone()
    {
        const Imported none = imported(R"({"object":"thread","title":"T"})", "thread.json");
        QVERIFY2(none.conversations.isEmpty() && none.error.contains("messages.jsonl"), qPrintable(none.error));
    }

    void damagedLines()
    {
        const QByteArray damaged = line("user", "A") + "\xff{\n[]\n5\n" + line("tool", "x") + line("assistant", "B") +
                                   QByteArray("\r\n\r\n") + line("user", "C").trimmed();
        const Imported all = imported(damaged, "a.jsonl");
        QCOMPARE(all.error, "");
        QCOMPARE(all.leftOut, 4);
        QCOMPARE(outline(all.conversations[0]), "0<- user: A\n1<0 assistant: B\n2<1 user: C *");
        QVERIFY(imported(line("tool", "x"), "b.jsonl").error.contains("no conversations"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestJan)
#include "tst_jan.moc"
