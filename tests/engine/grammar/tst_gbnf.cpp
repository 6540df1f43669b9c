// Tests that GBNF rules accept the texts that they describe, and that each kind of mistake in them gets its sentence.
#include "engine/grammar/character_set.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/grammar_states.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <string>

using engine::Grammar;
using engine::GrammarStates;

namespace {

/// Quotes are written ' in this file, which moc reads, too.
QByteArray quoted(QByteArray grammar)
{
    return grammar.replace('\'', '"');
}

bool takes(GrammarStates& states, const std::string& text)
{
    return states.may_end(states.after(states.start(), text));
}

std::string times(const std::string& text, int count)
{
    std::string all;
    for (int i = 0; i < count; ++i)
        all += text;
    return all;
}

}  // namespace

class TestGbnf : public QObject
{
    Q_OBJECT

private slots:
    void takesWhatTheRulesSay_data()
    {
        QTest::addColumn<QByteArray>("grammar");
        QTest::addColumn<QByteArrayList>("taken");
        QTest::addColumn<QByteArrayList>("refused");
        const auto row = [](const char* name, const char* grammar, const QByteArrayList& taken,
                            const QByteArrayList& refused) {
            QTest::addRow("%s", name) << quoted(grammar) << taken << refused;
        };
        row("a literal", "root ::= 'yes'", {"yes"}, {"", "ye", "yess", "no", "Yes"});
        row("an empty literal", "root ::= ''", {""}, {"a"});
        row("choices", "root ::= 'a' | 'bc' | 'b'", {"a", "b", "bc"}, {"", "c", "ab"});
        row("an empty choice", "root ::= 'a' | ", {"a", ""}, {"b"});
        row("a class", "root ::= [a-cx_-]", {"a", "b", "c", "x", "_", "-"}, {"d", "", "ab", "`"});
        row("a negated class", "root ::= [^a-y']", {"z", "\n", "ä", "\xf0\x9f\x98\x80"},
            {"a", "m", "\"", "", "\xff", "\xc3"});
        row("any character", "root ::= .", {"a", "\n", "€", "\xf4\x8f\xbf\xbf"},
            {"", "ab", "\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80"});
        row("? * +", "root ::= 'a'? 'b'* 'c'+", {"c", "ac", "abbcc", "bbc"}, {"", "a", "ab", "aac", "cb"});
        row("{m}", "root ::= 'ab'{3}", {"ababab"}, {"", "abab", "abababab", "ababa"});
        row("{m,}", "root ::= 'a'{2,}", {"aa", "aaaaaaa"}, {"", "a", "aab"});
        row("{m,n}", "root ::= [0-9]{1,3} '.'", {"1.", "12.", "123."}, {".", "1234.", "12"});
        row("{0,n}", "root ::= ('a' | 'b'){0,2}", {"", "a", "ba", "bb"}, {"aba", "c"});
        row("{0}", "root ::= 'a' 'b'{0} 'c'", {"ac"}, {"abc", "a"});
        row("repetitions within another", "root ::= ('a'{2} 'b'?){2,3}", {"aaaa", "aabaa", "aabaabaab"},
            {"aa", "aaa", "aabb"});
        row("nothing, again and again", "root ::= ('a'?)* ('' | '')+ 'b'", {"b", "aaab"}, {"a", ""});
        row("escapes", "root ::= '\\x41\\u00e4\\U0001F600\\n\\t\\'\\\\' [\\]\\[\\x2d\\-]",
            {"A\xc3\xa4\xf0\x9f\x98\x80\n\t\"\\]", "A\xc3\xa4\xf0\x9f\x98\x80\n\t\"\\-"},
            {"A", "A\xc3\xa4\xf0\x9f\x98\x80\n\t\"\\x"});
        row("ranges over the lengths of UTF-8", "root ::= [\\u0070-\\U00010010]+",
            {"p", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x90"}, {"o", "\xf0\x90\x80\x91"});
        row("groups, lines and comments",
            "# a list\nroot ::= # of\n  item (\n \",\" item # more\n )*\nitem ::= [0-9]\n", {"1", "1,2,3"},
            {"", "1,", ",1"});
        row("a choice in the next line", "root ::= \"a\"\n  # or\n  | \"b\"\r\nother ::= \"c\"", {"a", "b"}, {"c"});
        row("a rule before it is defined", "root ::= b c\nc ::= \"c\"\nb ::= \"b\" c?", {"bc", "bcc"}, {"b", "c"});
        row("rules within themselves", "root ::= '(' root ')' | 'x'", {"x", "((x))"}, {"(x", "x)", "(x))", ""});
        row("a rule that calls itself at its end", "root ::= \"a\" root | \"b\"", {"b", "aaaab"}, {"a", "ba"});
        row("two ways for the same text", "root ::= 'a'* 'a'* | 'aa' 'b'?", {"", "aaa", "aab"}, {"b", "aaab"});
    }

    void takesWhatTheRulesSay()
    {
        QFETCH(QByteArray, grammar);
        QFETCH(QByteArrayList, taken);
        QFETCH(QByteArrayList, refused);
        const auto read = Grammar::parse(grammar.toStdString());
        QVERIFY2(read, read ? "" : read.error().what.c_str());
        GrammarStates states(*read);
        for (const QByteArray& text : taken)
            QVERIFY2(takes(states, text.toStdString()), text);
        for (const QByteArray& text : refused)
            QVERIFY2(!takes(states, text.toStdString()), text);
    }

    void saysWhatIsWrong_data()
    {
        QTest::addColumn<QByteArray>("grammar");
        QTest::addColumn<QByteArray>("sentence");
        const auto row = [](const char* sentence, const std::string& grammar) {
            QTest::addRow("%s", sentence) << QByteArray::fromStdString(grammar) << QByteArray(sentence);
        };
        row("the grammar has no rule 'root', with which it would begin", "");
        row("the grammar has no rule 'root', with which it would begin", "a ::= \"a\"");
        row("line 2 of the grammar: there is no rule 'b'", "root ::= a\na ::= b");
        row("line 2 of the grammar: the rule 'root' is defined twice", "root ::= \"a\"\nroot ::= \"b\"");
        row("line 1 of the grammar: the rule 'root' begins with itself", "root ::= root \"a\" | \"b\"");
        row("line 2 of the grammar: the rule 'a' begins with itself",
            "root ::= a\na ::= \"x\"? b\nb ::= (a \"b\") | \"c\"");
        row("line 1 of the grammar: the rule 'root' begins with itself", "root ::= (root \"b\"){2,3} | \"c\"");
        row("line 1 of the grammar: no text that follows the rule 'root' has an end", "root ::= \"a\" root");
        row("line 1 of the grammar: no text that follows the rule 'root' has an end", "root ::= [\\ud800-\\udfff]");
        row("line 1 of the grammar: a '\"' or '[' is not closed", "root ::= \"a\nb\"");
        row("line 1 of the grammar: a '\"' or '[' is not closed", "root ::= [a-");
        row("line 1 of the grammar: '[]' is no character", "root ::= []");
        row("line 1 of the grammar: a range of characters runs backwards", "root ::= [z-a]");
        row("line 3 of the grammar: a group has no ')'", "root ::= (\n\"a\"\n");
        row("line 1 of the grammar: this is not understood: ')'", "root ::= \"a\")");
        row("line 1 of the grammar: this is not understood: '*'", "root ::= *");
        row("line 1 of the grammar: '::=' is missing behind the name 'root'", "root = \"a\"");
        row("line 1 of the grammar: a rule begins with its name", "::= \"a\"");
        row("line 1 of the grammar: a number is missing in {}", "root ::= \"a\"{x}");
        row("line 1 of the grammar: the numbers in {} run backwards", "root ::= \"a\"{3,2}");
        row("line 1 of the grammar: a '{' has no '}'", "root ::= \"a\"{3");
        row("line 1 of the grammar: nothing may be repeated more than 4096 times", "root ::= \"a\"{99999999999}");
        row("line 1 of the grammar: there is no escape with 'q'", "root ::= \"\\q\"");
        row("line 1 of the grammar: an escape lacks some of its 4 digits", "root ::= \"\\u12\"");
        row("line 1 of the grammar: there is no character beyond \\U0010FFFF", "root ::= \"\\U00110000\"");
        row("line 1 of the grammar: this is not UTF-8", "root ::= \"\xc3(\"");
        row("line 1 of the grammar: this is not UTF-8", "root ::= \"\xff\xff\xff\xff\"");
        row("line 1 of the grammar: tokens in angle brackets are not supported", "root ::= <|think|>");
        row("line 1 of the grammar: groups lie more than 64 deep", "root ::= " + times("(", 100000));
        row("the grammar is larger than 1 MiB", "root ::= \"" + times("a", 1 << 20) + "\"");
        row("line 1 of the grammar: the grammar is too large from here on", "root ::= " + times("\"a\"{4096} ", 200));
        std::string apart;  // no two of them are neighbours, nor end in the same bytes
        for (char32_t c = 0x40000; c < 0xB0000; c += 2)
            engine::append_utf8(c + (c >= 0x80000), apart);
        row("line 1 of the grammar: the grammar is too large from here on", "root ::= [" + apart + "]");
    }

    void saysWhatIsWrong()
    {
        QFETCH(QByteArray, grammar);
        QFETCH(QByteArray, sentence);
        const auto read = Grammar::parse(grammar.toStdString());
        QVERIFY(!read);
        QVERIFY2(QByteArray::fromStdString(read.error().what).startsWith(sentence), read.error().what.c_str());
        QCOMPARE(int(read.error().code), int(engine::Error::Code::BadRequest));
    }

    /// Walked anew from each of its nodes, so long a way would take minutes.
    void aLongWayOfNothingIsWalkedOnce()
    {
        QElapsedTimer timer;
        timer.start();
        const auto grammar = Grammar::parse("root ::= " + times("\"\" ", 250'000) + "\"a\"");
        QVERIFY(grammar);
        QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
        GrammarStates states(*grammar);
        QVERIFY(takes(states, "a") && !takes(states, ""));
    }

    void goesBackToAnEarlierState()
    {
        const auto grammar = Grammar::parse(quoted("root ::= '{' [a-z]* '}' | '[' root ']'").toStdString());
        QVERIFY(grammar);
        GrammarStates states(*grammar);
        const auto before = states.after(states.start(), "[{ab");
        QCOMPARE(states.after(before, "}}"), GrammarStates::kDead);
        QVERIFY(states.may_end(states.after(before, "c}]")));
        QCOMPARE(states.after(before, "cde"), before);  // a text that may go on alike is in the same state
        QVERIFY(!states.may_go_on(states.after(before, "}]")));
    }

    /// Brackets may be nested as deep as memory allows, and a state that is kept while others are forgotten loses
    /// nothing.
    void forgetsAllButOne()
    {
        const auto grammar = Grammar::parse(quoted("root ::= '[' root? ']'").toStdString());
        QVERIFY(grammar);
        GrammarStates states(*grammar);
        auto state = states.after(states.start(), times("[", 20000));
        QVERIFY(states.count() > 20000);
        state = states.forget_all_but(state);
        QVERIFY(states.count() < 10);
        state = states.after(state, times("]", 19999));
        QVERIFY(!states.may_end(state));
        QVERIFY(states.may_end(states.after(state, "]")));
        QVERIFY(!states.gave_up());
    }

    /// Each rule has two places to come back to: 2^40 ways to the first byte.
    void givesUpWhereThereAreTooManyWays()
    {
        std::string text = "root ::= r0\nr40 ::= \"x\"\n";
        for (int i = 0; i < 40; ++i) {
            const std::string next = "r" + std::to_string(i + 1);
            text += "r" + std::to_string(i) + " ::= " + next + " \"a\" \"a\" | " + next + " \"b\" \"b\"\n";
        }
        const auto grammar = Grammar::parse(text);
        QVERIFY(grammar);
        GrammarStates states(*grammar);
        QVERIFY(states.gave_up());
        QCOMPARE(states.start(), GrammarStates::kDead);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestGbnf)
#include "tst_gbnf.moc"
