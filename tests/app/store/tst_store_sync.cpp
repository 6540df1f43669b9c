// Tests that what is said to be on disk has been synced, and that a failing disk costs nothing else. This program's
// functions stand in for some of the system's, also in SQLite and Qt: they note what is synced, and fail where they are
// told to.
#include "app/store/attachment_folder.h"
#include "tests/app/store/store_case.h"
#include "tests/support/try_often.h"

#include <QSignalSpy>

#include <optional>
#include <stop_token>

#ifdef Q_OS_LINUX
#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::mutex mutex;
QStringList synced;  // paths

void note(int file)
{
    std::array<char, 4096> path{};
    const ssize_t length =
        readlink(QByteArray("/proc/self/fd/" + QByteArray::number(file)).constData(), path.data(), path.size());
    const std::lock_guard lock(mutex);
    synced << QString::fromUtf8(path.data(), std::max<ssize_t>(length, 0));
}

QStringList takeSynced()
{
    const std::lock_guard lock(mutex);
    return std::exchange(synced, {});
}

std::atomic<off64_t> badPlace = -1;  // of any file: what begins there cannot be read
std::atomic<bool> diskIsFull = false;

}  // namespace

extern "C" ssize_t pread64(int file, void* bytes, size_t count, off64_t from)
{
    if (from == badPlace) {
        errno = ETIMEDOUT;  // EIO is damage to SQLite
        return -1;
    }
    return syscall(SYS_pread64, file, bytes, count, from);
}

extern "C" int mkdir(const char* path, mode_t mode)
{
    if (diskIsFull) {
        errno = ENOSPC;
        return -1;
    }
    return int(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

extern "C" int statvfs64(const char* path, struct statvfs64* disk)
{
    struct stat64 there = {};
    if (stat64(path, &there) != 0)
        return -1;  // as of a folder that could not be made
    *disk = {};
    disk->f_bsize = disk->f_frsize = 4096;
    disk->f_blocks = 1000;
    disk->f_bfree = disk->f_bavail = diskIsFull ? 0 : 500;
    return 0;
}

extern "C" int fsync(int file)
{
    note(file);
    return int(syscall(SYS_fsync, file));
}

extern "C" int fdatasync(int file)
{
    note(file);
    return int(syscall(SYS_fdatasync, file));
}
#endif

using namespace test_support;

class TestStoreSync : public StoreCase
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        betweenAttempts = std::chrono::milliseconds(50);
        begin();
    }
    void cleanup()
    {
#ifdef Q_OS_LINUX
        badPlace = -1;
        diskIsFull = false;
#endif
        end();
    }

    void everyTurnIsSynced()
    {
#ifndef Q_OS_LINUX
        QSKIP("stands in for functions of Linux");
#else
        store->flush();
        for (int i = 0; i < 3; ++i) {
            takeSynced();
            store->saveAll(twoTurns(QString("c%1").arg(i), "Title"));
            store->flush();
            const QStringList files = takeSynced();
            QVERIFY2(files.contains(file() + "-wal"), qPrintable(files.join(' ')));
        }
#endif
    }

    void theBackupIsSyncedBeforeTheMigration()
    {
#ifndef Q_OS_LINUX
        QSKIP("stands in for functions of Linux");
#else
        store.reset();
        QFile::remove(file());
        QFile dump(SPILLWAY_SOURCE_DIR "/tests/data/store/v1.sql");
        QVERIFY(dump.open(QIODevice::ReadOnly));
        sql(file(), QString::fromUtf8(dump.readAll()).split(";\n", Qt::SkipEmptyParts));
        takeSynced();
        reopen();
        QCOMPARE(store->notice(), QString());
        const QStringList files = takeSynced();
        const auto backup = files.indexOf(folder->filePath("spillway-backup-v1.sqlite.part"));
        QVERIFY2(backup >= 0, qPrintable(files.join(' ')));
        QVERIFY(files.indexOf(folder->path(), backup) > backup);
        QVERIFY(files.indexOf(file() + "-wal", backup) > files.indexOf(folder->path(), backup));
#endif
    }

    void aPlaceThatCannotBeReadHoldsUpNothingElse()
    {
#ifndef Q_OS_LINUX
        QSKIP("stands in for functions of Linux");
#else
        const StoredConversation conversation = ofManyFiles("one");
        store->saveAll(conversation);
        store->flush();
        const QString last = conversation.messages[0].attachments.last().sha256;
        const QString text = AttachmentFolder(store->attachmentsFolder()).file(last) + ".text.txt";
        makeOld(text);
        const QList<qint64> pages = pagesWith(last);
        QCOMPARE(pages.size(), 1);
        badPlace = pages[0];
        store->emptyTrash();
        store->save(twoTurns("two", "Goes on").header);
        store->flush();
        QCOMPARE(onDisk("conversations"), 2);
        QVERIFY(QFile::exists(text));
#endif
    }

    void anImportWaitsForRoom_data()
    {
        QTest::addColumn<QString>("text");
        QTest::newRow("some") << "text";
        QTest::newRow("none") << "";
    }
    void anImportWaitsForRoom()
    {
#ifndef Q_OS_LINUX
        QSKIP("stands in for functions of Linux");
#else
        QFETCH(const QString, text);
        StoredConversation conversation = fullConversation("import");
        for (StoredMessage& message : conversation.messages)
            for (Attachment& file : message.attachments)
                file.text = text;
        diskIsFull = true;  // no folder can be made
        const QSignalSpy failed(store.get(), &ConversationStore::failed);
        std::optional<bool> there;
        store->add(conversation, [&](bool is) { there = is; });
        QTRY_COMPARE(failed.size(), 1);
        QVERIFY2(failed[0][0].toString().contains("disk is full"), qPrintable(failed[0][0].toString()));
        QVERIFY(!there.has_value());
        diskIsFull = false;
        QTRY_COMPARE_WITH_TIMEOUT(there, std::optional(true), 60000);
#endif
    }

    void anImportThatIsCancelledWaitsForNoRoom()
    {
#ifndef Q_OS_LINUX
        QSKIP("stands in for functions of Linux");
#else
        diskIsFull = true;
        const QSignalSpy failed(store.get(), &ConversationStore::failed);
        std::optional<bool> there;
        std::stop_source stop;
        store->add(
            fullConversation("import"), [&](bool is) { there = is; }, stop.get_token());
        QTRY_COMPARE(failed.size(), 1);
        stop.request_stop();
        QTRY_COMPARE_WITH_TIMEOUT(there, std::optional(false), 60000);
        diskIsFull = false;
        QCOMPARE(onDisk("conversations"), 0);
        QCOMPARE(onDisk("messages"), 0);
#endif
    }
};

QTEST_GUILESS_MAIN(TestStoreSync)
#include "tst_store_sync.moc"
