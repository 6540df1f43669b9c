// Measures whether the window stays usable while other programs ask the model in it: the time from frame to frame where
// 60 frames a second are asked for, while a conversation of the window's own is answered again and again. It prints
// where the local server is, for tests/clients/load.py, and is told for how many seconds; QT_QPA_PLATFORM=offscreen
// QT_QUICK_BACKEND=software.
#include "app/program.h"
#include "app/system/start.h"
#include "tests/ui/bench.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QQmlEngine>
#include <QQuickView>
#include <QStandardPaths>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <vector>

namespace {

constexpr int kFrame_ms = 16;
constexpr int kReading_ms = 3000;

void wait(const std::function<bool()>& condition)
{
    while (!condition())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

/// What one frame took: the time by the clock, the processor time of the UI thread, which draws it, and the time for
/// which that thread had something to do and waited for a core.
struct Frame {
    double ms = 0, processor_ms = 0, waiting_ms = 0;
};

double processor_ms()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * double(time.tv_sec) + double(time.tv_nsec) / 1e6;
}

/// Returns for how long this thread was ready to run and did not.
double waited_ms()
{
    double on_core_ns = 0, waiting_ns = 0;
    std::ifstream("/proc/thread-self/schedstat") >> on_core_ns >> waiting_ns;
    return waiting_ns / 1e6;
}

/// Draws for this many seconds. The page is left as it is; the conversation goes on behind it.
std::vector<Frame> draw_for(Bench& bench, QQuickView& view, double seconds)
{
    std::vector<Frame> frames;
    double processor_before_ms = processor_ms(), waited_before_ms = waited_ms();
    QElapsedTimer clock, since_frame;
    QTimer tick;
    tick.setTimerType(Qt::PreciseTimer);
    QObject::connect(&tick, &QTimer::timeout, &view, &QQuickWindow::update);
    const auto connection = QObject::connect(&view, &QQuickWindow::frameSwapped, &view, [&] {
        const double processor_now_ms = processor_ms(), waited_now_ms = waited_ms();
        frames.push_back({double(since_frame.nsecsElapsed()) / 1e6, processor_now_ms - processor_before_ms,
                          waited_now_ms - waited_before_ms});
        processor_before_ms = processor_now_ms;
        waited_before_ms = waited_now_ms;
        since_frame.start();
    });
    clock.start();
    since_frame.start();
    tick.start(kFrame_ms);
    QElapsedTimer read;  // somebody reads each answer before he asks again
    wait([&] {
        if (bench.chat()->turn()->busy())
            read.start();
        else if (!read.isValid() || read.elapsed() > kReading_ms)
            bench.chat()->turn()->send(QStringLiteral("Why is it slow?"));
        return double(clock.elapsed()) > 1000 * seconds;
    });
    QObject::disconnect(connection);
    return frames;
}

void print(const char* page, const std::vector<Frame>& frames)
{
    std::printf("%s: %zu frames\n", page, frames.size());
    for (const auto& [name, part] : {std::pair("from frame to frame", &Frame::ms),
                                     std::pair("of it processor time of the UI thread", &Frame::processor_ms),
                                     std::pair("of it the UI thread waiting for a core", &Frame::waiting_ms)}) {
        std::vector<double> ms(frames.size());
        std::ranges::transform(frames, ms.begin(), [part = part](const Frame& frame) { return frame.*part; });
        std::ranges::sort(ms);
        const auto at = [&](double share) { return ms[size_t(share * double(ms.size() - 1))]; };
        std::printf("  %s: median %.1f ms, 95%% %.1f ms, 99%% %.1f ms, most %.1f ms\n", name, at(0.5), at(0.95),
                    at(0.99), at(1));
    }
}

}  // namespace

int main(int argc, char* argv[])
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
    QApplication application(argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    Program::prepare();
    QQmlEngine engine;
    engine.addImportPath(QStringLiteral("qrc:/qt/qml"));
    Bench bench;
    QQmlEngine::setObjectOwnership(&bench, QQmlEngine::CppOwnership);
    qmlRegisterSingletonInstance("Spillway.Tests", 1, 0, "Bench", &bench);
    bench.reset({{"real", true}, {"maxTokens", 128}, {"context", 8192}, {"panel", true}});
    bench.openAtOnce(bench.guide());
    wait([&] { return bench.models()->current().known(); });
    bench.server()->asksKey()->setValue(0);
    bench.server()->setOn(true);
    wait([&] { return bench.server()->state() == ServerController::On; });

    QQuickView view(&engine, nullptr);
    view.setResizeMode(QQuickView::SizeRootObjectToView);
    view.resize(1400, 900);
    view.setSource(QUrl(QStringLiteral("qrc:/whole_window.qml")));
    view.show();
    drawFirst();
    std::printf("http://%s\n", qPrintable(bench.server()->host()));
    print("the conversation, with the panel", draw_for(bench, view, seconds / 2));
    QMetaObject::invokeMethod(view.rootObject(), "showServer");
    print("the page of the server", draw_for(bench, view, seconds / 2));
    return 0;
}
