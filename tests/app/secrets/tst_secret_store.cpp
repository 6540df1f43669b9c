// Tests that keys go to the password store of a Linux session and come back, also where it is locked, falls silent or
// ends: GNOME's keyring runs on a bus of its own, where both are installed.
#include "app/secrets/secret_store.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QElapsedTimer>
#include <QLibrary>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <thread>

using secrets::Access;
using secrets::MayAsk;
using Code = engine::Error::Code;

namespace {

/// A session with nothing in it but a bus, and a keyring on demand. It ends with the object.
class Session
{
public:
    Session()
    {
        QDir(m_home.path()).mkdir("run");
        QFile(m_home.filePath("run")).setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("HOME", m_home.path().toUtf8());
        qputenv("XDG_DATA_HOME", m_home.filePath("data").toUtf8());
        qputenv("XDG_RUNTIME_DIR", m_home.filePath("run").toUtf8());
        m_bus.start("dbus-daemon", {"--session", "--nofork", "--print-address"});
        if (m_bus.waitForStarted() && m_bus.waitForReadyRead(5000))
            qputenv("DBUS_SESSION_BUS_ADDRESS", m_bus.readLine().trimmed());
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session()
    {
        endKeyring();
        endBus();
    }

    void startKeyring(bool unlocked)
    {
        QStringList arguments{"--foreground", "--components=secrets"};
        if (unlocked)
            arguments.append("--unlock");
        m_keyring.start("gnome-keyring-daemon", arguments);
        QVERIFY(m_keyring.waitForStarted());
        if (unlocked)
            m_keyring.write("a password");
        m_keyring.closeWriteChannel();
        QVERIFY(QTest::qWaitFor([this] { return store->access({}) != Access::None; }));
    }
    void endKeyring()
    {
        signalKeyring("-CONT");
        m_keyring.terminate();
        m_keyring.waitForFinished(5000);
    }
    /// From now on a question to the user is open for some seconds, and then closed.
    void answerQuestions()
    {
        const QString prompter = m_home.filePath("prompter");
        QFile script(prompter);
        QVERIFY(script.open(QFile::WriteOnly));
        script.write("#!/bin/sh\necho >> " + m_home.filePath("asked").toUtf8() + "\nsleep 6\nexit 1\n");
        script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        QVERIFY(QDir().mkpath(m_home.filePath("run/dbus-1/services")));
        QFile service(m_home.filePath("run/dbus-1/services/org.gnome.keyring.SystemPrompter.service"));
        QVERIFY(service.open(QFile::WriteOnly));
        service.write("[D-BUS Service]\nName=org.gnome.keyring.SystemPrompter\nExec=" + prompter.toUtf8() + "\n");
        service.close();
        script.close();
        call("org.freedesktop.DBus", "/org/freedesktop/DBus", {"org.freedesktop.DBus.ReloadConfig"});
    }
    qsizetype timesAsked() const
    {
        QFile asked(m_home.filePath("asked"));
        return asked.open(QFile::ReadOnly) ? asked.size() : 0;
    }
    void callSecrets(const QString& method, const QStringList& arguments) const
    {
        call("org.freedesktop.secrets", "/org/freedesktop/secrets",
             QStringList{"org.freedesktop.Secret.Service." + method} + arguments);
    }
    void signalKeyring(const char* signal) const
    {
        QProcess::execute("kill", {signal, QString::number(m_keyring.processId())});
    }
    void endBus()
    {
        m_bus.terminate();
        m_bus.waitForFinished(5000);
    }

    std::shared_ptr<secrets::SecretStore> store = secrets::system_secret_store();

private:
    static void call(const QString& whom, const QString& path, const QStringList& what)
    {
        QProcess send;
        send.start("dbus-send", QStringList{"--session", "--print-reply", "--dest=" + whom, path} + what);
        QVERIFY(send.waitForFinished() && send.exitCode() == 0);
    }

    QTemporaryDir m_home;
    QProcess m_bus, m_keyring;
};

/// Returns what is not installed of all that a session takes; empty: nothing.
QString missing()
{
    for (const char* program : {"dbus-daemon", "dbus-send", "gnome-keyring-daemon"})
        if (QStandardPaths::findExecutable(program).isEmpty())
            return QString("%1 is not installed").arg(program);
    QLibrary library("libsecret-1.so.0");
    return library.load() ? QString() : QString("libsecret is not installed");
}

}  // namespace

class TestSecretStore : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void idsAreNeverTheSame()
    {
        const std::string id = secrets::new_id();
        QVERIFY(secrets::is_id(id));
        QVERIFY(id != secrets::new_id());
        QVERIFY(!secrets::is_id({}));
        QVERIFY(!secrets::is_id("0123456789ABCDEF0123456789ABCDEF"));
        QVERIFY(!secrets::is_id(id + "0"));
    }

    void withoutASessionThereIsNone()
    {
        const QByteArray bus = qgetenv("DBUS_SESSION_BUS_ADDRESS"), folder = qgetenv("XDG_RUNTIME_DIR");
        const QTemporaryDir empty;
        qunsetenv("DBUS_SESSION_BUS_ADDRESS");
        qputenv("XDG_RUNTIME_DIR", empty.path().toUtf8());
        const auto store = secrets::system_secret_store();
        QElapsedTimer timer;
        timer.start();
        const std::string id = secrets::new_id();
        QCOMPARE(store->access({}), Access::None);
        QCOMPARE(store->find(id, MayAsk::Yes, {}).error().code, Code::CannotRead);
        QCOMPARE(store->keep({id, "label", "word"}, MayAsk::Yes, {}).error().code, Code::CannotWrite);
        QCOMPARE(store->forget(id, {}).error().code, Code::CannotWrite);
        QVERIFY(timer.elapsed() < 1000);
        qputenv("DBUS_SESSION_BUS_ADDRESS", bus);
        qputenv("XDG_RUNTIME_DIR", folder);
    }

    void aQuestionIsOpenedOnceAndOnlyByWhoMayAsk()
    {
        if (const QString what = missing(); !what.isEmpty())
            QSKIP(qPrintable(what));
        const QString login = "objpath:/org/freedesktop/secrets/collection/login";
        const QString open = "objpath:/org/freedesktop/secrets/collection/session";
        Session session;
        secrets::SecretStore& store = *session.store;
        session.startKeyring(true);
        session.answerQuestions();
        const std::string id = secrets::new_id(), other = secrets::new_id();
        QVERIFY(store.keep({id, "Spillway: key for x", "word"}, MayAsk::No, {}));
        session.callSecrets("SetAlias", {"string:default", open});
        QVERIFY(store.keep({other, "Spillway: key for y", "another"}, MayAsk::No, {}));
        session.callSecrets("SetAlias", {"string:default", login});
        session.callSecrets("Lock", {"array:" + login});

        QCOMPARE(store.find(id, MayAsk::No, {}).error().code, Code::CannotRead);
        QCOMPARE(store.find(other, MayAsk::No, {}).value(), std::string("another"));  // it lies where it is not locked
        QCOMPARE(session.timesAsked(), 0);
        {
            const std::jthread user([&] { static_cast<void>(store.find(id, MayAsk::Yes, {})); });
            QTRY_COMPARE(session.timesAsked(), 1);
            QCOMPARE(store.access({}), Access::Locked);  // it waits for the question, which is no reason to say None
        }
        QCOMPARE(session.timesAsked(), 1);
    }

    void theKeyringOfASession()
    {
        if (const QString what = missing(); !what.isEmpty())
            QSKIP(qPrintable(what));
        Session session;
        secrets::SecretStore& store = *session.store;
        const std::string id = secrets::new_id(), other = secrets::new_id();

        session.startKeyring(true);
        QCOMPARE(store.access({}), Access::Open);
        QCOMPARE(store.find(id, MayAsk::No, {}).error().code, Code::NotFound);
        QVERIFY(store.keep({id, "Spillway: key for x", "wörd"}, MayAsk::No, {}));
        QVERIFY(store.keep({other, "Spillway: key for y", "another"}, MayAsk::No, {}));
        QCOMPARE(store.find(id, MayAsk::No, {}).value(), std::string("wörd"));
        QVERIFY(store.keep({id, "Spillway: key for x", "newer"}, MayAsk::No, {}));
        QCOMPARE(store.find(id, MayAsk::No, {}).value(), std::string("newer"));
        QVERIFY(store.forget(id, {}));
        QVERIFY(store.forget(id, {}));
        QCOMPARE(store.find(id, MayAsk::No, {}).error().code, Code::NotFound);

        session.endKeyring();
        session.startKeyring(false);
        QCOMPARE(store.access({}), Access::Locked);
        QCOMPARE(store.find(other, MayAsk::No, {}).error().code, Code::CannotRead);
        QVERIFY(store.find(other, MayAsk::No, {}).error().what.find("locked") != std::string::npos);
        QVERIFY(!store.keep({id, "Spillway: key for x", "word"}, MayAsk::No, {}));
        QVERIFY(!store.forget(other, {}));

        session.endKeyring();
        session.startKeyring(true);
        QCOMPARE(store.find(other, MayAsk::No, {}).value(), std::string("another"));
        session.signalKeyring("-STOP");
        QElapsedTimer timer;
        timer.start();
        std::stop_source stop;
        {
            const std::jthread stopper([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                stop.request_stop();
            });
            QVERIFY(!store.find(other, MayAsk::Yes, stop.get_token()));
        }
        QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(!store.find(other, MayAsk::Yes, {}));
        QVERIFY2(timer.elapsed() < 10000, qPrintable(QString::number(timer.elapsed())));

        session.signalKeyring("-CONT");
        QTRY_COMPARE(store.find(other, MayAsk::No, {}).value_or(""), std::string("another"));
        session.endBus();
        QCOMPARE(store.access({}), Access::None);
        QTest::qWait(200);  // and this process has not ended with it
        QVERIFY(!store.find(other, MayAsk::Yes, {}));
    }
};

SPILLWAY_TEST(QCoreApplication, TestSecretStore)
#include "tst_secret_store.moc"
