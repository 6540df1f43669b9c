// What moved between the memories, as rows: kept, filtered, copied and written to a file.
#include "app/models/placement_event_model.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QGuiApplication>
#include <QTemporaryDir>
#include <QTest>

namespace {

using Kind = engine::Event::Kind;
using Cause = engine::Event::Cause;

engine::Event offload(int first)
{
    return {.kind = Kind::Offload,
            .cause = Cause::Watermark,
            .bytes = 1024,
            .blocks = 6,
            .tokens = {first, first + 256},
            .duration_us = 7,
            .sentence = {}};
}

}  // namespace

class TestPlacementEvents : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void keepsWhatMoved()
    {
        PlacementEventModel events;
        const QAbstractItemModelTester tester(&events, QAbstractItemModelTester::FailureReportingMode::Fatal);
        events.add(offload(256));
        events.add({.kind = Kind::CommandDone, .sentence = {}});  // moves nothing
        events.add({.kind = Kind::LayerMove, .cause = Cause::User, .layer = 3, .sentence = "layer 3 moved"});
        QCOMPARE(events.rowCount(), 2);
        const QModelIndex row = events.index(0);
        QCOMPARE(row.data(PlacementEventModel::KindRole).toInt(), int(PlacementEventModel::Offload));
        QCOMPARE(row.data(PlacementEventModel::FirstTokenRole).toInt(), 256);
        QCOMPARE(row.data(PlacementEventModel::LastTokenRole).toInt(), 511);
        QCOMPARE(row.data(PlacementEventModel::BytesRole).toDouble(), 1024.0);
        QCOMPARE(row.data(PlacementEventModel::CauseNameRole).toString(), "watermark");
        QCOMPARE(events.index(1).data(PlacementEventModel::FirstTokenRole).toInt(), -1);
        events.clear();
        QCOMPARE(events.rowCount(), 0);
    }

    void forgetsTheOldest()
    {
        PlacementEventModel events;
        for (int i = 0; i < PlacementEventModel::kMostRows + 1; ++i)
            events.add(offload(i));
        QVERIFY(events.rowCount() <= PlacementEventModel::kMostRows);
        QCOMPARE(events.index(events.rowCount() - 1).data(PlacementEventModel::FirstTokenRole).toInt(),
                 int(PlacementEventModel::kMostRows));
    }

    void showsOneKind()
    {
        PlacementEventModel events;
        ShownPlacementEvents shown(events);
        const QAbstractItemModelTester tester(&shown, QAbstractItemModelTester::FailureReportingMode::Fatal);
        events.add(offload(0));
        events.add({.kind = Kind::Fetch, .tokens = {0, 256}, .sentence = {}});
        QCOMPARE(shown.count(), 2);
        shown.setKind(PlacementEventModel::Fetch);
        QCOMPARE(shown.count(), 1);
        QCOMPARE(shown.index(0, 0).data(PlacementEventModel::KindRole).toInt(), int(PlacementEventModel::Fetch));
        events.add(offload(256));
        QCOMPARE(shown.count(), 1);
        shown.setKind(-1);
        QCOMPARE(shown.count(), 3);
    }

    void writesCommaSeparatedValues()
    {
        PlacementEventModel events;
        ShownPlacementEvents shown(events);
        events.add(offload(256));
        events.add({.kind = Kind::Warning, .sentence = "=HYPERLINK(\"x\"), twice"});
        const QStringList lines = shown.csv().split('\n');
        QCOMPARE(lines.size(), 4);  // a head, two rows, the end
        QCOMPARE(lines[0], "time,kind,cause,layer,first_token,last_token,blocks,bytes,microseconds,text");
        QVERIFY2(lines[1].endsWith(",\"Offload\",\"watermark\",,256,511,6,1024,7,\"\""), qPrintable(lines[1]));
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
        QVERIFY(shown.save(QUrl::fromLocalFile("/nowhere/at/all.csv")).contains("/nowhere/at/all.csv"));
    }
};

QTEST_MAIN(TestPlacementEvents)
#include "tst_placement_events.moc"
