// Tests that spillway-cli prints every family's thoughts between the same marks, and does not give them to the model
// again.
#include "app/cli/thoughts.h"
#include "tests/support/test_program.h"

#include <QtTest>

class TestThoughts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void marksArePrintedAlike_data()
    {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("printed");
        const auto row = [](const char* name, const char* text, const char* printed) {
            QTest::newRow(name) << std::string(text) << std::string(printed);
        };
        row("none", "a < b <|end|> c <|chan", "a < b <|end|> c <|chan");
        row("think", "<think>a</think>b", "<think>a</think>b");
        row("gpt-oss", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
            "<think>\na\n</think>\n\nb");
        row("gpt-oss, twice",
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|><|start|>"
            "assistant<|channel|>final<|message|>c",
            "<think>\na\nb\n</think>\n\nc");
        row("Muse Glimmer", "<|start|>assistant to=self<|message|>a<|eom|><|start|>assistant to=user<|message|>b",
            "<think>\na\n</think>\n\nb");
        row("Muse Glimmer, no thought", "<|start|>assistant to=user<|message|>b", "b");
        row("gpt-oss, no thought", "<|channel|>final<|message|>b", "b");
        row("gpt-oss, commentary",
            "<|channel|>commentary<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "a\n\nb");
        row("gpt-oss, commentary between",
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|><|start|>"
            "assistant<|channel|>analysis<|message|>c<|end|><|start|>assistant<|channel|>final<|message|>d",
            "<think>\na\n</think>\n\nb\n\n<think>\nc\n</think>\n\nd");
        row("another's mark", "<|end|><|start|>user<|message|>b", "<|end|><|start|>user<|message|>b");
        row("begun twice", "<<|channel|><|channel|>final<|message|>b", "<<|channel|>b");
    }
    void marksArePrintedAlike()
    {
        QFETCH(std::string, text);
        QFETCH(std::string, printed);
        for (std::size_t step = 1; step <= text.size(); ++step) {
            cli::PrintedMarks marks;
            std::string all;
            for (std::size_t at = 0; at < text.size(); at += step)
                all += marks.add(std::string_view(text).substr(at, step));
            all += marks.end();
            QCOMPARE(all, printed);
            QCOMPARE(marks.end(), std::string());
        }
    }

    void thoughtsAreNotReadAgain_data()
    {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("answer");
        const auto row = [](const char* name, const char* text, const char* answer) {
            QTest::newRow(name) << std::string(text) << std::string(answer);
        };
        row("none", " b ", " b ");
        row("think", "\n<think>\na\n</think>\n\nb", "b");
        row("only its end", "a\n</think>\n\nb", "b");
        row("said in a line", "write </think> there", "write </think> there");
        row("Mistral", "[THINK]a[/THINK]b", "b");
        row("gpt-oss", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "b");
        row("Muse Glimmer", "<|start|>assistant to=self<|message|>a<|eom|><|start|>assistant to=user<|message|>b", "b");
        row("Muse Glimmer, no thought", "<|start|>assistant to=user<|message|>b", "b");
        row("gpt-oss, no thought", "<|channel|>final<|message|>b", "b");
        row("cut off", "<think>\na", "a");
        row("nothing said", "<think>a</think>\n", "a");
        row("nothing said, only its end", "a\n</think>", "a");
        row("nothing at all", "<think>", "");
    }
    void thoughtsAreNotReadAgain()
    {
        QFETCH(std::string, text);
        QFETCH(std::string, answer);
        QCOMPARE(cli::without_thoughts(text), answer);
    }
};

SPILLWAY_TEST(QCoreApplication, TestThoughts)
#include "tst_thoughts.moc"
