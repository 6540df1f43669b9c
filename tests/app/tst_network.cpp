// Tests that the program uses no network that the user has not permitted: the window with its real engine opens a model
// and answers, in a network namespace that has nothing but itself, and every socket that it asks the system for is a
// local one.
#include "app/command_line.h"
#include "app/log/log.h"
#include "app/program.h"
#include "app/system/single_instance.h"
#include "engine/engine.h"

#include <QApplication>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>

namespace {

// The window, as main.cpp makes it, and one turn. 0: it answered.
int runWindow(int argc, char* argv[])
{
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("spillway"));
    CommandLine commandLine;
    commandLine.profile = QString::fromLocal8Bit(argv[2]);
    commandLine.modelFile = QString::fromLocal8Bit(argv[3]);
    commandLine.options.max_tokens = 8;
    const ProfileFolders folders = ProfileFolders::of(commandLine.profile);
    const auto feed = startLog(folders.state);
    SingleInstance instance(folders);
    if (instance.claim({}) != SingleInstance::Outcome::First)
        return 3;
    Program::prepare();
    Program program(commandLine, folders, feed, engine::make_engine, engine::inspect_model);
    if (!program.open())
        return 4;
    ChatController& chat = program.chat();
    if (!QTest::qWaitFor([&] { return chat.turn()->canSend(); }, 60000) || !chat.turn()->send(QStringLiteral("Hello")))
        return 5;
    if (!QTest::qWaitFor([&] { return !chat.turn()->busy() && chat.messages()->rowCount() == 2; }, 60000))
        return 6;
    std::puts("answered");
    return 0;
}

bool permitted(const QString& program, const QStringList& arguments)
{
    QProcess process;
    process.start(program, arguments);
    return process.waitForFinished(20000) && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
}

}  // namespace

class TestNetwork : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void onlyLocalSockets()
    {
        if (!permitted("unshare", {"-rn", "true"}))
            QSKIP("empty network namespaces are not permitted here");
        QTemporaryDir folder;
        const QString trace = folder.filePath("trace");
        if (!permitted("unshare", {"-rn", "strace", "-o", trace, "true"}))
            QSKIP("strace is not installed or not permitted here");

        qputenv("XDG_RUNTIME_DIR", folder.path().toUtf8());
        QProcess window;
        window.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        const QString model = QStringLiteral(SPILLWAY_SOURCE_DIR) + "/tests/data/models/llama.gguf";
        window.start("unshare",
                     {"-rn", "strace", "-f", "-qq", "-e", "trace=socket,socketpair,connect,bind", "-o", trace,
                      QCoreApplication::applicationFilePath(), "--window", folder.filePath("profile"), model});
        QVERIFY(window.waitForFinished(300000));
        QCOMPARE(window.exitCode(), 0);
        QVERIFY(window.readAllStandardOutput().contains("answered"));

        QFile file(trace);
        QVERIFY(file.open(QFile::ReadOnly));
        int local = 0;
        for (const QByteArray& line : file.readAll().split('\n')) {
            if (!line.contains("socket") && !line.contains("connect(") && !line.contains("bind("))
                continue;
            if (line.contains("socket(") || line.contains("socketpair("))
                ++local;
            QVERIFY2(line.contains("AF_UNIX") || line.contains("AF_LOCAL") || line.contains("resumed"),
                     line.constData());
        }
        QVERIFY(local > 0);  // at least that of the single instance, or we have seen nothing
    }
};

int main(int argc, char* argv[])
{
    if (argc == 4 && qstrcmp(argv[1], "--window") == 0)
        return runWindow(argc, argv);
    QCoreApplication application(argc, argv);
    TestNetwork test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_network.moc"
