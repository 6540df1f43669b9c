// Tests that one program runs per profile, and that a second one hands its file over, with real processes of the
// window's own program.
#include "app/system/profile_folders.h"
#include "app/system/single_instance.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocalServer>
#include <QLocalSocket>
#include <QProcess>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <future>

#ifdef Q_OS_LINUX
#include <sys/resource.h>
#endif

using namespace std::chrono_literals;
using Outcome = SingleInstance::Outcome;

class TestSingleInstance : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> folder;

    ProfileFolders folders() const { return ProfileFolders::of(folder->filePath("profile")); }

    // The window, on this profile.
    std::unique_ptr<QProcess> start(const QStringList& arguments = {}) const
    {
        auto process = std::make_unique<QProcess>();
        process->setProgram(SPILLWAY_PROGRAM);
        process->setArguments(QStringList{"--profile", folder->filePath("profile")} + arguments);
        process->start();
        return process;
    }

    // Says whether the program listens. Then it also has a window, of which its log tells.
    bool isUp() const
    {
        QFile log(folders().state + "/spillway.log");
        return log.open(QFile::ReadOnly) && log.readAll().contains("after the start of the process");
    }

private Q_SLOTS:
    void init()
    {
        folder = std::make_unique<QTemporaryDir>();
        qputenv("XDG_RUNTIME_DIR", folder->path().toUtf8());
        qputenv("SPILLWAY_GUIDE", folder->filePath("none").toUtf8());
    }

    void theSecondHandsOverItsFile()
    {
        SingleInstance first(folders());
        QCOMPARE(first.claim({}), Outcome::First);
        QSignalSpy asked(&first, &SingleInstance::startedAgain);
        QFile model(folder->filePath("a model.gguf"));
        QVERIFY(model.open(QFile::WriteOnly));

        auto second = start({model.fileName()});
        QTRY_VERIFY_WITH_TIMEOUT(asked.size() == 1, 60000);
        QCOMPARE(asked[0][0].toString(), model.fileName());
        QTRY_COMPARE_WITH_TIMEOUT(second->state(), QProcess::NotRunning, 30000);
        QCOMPARE(second->exitCode(), 0);

        auto third = start({folder->filePath("not there.gguf")});
        QTRY_VERIFY_WITH_TIMEOUT(asked.size() == 2, 60000);
        QCOMPARE(asked[1][0].toString(), folder->filePath("not there.gguf"));  // the window says so
        QTRY_COMPARE_WITH_TIMEOUT(third->state(), QProcess::NotRunning, 30000);
    }

    void aKilledOneLeavesNothingInTheWay()
    {
        auto first = start();
        QTRY_VERIFY_WITH_TIMEOUT(isUp(), 120000);
        first->kill();
        QVERIFY(first->waitForFinished(30000));
        SingleInstance next(folders());
        QVERIFY(QFile::exists(next.socketPath()));  // stale
        QCOMPARE(next.claim({}), Outcome::First);
        QSignalSpy asked(&next, &SingleInstance::startedAgain);
        auto second = start();
        QTRY_COMPARE_WITH_TIMEOUT(asked.size(), 1, 60000);
        QTRY_COMPARE_WITH_TIMEOUT(second->state(), QProcess::NotRunning, 30000);
    }

    /// As after a crash when the disk is mounted for reading only: what is there can be shown.
    void theLockOfAKilledOneThatCannotBeTakenAway()
    {
        SingleInstance second(folders());
        QFile lock(folders().data + "/spillway.lock");
        QVERIFY(lock.open(QFile::WriteOnly));
        lock.write("4194305\nspillway\n" + QSysInfo::machineHostName().toUtf8() + "\n");  // no process has this number
        lock.close();
        QFile::setPermissions(folders().data, QFile::ReadOwner | QFile::ExeOwner);
        const auto writableAgain = qScopeGuard(
            [&] { QFile::setPermissions(folders().data, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner); });
        if (QFileInfo(folders().data).isWritable())
            QSKIP("this user may write everywhere");
        QCOMPARE(second.claim({}, 2s), Outcome::First);
    }

    /// There is no room for a lock then.
    void aFullDiskLetsNoSecondOneIn()
    {
#ifndef Q_OS_LINUX
        QSKIP("limits how long files may become");
#else
        rlimit usual = {};
        getrlimit(RLIMIT_FSIZE, &usual);
        const auto before = std::signal(SIGXFSZ, SIG_IGN);
        const auto again = qScopeGuard([&] {
            setrlimit(RLIMIT_FSIZE, &usual);
            std::signal(SIGXFSZ, before);
        });
        const rlimit full = {0, usual.rlim_max};
        setrlimit(RLIMIT_FSIZE, &full);
        SingleInstance first(folders());
        QCOMPARE(first.claim({}), Outcome::First);
        QVERIFY(!QFile::exists(folders().data + "/spillway.lock"));
        for (const rlimit& room : {full, usual}) {
            setrlimit(RLIMIT_FSIZE, &room);
            auto second =
                std::async(std::launch::async, [at = folders()] { return SingleInstance(at).claim({}, 20s); });
            QTRY_VERIFY_WITH_TIMEOUT(second.wait_for(0s) == std::future_status::ready, 30000);
            QCOMPARE(second.get(), Outcome::HandedOver);
        }
#endif
    }

    void aHungOneIsSaid()
    {
#ifndef Q_OS_UNIX
        QSKIP("stops a process");
#else
        auto first = start();
        QTRY_VERIFY_WITH_TIMEOUT(isUp(), 120000);
        ::kill(pid_t(first->processId()), SIGSTOP);
        auto second = start();
        QByteArray said;
        QTRY_VERIFY_WITH_TIMEOUT((said += second->readAllStandardError()).contains("does not answer"), 60000);
        second->kill();
        second->waitForFinished();
        ::kill(pid_t(first->processId()), SIGCONT);
        first->kill();
        first->waitForFinished();
#endif
    }

    void hostileMessages()
    {
        SingleInstance first(folders());
        QCOMPARE(first.claim({}), Outcome::First);
        QSignalSpy asked(&first, &SingleInstance::startedAgain);
        for (const QByteArray& message :
             {QByteArray("{\"open\": \"../relative\"}\n"), QByteArray("{\"open\": 5}\n"), QByteArray("not json\n"),
              QByteArray("{\"open\": \"/etc/../etc\"}\n"), QByteArray("{\"open\": \"/etc/passwd\\u0000x\"}\n")}) {
            QLocalSocket socket;
            socket.connectToServer(first.socketPath());
            socket.write(message);
            const auto before = asked.size();
            QTRY_COMPARE(asked.size(), before + 1);
            QVERIFY(asked.last()[0].toString().isEmpty());
        }
        QLocalSocket flood;
        flood.connectToServer(first.socketPath());
        flood.write(QByteArray(1 << 20, 'x'));
        QTRY_COMPARE(flood.state(), QLocalSocket::UnconnectedState);
        QCOMPARE(asked.size(), 5);
    }

    void aLongPathLeadsToAPrivateFolder()
    {
#ifndef Q_OS_LINUX
        QSKIP("sockets have paths");
#else
        const QString runtime = folder->filePath(QString(100, 'r'));
        QVERIFY(QDir().mkpath(runtime));
        qputenv("XDG_RUNTIME_DIR", runtime.toUtf8());
        const QByteArray temporary = qgetenv("TMPDIR");
        qputenv("TMPDIR", folder->path().toUtf8());
        {
            SingleInstance first(folders());
            const QString place = QFileInfo(first.socketPath()).path();
            QCOMPARE(QFileInfo(place).path(), folder->path());
            QVERIFY((QFile::permissions(place) & 0x00ff) == 0);  // nobody else's
            QCOMPARE(first.claim({}), Outcome::First);
            QVERIFY(QFile::exists(first.socketPath()));
            // One that others may enter is not used.
            QVERIFY(QFile::setPermissions(place, QFile::permissions(place) | QFile::WriteOther | QFile::ExeOther));
            QCOMPARE(SingleInstance(folders()).socketPath(), QString());
        }
        qputenv("TMPDIR", temporary);
        if (temporary.isEmpty())
            qunsetenv("TMPDIR");
#endif
    }

    void twoProfilesAtOnce()
    {
        SingleInstance one(folders());
        SingleInstance other(ProfileFolders::of(folder->filePath("other")));
        QCOMPARE(one.claim({}), Outcome::First);
        QCOMPARE(other.claim({}), Outcome::First);
        QVERIFY(one.socketPath() != other.socketPath());
    }
};

SPILLWAY_TEST(QApplication, TestSingleInstance)
#include "tst_single_instance.moc"
