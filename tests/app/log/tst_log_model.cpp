// Tests that the page of the log takes lines from any thread, keeps the newest of them, filters them and copies what is
// selected.
#include "app/log/log.h"
#include "app/log/log_model.h"
#include "tests/support/try_often.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QGuiApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <spdlog/spdlog.h>

#include <thread>

class TestLogModel : public QObject
{
    Q_OBJECT

private:
    static void say(LogFeed& feed, int level, const QString& text) { feed.add({1000, level, text}); }

private Q_SLOTS:
    void keepsTheNewest()
    {
        auto feed = std::make_shared<LogFeed>();
        say(*feed, 1, "before the model was there");
        LogModel log(feed);
        const QAbstractItemModelTester tester(&log, QAbstractItemModelTester::FailureReportingMode::Fatal);
        QTRY_COMPARE(log.rowCount(), 1);
        for (int i = 0; i < 5000; ++i)
            say(*feed, 1, QString::number(i));
        QTRY_COMPARE(log.rowCount(), int(LogFeed::kMostLines));
        QCOMPARE(log.index(log.rowCount() - 1).data(LogModel::TextRole).toString(), "4999");
        QCOMPARE(log.index(0).data(LogModel::TextRole).toString(), "3000");
        for (int i = 0; i < 7; ++i)
            say(*feed, 1, "more");
        QTRY_COMPARE(log.index(0).data(LogModel::TextRole).toString(), "3007");
        QCOMPARE(log.rowCount(), int(LogFeed::kMostLines));
    }

    void linesFromOtherThreads()
    {
        auto feed = std::make_shared<LogFeed>();
        LogModel log(feed);
        const QAbstractItemModelTester tester(&log, QAbstractItemModelTester::FailureReportingMode::Fatal);
        QSignalSpy inserted(&log, &QAbstractItemModel::rowsInserted);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([feed] {
                for (int i = 0; i < 100; ++i)
                    say(*feed, 2, "x");
            });
        for (auto& thread : threads)
            thread.join();
        QCOMPARE(log.rowCount(), 0);  // nothing arrives but through the event loop
        QTRY_COMPARE(log.rowCount(), 400);
        QVERIFY(inserted.size() < 10);  // many at once
    }

    void hostileTextIsMadeVisible()
    {
        auto feed = std::make_shared<LogFeed>();
        LogModel log(feed);
        say(*feed, 1, QStringLiteral("a\u001b[31m\u202Eb"));
        QTRY_COMPARE(log.rowCount(), 1);
        QCOMPARE(log.index(0).data(LogModel::TextRole).toString(), QStringLiteral("a␛[31m⟨U+202E⟩b"));
    }

    void filtersSelectsAndCopies()
    {
        auto feed = std::make_shared<LogFeed>();
        LogModel log(feed);
        ShownLog shown(log);
        const QAbstractItemModelTester tester(&shown, QAbstractItemModelTester::FailureReportingMode::Fatal);
        for (int i = 0; i < 8; ++i)
            say(*feed, i % 4, QStringLiteral("line %1").arg(i));
        QTRY_COMPARE(shown.count(), 8);
        shown.setLowestLevel(2);
        QCOMPARE(shown.count(), 4);
        QCOMPARE(shown.text().count('\n'), 4);
        QVERIFY(shown.text().contains("warning line 2") && !shown.text().contains("line 1"));
        shown.select(1, false);
        shown.select(2, true);
        QCOMPARE(shown.selectedCount(), 2);
        shown.copy();
        QVERIFY(
            QGuiApplication::clipboard()->text().endsWith("error line 3\n" + shown.text().section('\n', 1, 1) + '\n'));
        shown.select(-1, false);
        shown.select(99, true);
        QCOMPARE(shown.selectedCount(), 2);
        shown.setLowestLevel(99);
        QCOMPARE(shown.lowestLevel(), 3);
        QCOMPARE(shown.selectedCount(), 0);
    }

    void theLogGoesToTheFileAndTheFeed()
    {
        QTemporaryDir folder;
        const auto feed = startLog(folder.path());
        setLogLevel(1);
        spdlog::debug("not this");
        spdlog::info("this");
        qWarning("and Qt's");
        setLogLevel(3);
        spdlog::warn("not this either");
        QStringList texts;
        for (const LogLine& line : feed->take())
            texts += line.text;
        QCOMPARE(texts, QStringList({"this", "default: and Qt's"}));
        QFile file(folder.filePath("spillway.log"));
        QVERIFY(file.open(QFile::ReadOnly));
        QCOMPARE(file.readAll().count('\n'), 2);
        qInstallMessageHandler(nullptr);
    }
};

QTEST_MAIN(TestLogModel)
#include "tst_log_model.moc"
