// Tests that models' thoughts are told from their answers, however the text is cut.
#include "app/text/reasoning.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <ctime>

using Kind = ReasoningMarks::Part::Kind;

class TestReasoning : public QObject
{
    Q_OBJECT

private:
    /// "answer(thought)answer": round brackets where reasoning begins and ends, ^ where all before it was.
    static QString parts(const QString& text, qsizetype step)
    {
        ReasoningMarks marks;
        std::vector<ReasoningMarks::Part> all;
        for (qsizetype at = 0; at < text.size(); at += step)
            for (auto& part : marks.add(QStringView(text).sliced(at, qMin(step, text.size() - at))))
                all.push_back(part);
        for (auto& part : marks.end())
            all.push_back(part);
        QString out;
        for (const auto& part : all) {
            out += part.kind == Kind::Begin        ? "("
                   : part.kind == Kind::End        ? ")"
                   : part.kind == Kind::WasThought ? "^"
                                                   : qPrintable(part.text);
        }
        return out;
    }

private Q_SLOTS:
    void marks_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        QTest::newRow("none") << "a < b [c]"
                              << "a < b [c]";
        QTest::newRow("think") << "<think>a</think>b"
                               << "(a)b";
        QTest::newRow("after space") << "\n <think>\na\n</think>\n\nb"
                                     << "\n (\na\n)\n\nb";
        QTest::newRow("thinking") << "<thinking>a</thinking>b"
                                  << "(a)b";
        QTest::newRow("Mistral") << "[THINK]a[/THINK]b"
                                 << "(a)b";
        QTest::newRow("gpt-oss")
            << "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b"
            << "(a)b";
        QTest::newRow("gpt-oss, twice") << "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis"
                                           "<|message|>b<|end|><|start|>assistant<|channel|>final<|message|>c"
                                        << "(a)(b)c";
        QTest::newRow("gpt-oss, no thought") << "<|channel|>final<|message|>b"
                                             << "b";
        QTest::newRow("gpt-oss, cut off") << "<|channel|>analysis<|message|>a<|end|><|start|>assis"
                                          << "(a)<|start|>assis";
        QTest::newRow("gpt-oss, commentary")
            << "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>I look. <|end|>"
               "<|start|>assistant<|channel|>final<|message|>b"
            << "(a)I look. \n\nb";
        QTest::newRow("gpt-oss, code in commentary")
            << "<|channel|>commentary<|message|>```\n<think><|end|><|start|>assistant<|channel|>analysis<|message|>a"
            << "```\n<think>\n\n(a";
        QTest::newRow("gpt-oss, commentary cut off") << "<|channel|>commentary<|message|>I look<|en"
                                                     << "I look<|en";
        QTest::newRow("Gemma") << "<|channel>thought\na<channel|>b"
                               << "(\na)b";
        QTest::newRow("Command A") << "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b"
                                   << "(a)b";
        QTest::newRow("Muse Glimmer")
            << "<|start|>assistant to=self<|message|>a<|eom|><|start|>assistant to=user<|message|>b"
            << "(a)b";
        QTest::newRow("Muse Glimmer, no thought") << "<|start|>assistant to=user<|message|>b"
                                                  << "b";
        QTest::newRow("MiniMax-M3") << "<mm:think>a</mm:think>b"
                                    << "(a)b";
        QTest::newRow("Apertus") << "<|inner_prefix|>a<|inner_suffix|>b"
                                 << "(a)b";
        QTest::newRow("Hunyuan") << "<think>\na\n</think>\n<answer>\nb <i>c</i>\n</answer>"
                                 << "(\na\n)\n\nb <i>c</i>\n";
        QTest::newRow("Granite, in a line") << "<think>a</think><response>b</response>"
                                            << "(a)b";
        QTest::newRow("tags of nobody who thought") << "<answer>b</answer>"
                                                    << "<answer>b</answer>";
        QTest::newRow("the end of an answer, in code") << "<think>a</think><answer>b\n```\n</answer>\n```\nc</answer>"
                                                       << "(a)b\n```\n</answer>\n```\nc";
        QTest::newRow("a mark in an answer's line") << "<think>a</think><answer>b <think></answer>"
                                                    << "(a)b <think>";
        QTest::newRow("Kimi") << "◁think▷a◁/think▷b"
                              << "(a)b";
        QTest::newRow("open") << "<think>a"
                              << "(a";
        QTest::newRow("nearly closed") << "<think>a</thin"
                                       << "(a";
        QTest::newRow("a mark within") << "<think>a</b></think>c"
                                       << "(a</b>)c";
        QTest::newRow("twice") << "<think>a</think>b\n<think>c</think>d"
                               << "(a)b\n(c)d";
        QTest::newRow("only the end") << "a\n</think>\n\nb"
                                      << "a\n^\n\nb";
        QTest::newRow("only an end, after one") << "<think>a</think>b\n</think>"
                                                << "(a)b\n</think>";
        QTest::newRow("within a line") << "write <think> there"
                                       << "write <think> there";
        QTest::newRow("in code") << "```\n<think>\n```\n<think>a</think>"
                                 << "```\n<think>\n```\n(a)";
        QTest::newRow("an end in code") << "```\n</think>\n```"
                                        << "```\n</think>\n```";
        QTest::newRow("nearly a mark") << "<thinner> a"
                                       << "<thinner> a";
        QTest::newRow("twice begun") << "<<think>"
                                     << "<<think>";
        QTest::newRow("cut off") << "<thi"
                                 << "<thi";
    }

    void marks()
    {
        QFETCH(QString, text);
        QFETCH(QString, expected);
        if (expected == "(a" && text.endsWith("</thin"))
            expected = "(a</thin";
        for (const qsizetype step :
             {qsizetype(1), qsizetype(2), qsizetype(3), qsizetype(7), qMax(qsizetype(1), text.size())})
            QCOMPARE(parts(text, step), expected);
    }

    void answers()
    {
        QCOMPARE(answerOf(u"<think>a</think>\n\nb"), "b");
        QCOMPARE(partedAnswer(u"<think>\na\n</think>\n\nb").thoughts, "a");
        QCOMPARE(partedAnswer(u"a\n</think>\nb").thoughts, "a");
        QCOMPARE(partedAnswer(u"<think>a").thoughts, "");  // the answer is to be made of it
        QCOMPARE(partedAnswer(u"b").thoughts, "");
        QCOMPARE(answerOf(u"a\n</think>\nb"), "b");
        QCOMPARE(answerOf(u"<think>a</think>b\n<think>c</think>\nd\n"), "b\n\nd");
        QCOMPARE(answerOf(u"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b"),
                 "b");
        QCOMPARE(answerOf(u"<|channel|>commentary<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b"),
                 "a\n\nb");
        // As it was: the engine then knows its own tokens again.
        QCOMPARE(answerOf(u" b <think>\n"), " b <think>\n");
        // It thought and was cut off: better than nothing.
        QCOMPARE(answerOf(u"<think>\na"), "a");
        QCOMPARE(answerOf(u"a\n</think>\n"), "a");
    }

    /// A long conversation's answers are parted at each turn, while the window stands.
    void whatHasNoMarksIsNotRead()
    {
        const auto seconds = [](const QString& text) {
            double least = 1e9;
            for (int i = 0; i < 3; ++i) {
                const std::clock_t start = std::clock();
                if (answerOf(text) != text)
                    qFatal("it was no mark");
                least = std::min(least, double(std::clock() - start) / CLOCKS_PER_SEC);
            }
            return least;
        };
        const double plain = seconds(QString(5'000'000, 'x'));
        const double read = seconds(QString(5'000'000, 'x') + "\n<");
        qInfo("%g s and %g s", plain, read);
        QVERIFY(plain * 3 < read);
    }
};

SPILLWAY_TEST(QCoreApplication, TestReasoning)
#include "tst_reasoning.moc"
