// Tests that the server lets in no request with a wrong host, a foreign origin or without the key.
#include "app/server/door.h"
#include "tests/support/test_program.h"

#include <QtTest>

using server::Door;
using server::HttpRequest;
using server::Refusal;

namespace {

HttpRequest request_with(const std::vector<server::HttpHeader>& headers)
{
    HttpRequest request;
    request.method = "POST";
    request.path = "/v1/chat/completions";
    request.headers = headers;
    return request;
}

}  // namespace

class TestDoor : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void hostIsCheckedAgainstRebinding_data()
    {
        QTest::addColumn<QString>("host");
        QTest::addColumn<bool>("known");
        for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]",
                                 "a.localhost:1", "192.168.1.5:8080", "my.box", "MY.BOX:80",
                                 "host.docker.internal:8080", "gateway.docker.internal", "host.containers.internal"})
            QTest::newRow(host) << host << true;
        for (const char* host : {"evil.example",
                                 "localhost.evil.example",
                                 "127.0.0.1.evil.example",
                                 "evil.example:8080",
                                 "notlocalhost",
                                 "",
                                 ":8080",
                                 "localhost:",
                                 "localhost:80:90",
                                 "localhost:8x",
                                 "127.0.0.1@evil.example",
                                 "[::1].evil.example",
                                 "[evil]",
                                 "127.0.0",
                                 "1.2.3.4.5",
                                 "box",
                                 "other.my.box",
                                 "docker.internal",
                                 "evil.host.docker.internal",
                                 "host.docker.internal.evil.example"})
            QTest::newRow(qPrintable(QString("not %1").arg(host))) << host << false;
    }

    void hostIsCheckedAgainstRebinding()
    {
        QFETCH(QString, host);
        QFETCH(bool, known);
        const Door door({{}, {"My.Box"}, {}});
        const auto refusal = door.refusal(request_with({{"host", host.toStdString()}}));
        QCOMPARE(!refusal, known);
        if (refusal)
            QVERIFY(refusal->kind == Refusal::Kind::Forbidden);
    }

    void pagesOfOtherPlacesMayNotAsk_data()
    {
        QTest::addColumn<QString>("origin");
        QTest::addColumn<bool>("known");
        for (const char* origin : {"http://localhost", "http://localhost:3000", "https://127.0.0.1:1", "http://[::1]:5",
                                   "https://chat.example", "HTTPS://CHAT.EXAMPLE", "app://obsidian.md",
                                   "tauri://localhost", "vscode-webview://0d1a", "vscode-file://vscode-app"})
            QTest::newRow(origin) << origin << true;
        for (const char* origin :
             {"null", "https://evil.example", "http://localhost.evil.example", "http://chat.example",
              "https://chat.example:444", "https://chat.example.evil", "file://", "app:", "https://app://x",
              "ftp://localhost", "http://192.168.1.5", "http://localhost/x", ""})
            QTest::newRow(qPrintable(QString("not %1").arg(origin))) << origin << false;
    }

    void pagesOfOtherPlacesMayNotAsk()
    {
        QFETCH(QString, origin);
        QFETCH(bool, known);
        const Door door({{}, {}, {"https://chat.example"}});
        const auto request = request_with({{"host", "localhost"}, {"origin", origin.toStdString()}});
        QCOMPARE(!door.refusal(request), known);
        QCOMPARE(!door.headers_for(request).empty(), known);
    }

    /// Who runs a server in the window has no options to give.
    void whatCanBeDoneIsSaidToWhoCanDoIt()
    {
        for (const bool by_command : {false, true}) {
            const Door door({{}, {}, {}, by_command});
            for (const auto& request : {request_with({{"host", "evil.example"}}),
                                        request_with({{"host", "localhost"}, {"origin", "https://evil.example"}})}) {
                const auto refusal = door.refusal(request);
                QVERIFY(refusal && !refusal->sentence.empty());
                QCOMPARE(refusal->sentence.find("--allow-") != std::string::npos, by_command);
            }
        }
    }

    void keyIsAskedFor_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("value");
        QTest::addColumn<bool>("known");
        QTest::newRow("bearer") << "authorization"
                                << "Bearer first-key" << true;
        QTest::newRow("bearer in small letters") << "authorization"
                                                 << "bearer second-key" << true;
        QTest::newRow("x-api-key") << "x-api-key"
                                   << "second-key" << true;
        QTest::newRow("none") << "accept"
                              << "*/*" << false;
        QTest::newRow("wrong") << "authorization"
                               << "Bearer first-kez" << false;
        QTest::newRow("a beginning") << "authorization"
                                     << "Bearer first" << false;
        QTest::newRow("more than the key") << "authorization"
                                           << "Bearer first-key2" << false;
        QTest::newRow("empty bearer") << "authorization"
                                      << "Bearer " << false;
        QTest::newRow("empty") << "x-api-key"
                               << "" << false;
        QTest::newRow("basic") << "authorization"
                               << "Basic first-key" << false;
    }

    void keyIsAskedFor()
    {
        QFETCH(QString, name);
        QFETCH(QString, value);
        QFETCH(bool, known);
        const Door door({{"first-key", "second-key"}, {}, {}});
        auto request = request_with({{"host", "localhost"}, {name.toStdString(), value.toStdString()}});
        const auto refusal = door.refusal(request);
        QCOMPARE(!refusal, known);
        if (refusal)
            QVERIFY(refusal->kind == Refusal::Kind::NoKey);
        request.path = "/health";
        QVERIFY(!door.refusal(request));
        request.path = "/metrics";
        QCOMPARE(!door.refusal(request), known);
    }

    void browsersAskWithoutAKeyFirst()
    {
        const Door door({{"key"}, {}, {}});
        auto request = request_with({{"host", "localhost"},
                                     {"origin", "http://localhost:3000"},
                                     {"access-control-request-headers", "authorization, x-other"}});
        request.method = "OPTIONS";
        QVERIFY(!door.refusal(request));
        const auto headers = door.headers_for(request);
        QVERIFY(std::ranges::any_of(headers, [](const auto& h) { return h.value == "authorization, x-other"; }));
        request.headers[1].value = "https://evil.example";
        QVERIFY(door.refusal(request));
    }
};

SPILLWAY_TEST(QCoreApplication, TestDoor)
#include "tst_door.moc"
