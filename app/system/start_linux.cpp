#include "app/system/start.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QGuiApplication>
#include <QLibrary>
#include <QOpenGLContext>
#include <QThreadPool>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace {

// Qt's GLX ends the program where the X server has GLX and we have no driver for it, so we look first.
bool glxDraws(Display* display)
{
    using QueryExtension = int (*)(Display*, int*, int*);
    using ChooseConfig = void** (*)(Display*, int, const int*, int*);
    QLibrary glx(QStringLiteral("GLX"), 0);
    const auto query = reinterpret_cast<QueryExtension>(glx.resolve("glXQueryExtension"));
    const auto choose = reinterpret_cast<ChooseConfig>(glx.resolve("glXChooseFBConfig"));
    if (!query || !choose)
        return false;
    int ignored = 0;
    if (!query(display, &ignored, &ignored))
        return true;  // Qt works without GLX
    int configs = 0;
    void** const found = choose(display, 0, nullptr, &configs);
    std::free(static_cast<void*>(found));  // as XFree does
    return configs > 0;
}

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

std::optional<std::chrono::milliseconds> processAge()
{
    std::ifstream file("/proc/self/stat");
    std::string line;
    if (!std::getline(file, line))
        return {};
    const auto name = line.rfind(')');  // of the process, whose name may contain any characters
    if (name == std::string::npos)
        return {};
    std::istringstream fields(line.substr(name + 1));
    std::string skipped;
    for (int i = 0; i < 19; ++i)
        fields >> skipped;
    long long startTicks = 0;
    timespec now{};
    if (!(fields >> startTicks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return {};
    const long long sinceBootMs = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
    return std::chrono::milliseconds(sinceBootMs - startTicks * 1000 / sysconf(_SC_CLK_TCK));
}

bool graphicsDriverDraws()
{
    if (const auto* const x11 = qGuiApp->nativeInterface<QNativeInterface::QX11Application>();
        x11 && x11->display() && !glxDraws(x11->display()))
        return false;
    return QOpenGLContext().create();
}

void drawFirst()
{
    if (!takePriority())  // on another thread: connecting to the bus may take long
        QThreadPool::globalInstance()->start([thread = gettid()] { askRealtimeKit(thread); });
}
