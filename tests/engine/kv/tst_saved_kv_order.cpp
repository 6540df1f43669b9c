// Tests that saved KV reaches the disk in an order that bears a power cut, and that opening it never waits, not even
// for a pipe of that name. The system calls of this program are counted on their way.
#include "tests/engine/kv/saved_kv_case.h"

#include <QTest>

#include <fcntl.h>
#include <future>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Call {
    enum class Kind { Write, Sync };
    Kind kind = Kind::Write;
    std::uint64_t first = 0, last = 0;  // bytes of the file
};
std::vector<Call> calls;

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
    calls.push_back({Call::Kind::Sync, 0, 0});
    return int(syscall(SYS_fdatasync, fd));
}

using namespace engine;
using namespace test_support;

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
