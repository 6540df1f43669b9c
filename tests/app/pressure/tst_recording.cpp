// Tests that a recording is read again as it was written, and that a file which somebody else made is checked.
#include "app/pressure/pressure_monitor.h"
#include "app/pressure/recording.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>

namespace {

/// Some answers of a model on a device, and blocks that left.
void fly(PressureMonitor& monitor, const char* name = "tiny")
{
    engine::ModelInfo model;
    model.name = name;
    model.context_in_use = 4096;
    monitor.onModelReady(model);
    engine::Telemetry frame;
    frame.context_limit = 4096;
    frame.device.emplace();
    frame.device->id = "emulated";
    frame.device->total_bytes = 1000;
    frame.device->budget_bytes = 900;
    frame.device->watermark_bytes = 855;
    frame.ram_total_bytes = 5000;
    frame.ram_available_bytes = 3000;
    for (quint64 turn = 1; turn <= 3; ++turn) {
        for (int token = 1; token <= 50; ++token) {
            frame.time_us += 20'000;
            frame.generated_tokens = token;
            ++frame.context_tokens;
            frame.device->kv_bytes = frame.context_tokens;
            monitor.onFrame(turn, frame);
        }
        monitor.onEvent({.kind = engine::Event::Kind::Offload, .time_us = frame.time_us, .sentence = {}});
        frame.ttft_ms = 10.0 * double(turn);
        engine::Turn last;
        last.telemetry = frame;
        monitor.onFinished(turn, last);
    }
}

QJsonArray move(int kind, const QJsonValue& message, const QJsonValue& text)
{
    return {1.79e12, kind, 1, QJsonValue(), 0, 256, 6, 4096, 17, 0, message, 1, text};
}

QByteArray changed(const QByteArray& json, const char* key, const QJsonValue& value)
{
    QJsonObject object = QJsonDocument::fromJson(json).object();
    object[QLatin1String(key)] = value;
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

}  // namespace

class TestRecording : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void guessesAreReadBack()
    {
        PressureMonitor flown;
        fly(flown);
        QVERIFY(!flown.recording().toJson().contains("guesses"));
        engine::Telemetry frame;
        frame.time_us = 60'000'000;
        for (frame.generated_tokens = 1; frame.generated_tokens < 100; ++frame.generated_tokens) {
            frame.time_us += 10'000;
            frame.context_tokens = 200 + frame.generated_tokens;
            frame.drafted_tokens = 2 * frame.generated_tokens;
            frame.accepted_tokens = frame.generated_tokens;
            flown.onFrame(9, frame);
        }
        const auto read = Recording::parse(flown.recording().toJson());
        QVERIFY(read);
        QVERIFY(read->history.runs().front().guesses.empty());
        const auto& before = flown.history().runs().back().guesses;
        const auto& after = read->history.runs().back().guesses;
        QVERIFY(before.size() > 3);
        QCOMPARE(after.size(), before.size());
        QCOMPARE(after[1].contextTokens, before[1].contextTokens);
        QCOMPARE(after[1].drafted, 32);
        QCOMPARE(after[1].accepted, 16);
    }

    void whatIsWrittenIsReadBack()
    {
        PressureMonitor flown;
        fly(flown);
        const QTemporaryDir folder;
        const QUrl file = QUrl::fromLocalFile(folder.filePath("flight.json"));
        QCOMPARE(flown.saveRecording(file), QString());

        PressureMonitor elsewhere;
        QSignalSpy another(&elsewhere, &PressureMonitor::modelChanged);
        elsewhere.openRecording(file);
        QVERIFY(!elsewhere.replaying());  // no call waits for it
        QTRY_COMPARE(another.size(), 1);
        QCOMPARE(elsewhere.trouble(), QString());
        QVERIFY(elsewhere.replaying());
        QCOMPARE(elsewhere.recordingModel(), "tiny");
        QCOMPARE(elsewhere.deviceName(), "emulated");
        QCOMPARE(elsewhere.contextTokens(), 150);
        QCOMPARE(elsewhere.contextLimit(), 4096);
        QCOMPARE(elsewhere.device(), flown.device());
        QCOMPARE(elsewhere.host(), flown.host());
        const PressureHistory& a = flown.history();
        const PressureHistory& b = elsewhere.history();
        QCOMPARE(b.samples().size(), a.samples().size());
        for (qsizetype i = 0; i < a.samples().size(); ++i) {
            QCOMPARE(b.samples()[i].seconds, a.samples()[i].seconds);
            QCOMPARE(b.samples()[i].contextTokens, a.samples()[i].contextTokens);
            QCOMPARE(b.samples()[i].device, a.samples()[i].device);
        }
        QCOMPARE(b.runs().size(), a.runs().size());
        for (size_t i = 0; i < a.runs().size(); ++i) {
            QCOMPARE(b.runs()[i].points.size(), a.runs()[i].points.size());
            QVERIFY(!a.runs()[i].points.empty());
            QCOMPARE(b.runs()[i].points.back().tokensPerSecond, a.runs()[i].points.back().tokensPerSecond);
        }
        QCOMPARE(b.marks().size(), qsizetype(3));
        QCOMPARE(b.marks()[2].contextTokens, 150);
        QVERIFY(!b.runs().back().earlier);  // it is replayed as it was
        QCOMPARE(elsewhere.recording().moves.size(), 3);
        QCOMPARE(elsewhere.recording().moves[1].event.kind, engine::Event::Kind::Offload);
        QCOMPARE(elsewhere.recording().moves[1].ms, flown.recording().moves[1].ms);
        QCOMPARE(elsewhere.ttftHistory(), (QList<double>{10, 20, 30}));
        QCOMPARE(elsewhere.ttftMs().toDouble(), 30.0);

        elsewhere.leaveRecording();
        QVERIFY(!elsewhere.replaying());
        QVERIFY(elsewhere.history().samples().isEmpty());
    }

    /// A row is longer only where there is a state, so that older versions read what they can show.
    void statesAreRecorded()
    {
        const auto samplesOf = [](const QByteArray& json) {
            return QJsonDocument::fromJson(json).object()["samples"].toArray();
        };
        PressureMonitor without, with;
        fly(without);
        fly(with);
        engine::Telemetry frame = with.frame();
        frame.device->state_bytes = 70;
        frame.state_bytes_host = 490;
        frame.time_us += 1'000'000;
        with.onFrame(3, frame);
        const QByteArray old = without.recording().toJson(), json = with.recording().toJson();
        const auto length = [](const QJsonValue& row) { return row.toArray().size(); };
        QCOMPARE(length(samplesOf(json).first()), length(samplesOf(old).first()));
        QCOMPARE(length(samplesOf(json).last()), length(samplesOf(old).first()) + 2);
        const auto again = Recording::parse(json);
        QVERIFY(again);
        QCOMPARE(again->history.samples().last().device, with.device());
        QCOMPARE(again->history.samples().last().device.state, 70.0);
        QCOMPARE(again->history.samples().last().host.state, 490.0);
        QCOMPARE(again->history.samples()[0].host.state, 0.0);
        QVERIFY(Recording::parse(old));
        QJsonArray samples = samplesOf(json);
        QJsonArray row = samples.last().toArray();
        row.append(1);  // copies of experts
        row.append(1);
        samples.append(row);
        QVERIFY(!Recording::parse(changed(json, "samples", samples)));  // longer than any version writes
        row = samples.first().toArray();
        row.append(1);
        QVERIFY(!Recording::parse(changed(json, "samples", QJsonArray{row})));
    }

    /// Copies come after the states in a row, whether there are any or not.
    void copiesOfExpertsAreRecorded()
    {
        for (const std::int64_t states : {0, 70}) {
            PressureMonitor monitor;
            fly(monitor);
            engine::Telemetry frame = monitor.frame();
            frame.device->weight_bytes += 90;
            frame.device->expert_cache_bytes = 90;
            frame.device->state_bytes = states;
            frame.time_us += 1'000'000;
            monitor.onFrame(3, frame);
            const auto again = Recording::parse(monitor.recording().toJson());
            QVERIFY(again);
            const MemoryReading device = again->history.samples().last().device;
            QCOMPARE(device, monitor.device());
            QCOMPARE(device.experts, 90.0);
            QCOMPARE(device.state, double(states));
            QCOMPARE(again->history.samples()[0].device.experts, 0.0);
        }
    }

    /// Older files have no hit rates.
    void hitRatesAreRecorded()
    {
        PressureMonitor monitor;
        fly(monitor);
        QVERIFY(!QJsonDocument::fromJson(monitor.recording().toJson()).object().contains("experts"));
        engine::Telemetry frame = monitor.frame();
        frame.device->cached_experts = 2;
        for (int i = 0; i < 3; ++i) {
            frame.time_us += 1'000'000;
            frame.generated_tokens = 1 + 8 * i;
            frame.context_tokens += 8;
            frame.device->expert_hits += 6;
            frame.device->expert_misses += 2;
            monitor.onFrame(77, frame);
        }
        const QByteArray json = monitor.recording().toJson();
        const auto again = Recording::parse(json);
        QVERIFY(again);
        const auto& runs = again->history.runs();
        QCOMPARE(runs.size(), monitor.history().runs().size());
        QVERIFY(runs.front().experts.empty());
        QCOMPARE(runs.back().experts.size(), size_t(2));
        QCOMPARE(runs.back().experts[1].contextTokens, frame.context_tokens);
        QCOMPARE(runs.back().experts[1].hits, 6.0);
        QCOMPARE(runs.back().experts[1].misses, 2.0);

        const QJsonArray experts = QJsonDocument::fromJson(json).object()["experts"].toArray();
        QJsonArray fewer = experts;
        fewer.removeFirst();
        QVERIFY(!Recording::parse(changed(json, "experts", fewer)));  // whose are they?
        QJsonArray wrong = experts;
        wrong[wrong.size() - 1] = QJsonArray{QJsonArray{1, -2, 3}};
        QVERIFY(!Recording::parse(changed(json, "experts", wrong)));
        QVERIFY(Recording::parse(changed(json, "experts", QJsonArray())));
    }

    void everythingThatHappensCanBeReadBack()
    {
        using Kind = engine::Event::Kind;
        for (int kind = 0; kind <= int(Kind::Adapted); ++kind) {
            PressureMonitor monitor;
            fly(monitor);
            monitor.onEvent({.kind = Kind(kind), .layer = 1, .sentence = {}});
            const Recording& flown = monitor.recording();
            const auto again = Recording::parse(flown.toJson());
            QVERIFY2(again, qPrintable(QString("kind %1").arg(kind)));
            QCOMPARE(again->history.marks().size(), flown.history.marks().size());
            QCOMPARE(again->history.marks().last().kind, flown.history.marks().last().kind);
            QCOMPARE(again->moves.size(), flown.moves.size());
            QCOMPARE(again->moves.last().event.kind, flown.moves.last().event.kind);
        }
    }

    /// What a later version notes, or an earlier one has written wrong, takes nothing else along.
    void whatCannotBeReadOfManyIsLeftOut_data()
    {
        PressureMonitor flown;
        fly(flown);
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<int>("marks");
        QTest::addColumn<int>("moves");
        QTest::addColumn<int>("answers");
        const QByteArray json = flown.recording().toJson();
        const auto with = [&](const char* key, const QJsonArray& row) {
            QJsonArray rows = QJsonDocument::fromJson(json).object()[QLatin1String(key)].toArray();
            rows.insert(1, row);
            return changed(json, key, rows);
        };
        const auto row = [](const char* name, const QByteArray& one) {
            QTest::addRow("%s", name) << one << 3 << 3 << 3;
        };
        row("all is known", json);
        row("a mark of an unknown kind", with("marks", {1, 2, 99}));
        row("a mark before the beginning", with("marks", {-1.2, 2, 4}));
        row("a move of an unknown kind", with("moves", move(99, 1, "")));
        row("a move of no kind that moves", with("moves", move(0, 1, "")));
        row("a move of nobody's message", with("moves", move(4, -1, "")));
        row("a move that says a number", with("moves", move(4, 1, 5)));
        QJsonArray backwards = move(4, 1, "");
        backwards[4] = 300;
        row("tokens that end before they begin", with("moves", backwards));
        QTest::addRow("a move of the system prompt") << with("moves", move(4, 0, "because")) << 3 << 4 << 3;
        row("an answer too long", with("answers", {1, 2, 3, 4, 5, 6, 7, 8}));
        row("an answer beyond reason", with("answers", {1, 2, 3, 4, 5, 1e19, 7}));
    }
    void whatCannotBeReadOfManyIsLeftOut()
    {
        QFETCH(QByteArray, json);
        const auto read = Recording::parse(json);
        QVERIFY(read);
        QTEST(int(read->history.marks().size()), "marks");
        QTEST(int(read->moves.size()), "moves");
        QTEST(int(read->answers.size()), "answers");
        QCOMPARE(read->history.runs().size(), size_t(3));
    }

    void whatHappensGoesOnBehindIt()
    {
        PressureMonitor monitor;
        fly(monitor);
        const QTemporaryDir folder;
        QUrl file;
        file.setPath(folder.filePath("flight.json"));  // as a name that was typed into Qt 6.4's own dialog
        QCOMPARE(monitor.saveRecording(file), QString());
        monitor.openRecording(file);
        QTRY_VERIFY(monitor.replaying());
        engine::Telemetry frame = monitor.frame();
        frame.context_tokens = 151;
        frame.device->kv_bytes = 700;
        frame.time_us += 1'000'000;
        monitor.onFrame(4, frame);
        QCOMPARE(monitor.device().kv, 150.0);  // the recording's
        monitor.leaveRecording();
        QCOMPARE(monitor.device().kv, 700.0);
        QCOMPARE(monitor.contextTokens(), 151);
    }

    void badFilesGetOneSentence_data()
    {
        PressureMonitor flown;
        fly(flown);
        const QByteArray json = flown.recording().toJson();
        QVERIFY(Recording::parse(json));
        const auto guesses = [](const QJsonArray& one) {  // of three answers
            return QJsonArray{QJsonArray{one}, QJsonArray(), QJsonArray()};
        };
        const auto more = Recording::parse(changed(json, "guesses", guesses({1, 2, 3})));
        QVERIFY(more);
        QCOMPARE(more->history.runs().front().guesses.front().accepted, 2);  // no more than were guessed
        QTest::addColumn<QByteArray>("json");
        QTest::addRow("empty") << QByteArray();
        QTest::addRow("no JSON") << QByteArray("GGUF");
        QTest::addRow("cut off") << json.left(json.size() / 2);
        QTest::addRow("something else") << QByteArray(R"({"format": "spillway-conversations", "version": 1})");
        QTest::addRow("a later version") << changed(json, "version", 2);
        QTest::addRow("a sample too short") << changed(json, "samples", QJsonArray{QJsonArray{1, 2}});
        QTest::addRow("a point of words") << changed(json, "runs", QJsonArray{QJsonArray{QJsonArray{"a", "b"}}});
        QTest::addRow("a negative speed") << changed(json, "runs", QJsonArray{QJsonArray{QJsonArray{5, -1}}});
        QTest::addRow("a huge count") << changed(json, "runs", QJsonArray{QJsonArray{QJsonArray{1e12, 1}}});
        QTest::addRow("guesses of no answer") << changed(json, "guesses", QJsonArray{QJsonArray{QJsonArray{1, 2, 1}}});
        QTest::addRow("a guess too short") << changed(json, "guesses", guesses({1, 2}));
        QJsonArray many;
        for (int i = 0; i <= PressureHistory::kMostMarks; ++i)
            many.append(QJsonArray{1, 2, 4});
        QTest::addRow("too many marks") << changed(json, "marks", many);
    }
    void badFilesGetOneSentence()
    {
        QFETCH(QByteArray, json);
        QVERIFY(!Recording::parse(json));
        const QTemporaryDir folder;
        QFile file(folder.filePath("bad.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(json);
        file.close();
        PressureMonitor monitor;
        fly(monitor);
        monitor.openRecording(QUrl::fromLocalFile(file.fileName()));
        QTRY_VERIFY(monitor.trouble().contains("bad.json"));
        QVERIFY(!monitor.replaying());
        QCOMPARE(monitor.contextTokens(), 150);
    }

    void whatAnOlderOneLacksIsEmpty()
    {
        PressureMonitor flown;
        fly(flown);
        QJsonObject object = QJsonDocument::fromJson(flown.recording().toJson()).object();
        for (const char* later : {"moves", "answers", "spill_tokens"})
            object.remove(QLatin1String(later));
        const auto older = Recording::parse(QJsonDocument(object).toJson());
        QVERIFY(older);
        QCOMPARE(older->history.runs().size(), size_t(3));
        QVERIFY(older->moves.isEmpty());
        QVERIFY(!older->spillTokens);
    }

    void filesThatCannotBe()
    {
        PressureMonitor monitor;
        fly(monitor);
        QVERIFY(!monitor.saveRecording(QUrl::fromLocalFile("/nowhere/at/all.json")).isEmpty());
        monitor.openRecording(QUrl::fromLocalFile("/nowhere/at/all.json"));
        QTRY_VERIFY(monitor.trouble().contains("/nowhere/at/all.json"));
        QVERIFY(!monitor.replaying());
    }

    void theNewestRequestCounts()
    {
        const QTemporaryDir folder;
        const auto fileOf = [&](const char* model) {
            PressureMonitor flown;
            fly(flown, model);
            QUrl file = QUrl::fromLocalFile(folder.filePath(model));
            flown.saveRecording(file);
            return file;
        };
        const QUrl first = fileOf("first"), second = fileOf("second");
        PressureMonitor monitor;
        QSignalSpy another(&monitor, &PressureMonitor::modelChanged);
        const auto allRead = [] {
            QThreadPool::globalInstance()->waitForDone();
            QCoreApplication::processEvents();
        };
        monitor.openRecording(first);
        monitor.openRecording(QUrl::fromLocalFile("/nowhere/at/all.json"));
        monitor.openRecording(second);
        allRead();
        QCOMPARE(another.size(), 1);
        QVERIFY(monitor.replaying());
        QCOMPARE(monitor.recordingModel(), "second");
        QCOMPARE(monitor.trouble(), QString());

        // Who goes back to now does not get what was asked for before.
        monitor.openRecording(first);
        monitor.leaveRecording();
        allRead();
        QVERIFY(!monitor.replaying());

        // One that cannot be read leaves the one that is shown; the next good one takes the sentence away.
        monitor.openRecording(second);
        allRead();
        monitor.openRecording(QUrl::fromLocalFile("/nowhere/at/all.json"));
        allRead();
        QCOMPARE(monitor.recordingModel(), "second");
        QVERIFY(!monitor.trouble().isEmpty());
        monitor.openRecording(first);
        allRead();
        QCOMPARE(monitor.recordingModel(), "first");
        QCOMPARE(monitor.trouble(), QString());
    }
};

SPILLWAY_TEST(QApplication, TestRecording)
#include "tst_recording.moc"
