// Fetching models from the window: one after another, paused, gone on with after a restart, cancelled, broken off.
#include "tests/app/fetching/fetching_case.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>

class TestFetchQueue : public QObject
{
    Q_OBJECT

    std::unique_ptr<test_support::FetchingCase> m_case;

    FetchQueue& queue() { return *m_case->fetching->queue(); }
    void addLarge() { queue().add("org/tiny", "sub/tiny-Q8_0.gguf", "Q8_0", double(m_case->m_large.size())); }
    void addSmall() { queue().add("org/tiny", "tiny-Q4_K_M.gguf", "Q4_K_M", double(m_case->m_model.size())); }
    /// Slow enough to be met on its way.
    bool meetOnItsWay()
    {
        return QTest::qWaitFor(
            [&] { return m_case->done() > 200'000 && m_case->done() < double(m_case->m_large.size()); }, 10000);
    }
    QString note(int row = 0) const
    {
        return m_case->value(*m_case->fetching->queue(), row, FetchQueue::NoteRole).toString();
    }

private Q_SLOTS:
    void init() { m_case = std::make_unique<test_support::FetchingCase>(); }
    void cleanup() { m_case.reset(); }

    void fetchesOneAfterAnother()
    {
        m_case->startAllowed();
        const QAbstractItemModelTester tester(&queue());
        QSignalSpy fetched(&queue(), &FetchQueue::fetched);
        QSignalSpy opened(&queue(), &FetchQueue::openRequested);
        addLarge();
        addSmall();
        addSmall();  // twice is once
        QCOMPARE(queue().count(), 2);
        QCOMPARE(m_case->state(0), Fetch::Fetching);
        QCOMPARE(m_case->state(1), Fetch::Waiting);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(1), Fetch::Done, 20000);
        QCOMPARE(m_case->state(0), Fetch::Done);
        QCOMPARE(fetched.size(), 2);
        QCOMPARE(queue().unfinished(), 0);
        QVERIFY(test_support::bytesOf(m_case->inCache("sub/tiny-Q8_0.gguf")).toStdString() == m_case->m_large);
        QVERIFY(m_case->leftovers().isEmpty());
        queue().open(0);
        QCOMPARE(opened.size(), 1);
        QCOMPARE(opened[0][0].toString(), m_case->inCache("sub/tiny-Q8_0.gguf"));
        QCOMPARE(opened[0][1].toString(), "tiny-Q8_0");
        // Taken off the list, it stays on the disk; the next start does not know of it.
        queue().cancel(0);
        QCOMPARE(queue().count(), 1);
        QVERIFY(QFile::exists(m_case->inCache("sub/tiny-Q8_0.gguf")));
        m_case->start();
        QCOMPARE(queue().count(), 0);
    }

    void pausesAndGoesOn()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        QVERIFY(meetOnItsWay());
        queue().pause(0);
        QCOMPARE(m_case->state(), Fetch::Paused);
        QTest::qWait(300);
        const auto before = m_case->hub->server().body_bytes();
        QTest::qWait(200);
        QCOMPARE(m_case->hub->server().body_bytes(), before);
        m_case->hub->pause_ms = 0;
        queue().resume(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(test_support::bytesOf(m_case->inCache("sub/tiny-Q8_0.gguf")).toStdString() == m_case->m_large);
    }

    void theNextStartGoesOn()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        addSmall();
        queue().pause(1);
        QVERIFY(meetOnItsWay());
        m_case->fetching.reset();  // quit
        QVERIFY(!m_case->leftovers().isEmpty());
        m_case->hub->pause_ms = 0;
        const auto before = m_case->hub->server().body_bytes();
        m_case->start();
        QCOMPARE(queue().count(), 2);
        QCOMPARE(m_case->state(1), Fetch::Paused);  // as it was left
        QVERIFY(m_case->done(0) > 0);               // shown before anybody has answered
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(0), Fetch::Done, 20000);
        QVERIFY(test_support::bytesOf(m_case->inCache("sub/tiny-Q8_0.gguf")).toStdString() == m_case->m_large);
        QVERIFY(m_case->hub->server().body_bytes() - before < std::int64_t(m_case->m_large.size()));
        QCOMPARE(m_case->state(1), Fetch::Paused);
    }

    // Without the permission the next start asks nobody; with it again, it goes on.
    void waitsForThePermission()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        QVERIFY(meetOnItsWay());
        m_case->settings->findModels()->setValue(0);
        QCOMPARE(m_case->state(), Fetch::Waiting);
        m_case->start();
        const auto before = m_case->hub->server().requests().size();
        QTest::qWait(200);
        QCOMPARE(m_case->hub->server().requests().size(), before);
        m_case->hub->pause_ms = 0;
        m_case->fetching->allow();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
    }

    void cancellingRemovesWhatHasCome()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        addSmall();
        QVERIFY(meetOnItsWay());
        QVERIFY(!m_case->leftovers().isEmpty());
        queue().cancel(0);
        QCOMPARE(queue().count(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);  // the next one's turn
        QTRY_VERIFY(m_case->leftovers().isEmpty());
        QVERIFY(!QFile::exists(m_case->inCache("sub/tiny-Q8_0.gguf")));
    }

    void saysWhatFailedAndTriesAgain()
    {
        m_case->startAllowed();
        queue().add("org/closed", "closed-Q4_K_M.gguf", "Q4_K_M", 10);
        queue().add("org/tiny", "tiny-Q2_K.gguf", "Q2_K", 10);
        queue().add("org/none", "x.gguf", "", 10);
        queue().add("../../etc", "passwd.gguf", "", 10);
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(4), Fetch::Done, 20000);  // one that fails keeps nobody waiting
        QVERIFY2(note(0).contains("terms"), qPrintable(note(0)));
        for (int row = 0; row < 4; ++row) {
            QCOMPARE(m_case->state(row), Fetch::Failed);
            QVERIFY2(note(row).endsWith('.') && note(row).size() > 10, qPrintable(note(row)));
        }
        m_case->hub->status = 404;
        addLarge();
        QTRY_COMPARE(m_case->state(5), Fetch::Failed);
        m_case->hub->status = 200;
        queue().resume(5);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(5), Fetch::Done, 20000);
        QVERIFY(note(5).isEmpty());
    }

    // A list that somebody has written makes no sense: what does not is left out, and nothing else happens.
    void oddLists_data()
    {
        QTest::addColumn<QByteArray>("list");
        QTest::addColumn<int>("rows");
        QTest::newRow("nothing") << QByteArray() << 0;
        QTest::newRow("no list") << QByteArray("{\"a\":1}") << 0;
        QTest::newRow("numbers") << QByteArray("[1,null,[],{}]") << 0;
        QTest::newRow("a wrong size") << QByteArray(R"([{"repository":"a/b","file":"c.gguf","bytes":-5,"done":1e300,
            "state":"paused","places":[1,"/etc/passwd"]}])")
                                      << 1;
        QTest::newRow("huge") << '[' + QByteArray(2 << 20, ' ') + ']' << 0;
    }
    void oddLists()
    {
        QFETCH(QByteArray, list);
        QFETCH(int, rows);
        QVERIFY(QDir(m_case->folder.path()).mkpath("data"));
        QFile file(m_case->folder.filePath("data/fetches.json"));
        QVERIFY(file.open(QFile::WriteOnly) && file.write(list) == list.size());
        file.close();
        m_case->startAllowed();
        QCOMPARE(queue().count(), rows);
        for (int row = rows - 1; row >= 0; --row) {
            QCOMPARE(m_case->done(row), 0.0);
            queue().cancel(row);
        }
        QVERIFY(QFile::exists("/etc/passwd"));
    }
};

SPILLWAY_TEST(QGuiApplication, TestFetchQueue)
#include "tst_fetch_queue.moc"
