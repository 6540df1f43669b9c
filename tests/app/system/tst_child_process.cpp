// Tests that the programs which this one starts end with it when it is killed. The program is this one again, with
// other arguments.
#include "app/system/child_process.h"
#include "tests/support/try_often.h"

#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QTest>

#include <cstdio>

namespace {

/// Starts a child that would stay, says its number and waits to be killed.
[[noreturn]] void beParent()
{
    QProcess child;
    endWithThisProgram(child);
    child.start(QCoreApplication::applicationFilePath(), {"--child"});
    const bool started = child.waitForStarted();
    std::printf("%lld\n", started ? static_cast<long long>(child.processId()) : 0LL);
    std::fflush(stdout);
    for (;;)
        QTest::qSleep(1000);
}

bool lives(const QByteArray& process)
{
    QFile status("/proc/" + process + "/stat");
    if (!status.open(QIODevice::ReadOnly))
        return false;
    const QByteArray line = status.readAll();
    return line.mid(line.lastIndexOf(')') + 2).front() != 'Z';  // one that nobody has asked about yet is dead
}

}  // namespace

class TestChildProcess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aChildGoesWithAParentThatIsKilled()
    {
#ifndef Q_OS_LINUX
        QSKIP("looks into /proc");
#else
        QProcess parent;
        parent.start(QCoreApplication::applicationFilePath(), {"--parent"});
        QVERIFY(parent.waitForReadyRead(60000));
        const QByteArray child = parent.readLine().trimmed();
        QVERIFY(child.toLongLong() > 0);
        QVERIFY(lives(child));
        parent.kill();
        QVERIFY(parent.waitForFinished());
        QTRY_VERIFY_WITH_TIMEOUT(!lives(child), 30000);
#endif
    }
};

int main(int argc, char* argv[])
{
    const QCoreApplication application(argc, argv);
    if (argc == 2 && qstrcmp(argv[1], "--parent") == 0)
        beParent();
    if (argc == 2 && qstrcmp(argv[1], "--child") == 0) {
        QTest::qSleep(120'000);
        return 0;
    }
    TestChildProcess test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_child_process.moc"
