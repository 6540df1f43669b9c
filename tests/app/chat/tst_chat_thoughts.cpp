// Tests that a conversation keeps how long a thought took, and that the model does not read its thoughts again.
#include "tests/support/chat_bench.h"
#include "tests/support/test_program.h"

using namespace std::chrono_literals;

class TestChatThoughts : public QObject, private ChatCase
{
    Q_OBJECT

private:
    QVariant thoughtMs() const
    {
        const auto* const blocks = bench->last(MessageModel::BlocksRole).value<BlockModel*>();
        return blocks && blocks->rowCount() > 0 ? blocks->data(blocks->index(0), BlockModel::ThoughtMsRole)
                                                : QVariant();
    }

private Q_SLOTS:
    void init()
    {
        makeBench();
        bench->openModel();
    }

    void cleanup() { bench.reset(); }

    void thoughtsAreNotReadAgain()
    {
        bench->says(" <think>\nso</think>\n\nYes.\n");
        bench->answer("first");
        bench->says(" Plain. ");
        bench->answer("second");
        bench->says("<think>cut");
        bench->answer("third");
        QCOMPARE(sent()[1].text.c_str(), "Yes.");
        QCOMPARE(sent()[1].reasoning.c_str(), "so");  // for a template that gives it back
        QCOMPARE(sent()[3].reasoning.c_str(), "");
        QCOMPARE(sent()[3].text.c_str(), " Plain. ");  // to the last space
        chat->turn()->continueAnswer(bench->lastId());
        settle();
        QCOMPARE(sent().back().text.c_str(), "<think>cut");  // it goes on with the thought
    }

    void theTimeOfAThoughtIsKept()
    {
        bench->script->change([](auto& settings) {
            settings.words = {"<think>", "so ", "it is", "</think>", "Yes. ", "Indeed."};
            settings.per_token = 60ms;  // longer than pieces of text are kept back
        });
        bench->answer("question");
        const QVariant live = thoughtMs();
        QVERIFY(live.toDouble() >= 100);
        QVERIFY(live.toDouble() < 60'000);
        restart();
        QCOMPARE(thoughtMs(), live);
    }

    void theTimeOfACutThoughtIsKept_data()
    {
        QTest::addColumn<bool>("programEnds");
        QTest::newRow("stopped") << false;
        QTest::newRow("the program ends") << true;
    }
    void theTimeOfACutThoughtIsKept()
    {
        QFETCH(bool, programEnds);
        bench->saysForever();
        bench->script->change([](auto& settings) { settings.words.front() = "<think>"; });
        QVERIFY(chat->turn()->send("question"));
        QTRY_VERIFY(bench->lastText().size() > 20);
        QVERIFY(!thoughtMs().isValid());
        if (!programEnds) {
            chat->turn()->stop();
            settle();
            QVERIFY(thoughtMs().toDouble() > 0);
        }
        restart();
        const double cut = thoughtMs().toDouble();
        QVERIFY(cut > 0);

        bench->openModel();
        bench->script->change([](auto& settings) {
            settings.words = {"on", "</think>", "Yes. ", "Indeed."};
            settings.per_token = 60ms;
        });
        chat->turn()->continueAnswer(bench->lastId());
        settle();
        QVERIFY(thoughtMs().toDouble() > cut);
    }
};

SPILLWAY_TEST(QApplication, TestChatThoughts)
#include "tst_chat_thoughts.moc"
