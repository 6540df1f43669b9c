#include "app/system/drawing_priority.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QThreadPool>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

constexpr int kNice = -10;

/// Takes a higher priority. False: the system refused, since the user has no permission for it (RLIMIT_NICE).
bool takePriority()
{
    const sched_param none{};
    return sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) == 0 &&
           setpriority(PRIO_PROCESS, id_t(gettid()), kNice) == 0;
}

/// Asks RealtimeKit, a service of desktops that gives priorities to programs of the logged-in user.
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
    if (!takePriority())  // on another thread: connecting to the bus may take long
        QThreadPool::globalInstance()->start([thread = gettid()] { askRealtimeKit(thread); });
}
