// Tests that the mask of a vocabulary's tokens agrees with each token tried by itself, also in the middle of a
// character.
#include "engine/grammar/token_masks.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using engine::Grammar;
using engine::GrammarStates;
using engine::TokenMasks;
using engine::TokenTrie;

namespace {

std::shared_ptr<const TokenTrie> trie_of(const std::vector<std::string>& vocabulary)
{
    return std::make_shared<const TokenTrie>(int(vocabulary.size()),
                                             [&](int id) { return vocabulary[std::size_t(id)]; });
}

/// Quotes are written ' in it, since moc reads this file, too.
const std::string kJson =
    QByteArray("root   ::= value\n"
               "value  ::= object | array | string | number | 'true' | 'false' | 'null'\n"
               "object ::= '{' ws (string ':' ws value (',' ws string ':' ws value)*)? '}'\n"
               "array  ::= '[' ws (value (',' ws value)*)? ']'\n"
               "string ::= '\\'' ([^'\\\\\\x00-\\x1f] | '\\\\' (['\\\\/bfnrt] | 'u' [0-9a-fA-F]{4}))* '\\''\n"
               "number ::= '-'? ('0' | [1-9] [0-9]*) ('.' [0-9]+)?\n"
               "ws     ::= ' '?\n")
        .replace('\'', '"')
        .toStdString();

}  // namespace

class TestTokenMasks : public QObject
{
    Q_OBJECT

private slots:
    void agreeWithEachTokenByItself()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        static const std::string kBytes = "{}[]\":,0-. truefalsnabcä€😀\\u";
        std::vector<std::string> vocabulary = {"", "ab", "ab", "\"\"}", "😀", "\xf0\x9f", "\x98\x80", "\xc3", "\xff"};
        for (int i = 0; i < 3000; ++i) {
            std::string text;
            for (int j = 1 + int(random() % 4); j > 0; --j)
                text += kBytes[random() % kBytes.size()];
            vocabulary.push_back(std::move(text));
        }
        const auto grammar = Grammar::parse(kJson);
        QVERIFY(grammar);
        GrammarStates alone(*grammar);
        TokenMasks masks(*grammar, trie_of(vocabulary));
        for (int run = 0; run < 20; ++run) {
            std::string text;
            auto state = masks.states().start();
            for (int step = 0; step < 20; ++step) {
                const auto mask = masks.next(state);
                QVERIFY(mask);
                std::vector<int> allowed;
                for (int id = 0; id < int(vocabulary.size()); ++id) {
                    const std::string& token = vocabulary[std::size_t(id)];
                    const auto after = alone.after(alone.after(alone.start(), text), token);
                    const bool expected = !token.empty() && after != GrammarStates::kDead;
                    QVERIFY2((*mask)->allows(id) == expected,
                             qPrintable(QString::fromStdString(text) + ' ' + token.c_str()));
                    if (expected)
                        allowed.push_back(id);
                }
                QCOMPARE((*mask)->any(), !allowed.empty());
                if (allowed.empty())
                    break;
                const std::string& chosen = vocabulary[std::size_t(allowed[random() % allowed.size()])];
                text += chosen;
                state = masks.states().after(state, chosen);
                if (step == 10)
                    state = masks.forget_all_but(state);
            }
        }
    }

    /// Each bracket is another state; none is remembered for ever.
    void remembersOnlySoMuch()
    {
        const auto grammar = Grammar::parse(kJson);
        QVERIFY(grammar);
        TokenMasks masks(*grammar, trie_of({"[", "]", "[[[[", "1"}));
        auto state = masks.states().start();
        for (int i = 0; i < 40000; ++i) {
            QVERIFY(masks.next(state));
            state = masks.tidy(masks.states().after(state, "["));
            QVERIFY(masks.states().count() < 20000);
        }
        const auto mask = masks.next(state);
        QVERIFY(mask && (*mask)->allows(1) && (*mask)->allows(3));
    }

    void tokensAreFoundByTheirBeginning()
    {
        const auto trie = trie_of({">", ">a", "a>", ">ab", "", ">", "=>", ">é", "?"});
        using Found = std::vector<std::pair<int, std::string>>;
        const auto found = [&](std::string_view begin) {
            Found all;
            trie->each_behind(begin, [&](int id, std::string_view rest) { all.emplace_back(id, rest); });
            return all;
        };
        QVERIFY(found(">") == (Found{{1, "a"}, {3, "ab"}, {7, "é"}}));
        QVERIFY(found(">a") == (Found{{3, "b"}}));
        QVERIFY(found("x").empty() && found(">b").empty() && found("?").empty());
    }

    void saysWhenItTakesTooLong()
    {
        const auto grammar = Grammar::parse("root ::= (\"a\" root \"b\" | \"a\" root \"c\" | \"\")");
        QVERIFY(grammar);
        TokenMasks masks(*grammar, trie_of({"a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}));
        const auto mask = masks.next(masks.states().start());
        QVERIFY(!mask);
        QCOMPARE(int(mask.error().code), int(engine::Error::Code::BadRequest));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestTokenMasks)
#include "tst_token_masks.moc"
