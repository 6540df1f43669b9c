// Tests that the local server has no socket while it is off, listens on 127.0.0.1 alone while it is on, and says in one
// sentence what goes wrong.
#include "app/serving/server_controller.h"
#include "tests/app/server/client.h"
#include "tests/support/fake_engine.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QFileInfo>
#include <QNetworkInterface>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QtTest>

using server_test::Client;

namespace {

constexpr int kPatience_ms = 30'000;

/// Sockets of this process that listen for TCP, of either version.
int listeningSockets()
{
    QSet<QString> own;
    for (const QFileInfo& entry : QDir(QStringLiteral("/proc/self/fd")).entryInfoList(QDir::System | QDir::Files))
        if (const QString target = entry.symLinkTarget(); target.contains(QLatin1String("socket:[")))
            own.insert(target.section('[', 1).section(']', 0, 0));
    int listening = 0;
    for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
        QFile file(QString::fromLatin1(table));
        if (!file.open(QFile::ReadOnly))
            continue;
        for (const QByteArray& line : file.readAll().split('\n')) {
            const QByteArrayList columns = line.simplified().split(' ');
            if (columns.size() > 9 && columns[3] == "0A" && own.contains(QString::fromLatin1(columns[9])))
                ++listening;
        }
    }
    return listening;
}

}  // namespace

class TestServerController : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        folder = std::make_unique<QTemporaryDir>();
        script = std::make_shared<FakeScript>();
        shared = std::make_unique<server::SharedEngine>(std::make_unique<FakeEngine>(script));
        window = shared->owner();
        port = std::make_unique<Setting>(QStringLiteral("port"), Setting::Number{freePort(), 1024, 65535}, nullptr);
        asksKey = std::make_unique<Setting>(QStringLiteral("key"), Setting::Number{1, 0, 1}, nullptr);
        make();
    }
    void cleanup()
    {
        controller.reset();
        window.reset();
        shared.reset();
        folder.reset();
    }

    void offIsNothing()
    {
        const int before = listeningSockets();
        QCOMPARE(controller->state(), ServerController::Off);
        QVERIFY(controller->key().isEmpty());
        QVERIFY(!QFile::exists(keyFile()));
        QCOMPARE(controller->address(), QString("http://127.0.0.1:%1/v1").arg(port->value()));
        switchOn();
        QCOMPARE(controller->host(), QString("127.0.0.1:%1").arg(port->value()));
#ifdef Q_OS_LINUX
        QCOMPARE(listeningSockets(), before + 1);
#endif
        for (const QHostAddress& address : QNetworkInterface::allAddresses()) {
            QTcpSocket elsewhere;
            elsewhere.connectToHost(address, quint16(port->value()));
            QCOMPARE(elsewhere.waitForConnected(2000), address == QHostAddress(QHostAddress::LocalHost));
        }
        switchOff();
        QCOMPARE(listeningSockets(), before);
        QCOMPARE(status("/health"), 0);
    }

    void theKeyIsTheUsersAlone()
    {
        switchOn();
        const QString key = controller->key();
        QVERIFY(key.size() >= 40);
        QFile file(keyFile());
        QVERIFY(file.open(QFile::ReadOnly));
        QCOMPARE(QString::fromLatin1(file.readAll()).trimmed(), key);
        const auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther;
        QVERIFY(!(file.permissions() & others));
        QCOMPARE(status("/v1/models"), 401);
        QCOMPARE(status("/v1/models", key + 'x'), 401);
        QCOMPARE(status("/v1/models", key), 200);

        controller->makeKey();
        QVERIFY(controller->key() != key);
        QTRY_COMPARE_WITH_TIMEOUT(controller->state(), ServerController::On, kPatience_ms);
        QCOMPARE(status("/v1/models", key), 401);
        QCOMPARE(status("/v1/models", controller->key()), 200);

        const QString second = controller->key();
        make();
        QCOMPARE(controller->key(), second);
        QCOMPARE(controller->state(), ServerController::Off);  // in each run anew
        asksKey->setValue(0);
        switchOn();
        QCOMPARE(status("/v1/models"), 200);
        asksKey->setValue(1);
        QTRY_COMPARE_WITH_TIMEOUT(controller->state(), ServerController::On, kPatience_ms);
        QCOMPARE(status("/v1/models"), 401);
    }

    void whatIsNoKeyIsKeptUntilANewOneIsMade_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("two words") << QByteArray("two words");
        QTest::newRow("a line end within") << QByteArray("a\r\nX-Header: b");
        QTest::newRow("no text") << QByteArray("\xff\xfe\x00\x01", 4);
        QTest::newRow("huge") << QByteArray(1'000'000, 'x');
    }
    void whatIsNoKeyIsKeptUntilANewOneIsMade()
    {
        QFETCH(QByteArray, bytes);
        QFile file(keyFile());
        QVERIFY(file.open(QFile::WriteOnly) && file.write(bytes) == bytes.size());
        file.close();
        make();
        QVERIFY(controller->key().isEmpty() && controller->trouble().isEmpty());
        controller->setOn(true);
        QVERIFY(!controller->on() && controller->keyUseless());
        QCOMPARE(controller->state(), ServerController::Off);
        QVERIFY2(controller->trouble().contains(keyFile()), qPrintable(controller->trouble()));
        QVERIFY(file.open(QFile::ReadOnly));
        QCOMPARE(file.readAll(), bytes);
        file.close();
        controller->makeKey();
        QVERIFY(controller->trouble().isEmpty() && !controller->keyUseless());
        switchOn();
        QVERIFY(controller->key().startsWith("sk-"));
        QCOMPARE(status("/v1/models", controller->key()), 200);
    }

    void aFileThatWasMendedIsTaken()
    {
        QFile file(keyFile());
        QVERIFY(file.open(QFile::WriteOnly) && file.write("two words") > 0);
        file.close();
        make();
        controller->setOn(true);
        QVERIFY(!controller->on());
        QVERIFY(file.open(QFile::WriteOnly) && file.write("one-word") > 0);
        file.close();
        switchOn();
        QCOMPARE(controller->key(), QString("one-word"));
        QVERIFY(controller->trouble().isEmpty() && !controller->keyUseless());
    }

    void aKeyOfOnesOwnIsTakenAndClosedToOthers()
    {
        QFile file(keyFile());
        QVERIFY(file.open(QFile::WriteOnly) && file.write("my-own-key\n") > 0);
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ReadGroup | QFile::ReadOther);
        file.close();
        make();
        QCOMPARE(controller->key(), QString("my-own-key"));
        QVERIFY(!(QFile::permissions(keyFile()) & (QFile::ReadGroup | QFile::ReadOther)));
    }

    void aPortThatIsTakenIsOneSentence()
    {
        QTcpServer squatter;
        QVERIFY(squatter.listen(QHostAddress::LocalHost));
        port->setValue(squatter.serverPort());
        controller->setOn(true);
        QTRY_VERIFY_WITH_TIMEOUT(!controller->trouble().isEmpty(), kPatience_ms);
        QTRY_COMPARE_WITH_TIMEOUT(controller->state(), ServerController::Off, kPatience_ms);
        QVERIFY(!controller->on());
        QVERIFY2(controller->trouble().contains(QString::number(squatter.serverPort())),
                 qPrintable(controller->trouble()));
        QVERIFY(controller->trouble().endsWith('.'));
        port->setValue(freePort());
        switchOn();
        QVERIFY(controller->trouble().isEmpty());
    }

    void aKeyThatCannotBeKeptHoldsForThisRun()
    {
        QVERIFY(QDir().mkpath(keyFile()));  // a folder in its place
        make();
        controller->setOn(true);
        QVERIFY(!controller->on() && controller->keyUseless());
        controller->makeKey();
        QVERIFY(!controller->trouble().isEmpty() && !controller->keyUseless());
        switchOn();
        QCOMPARE(status("/v1/models", controller->key()), 200);
    }

    void anotherPortMovesIt()
    {
        switchOn();
        const int before = port->value();
        port->setValue(freePort());
        QTRY_COMPARE_WITH_TIMEOUT(controller->host(), QString("127.0.0.1:%1").arg(port->value()), kPatience_ms);
        QTRY_COMPARE_WITH_TIMEOUT(controller->state(), ServerController::On, kPatience_ms);
        QCOMPARE(status("/health"), 200);
        QTcpSocket late;
        late.connectToHost("127.0.0.1", quint16(before));
        QVERIFY(!late.waitForConnected(2000));
    }

    void whoeverPlaysWithTheSwitch()
    {
        for (int i = 0; i < 30; ++i) {
            controller->setOn(i % 3 != 0);
            if (i % 4 == 0)
                port->setValue(freePort());
            QTest::qWait(i % 5 * 7);
        }
        controller->setOn(true);
        QTRY_COMPARE_WITH_TIMEOUT(controller->state(), ServerController::On, kPatience_ms);
        QCOMPARE(status("/v1/models", controller->key()), 200);
        controller->setOn(false);
        controller->setOn(true);
        controller->setOn(false);
        QTRY_COMPARE_WITH_TIMEOUT(controller->state(), ServerController::Off, kPatience_ms);
        QVERIFY(!controller->on());
        QCOMPARE(status("/health"), 0);
        controller->setOn(true);  // and goes with it on
    }

    void whoAsksIsShown()
    {
        const QAbstractItemModelTester tester(controller->requests(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        switchOn();
        {
            Client client(port->value());
            QCOMPARE(client.ask("GET", "/v1/models", {}, header(controller->key())).status, 200);
            QTRY_COMPARE_WITH_TIMEOUT(controller->programs()->rowCount(), 1, kPatience_ms);
            QCOMPARE(controller->programs()->index(0).data(ProgramModel::ClientRole).toString(),
                     QString("127.0.0.1:%1").arg(client.socket().localPort()));
            QTRY_COMPARE_WITH_TIMEOUT(controller->requests()->rowCount(), 1, kPatience_ms);
        }
        QTRY_COMPARE_WITH_TIMEOUT(controller->programs()->rowCount(), 0, kPatience_ms);
        const QModelIndex row = controller->requests()->index(0, 0);
        QCOMPARE(row.data(RequestModel::RouteRole).toString(), QString("GET /v1/models"));
        QCOMPARE(row.data(RequestModel::StatusRole).toInt(), 200);
        const int most = int(server::RequestLog::kMost);
        for (int i = 0; i < most + 3; ++i)
            QCOMPARE(status("/%E2%80%AEnothing"), 401);
        QTRY_COMPARE_WITH_TIMEOUT(controller->requests()->rowCount(), most, kPatience_ms);
        QTRY_COMPARE_WITH_TIMEOUT(controller->requests()->index(most - 1, 0).data(RequestModel::StatusRole).toInt(),
                                  401, kPatience_ms);
    }

    void whatIsOpenHasAName()
    {
        controller->onModel("/models/one-00001-of-00002.gguf");
        QCOMPARE(controller->model(), QString("one"));
        controller->onModel("http://127.0.0.1:8000/#org%2Fmodel");
        QVERIFY(controller->model().isEmpty() && controller->elsewhere());
        controller->onModel({});
        QVERIFY(controller->model().isEmpty() && !controller->elsewhere());
    }

private:
    QString keyFile() const
    {
        return folder->filePath("server-key");
    }
    void make()
    {
        controller.reset();
        controller = std::make_unique<ServerController>(*shared, *port, *asksKey, keyFile());
    }
    static int freePort()
    {
        QTcpServer probe;
        probe.listen(QHostAddress::LocalHost);
        return probe.serverPort();
    }
    void switchOn()
    {
        controller->setOn(true);
        QTRY_COMPARE_WITH_TIMEOUT(controller->state(), ServerController::On, kPatience_ms);
    }
    void switchOff()
    {
        controller->setOn(false);
        QTRY_COMPARE_WITH_TIMEOUT(controller->state(), ServerController::Off, kPatience_ms);
    }
    static QByteArray header(const QString& key)
    {
        return key.isEmpty() ? QByteArray() : "Authorization: Bearer " + key.toUtf8() + "\r\n";
    }
    /// 0: nobody answers.
    int status(const QByteArray& path, const QString& key = {}) const
    {
        Client client(port->value());
        return client.socket().state() == QAbstractSocket::ConnectedState
                   ? client.ask("GET", path, {}, header(key)).status
                   : 0;
    }

    std::unique_ptr<QTemporaryDir> folder;
    std::shared_ptr<FakeScript> script;
    std::unique_ptr<server::SharedEngine> shared;
    std::unique_ptr<engine::Engine> window;
    std::unique_ptr<Setting> port, asksKey;
    std::unique_ptr<ServerController> controller;
};

SPILLWAY_TEST(QCoreApplication, TestServerController)
#include "tst_server_controller.moc"
