// Tests that thoughts are told from answers wherever the text is cut.
#include "app/server/thought_splitter.h"
#include "tests/support/test_program.h"

#include <QtTest>

using server::ThoughtSplitter;

class TestThoughtSplitter : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void partsThemHoweverTheyAreCut_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("thought");
        QTest::addColumn<QString>("answer");
        const auto row = [](const char* name, const char* text, const char* thought, const char* answer) {
            QTest::newRow(name) << text << thought << answer;
        };
        row("no thought", "Hello <b>you</b>", "", "Hello <b>you</b>");
        row("a thought", "<think>\nhm, a < b\n\n</think>\n\nYes.", "hm, a < b", "Yes.");
        row("space before it", "\n <think>a</think>b", "a", "b");
        row("space before an answer", "\n  b", "", "\n  b");
        row("an empty one", "<think>\n\n</think>\n\nYes.", "", "Yes.");
        row("never closed", "<think>hm </thin", "hm </thin", "");
        row("half a mark at the end", "<thi", "", "<thi");
        row("a mark in the answer", "a <think>b</think>", "", "a <think>b</think>");
        row("a second thought", "<think>a</think>b<think>c</think>", "a", "b<think>c</think>");
        row("a longer name", "<thinking>a</think></thinking>b", "a</think>", "b");
        row("Mistral's", "[THINK]a[/THINK]b", "a", "b");
        row("Gemma's", "<|channel>thought\na<channel|>b", "a", "b");
        row("gpt-oss's", "<|channel|>analysis<|message|>a\nb<|end|><|start|>assistant<|channel|>final<|message|>c",
            "a\nb", "c");
        row("gpt-oss without a thought", "<|channel|>final<|message|>c", "", "c");
        row("gpt-oss's before a call",
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{}",
            "a", "<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{}");
        row("gpt-oss's call", "<|channel|>commentary to=functions.f<|message|>{}", "",
            "<|channel|>commentary to=functions.f<|message|>{}");
        row("Muse Glimmer's", "<|start|>assistant to=self<|message|>a\nb<|eom|><|start|>assistant to=user<|message|>c",
            "a\nb", "c");
        row("Muse Glimmer's without a thought", "<|start|>assistant to=user<|message|>c", "", "c");
        row("space within", "<think>a  \n b</think> c  d", "a  \n b", "c  d");
    }

    void partsThemHoweverTheyAreCut()
    {
        QFETCH(QString, text);
        QFETCH(QString, thought);
        QFETCH(QString, answer);
        const std::string bytes = text.toStdString();
        for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
            std::string thoughts, said;
            ThoughtSplitter splitter([&](ThoughtSplitter::Kind kind, std::string_view part) {
                (kind == ThoughtSplitter::Kind::Thought ? thoughts : said) += part;
            });
            for (std::size_t at = 0; at < bytes.size(); at += piece)
                splitter.feed(std::string_view(bytes).substr(at, piece));
            splitter.finish();
            QCOMPARE(thoughts, thought.toStdString());
            QCOMPARE(said, answer.toStdString());
        }
    }

    void bothPartsMayBeAllOfTheText_data() { partsThemHoweverTheyAreCut_data(); }

    void bothPartsMayBeAllOfTheText()
    {
        QFETCH(QString, text);
        QFETCH(QString, answer);
        const std::string bytes = text.toStdString();
        for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
            std::string all, said;
            const auto take = [&](ThoughtSplitter::Kind kind, std::string_view part) {
                all += part;
                said += kind == ThoughtSplitter::Kind::Answer ? part : std::string_view();
            };
            ThoughtSplitter splitter(take, false);
            for (std::size_t at = 0; at < bytes.size(); at += piece)
                splitter.feed(std::string_view(bytes).substr(at, piece));
            splitter.finish();
            QCOMPARE(all, bytes);
            QCOMPARE(said, answer.toStdString());
        }
    }

    void nothingIsHeldBackLongerThanAMark()
    {
        std::string said;
        ThoughtSplitter splitter([&](ThoughtSplitter::Kind, std::string_view part) { said += part; });
        splitter.feed("Hello");
        QCOMPARE(said, std::string("Hello"));
        splitter.feed(" <");
        QCOMPARE(said, std::string("Hello <"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestThoughtSplitter)
#include "tst_thought_splitter.moc"
