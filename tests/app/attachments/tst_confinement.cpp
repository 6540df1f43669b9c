// Tests that a confined process can read the system and compute, but neither write files, open sockets, start programs
// nor reach other processes: this program is started again for each attempt.
#include "app/attachments/pdf_text/confinement.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <thread>

#ifdef Q_OS_LINUX
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

enum Answer { Could = 40, CouldNot, NoSuchAttempt };

#ifdef Q_OS_LINUX
/// Says whether it could be done.
bool attempt(const std::string& what, const char* path)
{
    if (what == "socket")
        return socket(AF_INET, SOCK_STREAM, 0) >= 0;
    if (what == "local socket")
        return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
    if (what == "write")
        return open(path, O_WRONLY) >= 0;
    if (what == "create")
        return open((std::string(path) + ".new").c_str(), O_RDWR | O_CREAT, 0600) >= 0;
    if (what == "truncate by reading")
        return open(path, O_RDONLY | O_TRUNC) >= 0;
    if (what == "write by openat2") {
        const std::uint64_t how[3] = {O_WRONLY, 0, 0};
        return syscall(437, AT_FDCWD, path, how, sizeof how) >= 0;
    }
    if (what == "remove")
        return unlink(path) == 0;
    if (what == "rename")
        return rename(path, (std::string(path) + ".other").c_str()) == 0;
    if (what == "mode")
        return chmod(path, 0777) == 0;
    if (what == "fork")
        return fork() >= 0;
    if (what == "signal")
        return kill(getppid(), 0) == 0;
    if (what == "trace")
        return ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr) == 0;
    if (what == "exec") {
        execl("/bin/true", "true", nullptr);
        return false;  // else this program would have ended with another answer
    }
    if (what == "read the system") {
        char byte = 0;
        const int file = open("/etc/passwd", O_RDONLY);
        return file >= 0 && read(file, &byte, 1) == 1;
    }
    if (what == "compute in threads") {
        int sum = 0;
        std::thread([&sum] { sum = std::string(100'000, 'x').size() > 1 ? 1 : 0; }).join();
        return sum == 1;
    }
    std::exit(NoSuchAttempt);
}
#endif

}  // namespace

class TestConfinement : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatItCannotDo_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<bool>("can");
        for (const char* what : {"socket", "local socket", "write", "create", "truncate by reading", "write by openat2",
                                 "remove", "rename", "mode", "fork", "signal", "trace", "exec"})
            QTest::newRow(what) << QString(what) << false;
        for (const char* what : {"read the system", "compute in threads"})
            QTest::newRow(what) << QString(what) << true;
    }
    void whatItCannotDo()
    {
#ifndef Q_OS_LINUX
        QSKIP("asks Linux");
#else
        QFETCH(QString, what);
        QFETCH(bool, can);
        const QTemporaryDir folder;
        QFile file(folder.filePath("file"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("mine");
        file.close();
        QProcess confined;
        confined.start(QCoreApplication::applicationFilePath(), {"--attempt", what, file.fileName()});
        QVERIFY(confined.waitForFinished(60000));
        if (confined.readAllStandardError().contains("no seccomp"))
            QSKIP("this system has no seccomp");
        QCOMPARE(confined.exitStatus(), QProcess::NormalExit);
        QCOMPARE(confined.exitCode(), int(can ? Could : CouldNot));
        QCOMPARE(QFileInfo(file).size(), 4);
#endif
    }
};

int main(int argc, char* argv[])
{
    const QCoreApplication application(argc, argv);
#ifdef Q_OS_LINUX
    if (argc == 4 && qstrcmp(argv[1], "--attempt") == 0) {
        std::fprintf(stderr, "%s\n", confineThisProcess().c_str());
        _exit(attempt(argv[2], argv[3]) ? Could : CouldNot);
    }
#endif
    TestConfinement test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_confinement.moc"
