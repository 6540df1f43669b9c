// Tests that random grammars agree with a plain matcher of the same expression, on texts that follow it and texts that
// nearly do.
#include "engine/grammar/grammar.h"
#include "engine/grammar/grammar_states.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using Places = std::set<std::size_t>;

/// An expression over characters. Children: of a choice and a sequence, or the one that is repeated.
struct Expression {
    enum class Kind { Class, Sequence, Choice, Repeat };
    Kind kind = Kind::Class;
    std::u32string characters;  // of a class, whose ends it names in pairs
    bool negated = false;
    int least = 0, most = 0;  // -1: without an end
    std::vector<Expression> parts;
};

std::string utf8(char32_t c)
{
    return QString::fromUcs4(&c, 1).toStdString();
}

class Maker
{
public:
    explicit Maker(unsigned seed)
        : random_(seed)
    {
    }
    int up_to(int most) { return std::uniform_int_distribution(0, most)(random_); }

    char32_t character()
    {
        static const std::u32string kAll = U"abcdäöß€한😀\n\"\\]-^";
        return kAll[std::size_t(up_to(int(kAll.size()) - 1))];
    }

    Expression expression(int depth)
    {
        const int choice = depth == 0 ? 0 : up_to(4);
        Expression e;
        if (choice <= 1) {
            for (int i = up_to(1); i >= 0; --i) {
                const char32_t a = character(), b = up_to(1) ? a : character();
                e.characters += {std::min(a, b), std::max(a, b)};
            }
            e.negated = up_to(4) == 0;
            return e;
        }
        e.kind = choice == 2   ? Expression::Kind::Sequence
                 : choice == 3 ? Expression::Kind::Choice
                               : Expression::Kind::Repeat;
        const int parts = e.kind == Expression::Kind::Repeat ? 1 : 1 + up_to(2);
        for (int i = 0; i < parts; ++i)
            e.parts.push_back(expression(depth - 1));
        e.least = up_to(2);
        e.most = up_to(2) ? e.least + up_to(2) : -1;
        return e;
    }

    /// As GBNF; some parts become rules of their own.
    std::string gbnf(const Expression& e, std::string& rules)
    {
        std::string text;
        switch (e.kind) {
        case Expression::Kind::Class:
            text = e.negated ? "[^" : "[";
            for (std::size_t i = 0; i < e.characters.size(); i += 2)
                text += escaped(e.characters[i]) + "-" + escaped(e.characters[i + 1]);
            text += "]";
            break;
        case Expression::Kind::Sequence:
            for (const Expression& part : e.parts)
                text += gbnf(part, rules) + " ";
            text = "(" + text + ")";
            break;
        case Expression::Kind::Choice:
            for (const Expression& part : e.parts)
                text += (text.empty() ? "" : " | ") + gbnf(part, rules);
            text = "(" + text + ")";
            break;
        case Expression::Kind::Repeat:
            text = gbnf(e.parts[0], rules) + "{" + std::to_string(e.least);
            text += e.most == e.least ? "}" : e.most < 0 ? ",}" : "," + std::to_string(e.most) + "}";
            text = "(" + text + ")";
            break;
        }
        if (up_to(3) > 0)
            return text;
        const std::string name = "r" + std::to_string(count_++);
        rules += name + " ::= " + text + "\n";
        return name;
    }

    /// A text that follows the expression.
    std::u32string text(const Expression& e)
    {
        std::u32string all;
        switch (e.kind) {
        case Expression::Kind::Class: {
            char32_t c = e.negated ? U'z' : e.characters[0];
            for (int i = 0; i < 20; ++i)
                if (const char32_t other = character(); fits(e, other))
                    c = other;
            return {c};
        }
        case Expression::Kind::Sequence:
            for (const Expression& part : e.parts)
                all += text(part);
            return all;
        case Expression::Kind::Choice:
            return text(e.parts[std::size_t(up_to(int(e.parts.size()) - 1))]);
        case Expression::Kind::Repeat:
            for (int i = e.least + up_to(e.most < 0 ? 3 : e.most - e.least); i > 0; --i)
                all += text(e.parts[0]);
            return all;
        }
        return all;
    }

    static bool fits(const Expression& e, char32_t c)
    {
        bool in = false;
        for (std::size_t i = 0; i < e.characters.size(); i += 2)
            in = in || (c >= e.characters[i] && c <= e.characters[i + 1]);
        return in != e.negated;
    }

private:
    static std::string escaped(char32_t c)
    {
        if (c == U'\n')
            return "\\n";
        return (std::u32string_view(U"\"\\]-^").find(c) == std::u32string_view::npos ? "" : "\\x") +
               (std::u32string_view(U"\"\\]-^").find(c) == std::u32string_view::npos
                    ? utf8(c)
                    : QByteArray::number(unsigned(c), 16).toStdString());
    }

    std::mt19937 random_;
    int count_ = 0;
};

/// Returns where a text may be after the expression, from each of these places.
Places match(const Expression& e, const std::u32string& text, const Places& from)
{
    Places to;
    switch (e.kind) {
    case Expression::Kind::Class:
        for (const std::size_t at : from)
            if (at < text.size() && Maker::fits(e, text[at]))
                to.insert(at + 1);
        return to;
    case Expression::Kind::Sequence:
        to = from;
        for (const Expression& part : e.parts)
            to = match(part, text, to);
        return to;
    case Expression::Kind::Choice:
        for (const Expression& part : e.parts)
            to.merge(match(part, text, from));
        return to;
    case Expression::Kind::Repeat:
        Places now = from;
        for (int i = 0; i < e.least; ++i)
            now = match(e.parts[0], text, now);
        for (int i = e.least; e.most < 0 || i <= e.most; ++i) {
            const std::size_t before = to.size();
            to.insert(now.begin(), now.end());
            if (to.size() == before)
                break;
            now = match(e.parts[0], text, now);
        }
        return to;
    }
    return to;
}

}  // namespace

class TestRandomGrammars : public QObject
{
    Q_OBJECT

private slots:
    void agreeWithAPlainMatcher()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        Maker maker(seed);
        int taken = 0, refused = 0;
        for (int i = 0; i < 1500; ++i) {
            const Expression e = maker.expression(4);
            std::string rules;
            const std::string body = maker.gbnf(e, rules);
            const std::string text = rules + "root ::= " + body + "\n";
            const auto grammar = engine::Grammar::parse(text);
            QVERIFY2(grammar, (text + (grammar ? "" : grammar.error().what)).c_str());
            engine::GrammarStates states(*grammar);
            for (int j = 0; j < 8; ++j) {
                std::u32string sample = maker.text(e).substr(0, 60);
                if (j > 2 && !sample.empty())
                    sample[std::size_t(maker.up_to(int(sample.size()) - 1))] = maker.character();
                if (j > 5)
                    sample.insert(sample.begin() + maker.up_to(int(sample.size())), maker.character());
                const std::string bytes = QString::fromUcs4(sample.data(), qsizetype(sample.size())).toStdString();
                const bool expected = match(e, sample, {0}).contains(sample.size());
                QVERIFY2(states.may_end(states.after(states.start(), bytes)) == expected, (text + bytes).c_str());
                (expected ? taken : refused)++;
            }
        }
        qInfo("%d taken, %d refused", taken, refused);
        QVERIFY(taken > 500 && refused > 500);
    }

    /// Whatever the text of the rules, there are rules or a sentence.
    void survivesAnyText()
    {
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        static const std::vector<std::string> kPieces = {"root", " ::= ", "\n", "\"a\"", "[^a-b]", "(",   ")",
                                                         "|",    "*",     "+",  "?",     "{1,3}",  "{2}", ".",
                                                         "b",    "#",     "\\", "\"",    "{9,}",   "\xc3"};
        int good = 0;
        for (int i = 0; i < 20000; ++i) {
            std::string text = "root ::= b\nb ::= ";
            for (int j = int(random() % 12); j > 0; --j)
                text += kPieces[random() % kPieces.size()];
            const auto grammar = engine::Grammar::parse(text);
            if (grammar) {
                ++good;
                engine::GrammarStates states(*grammar);
                (void)states.after(states.start(), "aab");
            } else {
                QVERIFY(!grammar.error().what.empty());
            }
        }
        QVERIFY(good > 100);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestRandomGrammars)
#include "tst_random_grammars.moc"
