// Tests that the thread which draws gets a priority from the system, or asks the desktop's service for it.
#include "app/system/start.h"
#include "tests/support/try_often.h"

#include <QDBusConnection>
#include <QProcess>
#include <QStandardPaths>
#include <QtTest>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace {

/// What this thread may no longer do afterwards: raise its own priority. Other threads still may.
bool giveUpPriorities()
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct mine[2]{};
    if (syscall(SYS_capget, &header, mine) != 0)
        return false;
    mine[0].effective &= ~(1u << CAP_SYS_NICE);
    return syscall(SYS_capset, &header, mine) == 0;
}

int niceOfThisThread()
{
    return getpriority(PRIO_PROCESS, id_t(gettid()));
}

}  // namespace

/// Notes what it is asked for, in the place of the desktop's service.
class RealtimeKit : public QObject
{
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.RealtimeKit1")

public:
    QList<QPair<qulonglong, int>> asked;

public Q_SLOTS:
    Q_SCRIPTABLE void MakeThreadHighPriority(qulonglong thread, int nice) { asked.append({thread, nice}); }
};

class TestDrawingPriority : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aThreadThatDrawsComesFirstAndThoseItStartsDoNot()
    {
        int before = 0, drawing = 0, started = 0;
        std::thread([&] {
            before = niceOfThisThread();
            drawFirst();
            drawing = niceOfThisThread();
            std::thread([&] { started = niceOfThisThread(); }).join();
        }).join();
        if (drawing == before)
            QSKIP("the system gives no priority to this user's programs");
        QVERIFY(drawing < before);
        QCOMPARE(started, 0);
    }

    void theDesktopIsAskedWhereTheSystemRefuses()
    {
        if (QStandardPaths::findExecutable("dbus-daemon").isEmpty())
            QSKIP("there is no dbus-daemon");
        QProcess bus;
        bus.start("dbus-daemon", {"--session", "--nofork", "--print-address"});
        QVERIFY(bus.waitForReadyRead());
        qputenv("DBUS_SYSTEM_BUS_ADDRESS", bus.readLine().trimmed());
        RealtimeKit desktop;
        QDBusConnection system = QDBusConnection::systemBus();
        QVERIFY(system.registerService("org.freedesktop.RealtimeKit1"));
        QVERIFY(
            system.registerObject("/org/freedesktop/RealtimeKit1", &desktop, QDBusConnection::ExportScriptableSlots));

        qulonglong drawing = 0;
        bool refused = false;
        std::thread([&] {
            refused = giveUpPriorities();
            drawing = qulonglong(gettid());
            drawFirst();
        }).join();
        if (!refused)
            QSKIP("this thread's leave to raise its priority cannot be given up");
        QTRY_COMPARE(desktop.asked.size(), 1);
        QCOMPARE(desktop.asked.first().first, drawing);
        QVERIFY(desktop.asked.first().second < 0);
        QDBusConnection::disconnectFromBus("qt_default_system_bus");
        bus.kill();
        bus.waitForFinished();
    }
};

QTEST_GUILESS_MAIN(TestDrawingPriority)
#include "tst_drawing_priority.moc"
