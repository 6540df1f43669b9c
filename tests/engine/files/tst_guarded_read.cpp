// Tests that a file which is cut off while it is mapped reads as zeros and is flagged, and that other faults reach
// their own handler.
#include "engine/files/mapped_file.h"
#include "engine/gguf/gguf_file.h"
#include "tests/support/gguf_writer.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using engine::MappedFile;

namespace {

constexpr std::size_t kFileBytes = 1 << 20;
constexpr int kReachedPreviousHandler = 42;
constexpr int kSurvived = 43;

void write_file(const std::filesystem::path& path, std::size_t size)
{
    support::GgufWriter::save_bytes(path, std::vector<std::byte>(size, std::byte(7)));
}

std::size_t sum(std::span<const std::byte> bytes)
{
    std::size_t total = 0;
    for (const std::byte b : bytes)
        total += std::to_integer<std::size_t>(b);
    return total;
}

void exit_as_previous_handler(int)
{
    ::_exit(kReachedPreviousHandler);
}

/// In a process of its own: a fault outside of any guarded range.
int fault_elsewhere(const std::filesystem::path& folder, bool with_handler)
{
    if (with_handler)
        std::signal(SIGBUS, exit_as_previous_handler);
    write_file(folder / "guarded", kFileBytes);
    write_file(folder / "unguarded", kFileBytes);
    const auto guarded = MappedFile::open(folder / "guarded");
    if (!guarded)
        return 1;
    const int fd = ::open((folder / "unguarded").c_str(), O_RDONLY);
    void* memory = ::mmap(nullptr, kFileBytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED || ::truncate((folder / "unguarded").c_str(), 0) != 0)
        return 1;
    const volatile char first = *static_cast<const volatile char*>(memory);
    (void)first;
    return kSurvived;
}

/// In a process of its own: somebody sends SIGBUS, with an address of ours in it. Nothing of ours is missing.
int foreign_signal(const std::filesystem::path& folder)
{
    static volatile std::sig_atomic_t reached = 0;
    std::signal(SIGBUS, [](int) { reached = 1; });
    write_file(folder / "whole", kFileBytes);
    const auto whole = MappedFile::open(folder / "whole");
    if (!whole)
        return 1;
    siginfo_t info = {};
    info.si_signo = SIGBUS;
    info.si_code = SI_QUEUE;
    info.si_addr = const_cast<std::byte*>(whole->bytes().data());
    if (::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), SIGBUS, &info) != 0)
        return 2;
    return reached && !whole->lost() && sum(whole->bytes()) == 7 * kFileBytes ? kSurvived : 3;
}

}  // namespace

class TestGuardedRead : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_folder.path().toStdU16String()) / name;
    }

private Q_SLOTS:
    void aFileThatIsCutOffReadsAsZeros()
    {
        write_file(file("cut"), kFileBytes);
        auto mapped = MappedFile::open(file("cut"));
        QVERIFY(mapped.has_value());
        QCOMPARE(sum(mapped->bytes()), 7 * kFileBytes);
        QVERIFY(!mapped->lost());

        const std::size_t kept = kFileBytes / 4;
        QCOMPARE(::truncate(file("cut").c_str(), off_t(kept)), 0);
        QCOMPARE(sum(mapped->bytes().first(kept)), 7 * kept);
        QVERIFY(!mapped->lost());
        QCOMPARE(sum(mapped->bytes()), 7 * kept);
        QVERIFY(mapped->lost());

        const MappedFile moved = std::move(*mapped);
        QVERIFY(moved.lost());
        QCOMPARE(sum(moved.bytes().subspan(kept)), std::size_t(0));
    }

    void manyThreadsMeetTheEndAtOnce()
    {
        write_file(file("threads"), kFileBytes);
        const auto mapped = MappedFile::open(file("threads"));
        QVERIFY(mapped.has_value());
        QCOMPARE(::truncate(file("threads").c_str(), 0), 0);
        std::atomic<std::size_t> total = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] { total += sum(mapped->bytes()); });
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(total.load(), std::size_t(0));
        QVERIFY(mapped->lost());
    }

    void oneLostFileDoesNotTouchTheOthers()
    {
        // More files than one chunk of the registry holds.
        std::vector<MappedFile> files;
        for (int i = 0; i < 100; ++i) {
            const auto path = file(qPrintable(QString("many-%1").arg(i)));
            write_file(path, 8192);
            auto mapped = MappedFile::open(path);
            QVERIFY(mapped.has_value());
            files.push_back(std::move(*mapped));
        }
        QCOMPARE(::truncate(file("many-90").c_str(), 0), 0);
        for (std::size_t i = 0; i < files.size(); ++i) {
            QCOMPARE(sum(files[i].bytes()), i == 90 ? std::size_t(0) : std::size_t(7 * 8192));
            QCOMPARE(files[i].lost(), i == 90);
        }
    }

    void aModelThatIsCutOffSaysSo()
    {
        support::GgufWriter w;
        w.tensor("t", 0, {1 << 16}, support::GgufWriter::Bytes(4 << 16, std::byte(1)));
        w.save(file("model.gguf"));
        const auto gguf = engine::GgufFile::open(file("model.gguf"));
        QVERIFY(gguf.has_value());
        QVERIFY(gguf->still_whole().has_value());
        QCOMPARE(::truncate(file("model.gguf").c_str(), 8192), 0);
        QVERIFY(sum(gguf->tensor("t")->bytes) < (4u << 16));
        const auto whole = gguf->still_whole();
        QVERIFY(!whole);
        QVERIFY(whole.error().code == engine::Error::Code::CannotRead);
        QVERIFY(QString::fromStdString(whole.error().what)
                    .endsWith("model.gguf: the file was cut off or went away while it was in use"));
    }

    void faultsElsewhereReachThePreviousHandler_data()
    {
        QTest::addColumn<QString>("mode");
        QTest::newRow("a handler") << "handler";
        QTest::newRow("none: the process ends") << "none";
    }

    void faultsElsewhereReachThePreviousHandler()
    {
        QFETCH(QString, mode);
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(), {"--fault", mode, m_folder.path()});
        QVERIFY(child.waitForFinished());
        if (mode == "handler") {
            QCOMPARE(child.exitStatus(), QProcess::NormalExit);
            QCOMPARE(child.exitCode(), kReachedPreviousHandler);
        } else {
            // A sanitizer's own handler reports and exits; without one the signal ends the process.
            const bool by_signal = child.exitStatus() == QProcess::CrashExit;
            const QByteArray report = child.readAllStandardError();
            QVERIFY2(by_signal || report.contains("BUS"), report.constData());
        }
    }

#ifdef __linux__
    void aSignalThatSomebodySendsIsNoMissingPage()
    {
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(), {"--foreign", m_folder.path()});
        QVERIFY(child.waitForFinished());
        QCOMPARE(child.exitStatus(), QProcess::NormalExit);
        QCOMPARE(child.exitCode(), kSurvived);
    }
#endif
};

int main(int argc, char** argv)
{
    if (argc == 3 && std::string_view(argv[1]) == "--foreign")
        return foreign_signal(argv[2]);
    if (argc == 4 && std::string_view(argv[1]) == "--fault")
        return fault_elsewhere(argv[3], std::string_view(argv[2]) == "handler");
    QCoreApplication app(argc, argv);
    TestGuardedRead test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_guarded_read.moc"
