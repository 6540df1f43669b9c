// Measures how much a long conversation costs: to open, to scroll through, and to stream an answer into. It takes the
// processor time of the whole program, so that other work on the machine counts little; QT_QPA_PLATFORM=offscreen
// QT_QUICK_BACKEND=software.
#include "app/program.h"
#include "tests/ui/bench.h"

#include <QApplication>
#include <QFile>
#include <QQmlEngine>
#include <QQuickItem>
#include <QQuickView>
#include <QStandardPaths>
#include <QTest>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace {

constexpr int kMessages = 1000;

double processorMs()
{
    return 1000.0 * double(std::clock()) / CLOCKS_PER_SEC;
}

/// Waits until everything that is asked for has been drawn.
void frame(QQuickView& view)
{
    bool drawn = false;
    const auto connection = QObject::connect(&view, &QQuickWindow::frameSwapped, &view, [&] { drawn = true; });
    view.update();
    while (!drawn)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    QObject::disconnect(connection);
}

void waitUntilIdle(const Bench& bench)
{
    while (bench.chat()->turn()->busy())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

QString richText()
{
    QFile file(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/markdown/rich.md"));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Fills the conversation with answers of different lengths, cut from the rich one at borders of its parts.
void fill(Bench& bench, const QString& rich)
{
    const QStringList parts = rich.split(QStringLiteral("\n## "));
    for (int i = 0; bench.chat()->messages()->rowCount() < kMessages; ++i) {
        bench.script({{"text", QString(parts[i % parts.size()] + "\n\n## " + parts[(i / 3) % parts.size()])}});
        bench.chat()->turn()->send(QStringLiteral("Question %1, which is a line or two long, as most are?").arg(i));
        waitUntilIdle(bench);
    }
}

std::unique_ptr<QQuickView> makeView(QQmlEngine& engine)
{
    auto view = std::make_unique<QQuickView>(&engine, nullptr);
    view->setResizeMode(QQuickView::SizeRootObjectToView);
    view->resize(1100, 760);
    view->setSource(QUrl(QStringLiteral("qrc:/conversation_bench.qml")));
    view->show();
    return view;
}

void scroll(QQuickView& view)
{
    QObject* const list = view.rootObject()->findChild<QObject*>(QStringLiteral("messageView"));
    std::vector<double> steps;
    constexpr qreal kStep = 120;  // of a mouse wheel
    for (int i = 0; i < 1000 && !list->property("atYBeginning").toBool(); ++i) {
        const double start = processorMs();
        QMetaObject::invokeMethod(list, "scroll", Q_ARG(double, -kStep));
        frame(view);
        steps.push_back(processorMs() - start);
    }
    std::sort(steps.begin(), steps.end());
    const auto share = [&](double part) { return steps[size_t(part * double(steps.size() - 1))]; };
    std::printf("scroll, %zu steps of 120 px: median %.1f ms, 95%% %.1f ms, 99%% %.1f ms, most %.1f ms\n", steps.size(),
                share(0.5), share(0.95), share(0.99), steps.back());
}

/// Returns the processor time for each frame while an answer grows, in milliseconds: how many frames there are depends
/// on what else the machine does.
double stream(Bench& bench, QQuickView& view, const QString& rich)
{
    constexpr int kTokens = 2000;
    QString text;
    while (text.size() < 4 * kTokens)
        text += rich + "\n\n";
    bench.script({{"stream", text.left(4 * kTokens)}, {"tokenMs", 4}});
    QMetaObject::invokeMethod(view.rootObject(), "followAnswer");
    bench.chat()->turn()->send(QStringLiteral("Go on"));
    while (bench.chat()->turn()->state() != ChatTurn::Answering)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    int frames = 0;
    const auto connection = QObject::connect(&view, &QQuickWindow::frameSwapped, &view, [&] { ++frames; });
    const double start = processorMs();
    waitUntilIdle(bench);
    const double cost = processorMs() - start;
    QObject::disconnect(connection);
    frame(view);
    QObject* const list = view.rootObject()->findChild<QObject*>(QStringLiteral("messageView"));
    if (!list->property("pinned").toBool())
        std::printf("the answer was not in sight: this measures nothing\n");
    bench.script({{"tokenMs", 0}});
    return cost / frames;
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
    const QString rich = richText();

    bench.reset({{"context", 100'000'000}});
    bench.openAtOnce(QStringLiteral("/models/bench.gguf"));
    while (!bench.models()->current().known())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);

    double empty = 0;
    {
        const auto view = makeView(engine);
        frame(*view);
        for (int round = 0; round < 3; ++round) {  // the first warms up
            bench.chat()->newConversation();
            const double cost = stream(bench, *view, rich);
            empty += round > 0 ? cost / 2 : 0;
        }
    }
    bench.chat()->newConversation();
    fill(bench, rich);
    std::printf("%d messages\n", bench.chat()->messages()->rowCount());

    const double start = processorMs();
    const auto view = makeView(engine);
    frame(*view);
    std::printf("open at the end: %.0f ms\n", processorMs() - start);
    scroll(*view);
    double full = 0;
    for (int round = 0; round < 3; ++round) {
        const double cost = stream(bench, *view, rich);
        full += round > 0 ? cost / 2 : 0;
    }
    std::printf("stream 2000 tokens, each frame: %.2f ms in an empty conversation, %.2f ms in this one, ratio %.2f\n",
                empty, full, full / empty);
    return 0;
}
