// Tests that the parts of an answer's text which came from drafted tokens are known, however the text is held back on
// its way, and what becomes of half a character at its end.
#include "engine/run/answer_text.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace engine;

namespace {

using Half = AnswerText::HalfCharacter;

struct Piece {
    std::string bytes;
    bool guessed = false;
};

/// The guessed parts, each between brackets.
QString bracketed(const std::vector<Piece>& pieces, const std::vector<std::string>& stop = {}, bool trim = false)
{
    const AnswerText::OnText nobody;
    AnswerText text(stop, trim, nobody);
    text.expect_guesses(int(pieces.size()));
    for (const Piece& piece : pieces) {
        if (text.feed(piece.bytes))
            break;
        if (piece.guessed)
            text.note_guess();
    }
    text.finish(Half::Shown);
    std::string all = text.text();
    const auto ranges = text.take_guessed();
    for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) {
        all.insert(std::size_t(range->last), "]");
        all.insert(std::size_t(range->first), "[");
    }
    return QString::fromStdString(all);
}

}  // namespace

class TestAnswerText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void neighboursAreOne()
    {
        QCOMPARE(bracketed({{"a", false}, {"b", true}, {"c", true}, {"d", false}, {"e", true}}), "a[bc]d[e]");
        QCOMPARE(bracketed({{"a", false}, {"b", false}}), "ab");
    }

    /// A character belongs to the token that completes it.
    void charactersAreWhole()
    {
        QCOMPARE(bracketed({{"a\xc3", true}, {"\xa9", false}, {"\xf0\x9f", false}, {"\x98\x80", true}}), "[a]é[😀]");
        QCOMPARE(bracketed({{"a", false}, {"\xc3", true}}), QStringLiteral("a\uFFFD"));  // it never was one
    }

    /// The answer may go on within it: a sign for what is not there yet would stay in its midst.
    void halfACharacterIsLeftOutWhereTheAnswerWasCutOff()
    {
        std::string heard;
        const AnswerText::OnText hear = [&](std::string_view piece) { heard += piece; };
        AnswerText text({"aé"}, false, hear);  // of which "a" is held back to the end
        text.feed("ba\xc3");
        text.finish(Half::LeftOut);
        QCOMPARE(text.text(), std::string("ba"));
        QCOMPARE(heard, text.text());
        QCOMPARE(text.left_out_bytes(), 1);

        AnswerText shown({}, false, hear);
        shown.feed("a\xc3");
        shown.finish(Half::Shown);
        QCOMPARE(shown.left_out_bytes(), 0);
    }

    /// What may begin a stop string comes later, and what it takes away was nobody's.
    void heldBackTextIsCounted()
    {
        const std::vector<std::string> stop = {"END"};
        QCOMPARE(bracketed({{"a E", true}, {"N", false}, {"ough", true}, {" x", false}}, stop), "[a E]N[ough] x");
        QCOMPARE(bracketed({{"a E", true}, {"N", true}, {"D", false}}, stop), "[a ]");
        QCOMPARE(bracketed({{"a ", false}, {"EN", true}, {"D", false}}, stop), "a ");
    }

    void whatThePromptEndedWithComesWithTheFirstToken()
    {
        std::vector<std::string> heard;
        const AnswerText::OnText hear = [&](std::string_view piece) { heard.emplace_back(piece); };
        AnswerText text({"END"}, false, hear);
        text.begin_with("<think>");
        QVERIFY(heard.empty());
        text.feed("a");
        text.feed("b");
        text.finish(Half::Shown);
        QCOMPARE(heard, (std::vector<std::string>{"<think>a", "b"}));
        QCOMPARE(text.text(), std::string("<think>ab"));

        heard.clear();
        AnswerText stopped({"END"}, false, hear);
        stopped.begin_with("<think>");
        QVERIFY(stopped.feed("END"));
        stopped.finish(Half::Shown);
        QCOMPARE(heard, std::vector<std::string>{"<think>"});
    }

    void aSpaceThatIsTakenAwayIsNotCounted()
    {
        QCOMPARE(bracketed({{" a", true}, {" b", true}, {"c", false}}, {}, true), "[a b]c");
        QCOMPARE(bracketed({{" ", false}, {"a", true}}, {" ab"}, true), "[a]");
    }
};

SPILLWAY_TEST(QCoreApplication, TestAnswerText)
#include "tst_answer_text.moc"
