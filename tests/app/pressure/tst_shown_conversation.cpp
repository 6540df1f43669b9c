// Tests that the panel shows the numbers, moves and KV of the conversation that is looked at while others are answered.
#include "tests/app/pressure/flight_case.h"
#include "tests/support/test_program.h"

#include <QApplication>

using namespace test_support;

class TestShownConversation : public FlightCase
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        begin();
        fill(2);
    }
    void cleanup() { end(); }

    void whatIsShownIsFollowedBesideOthers()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        FlightRecorder& recorder = monitor->recorder();
        recorder.begin(1, "c0");
        monitor->onFrame(1, frameAt(10, 100, 1));
        recorder.begin(2, "c1");
        monitor->onFrame(2, frameAt(11, 500, 3));
        QCOMPARE(monitor->contextTokens(), 100);
        QVERIFY(!monitor->ofAnother());
        monitor->onFrame(1, frameAt(12, 101, 2));
        QCOMPARE(monitor->contextTokens(), 101);

        // At once, and before its next frame comes.
        show(*monitor, "c1");
        QVERIFY(!monitor->ofAnother());
        QCOMPARE(monitor->contextTokens(), 500);
        QCOMPARE(monitor->history().samples().last().contextTokens, 500);
        monitor->onFrame(1, frameAt(13, 102, 3));
        QCOMPARE(monitor->contextTokens(), 500);

        // Where the conversation that is looked at is not answered, one of the others is followed, and no second one.
        show(*monitor, "c2");
        QVERIFY(monitor->ofAnother());
        monitor->onFrame(1, frameAt(14, 103, 4));
        QCOMPARE(monitor->frame().context_tokens, 500);

        // When the one that is followed ends, the panel follows the other one.
        engine::Turn last;
        last.telemetry = frameAt(15, 520, 23);
        monitor->onFinished(2, last);
        monitor->onFrame(1, frameAt(16, 104, 5));
        QCOMPARE(monitor->frame().context_tokens, 104);
        recorder.begin(3, "c2");
        QVERIFY(!monitor->ofAnother());
        monitor->onFrame(3, frameAt(17, 20, 1));
        last.telemetry = frameAt(18, 140, 41);
        monitor->onFinished(1, last);
        QCOMPARE(monitor->contextTokens(), 20);
        show(*monitor, "c0");
        QCOMPARE(monitor->history().runs().size(), size_t(1));
        QCOMPARE(monitor->history().samples().last().contextTokens, 140);
        show(*monitor, "c1");
        QCOMPARE(monitor->history().samples().last().contextTokens, 520);

        recorder.forget("c2");  // while it is answered
        monitor->onFrame(3, frameAt(19, 21, 2));
        monitor->onFailed(3);
        show(*monitor, "c0");
        QCOMPARE(monitor->recording().answers.size(), 1);
    }

    void aConversationThatIsBlankHasNoKv()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        monitor->recorder().begin(1, "c0");
        engine::Turn last;
        last.telemetry = frameAt(10, 140, 40);
        last.telemetry.kv_map = std::make_shared<engine::KvMap>();
        last.telemetry.kv_blocks_device = 3;
        last.telemetry.kv_blocks_host = 4;
        last.telemetry.decode_tokens_per_s = 20;
        monitor->onFinished(1, last);
        QVERIFY(monitor->kvMap());
        QCOMPARE(monitor->blocksOnDevice(), 3);
        show(*monitor, "c1");
        QVERIFY(monitor->ofAnother() && !monitor->kvMap());
        monitor->onFrame(1, last.telemetry);
        QVERIFY(monitor->kvMap());  // while it goes on, what happens now is shown
        monitor->onFailed(1);
        QVERIFY(!monitor->kvMap());
        QCOMPARE(monitor->blocksOnDevice() + monitor->blocksOnHost(), 0);
        QVERIFY(monitor->device().kv > 0);  // the memory has it all the same
        monitor->recorder().begin(2, "c1");
        last.telemetry.kv_blocks_host = 5;
        monitor->onFinished(2, last);
        QVERIFY(monitor->kvMap());
        show(*monitor, "c0");  // it has been computed: what is shown is said to be of another
        QVERIFY(monitor->ofAnother() && monitor->kvMap());
    }

    void whatMovedACellLastIsKnown()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        const FlightRecorder& recorder = monitor->recorder();
        QVERIFY(!recorder.lastMove({0, 256}, 0, 3));
        answer(*monitor, 1, "c0", 10, 100);
        QVERIFY(recorder.lastMove({0, 256}, 0, 3));
        QCOMPARE(recorder.lastMove({0, 256}, 0, 3)->event.kind, engine::Event::Kind::Offload);
        QVERIFY(!recorder.lastMove({256, 512}, 0, 3));
        monitor->onEvent({.kind = engine::Event::Kind::LayerMove, .layer = 2, .sentence = {}});
        QCOMPARE(recorder.lastMove({0, 256}, 0, 3)->event.kind, engine::Event::Kind::LayerMove);
        QCOMPARE(recorder.lastMove({0, 256}, 0, 1)->event.kind, engine::Event::Kind::Offload);
        monitor->onModelGone();  // its KV went with it
        QVERIFY(!recorder.lastMove({0, 256}, 0, 3));
    }

    void eachConversationHasWhatMovedOfIt()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        FlightRecorder& recorder = monitor->recorder();
        recorder.begin(1, "c0");
        recorder.place("c0", {{0, {0, 100}}, {1, {100, 4096}}});
        recorder.begin(2, "c1");
        monitor->onFrame(1, frameAt(10, 200, 2));
        monitor->onEvent(offload(256, 11), {"c0"});
        monitor->onEvent(offload(512, 12), {"c1"});
        monitor->onEvent(offload(768, 13), {"c0", "c1"});  // it is a branch
        monitor->onEvent(offload(1024, 14), {"c2"});

        const auto firstTokens = [&] {
            QList<int> tokens;
            for (const PlacementMove& move : recorder.shown().moves)
                tokens.append(move.event.tokens.count() > 0 ? move.event.tokens.first : -1);
            return tokens;
        };
        // Of the others only that it moved: it made room here.
        QCOMPARE(firstTokens(), (QList{256, -1, 768, -1}));
        QCOMPARE(recorder.shown().moves[0].message.value(), 1);
        QVERIFY(!recorder.shown().moves[1].message);
        show(*monitor, "c1");
        QCOMPARE(firstTokens(), (QList{512, 768}));
    }
};

SPILLWAY_TEST(QApplication, TestShownConversation)
#include "tst_shown_conversation.moc"
