// Tests that saved KV reaches the disk in an order that bears a power cut, that nobody waits for a disk that takes
// long, and that opening it never waits, not even for a pipe of that name. The system calls of this program are counted
// on their way.
#include "tests/engine/kv/saved_kv_case.h"

#include <QTest>

#include <atomic>
#include <fcntl.h>
#include <future>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

struct Call {
    enum class Kind { Write, Sync };
    Kind kind = Kind::Write;
    std::uint64_t first = 0, last = 0;  // bytes of the file
};
std::vector<Call> calls;
std::atomic<bool> disk_is_slow = false;  // what is to reach it waits until this is over
std::atomic<int> waiting_for_disk = 0;

void wait_for_disk()
{
    if (!disk_is_slow)
        return;
    ++waiting_for_disk;
    disk_is_slow.wait(true);
    --waiting_for_disk;
}

/// Makes the disk slow for as long as it lives.
struct SlowDisk {
    SlowDisk() { disk_is_slow = true; }
    ~SlowDisk() { end(); }
    static void end()
    {
        disk_is_slow = false;
        disk_is_slow.notify_all();
    }
};

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset)
{
    const long done = syscall(SYS_pwrite64, fd, bytes, count, offset);
    if (done > 0)
        calls.push_back({Call::Kind::Write, std::uint64_t(offset), std::uint64_t(offset) + std::uint64_t(done)});
    return ssize_t(done);
}

extern "C" int fdatasync(int fd)
{
    wait_for_disk();
    calls.push_back({Call::Kind::Sync, 0, 0});
    return int(syscall(SYS_fdatasync, fd));
}

extern "C" int sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags)
{
    wait_for_disk();
    return int(syscall(SYS_sync_file_range, fd, offset, count, flags));
}

using namespace engine;
using namespace test_support;
using namespace std::chrono_literals;

class TestSavedKvOrder : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path file(const char* name) const { return m_folder.filePath(name).toStdString(); }

private Q_SLOTS:
    /// The header says how many tokens are there: never before they are.
    void theHeaderFollowsItsPage()
    {
        calls.clear();
        const auto format = saved_format();
        const MadeKv kv(3 * kBlockTokens + 5, 1);
        QCOMPARE(kv.write(file("order.kv"), format), std::string());

        int headers = 0;
        std::uint64_t written = 0;  // the end of the records that are there
        for (const Call& call : calls) {
            if (call.kind != Call::Kind::Write)
                continue;
            if (call.first > 0) {
                written = std::max(written, call.last);
                continue;
            }
            // The first header is that of an empty file; the one after each page finds that page in its place.
            if (headers > 0)
                QVERIFY2(written > format->record_at(headers - 1),
                         qPrintable(QString("header %1 after %2 bytes").arg(headers).arg(written)));
            ++headers;
        }
        QCOMPARE(headers, 5);  // of no page, and of each of the four
    }

    void whatWasWrittenIsOnTheDisk()
    {
        calls.clear();
        const auto format = saved_format();
        QCOMPARE(MadeKv(kBlockTokens, 2).write(file("sync.kv"), format), std::string());
        QVERIFY(!calls.empty());
        QVERIFY(calls.back().kind == Call::Kind::Sync);
    }

    /// A sync reads no pages: they are given back, and the file is read, while the disk takes its time.
    void theDiskIsNotWaitedFor()
    {
        const auto format = saved_format();
        const MadeKv made(3 * kBlockTokens, 3);
        SavedKvStore store(file("slow"), {std::int64_t(1) << 30, 0}, nullptr);
        const SlowDisk slow;
        SavedKvJob first = made.job("a", format), second = made.job("b", format);
        first.ticket = 1;
        second.ticket = 2;
        store.save(std::move(first));
        QTRY_COMPARE(waiting_for_disk.load(), 1);
        const auto written = store.take_done();
        const auto reader = store.open("a", format, [] { return false; });
        store.save(std::move(second));  // waits for the disk, too
        auto finished = std::async(std::launch::async, [&] { store.finish(0ms); });
        const bool at_once = finished.wait_for(30s) == std::future_status::ready;
        SlowDisk::end();
        finished.get();
        QVERIFY2(at_once, "it waited for the disk");
        QCOMPARE(written, std::vector<int>{1});
        QCOMPARE(store.take_done(), std::vector<int>{2});
        QVERIFY(reader.has_value());
        QCOMPARE(reader->tokens(), 3 * kBlockTokens);
    }

    /// What is not on the disk yet when the grace is over is left to the system, piece by piece.
    void theEndGivesUpASyncThatTakesLong()
    {
        const MadeKv made(kBlockTokens, 4);
        calls.clear();
        auto store =
            std::make_unique<SavedKvStore>(file("end"), SavedKvStore::Limits{std::int64_t(1) << 30, 0}, nullptr, 10ms);
        const SlowDisk slow;
        store->save(made.job("a", saved_format()));
        QTRY_COMPARE(waiting_for_disk.load(), 1);  // with the first piece
        const auto ends = std::async(std::launch::async, [] {
            std::this_thread::sleep_for(300ms);  // until long after the grace
            SlowDisk::end();
        });
        store.reset();
        QCOMPARE(std::ranges::count(calls, Call::Kind::Sync, &Call::kind), 0);
        QVERIFY(std::filesystem::exists(file("end") / "a.kv"));
    }

    /// A pipe that nobody writes to would hold whoever opens it for ever.
    void aPipeIsNotWaitedFor()
    {
        QCOMPARE(mkfifo(file("pipe.kv").c_str(), 0600), 0);
        auto opened = std::async(std::launch::async,
                                 [&] { return PrivateFile::open(file("pipe.kv"), PrivateFile::Access::Read); });
        const bool at_once = opened.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
        const int other_end = at_once ? -1 : ::open(file("pipe.kv").c_str(), O_WRONLY);  // lets it go
        const auto result = opened.get();
        if (other_end >= 0)
            ::close(other_end);
        QVERIFY2(at_once, "it waited for somebody to write");
        QVERIFY(!result);
        QCOMPARE(result.error().code, Error::Code::CannotRead);
    }
};

QTEST_GUILESS_MAIN(TestSavedKvOrder)
#include "tst_saved_kv_order.moc"
