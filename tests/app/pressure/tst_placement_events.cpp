// Tests that what moved between the memories becomes rows which can be filtered, copied and written to a file.
#include "app/pressure/placement_event_model.h"
#include "engine/layer_move.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QTemporaryDir>
#include <QTest>

namespace {

using EventKind = engine::Event::Kind;
using Cause = engine::Event::Cause;

engine::Event offload(int first)
{
    return {.kind = EventKind::Offload,
            .cause = Cause::Watermark,
            .bytes = 1024,
            .blocks = 6,
            .tokens = {first, first + 256},
            .duration_us = 7,
            .sentence = {}};
}

void add(PlacementEventModel& events, const engine::Event& event)
{
    events.add(placementMove(event, {}));
}

}  // namespace

class TestPlacementEvents : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aTitleSaysWhichLayerAndWhereTo()
    {
        using engine::Residency;
        PlacementEventModel events;
        using Model = PlacementEventModel;
        const auto text = [&](int row, Model::Role role) { return events.index(row).data(role).toString(); };
        for (const Residency to : {Residency::Device, Residency::Host})
            add(events, {.kind = EventKind::LayerMove, .layer = 2, .sentence = engine::layer_moved(2, to)});
        add(events, {.kind = EventKind::LayerMove, .layer = 3, .sentence = "of another version"});
        add(events, {.kind = EventKind::DeviceChanged, .sentence = "from the cpu to the emulated device"});
        QCOMPARE(text(0, Model::TitleRole), "Layer 2 to the device");
        QCOMPARE(text(1, Model::TitleRole), "Layer 2 to RAM");
        for (const int row : {0, 1})
            QCOMPARE(text(row, Model::DetailRole), "");  // the title says it all
        QCOMPARE(text(2, Model::TitleRole), "Layer moved");
        QCOMPARE(text(2, Model::DetailRole), "of another version");
        QCOMPARE(text(3, Model::TitleRole), "Device changed");
        QCOMPARE(text(3, Model::DetailRole), "from the cpu to the emulated device");
        for (const Residency to : {Residency::Device, Residency::Host})
            add(events, {.kind = EventKind::ExpertsMove, .layer = 1, .sentence = engine::experts_moved(1, to)});
        QCOMPARE(text(4, Model::TitleRole), "Experts of layer 1 to the device");
        QCOMPARE(text(5, Model::TitleRole), "Experts of layer 1 to RAM");
        QCOMPARE(text(5, Model::DetailRole), "");
        add(events, {.kind = EventKind::Adapted, .sentence = "auto keeps its change"});
        QCOMPARE(text(6, Model::TitleRole), "Auto adapts");
        QCOMPARE(text(6, Model::DetailRole), "auto keeps its change");
    }

    void keepsWhatMoved()
    {
        PlacementEventModel events;
        const QAbstractItemModelTester tester(&events, QAbstractItemModelTester::FailureReportingMode::Fatal);
        add(events, offload(256));
        add(events, {.kind = EventKind::CommandDone, .sentence = {}});  // moves nothing
        add(events, {.kind = EventKind::LayerMove, .cause = Cause::User, .layer = 3, .sentence = "layer 3 moved"});
        QCOMPARE(events.rowCount(), 2);
        const QModelIndex row = events.index(0);
        QCOMPARE(row.data(PlacementEventModel::KindRole).toInt(), int(PlacementEventModel::Offload));
        QCOMPARE(row.data(PlacementEventModel::FirstTokenRole).toInt(), 256);
        QCOMPARE(row.data(PlacementEventModel::LastTokenRole).toInt(), 511);
        QCOMPARE(row.data(PlacementEventModel::BytesRole).toDouble(), 1024.0);
        QCOMPARE(row.data(PlacementEventModel::CauseNameRole).toString(), "watermark");
        QCOMPARE(events.index(1).data(PlacementEventModel::FirstTokenRole).toInt(), -1);
        QVERIFY(events.index(0).data(PlacementEventModel::MessageRole).toString().isEmpty());
        events.reset({}, {});
        QCOMPARE(events.rowCount(), 0);
    }

    void saysWhoseTokensTheyWere()
    {
        const QList<MessageTokens> places{{0, {0, 100}}, {1, {100, 300}}, {4, {310, 700}}};
        PlacementEventModel events;
        const auto text = [&](int row, PlacementEventModel::Role role) {
            return events.index(row).data(role).toString();
        };
        const QList<PlacementMove> moves{placementMove(offload(0), places), placementMove(offload(256), places),
                                         placementMove(offload(512), places), placementMove(offload(768), places)};
        events.reset(moves, [](int message) {
            return message == 1 ? std::optional(PlacementEventModel::Message{"id-1", "How far is the moon?"})
                                : std::nullopt;
        });
        using Model = PlacementEventModel;
        QCOMPARE(text(0, Model::MessageRole), "System prompt");
        QCOMPARE(text(0, Model::MessageCountRole), "2");
        QCOMPARE(text(0, Model::MessageIdRole), "");
        QCOMPARE(text(1, Model::MessageRole), QString::fromUtf8("“How far is the moon?”"));
        QCOMPARE(text(1, Model::MessageIdRole), "id-1");
        QCOMPARE(text(2, Model::MessageRole), "Message 4");  // of which no more is known
        QCOMPARE(text(3, Model::MessageRole), "");           // the tokens are nobody's
        QCOMPARE(text(3, Model::MessageCountRole), "0");
        engine::Event unknown = offload(0);
        unknown.tokens = {};
        events.add(placementMove(unknown, places));
        QCOMPARE(text(4, Model::MessageRole), "Of another conversation");
        const ShownPlacementEvents shown(events);
        QVERIFY(shown.csv().contains(QString::fromUtf8("256,511,6,1024,7,\"“How far is the moon?”\",2,\"\"")));

        events.reset(moves, {});  // a recording from elsewhere
        QCOMPARE(text(1, Model::MessageRole), "Message 1");
        QCOMPARE(text(1, Model::MessageIdRole), "");
    }

    void forgetsTheOldest()
    {
        PlacementEventModel events;
        for (int i = 0; i < PlacementEventModel::kMostRows + 1; ++i)
            add(events, offload(i));
        QVERIFY(events.rowCount() <= PlacementEventModel::kMostRows);
        QCOMPARE(events.index(events.rowCount() - 1).data(PlacementEventModel::FirstTokenRole).toInt(),
                 int(PlacementEventModel::kMostRows));
    }

    void showsOneKind()
    {
        PlacementEventModel events;
        ShownPlacementEvents shown(events);
        const QAbstractItemModelTester tester(&shown, QAbstractItemModelTester::FailureReportingMode::Fatal);
        add(events, offload(0));
        add(events, {.kind = EventKind::Fetch, .tokens = {0, 256}, .sentence = {}});
        QCOMPARE(shown.count(), 2);
        shown.setKind(PlacementEventModel::Fetch);
        QCOMPARE(shown.count(), 1);
        QCOMPARE(shown.index(0, 0).data(PlacementEventModel::KindRole).toInt(), int(PlacementEventModel::Fetch));
        add(events, offload(256));
        QCOMPARE(shown.count(), 1);
        shown.setKind(-1);
        QCOMPARE(shown.count(), 3);
    }

    void writesCommaSeparatedValues()
    {
        PlacementEventModel events;
        ShownPlacementEvents shown(events);
        add(events, offload(256));
        add(events, {.kind = EventKind::Warning, .sentence = "=HYPERLINK(\"x\"), twice"});
        const QStringList lines = shown.csv().split('\n');
        QCOMPARE(lines.size(), 4);  // a head, two rows, the end
        QCOMPARE(lines[0],
                 "time,kind,cause,layer,first_token,last_token,blocks,bytes,microseconds,message,messages,text");
        QVERIFY2(lines[1].endsWith(",\"Offload\",\"watermark\",,256,511,6,1024,7,\"\",0,\"\""), qPrintable(lines[1]));
        // Quotes are doubled, and no spreadsheet takes it for a formula.
        QVERIFY2(lines[2].endsWith("\"'=HYPERLINK(\"\"x\"\"), twice\""), qPrintable(lines[2]));

        shown.copy();
        QCOMPARE(QGuiApplication::clipboard()->text(), shown.csv());
        const QTemporaryDir folder;
        const QString path = folder.filePath("events.csv");
        QCOMPARE(shown.save(QUrl::fromLocalFile(path)), QString());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromUtf8(file.readAll()), shown.csv());
        QUrl typed;  // as Qt 6.4's own dialog has it
        typed.setPath(folder.filePath("typed 100 %.csv"));
        QCOMPARE(shown.save(typed), QString());
        QVERIFY(QFile::exists(folder.filePath("typed 100 %.csv")));
        QVERIFY(shown.save(QUrl::fromLocalFile("/nowhere/at/all.csv")).contains("/nowhere/at/all.csv"));
    }
};

SPILLWAY_TEST(QApplication, TestPlacementEvents)
#include "tst_placement_events.moc"
