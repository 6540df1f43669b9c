// Tests that what is measured of a conversation is kept with it, and is there when it is opened again.
#include "tests/app/pressure/flight_case.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QThreadPool>

using namespace test_support;

class TestFlightRecorder : public FlightCase
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        begin();
        fill(2);
    }
    void cleanup() { end(); }

    void isThereAgainWhenTheProgramIs()
    {
        auto flown = monitorOn("c0");
        flown->onModelReady(model("tiny"));
        flown->recorder().setSpillTokens(1024);
        QVERIFY(!flown->earlier());
        answer(*flown, 1, "c0", 10, 100);
        QVERIFY(!flown->earlier());
        const std::vector<PressureHistory::SpeedPoint> points = flown->history().runs().back().points;
        QVERIFY(points.size() > 2);
        flown.reset();
        reopen();

        const auto again = monitorOn("c0");
        QVERIFY(again->earlier());
        QVERIFY(!again->hasModel());
        QCOMPARE(again->recordingModel(), "tiny");
        QCOMPARE(again->deviceName(), "emulated");
        QVERIFY(again->recordingMade().isValid());
        QCOMPARE(again->contextTokens(), 140);
        QCOMPARE(again->contextLimit(), 4096);
        QCOMPARE(again->device().kv, 1400.0);
        QCOMPARE(again->recordedSpill().toInt(), 1024);
        QCOMPARE(again->ttftMs().toDouble(), 12.5);
        QCOMPARE(again->tpotP99Ms().toDouble(), 70.0);
        QCOMPARE(again->ttftHistory(), QList<double>{12.5});
        QCOMPARE(again->history().marks().size(), 1);
        QCOMPARE(again->history().runs().size(), size_t(1));
        QVERIFY(again->history().runs()[0].earlier);
        QCOMPARE(again->history().runs()[0].points.size(), points.size());
        QCOMPARE(again->history().runs()[0].points.back().contextTokens, points.back().contextTokens);

        QCOMPARE(again->recording().moves.size(), 1);
        const PlacementMove& move = again->recording().moves[0];
        QCOMPARE(move.event.kind, engine::Event::Kind::Offload);
        QCOMPARE(move.event.cause, engine::Event::Cause::Watermark);
        QCOMPARE(move.event.tokens.last, 256);
        QCOMPARE(move.event.bytes, std::int64_t(4096));
        QCOMPARE(move.event.duration_us, std::int64_t(17));
        QCOMPARE(move.event.layer, -1);
        QCOMPARE(move.message.value(), 0);  // the system prompt, and two more
        QCOMPARE(move.messages, 3);
    }

    void theNextAnswerGoesOnAfterIt()
    {
        auto flown = monitorOn("c0");
        flown->onModelReady(model("tiny"));
        answer(*flown, 1, "c0", 10, 100);
        flown.reset();
        reopen();

        auto again = monitorOn("c0");
        const double before = again->history().samples().last().seconds;
        const qsizetype samples = again->history().samples().size();
        again->onModelReady(model("tiny"));
        again->onPlacement(frameAt(1, 0, 0));  // the load is no part of the conversation
        QCOMPARE(again->history().samples().size(), samples);
        QVERIFY(again->earlier());
        QCOMPARE(again->device().kv, 0.0);  // what the memory holds is of now
        answer(*again, 1, "c0", 1, 140);
        QVERIFY(!again->earlier());
        QCOMPARE(again->recordingModel(), "tiny");
        const PressureHistory& history = again->history();
        QCOMPARE(history.runs().size(), size_t(2));
        QVERIFY(history.runs()[0].earlier && !history.runs()[1].earlier);
        QCOMPARE(*history.earlierSeconds(), before);
        for (qsizetype i = 1; i < history.samples().size(); ++i)
            QVERIFY(history.samples()[i].seconds >= history.samples()[i - 1].seconds);
        QVERIFY(history.samples().last().seconds > before + 1);
        QCOMPARE(history.samplesOverTokens().size(), size_t(history.samples().size()));  // it grew through both
        QCOMPARE(again->ttftHistory().size(), 2);

        again.reset();
        reopen();
        again = monitorOn("c0");
        QCOMPARE(again->history().runs().size(), size_t(2));
        QCOMPARE(again->recording().moves.size(), 2);
        QCOMPARE(again->recordingModel(), "tiny");
    }

    /// The window's name for it: some files call themselves after their architecture.
    void aModelHasTheNameThatTheWindowShows()
    {
        auto monitor = monitorOn("c0");
        engine::ModelInfo named = model("llama");
        named.architecture = "llama";
        named.path = "folder/stories.gguf";
        monitor->onModelReady(named);
        answer(*monitor, 1, "c0", 10, 100);
        QCOMPARE(monitor->recordingModel(), "stories");
    }

    void anotherConversationHasItsOwn()
    {
        auto monitor = monitorOn("c0");
        QSignalSpy another(monitor.get(), &PressureMonitor::modelChanged);
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);
        another.clear();
        monitor->recorder().show("c1");
        QCOMPARE(another.size(), 1);
        QVERIFY(monitor->history().runs().empty());
        QVERIFY(monitor->recording().moves.isEmpty());

        // It is answered while the other one is looked at.
        show(*monitor, "c0");
        QCOMPARE(monitor->history().runs().size(), size_t(1));
        answer(*monitor, 2, "c1", 20, 50);
        QCOMPARE(monitor->history().runs().size(), size_t(1));
        QCOMPARE(monitor->recording().moves.size(), 1);
        show(*monitor, "c1");
        QCOMPARE(monitor->history().runs().size(), size_t(1));
        QCOMPARE(monitor->history().samples().last().contextTokens, 90);
        QCOMPARE(monitor->recording().moves.size(), 1);

        // Numbers are of the one that is looked at, memory is of now.
        show(*monitor, "c0");
        QVERIFY(monitor->ofAnother());
        QCOMPARE(monitor->contextTokens(), 140);
        QCOMPARE(monitor->device().kv, 900.0);
        monitor->onFrame(3, frameAt(25, 95, 1));
        QCOMPARE(monitor->contextTokens(), 140);
        QCOMPARE(monitor->ttftMs().toDouble(), 12.5);
        QCOMPARE(monitor->device().kv, 950.0);
        show(*monitor, "c1");
        QVERIFY(!monitor->ofAnother());

        // A layer that moves is shown with every conversation, blocks only with the one that was computed.
        show(*monitor, "c0");
        monitor->onEvent({.kind = engine::Event::Kind::LayerMove, .layer = 2, .sentence = {}});
        monitor->onEvent(offload(256, 30));
        QCOMPARE(monitor->recording().moves.size(), 2);
        show(*monitor, "c1");
        QCOMPARE(monitor->recording().moves.size(), 3);
    }

    void whatIsMeasuredWhileItIsReadComesAfterIt()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);
        const double before = monitor->history().samples().last().seconds;
        monitor.reset();
        reopen();

        monitor = std::make_unique<PressureMonitor>();
        monitor->recorder().setStore(store.get());
        monitor->onModelReady(model("tiny"));
        monitor->recorder().show("c0");
        QVERIFY(monitor->recorder().readsShown());  // no call waits for it
        QVERIFY(monitor->history().runs().empty());
        monitor->onPlacement(frameAt(1, 0, 0));  // the load is no part of the conversation
        answer(*monitor, 1, "c0", 1, 140);
        QVERIFY(monitor->history().runs().empty());
        QSignalSpy another(monitor.get(), &PressureMonitor::modelChanged);
        QTRY_VERIFY(!monitor->recorder().readsShown());
        QCOMPARE(another.size(), 1);
        QVERIFY(!monitor->earlier());
        const PressureHistory& history = monitor->history();
        QCOMPARE(history.runs().size(), size_t(2));
        QVERIFY(history.runs()[0].earlier && !history.runs()[1].earlier);
        QCOMPARE(*history.earlierSeconds(), before);
        for (qsizetype i = 1; i < history.samples().size(); ++i)
            QVERIFY(history.samples()[i].seconds >= history.samples()[i - 1].seconds);
        QCOMPARE(monitor->recording().moves.size(), 2);
        QCOMPARE(monitor->ttftHistory().size(), 2);
        QCOMPARE(Recording::parse(store->recording("c0"))->answers.size(), 2);  // and it is kept
    }

    void whoLeavesBeforeItIsReadLosesNothing()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);
        monitor.reset();
        reopen();

        monitor = std::make_unique<PressureMonitor>();
        monitor->recorder().setStore(store.get());
        monitor->onModelReady(model("tiny"));
        monitor->recorder().show("c0");
        answer(*monitor, 1, "c0", 1, 140);
        monitor->recorder().begin(2, "c1");
        monitor->recorder().show("c1");
        QVERIFY(monitor->history().runs().empty());
        QTRY_COMPARE(Recording::parse(store->recording("c0"))->answers.size(), 2);
        QVERIFY(monitor->history().runs().empty());  // that of the other one
        show(*monitor, "c0");
        QCOMPARE(monitor->history().runs().size(), size_t(2));
        QVERIFY(monitor->earlier());
    }

    void whatWasReadForAnEarlierLookIsVoid()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);
        answer(*monitor, 2, "c1", 20, 50);
        monitor.reset();
        reopen();

        monitor = std::make_unique<PressureMonitor>();
        monitor->recorder().setStore(store.get());
        QSignalSpy another(monitor.get(), &PressureMonitor::modelChanged);
        for (const char* conversation : {"c0", "c1", "c0", "c1", "c0"})
            monitor->recorder().show(conversation);
        QCOMPARE(another.size(), 5);
        QTRY_VERIFY(!monitor->recorder().readsShown());
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
        QCOMPARE(another.size(), 6);  // of five that were read one is wanted
        QCOMPARE(monitor->history().runs().size(), size_t(1));
        QCOMPARE(monitor->contextTokens(), 140);
        // A recording that is still read when the monitor goes does no harm.
        monitor->recorder().show("c1");
        monitor.reset();
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
    }

    void aModelThatGoesWhileItIsReadLeavesIt()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);
        monitor.reset();
        reopen();

        monitor = std::make_unique<PressureMonitor>();
        monitor->recorder().setStore(store.get());
        monitor->onModelReady(model("tiny"));
        monitor->recorder().show("c0");
        answer(*monitor, 1, "c0", 1, 140);
        monitor->onModelGone();
        QTRY_VERIFY(!monitor->recorder().readsShown());
        QVERIFY(monitor->earlier());
        QCOMPARE(monitor->history().runs().size(), size_t(2));
        QCOMPARE(Recording::parse(store->recording("c0"))->answers.size(), 2);
    }

    void goesWithItsConversation()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);
        QVERIFY(!store->recording("c0").isEmpty());
        store->moveToTrash("c0");
        monitor->recorder().forget("c0");
        monitor->recorder().show("c1");
        monitor->onFrame(1, frameAt(20, 150, 41));  // its turn has not stopped yet
        QVERIFY(monitor->history().samples().isEmpty());
        store->restore("c0");
        QVERIFY(!store->recording("c0").isEmpty());
        store->moveToTrash("c0");
        store->emptyTrash();
        store->flush();
        QVERIFY(store->recording("c0").isEmpty());
        monitor.reset();  // writes nothing for it
        reopen();
        QVERIFY(store->recording("c0").isEmpty());
        QCOMPARE(store->conversations().size(), 1);
    }

    // The engine keeps the conversation's tokens as long as the removal can be taken back, and tells of them at the
    // next change.
    void whatIsThrownAwayIsShownNoMore()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        const auto of = [](int sequence, double seconds) {
            engine::Telemetry frame = frameAt(seconds, 140, 40);
            frame.sequence = sequence;
            frame.ttft_ms = 12.5;
            frame.kv_map = std::make_shared<engine::KvMap>();
            return frame;
        };
        monitor->recorder().begin(1, "c0");
        monitor->onFrame(1, of(7, 10));
        store->moveToTrash("c0");
        monitor->recorder().forget("c0");
        monitor->recorder().show({});
        const auto isShown = [&] {
            return monitor->ttftMs().isValid() || monitor->kvMap() || monitor->contextTokens() > 0;
        };
        QVERIFY(!isShown());
        monitor->onFrame(1, of(7, 11));  // its turn has not stopped yet
        QVERIFY(!isShown());
        engine::Turn stopped;
        stopped.telemetry = of(7, 12);
        monitor->onFinished(1, stopped);
        QVERIFY(!isShown());
        monitor->onPlacement(of(7, 13));
        QVERIFY(!isShown());
        QCOMPARE(monitor->device().total, 1'000'000.0);  // where the bytes lie is told of

        // One that goes before a frame of it has come hides itself, and not the one before.
        monitor->recorder().begin(5, "c1");
        monitor->onFrame(5, of(8, 14));
        monitor->onFinished(5, [&] {
            engine::Turn whole;
            whole.telemetry = of(8, 15);
            return whole;
        }());
        monitor->recorder().begin(6, "c9");
        monitor->recorder().forget("c9");
        monitor->onPlacement(of(8, 16));
        monitor->recorder().show("c1");
        QVERIFY(monitor->kvMap());
        stopped.telemetry = of(9, 17);
        monitor->onFinished(6, stopped);
        QVERIFY(!isShown());

        store->restore("c0");
        show(*monitor, "c0");
        monitor->recorder().begin(2, "c0");
        monitor->onFrame(2, of(7, 20));
        QVERIFY(monitor->kvMap());
        QCOMPARE(monitor->ttftMs(), QVariant(12.5));
    }

    void aLongConversationStaysSmall()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        int context = 0;
        double seconds = 0;
        for (quint64 turn = 1; turn <= 64; ++turn) {
            monitor->recorder().begin(turn, "c0");
            engine::Turn last;
            for (int token = 1; token <= 512; ++token) {
                last.telemetry = frameAt(seconds += 0.0137, ++context, token);
                last.telemetry.device->weight_bytes = 7'123'456'789;
                last.telemetry.ram_total_bytes = 63'123'456'789;
                last.telemetry.ram_available_bytes = 31'123'456'789 - context;
                monitor->onFrame(turn, last.telemetry);
                if (token % 8 == 0)
                    monitor->onEvent(offload(context, seconds));
            }
            monitor->onEvent({.kind = engine::Event::Kind::Warning, .sentence = std::string(5000, 'x')});
            monitor->onFinished(turn, last);
        }
        QCOMPARE(context, 32 * 1024);
        const QByteArray kept = store->recording("c0");
        qInfo("%lld bytes are kept of a conversation of 32K tokens", qlonglong(kept.size()));
        QVERIFY(kept.size() > 50'000);
        QVERIFY2(kept.size() < 450'000, qPrintable(QString::number(kept.size())));
        const auto read = Recording::parse(kept);
        QVERIFY(read);
        QCOMPARE(read->history.samples()[0].contextTokens, 1);  // thinned, not cut
        QCOMPARE(read->history.samples().last().contextTokens, 32 * 1024);
        QCOMPARE(read->moves.last().event.kind, engine::Event::Kind::Warning);

        // All that happens on the UI thread when an answer ends is that the recording is copied.
        QElapsedTimer clock;
        clock.start();
        const Recording copy = monitor->recording().kept();
        qInfo("thinned in %.2f ms", double(clock.nsecsElapsed()) / 1e6);
        clock.start();
        QVERIFY(Recording::parse(kept));
        qInfo("read in %.2f ms", double(clock.nsecsElapsed()) / 1e6);
    }

    void whatCannotBeReadIsSaid_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("no JSON") << "GGUF";
        QTest::newRow("of something else") << R"({"format": "spillway-conversations", "version": 1})";
        QTest::newRow("a wrong sample")
            << R"({"format": "spillway-recording", "version": 1, "samples": [[1, 2, "three"]]})";
    }
    void whatCannotBeReadIsSaid()
    {
        QFETCH(QString, text);
        store.reset();
        sql(file(), {QString("INSERT INTO recordings VALUES (1, 'c0', '%1')").arg(text)});
        reopen();
        auto monitor = monitorOn("c1");
        QCOMPARE(monitor->trouble(), "");
        show(*monitor, "c0");
        QVERIFY(monitor->trouble().contains("cannot be read"));
        QVERIFY(!monitor->earlier());
        monitor->dismissTrouble();
        QCOMPARE(monitor->trouble(), "");
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);  // and is begun anew
        QVERIFY(Recording::parse(store->recording("c0")));
    }

    void oneThatIsTooLargeIsNotRead()
    {
        store.reset();
        sql(file(), {"INSERT INTO recordings SELECT 1, 'c0', hex(zeroblob(1000000))"});
        reopen();
        QVERIFY(store->recording("c0").isEmpty());
        const auto monitor = monitorOn("c0");
        QVERIFY(!monitor->earlier());
    }

    void isReplacedBehindItByAnotherModel()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);
        monitor->onModelGone();
        QVERIFY(monitor->earlier());
        QVERIFY(monitor->device().known);  // the last that was measured
        QCOMPARE(monitor->history().runs().size(), size_t(1));
    }

    void aModelThatComesBackFindsWhatItMeasured()
    {
        auto monitor = monitorOn("c0");
        monitor->onModelReady(model("tiny"));
        answer(*monitor, 1, "c0", 10, 100);
        monitor->onModelGone();
        monitor->onModelReady(model("other"));
        QVERIFY(monitor->history().samples().isEmpty() && monitor->ttftHistory().isEmpty());
        QCOMPARE(monitor->contextTokens(), 0);
        QCOMPARE(monitor->recorder().shown().moves.size(), 1);  // whatever model it was
        monitor->onModelGone();
        monitor->onModelReady(model("tiny"));
        QVERIFY(monitor->earlier() && !monitor->severalModels());
        QCOMPARE(monitor->history().runs().size(), size_t(1));
        QCOMPARE(monitor->ttftHistory(), QList<double>{12.5});
    }
};

SPILLWAY_TEST(QApplication, TestFlightRecorder)
#include "tst_flight_recorder.moc"
