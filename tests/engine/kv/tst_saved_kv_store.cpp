// Tests that the folder of saved KV keeps to its limits, drops the oldest first, and survives a full disk.
#include "tests/engine/kv/saved_kv_case.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <atomic>
#include <chrono>
#include <latch>

using namespace engine;
using namespace test_support;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kPlenty = std::int64_t(1) << 30;

}  // namespace

class TestSavedKvStore : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::shared_ptr<const SavedKvFormat> m_format = saved_format();
    std::atomic<int> m_woken = 0;

    std::filesystem::path folder() const { return (m_folder->path() + "/kv").toStdString(); }
    std::filesystem::path file(const std::string& name) const { return folder() / (name + ".kv"); }
    bool there(const std::string& name) const { return std::filesystem::exists(file(name)); }
    std::unique_ptr<SavedKvStore> open(std::int64_t most_bytes, std::int64_t free_bytes = 0)
    {
        return std::make_unique<SavedKvStore>(folder(), SavedKvStore::Limits{most_bytes, free_bytes},
                                              [this] { ++m_woken; });
    }
    void save(SavedKvStore& store, const std::string& name, const MadeKv& made, int ticket = 0)
    {
        SavedKvJob job = made.job(name, m_format);
        job.ticket = ticket;
        store.save(std::move(job));
        settle(store);
    }
    /// Waits until all that was asked for is done, in order, and on the disk.
    void settle(SavedKvStore& store) const
    {
        store.forget("nobody");
        (void)store.open("nobody", m_format, [] { return true; });
    }
    /// Long ago, so that the clock of the file system does not matter.
    void used_days_ago(const std::string& name, int days)
    {
        std::filesystem::last_write_time(file(name),
                                         std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * days));
    }
    std::int64_t size_of(int tokens) const { return std::int64_t(m_format->replies_at(tokens)); }

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_woken = 0;
    }

    void savesAndGivesBack()
    {
        const MadeKv made(100, 1);
        {
            const auto store = open(kPlenty);
            QVERIFY(!std::filesystem::exists(folder()));  // nothing is made before it is needed
            save(*store, "a-1", made, 7);
            QCOMPARE(store->take_done(), std::vector<int>{7});
            const auto events = store->take_events();
            QCOMPARE(events.size(), std::size_t(1));
            QCOMPARE(events[0].kind, Event::Kind::KvSaved);
            QCOMPARE(events[0].tokens.count(), 100);
            QVERIFY(events[0].bytes >= size_of(100));
            QVERIFY(!store->has_news());
            QTRY_VERIFY(m_woken > 0);
        }
        const auto store = open(kPlenty);
        auto reader = store->open("a-1", m_format, [] { return true; });
        QVERIFY(reader.has_value());
        QCOMPARE(reader->tokens(), 100);
        QCOMPARE(reader->replies(), made.replies);
        QCOMPARE(store->open("a-2", m_format, [] { return true; }).error(), SavedKvMiss::NoFile);
        const auto rights = QFile::permissions(QString::fromStdString(folder().string()));
        QCOMPARE(rights & (QFile::ReadGroup | QFile::ExeGroup | QFile::ReadOther | QFile::ExeOther),
                 QFile::Permissions());
    }

    void theEndWaitsForWhatWasAsked()
    {
        const MadeKv made(3000, 1);
        {
            const auto store = open(kPlenty);
            for (const char* const name : {"a", "b", "c"})
                store->save(made.job(name, m_format));
        }
        QVERIFY(there("a") && there("b") && there("c"));
    }

    void givenUpFilesAreWhole()
    {
        const MadeKv made(3000, 1);
        const auto store = open(kPlenty);
        store->save(made.job("a", m_format));
        store->finish(0ms);
        auto reader = store->open("a", m_format, [] { return true; });
        if (reader)  // it may not have begun
            QVERIFY(reader->tokens() <= 3000);
        else
            QCOMPARE(reader.error(), SavedKvMiss::NoFile);
        store->take_done();
        save(*store, "a", made);  // and is written when it is asked for again
        QCOMPARE(store->open("a", m_format, [] { return true; })->tokens(), 3000);
    }

    void theNewestOfTwoWins()
    {
        const MadeKv made(3000, 1), longer(3100, 1);
        const auto store = open(kPlenty);
        SavedKvJob first = made.job("a", m_format), second = longer.job("a", m_format);
        first.ticket = 1;
        second.ticket = 2;
        store->save(std::move(first));
        store->save(std::move(second));
        auto reader = store->open("a", m_format, [] { return true; });  // waits for both
        QCOMPARE(reader->tokens(), 3100);
        settle(*store);
        auto done = store->take_done();
        std::ranges::sort(done);
        QCOMPARE(done, (std::vector<int>{1, 2}));
    }

    void openingWaitsForTheSameConversationOnly()
    {
        const MadeKv made(100, 1);
        save(*open(kPlenty), "c", made);
        std::atomic<bool> told = false;
        std::latch rest(1);
        SavedKvStore store(folder(), {kPlenty, 0}, [&] {
            told = true;
            rest.wait();  // what is asked for meanwhile is not done yet
        });
        store.save(made.job("a", m_format));
        QTRY_VERIFY(told);
        const auto opens = [&] { return store.open("c", m_format, [] { return false; }).has_value(); };
        store.save(made.job("a", m_format));
        store.forget("b");
        store.keep_only({"a", "c"});
        const bool beside_others = opens();
        store.forget("c");
        const bool though_forgotten = opens();
        rest.count_down();
        QVERIFY(beside_others);
        QVERIFY(!though_forgotten);
    }

    void theOldestLeavesFirst()
    {
        const MadeKv made(100, 1);
        const auto store = open(3 * size_of(100) + 1000);
        save(*store, "a", made);
        save(*store, "b", made);
        save(*store, "c", made);
        QVERIFY(there("a") && there("b") && there("c"));
        used_days_ago("a", 3);
        used_days_ago("b", 5);
        used_days_ago("c", 4);
        QVERIFY(store->open("b", m_format, [] { return true; }).has_value());  // it is used
        save(*store, "d", made);
        QVERIFY(there("a") && there("b") && !there("c") && there("d"));
        save(*store, "d", made);  // its own older file counts for nothing
        QVERIFY(there("a") && there("b") && there("d"));
        store->set_limits({size_of(100) + 1000, 0});
        settle(*store);
        QVERIFY(!there("a") && !there("b") && there("d"));
    }

    void tooLargeIsSaidOnce()
    {
        const auto store = open(size_of(100));
        save(*store, "a", MadeKv(50, 1));
        QVERIFY(there("a"));
        for (int i = 0; i < 2; ++i)
            save(*store, "a", MadeKv(500, 1));
        QVERIFY(!there("a"));
        const auto events = store->take_events();
        QCOMPARE(std::ranges::count(events, Event::Kind::Warning, &Event::kind), 1);
        QVERIFY(QString::fromStdString(events.back().sentence).contains("larger than what may be saved"));
    }

    void zeroIsOff()
    {
        const MadeKv made(100, 1);
        save(*open(kPlenty), "a", made);
        QVERIFY(there("a"));
        const auto store = open(0);
        settle(*store);
        QVERIFY(!there("a"));
        save(*store, "b", made);
        QVERIFY(!there("b"));
        store->set_limits({kPlenty, 0});
        save(*store, "b", made);
        QVERIFY(there("b"));
    }

    void forgetsAndSweeps()
    {
        const MadeKv made(100, 1);
        const auto store = open(kPlenty);
        for (const char* const name : {"a", "b", "c"})
            save(*store, name, made);
        put(folder() / "not-ours.txt", "stays");
        store->forget("a");
        settle(*store);
        QVERIFY(!there("a") && there("b") && there("c"));
        store->keep_only({"c", "never-was", "../c"});
        settle(*store);
        QVERIFY(!there("b") && there("c"));
        QVERIFY(std::filesystem::exists(folder() / "not-ours.txt"));
        store->save(made.job("c", m_format));
        store->forget("c");  // also what is about to be written
        settle(*store);
        QVERIFY(!there("c"));
    }

    void namesLeadNowhere()
    {
        const MadeKv made(100, 1);
        const auto store = open(kPlenty);
        for (const std::string name : {"../evil", "a/b", "", ".", "a.b", "a b", "\xc3\xa4"}) {
            QVERIFY(!SavedKvStore::usable(name));
            save(*store, name, made);
            store->forget(name);
        }
        QVERIFY(!SavedKvStore::usable(std::string(65, 'a')));
        QVERIFY(SavedKvStore::usable("0b9ce2c8-93a5-4a52-8a3e-0d2a4cf1b7aa"));
        settle(*store);
        QVERIFY(!std::filesystem::exists(folder()) || std::filesystem::is_empty(folder()));
        QVERIFY(!std::filesystem::exists(m_folder->filePath("evil.kv").toStdString()));
    }

    void noSpaceIsLeftToOthers()
    {
        const auto store = open(kPlenty, std::int64_t(1) << 60);  // no disk has so much
        for (int i = 0; i < 3; ++i)
            save(*store, "a", MadeKv(100, 1), i);
        QVERIFY(!there("a"));
        const auto events = store->take_events();
        QCOMPARE(events.size(), std::size_t(1));  // one sentence
        QCOMPARE(events[0].kind, Event::Kind::Warning);
        QVERIFY(QString::fromStdString(events[0].sentence).startsWith("the disk is full"));
        QCOMPARE(store->take_done().size(), std::size_t(3));
        store->set_limits({kPlenty, 0});  // somebody has cleaned up and says so
        save(*store, "a", MadeKv(100, 1));
        QVERIFY(there("a"));
    }

    void aFullDiskStopsTheWriting()
    {
#ifndef __linux__
        QSKIP("there is no way here to have a write fail");
#else
        std::vector<Event> events;
        {
            const FileSizeLimit full(size_of(kBlockTokens) + 100);  // in the middle of the second page
            const auto store = open(kPlenty);
            save(*store, "a", MadeKv(100, 1));
            save(*store, "b", MadeKv(100, 1));
            events = store->take_events();
        }
        QCOMPARE(events.size(), std::size_t(1));
        QVERIFY(QString::fromStdString(events[0].sentence).startsWith("the disk is full"));
        QVERIFY(!there("a") && !there("b"));  // nothing half-done takes up room
#endif
    }
};

SPILLWAY_TEST(QCoreApplication, TestSavedKvStore)
#include "tst_saved_kv_store.moc"
