// Tests that a request is taken for the conversation whose beginning it repeats, and for a new one where there is none.
#include "app/server/known_conversations.h"
#include "tests/support/test_program.h"

#include <QtTest>

using server::conversation_text;
using server::KnownConversations;

namespace {

/// Asks, and has it answered at once.
void ask(KnownConversations& known, engine::SequenceId sequence, std::string text)
{
    known.asked(sequence, std::move(text));
    known.answered(sequence);
}

}  // namespace

class TestKnownConversations : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aConversationGoesOnWhereItWas()
    {
        KnownConversations known;
        ask(known, 1, "system, question");
        ask(known, 2, "another");
        QCOMPARE(known.match("system, question, answer, question").goes_on.value_or(0), 1);
        QCOMPARE(known.match("another").goes_on.value_or(0), 2);
        QVERIFY(!known.match("system").goes_on);
        QVERIFY(!known.match("else").goes_on);
    }

    void theLongestBeginningWins()
    {
        KnownConversations known;
        ask(known, 1, "one");
        ask(known, 2, "one two");
        ask(known, 3, "one tw");
        QCOMPARE(known.match("one two three").goes_on.value_or(0), 2);
    }

    void aBranchSharesWhatIsWorthIt()
    {
        const std::string system(1000, 's');
        KnownConversations known;
        ask(known, 1, system + "first");
        const auto match = known.match(system + "second");
        QVERIFY(!match.goes_on);
        QCOMPARE(match.begins_like.value_or(0), 1);
        ask(known, 2, "short, first");
        QVERIFY(!known.match("short, second").begins_like);
        // One that could go on has less in common.
        ask(known, 3, "s");
        const auto better = known.match(system + "second");
        QVERIFY(!better.goes_on);
        QCOMPARE(better.begins_like.value_or(0), 1);
    }

    // Its KV is being written, so that another turn gets a branch of it.
    void whatIsBeingAnsweredIsNobodyElses()
    {
        const std::string question(1000, 'q');
        KnownConversations known;
        known.asked(1, question);
        for (const std::string& text : {question, question + "more"}) {
            QVERIFY(!known.match(text).goes_on);
            QCOMPARE(known.match(text).begins_like.value_or(0), 1);
        }
        QVERIFY(!known.one_too_many(0));
        known.asked(2, "short");
        QVERIFY(!known.match("short").goes_on);
        QVERIFY(!known.match("short").begins_like);
        known.answered(1);
        QCOMPARE(known.match(question).goes_on.value_or(0), 1);
        QCOMPARE(known.one_too_many(1).value_or(0), 1);
        known.answered(3);  // nobody knows it
    }

    void theOldestLeaves()
    {
        KnownConversations known;
        for (int sequence : {1, 2, 3})
            ask(known, sequence, std::to_string(sequence));
        ask(known, 1, "1 again");
        QVERIFY(!known.one_too_many(3));
        QCOMPARE(known.one_too_many(2).value_or(0), 2);
        known.forget(2);
        QVERIFY(!known.one_too_many(2));
    }

    void differentConversationsNeverLookAlike()
    {
        engine::Request one, two;
        one.messages = {{"user", "a", {}}, {"assistant", "b", {}}};
        two.messages = {{"user", "a1:b", {}}};
        QVERIFY(!conversation_text(one).starts_with(conversation_text(two)));
        two.messages = {{"user", "a", {}}};
        QVERIFY(conversation_text(one).starts_with(conversation_text(two)));
        two.tools_json = "[]";
        QVERIFY(!conversation_text(one).starts_with(conversation_text(two)));
        // The same conversation, with thoughts or without.
        two.tools_json.clear();
        two.template_arguments_json = R"({"enable_thinking":false})";
        QVERIFY(conversation_text(one).starts_with(conversation_text(two)));
    }
};

SPILLWAY_TEST(QCoreApplication, TestKnownConversations)
#include "tst_known_conversations.moc"
