#include "app/system/drawing_priority.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QThreadPool>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

constexpr int kNice = -10;

/// Takes a higher priority. Without leave for it (RLIMIT_NICE) the system refuses.
bool takePriority()
{
    const sched_param none{};
    return sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) == 0 &&
           setpriority(PRIO_PROCESS, id_t(gettid()), kNice) == 0;
}

/// A service of desktops that gives priorities to the programs of the user who sits there.
void askRealtimeKit(pid_t thread)
{
    const QString name = QStringLiteral("org.freedesktop.RealtimeKit1");
    QDBusMessage call = QDBusMessage::createMethodCall(name, QStringLiteral("/org/freedesktop/RealtimeKit1"), name,
                                                       QStringLiteral("MakeThreadHighPriority"));
    call << quint64(thread) << qint32(kNice);
    QDBusConnection::systemBus().send(call);
}

}  // namespace

void drawFirst()
{
    if (!takePriority())  // to connect to the bus may take long, and the window is not to wait for it
        QThreadPool::globalInstance()->start([thread = gettid()] { askRealtimeKit(thread); });
}
