// Which conversation a request belongs to.
#include "app/server/known_conversations.h"
#include "tests/support/test_program.h"

#include <QtTest>

using server::conversation_text;
using server::KnownConversations;

class TestKnownConversations : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aConversationGoesOnWhereItWas()
    {
        KnownConversations known;
        known.asked(1, "system, question");
        known.asked(2, "another");
        QCOMPARE(known.match("system, question, answer, question").goes_on.value_or(0), 1);
        QCOMPARE(known.match("another").goes_on.value_or(0), 2);
        QVERIFY(!known.match("system").goes_on);
        QVERIFY(!known.match("else").goes_on);
    }

    void theLongestBeginningWins()
    {
        KnownConversations known;
        known.asked(1, "one");
        known.asked(2, "one two");
        known.asked(3, "one tw");
        QCOMPARE(known.match("one two three").goes_on.value_or(0), 2);
    }

    void aBranchSharesWhatIsWorthIt()
    {
        const std::string system(1000, 's');
        KnownConversations known;
        known.asked(1, system + "first");
        const auto match = known.match(system + "second");
        QVERIFY(!match.goes_on);
        QCOMPARE(match.begins_like.value_or(0), 1);
        known.asked(2, "short, first");
        QVERIFY(!known.match("short, second").begins_like);
        // One that could go on has less in common.
        known.asked(3, "s");
        const auto better = known.match(system + "second");
        QVERIFY(!better.goes_on);
        QCOMPARE(better.begins_like.value_or(0), 1);
    }

    void theOldestLeaves()
    {
        KnownConversations known;
        for (int sequence : {1, 2, 3})
            known.asked(sequence, std::to_string(sequence));
        known.asked(1, "1 again");
        QVERIFY(!known.one_too_many(3));
        QCOMPARE(known.one_too_many(2).value_or(0), 2);
        known.forget(2);
        QVERIFY(!known.one_too_many(2));
    }

    void differentRequestsNeverLookAlike()
    {
        engine::Request one, two;
        one.messages = {{"user", "a", {}}, {"assistant", "b", {}}};
        two.messages = {{"user", "a1:b", {}}};
        QVERIFY(!conversation_text(one).starts_with(conversation_text(two)));
        two.messages = {{"user", "a", {}}};
        QVERIFY(conversation_text(one).starts_with(conversation_text(two)));
        two.template_arguments_json = "{}";
        QVERIFY(!conversation_text(one).starts_with(conversation_text(two)));
    }
};

SPILLWAY_TEST(QCoreApplication, TestKnownConversations)
#include "tst_known_conversations.moc"
