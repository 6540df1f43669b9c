// Tests that a process which does not come to its end is ended, and that one which does is left alone.
#include "app/system/exit_deadline.h"

#include <QCoreApplication>
#include <QProcess>
#include <QTest>
#include <QThreadPool>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

namespace {

/// As main() of the program: the pool is waited for when the application goes.
int endWith(const QString& what)
{
    if (what == "a stuck pool")
        QThreadPool::globalInstance()->start([] { std::this_thread::sleep_for(1h); });
    if (what == "a stuck log") {
        struct StuckSink : spdlog::sinks::base_sink<std::mutex> {
            void sink_it_(const spdlog::details::log_msg&) override { std::this_thread::sleep_for(1h); }
            void flush_() override {}
        };
        spdlog::set_default_logger(std::make_shared<spdlog::logger>("stuck", std::make_shared<StuckSink>()));
    }
    struct Stuck {
        bool sleeps;
        ~Stuck()
        {
            if (sleeps)
                std::this_thread::sleep_for(1h);
        }
    };
    const Stuck stuck{what == "a stuck destructor" || what == "a stuck log"};
    endProcessAfter(what == "nothing" ? 1h : 300ms, 5);
    return 3;
}

}  // namespace

class TestExitDeadline : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void ends_data()
    {
        QTest::addColumn<int>("code");
        QTest::newRow("nothing") << 3;  // and does not wait for an hour
        QTest::newRow("a stuck pool") << 5;
        QTest::newRow("a stuck destructor") << 5;
        QTest::newRow("a stuck log") << 5;
    }

    void ends()
    {
        QFETCH(int, code);
        QProcess process;
        process.start(QCoreApplication::applicationFilePath(), {"--ends-with", QTest::currentDataTag()});
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), code);
    }
};

int main(int argc, char* argv[])
{
    QCoreApplication application(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 3 && arguments[1] == "--ends-with")
        return endWith(arguments[2]);
    TestExitDeadline test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_exit_deadline.moc"
