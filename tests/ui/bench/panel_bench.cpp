// Measures what the pressure panel costs while an answer of 200 tokens a second streams into the window beside it, with
// a history of 32K tokens behind it. It takes the processor time of the whole program for each frame, all that led to
// it included, so that other work on the machine counts little; QT_QPA_PLATFORM=offscreen QT_QUICK_BACKEND=software.
// With a shape, such as llama-3.2-1b:q4_k_m, it measures what the panel costs that model's answers.
#include "app/charts/picture_item.h"
#include "app/program.h"
#include "engine/shape_model.h"
#include "tests/ui/bench.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QQmlEngine>

#include <QQuickView>
#include <QStandardPaths>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

namespace {

constexpr int kTokens = 2000;
constexpr int kHistoryTokens = 32 * 1024;

double processorMs()
{
    return 1000.0 * double(std::clock()) / CLOCKS_PER_SEC;
}

void wait(int ms)
{
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < ms)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, ms);
}

/// Writes what a conversation of this many tokens has left behind: a sample for every token, and what left the device.
void fillHistory(PressureMonitor& monitor, const QString& conversation)
{
    engine::Telemetry frame = monitor.frame();
    engine::Turn last;
    for (int token = 1; token <= kHistoryTokens; ++token) {
        const quint64 turn = 1000 + quint64(token / 1024);
        frame.time_us += 5000;
        frame.context_tokens = token;
        frame.generated_tokens = 1 + token % 1024;
        frame.device->kv_bytes = std::int64_t(token) * 32768;
        monitor.recorder().begin(turn, conversation);
        monitor.onFrame(turn, frame);
        if (token % 64 == 0)
            monitor.onEvent({.kind = engine::Event::Kind::Offload,
                             .cause = engine::Event::Cause::Watermark,
                             .time_us = frame.time_us,
                             .bytes = 4096,
                             .blocks = 16,
                             .tokens = {token - 64, token},
                             .sentence = {}});
    }
}

QString answer()
{
    QFile file(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/markdown/rich.md"));
    const QString rich = file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    QString text;
    while (text.size() < 4 * kTokens)
        text += rich + QStringLiteral("\n\n");
    return text.left(4 * kTokens);
}

struct Cost {
    std::vector<double> frames;  // ms of processor time
    std::vector<double> gaps;    // ms from one frame to the next, by the clock
    double share = 0;            // of one core
};

Cost stream(Bench& bench, QQuickView& view)
{
    Cost cost;
    bench.chat()->newConversation();
    fillHistory(*bench.pressure()->monitor(), bench.chat()->conversationId());
    wait(500);
    bench.chat()->turn()->send(QStringLiteral("Go on"));
    while (bench.chat()->turn()->state() != ChatTurn::Answering)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    double before = processorMs();
    const double start = before;
    QElapsedTimer clock, sinceFrame;
    clock.start();
    sinceFrame.start();
    const auto connection = QObject::connect(&view, &QQuickWindow::frameSwapped, &view, [&] {
        const double now = processorMs();
        cost.frames.push_back(now - before);
        before = now;
        cost.gaps.push_back(double(sinceFrame.nsecsElapsed()) / 1e6);
        sinceFrame.start();
    });
    while (bench.chat()->turn()->busy())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    cost.share = (processorMs() - start) / double(clock.elapsed());
    QObject::disconnect(connection);
    std::sort(cost.frames.begin(), cost.frames.end());
    std::sort(cost.gaps.begin(), cost.gaps.end());
    return cost;
}

void print(const char* what, const Cost& cost)
{
    std::printf("%s: %zu frames, %.0f %% of one core\n", what, cost.frames.size(), 100 * cost.share);
    for (const auto& [name, ms] :
         {std::pair("processor time", &cost.frames), std::pair("from frame to frame", &cost.gaps)}) {
        const auto at = [&, ms = ms](double part) { return (*ms)[size_t(part * double(ms->size() - 1))]; };
        std::printf("  %s: median %.1f ms, 95%% %.1f ms, 99%% %.1f ms, most %.1f ms\n", name, at(0.5), at(0.95),
                    at(0.99), at(1));
    }
}

/// Holds what a renderer on a GPU has to do for a window like this.
struct Drawn {
    int items = 0;        // visible, each a node or a few
    int texts = 0;        // of them
    int painted = 0;      // of them: pictures that the CPU paints, and that are uploaded when they change
    qint64 uploaded = 0;  // bytes of those
};

void count(const QQuickItem& item, Drawn& drawn)
{
    if (!item.isVisible() || item.opacity() == 0)
        return;
    if (item.flags() & QQuickItem::ItemHasContents) {
        ++drawn.items;
        drawn.texts += item.inherits("QQuickText") || item.inherits("QQuickTextEdit");
        if (const auto* picture = qobject_cast<const PictureItem*>(&item)) {
            ++drawn.painted;
            drawn.uploaded += qint64(picture->width() * picture->height()) * 4;
        }
    }
    for (const QQuickItem* child : item.childItems())
        count(*child, drawn);
}

void printDrawn(const char* what, const QQuickView& view)
{
    Drawn drawn;
    count(*view.contentItem(), drawn);
    std::printf("%s: %d items, %d of them texts, %d painted by the CPU, %.1f MB to upload when all of those change\n",
                what, drawn.items, drawn.texts, drawn.painted, double(drawn.uploaded) / 1e6);
}

/// Returns the tokens a second of one answer.
double decode(Bench& bench)
{
    bench.chat()->newConversation();
    bench.chat()->turn()->send(QStringLiteral("Go on"));
    wait(200);
    while (bench.chat()->turn()->busy())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    wait(200);
    return bench.pressure()->monitor()->tokensPerSecond().toDouble();
}

/// Prints the speeds of answers in turn without and with the panel, and the ratio of each pair.
void compareAnswers(Bench& bench)
{
    constexpr int kPairs = 8;
    std::vector<double> ratios;
    decode(bench);  // warms up
    for (int pair = 0; pair < kPairs; ++pair) {
        double speed[2] = {};
        for (const int shown : {pair % 2, 1 - pair % 2}) {
            bench.settings()->panelShown()->setValue(shown);
            wait(300);
            speed[shown] = decode(bench);
        }
        ratios.push_back(speed[1] / speed[0]);
        std::printf("panel hidden %.2f tok/s, shown %.2f tok/s: %.3f\n", speed[0], speed[1], ratios.back());
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("median of the ratios: %.3f\n", (ratios[kPairs / 2 - 1] + ratios[kPairs / 2]) / 2);
}

void show(QQuickView& view)
{
    view.setResizeMode(QQuickView::SizeRootObjectToView);
    view.resize(1400, 900);
    view.setSource(QUrl(QStringLiteral("qrc:/whole_window.qml")));
    view.show();
    wait(1000);
}

void open(Bench& bench, const QString& model)
{
    bench.openAtOnce(model);
    while (!bench.models()->current().known())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

}  // namespace

int main(int argc, char* argv[])
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    QApplication application(argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    Program::prepare();
    QQmlEngine engine;
    engine.addImportPath(QStringLiteral("qrc:/qt/qml"));
    Bench bench;
    QQmlEngine::setObjectOwnership(&bench, QQmlEngine::CppOwnership);
    qmlRegisterSingletonInstance("Spillway.Tests", 1, 0, "Bench", &bench);
    if (argc == 2) {
        const auto model = engine::ShapeModel::make(argv[1], QDir::tempPath().toStdU16String());
        if (!model) {
            std::fprintf(stderr, "%s\n", model.error().what.c_str());
            return 1;
        }
        bench.reset({{"real", true}, {"maxTokens", 128}, {"context", 2048}});
        open(bench, QString::fromStdU16String(model->path().u16string()));
        QQuickView view(&engine, nullptr);
        show(view);
        compareAnswers(bench);
        return 0;
    }
    bench.reset({{"context", 65536},
                 {"panel", true},
                 {"kvColumns", kHistoryTokens / 256},
                 {"device", QVariantMap{{"layers", 16}, {"total", 8e9}, {"weights", 4e9}, {"kv", 1e9}}}});
    open(bench, QStringLiteral("/models/bench.gguf"));
    bench.script({{"stream", answer()}, {"tokenMs", 5}});

    QQuickView view(&engine, nullptr);
    show(view);
    for (int round = 0; round < 3; ++round) {  // the first warms up
        bench.settings()->panelShown()->setValue(0);
        wait(300);
        print("panel hidden", stream(bench, view));
        printDrawn("panel hidden", view);
        bench.settings()->panelShown()->setValue(1);
        wait(300);
        print("panel shown ", stream(bench, view));
        printDrawn("panel shown ", view);
    }
    return 0;
}
