// Tests that HTTP requests are read however they are cut into pieces, and that malformed ones are refused.
#include "app/server/http_reader.h"
#include "tests/support/test_program.h"

#include <QtTest>

using server::HttpLimits;
using server::HttpReader;

namespace {

constexpr std::size_t kTinyBody = 100;

HttpLimits tiny_limits()
{
    return {400, 5, kTinyBody};
}

/// Feeds the reader in pieces of this many bytes, as a socket would; returns what was left over.
std::string feed(HttpReader& reader, const std::string& text, std::size_t piece)
{
    std::string unread;
    for (std::size_t at = 0; at < text.size(); at += piece) {
        unread += text.substr(at, piece);
        for (std::size_t taken = 1; taken > 0 && !unread.empty();) {
            taken = reader.feed(unread);
            unread.erase(0, taken);
        }
    }
    return unread;
}

}  // namespace

class TestHttpReader : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsARequestHoweverItIsCut()
    {
        const std::string text = "POST /v1/x?a=b HTTP/1.1\r\nHost: localhost:1\r\nX-Api-Key:  secret \r\n"
                                 "Content-Length: 5\r\n\r\nhelloNEXT";
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            HttpReader reader(tiny_limits());
            QCOMPARE(feed(reader, text, piece), std::string("NEXT"));
            QVERIFY(reader.state() == HttpReader::State::Whole);
            QCOMPARE(reader.request().method, std::string("POST"));
            QCOMPARE(reader.request().path, std::string("/v1/x"));
            QCOMPARE(reader.request().query, std::string("a=b"));
            QCOMPARE(*reader.request().header("x-api-key"), std::string("secret"));
            QCOMPARE(reader.request().body, std::string("hello"));
            QVERIFY(reader.request().keeps_alive);
        }
    }

    /// The line that ends the head does not count, even where a piece holds a part of it.
    void takesTheLargestHeadHoweverItIsCut()
    {
        const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\nX: ", end = "\r\n\r\n";
        for (const int beyond : {0, 1}) {
            const std::string text = begin + std::string(tiny_limits().head_bytes - begin.size() + beyond, 'y') + end;
            for (const std::size_t piece : {std::size_t(1), std::size_t(3), text.size() - 1, text.size()}) {
                HttpReader reader(tiny_limits());
                feed(reader, text, piece);
                QVERIFY(reader.state() == (beyond ? HttpReader::State::Refused : HttpReader::State::Whole));
            }
        }
    }

    void readsChunksHoweverTheyAreCut()
    {
        const std::string text = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 "3;name=x\r\nabc\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nNEXT";
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            HttpReader reader(tiny_limits());
            QCOMPARE(feed(reader, text, piece), std::string("NEXT"));
            QVERIFY(reader.state() == HttpReader::State::Whole);
            QCOMPARE(reader.request().body, std::string("abc0123456789"));
        }
    }

    void refusesWhatIsMalformed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("status");
        const auto row = [](const char* name, const QByteArray& text, int status) {
            QTest::newRow(name) << text << status;
        };
        const QByteArray get = "GET / HTTP/1.1\r\nHost: a\r\n", post = "POST / HTTP/1.1\r\nHost: a\r\n";
        row("no HTTP", "hello\r\n\r\n", 400);
        row("a TLS greeting", QByteArray("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), 400);
        row("an empty line first", "\r\n\r\n", 400);
        row("HTTP/2", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505);
        row("a whole address", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400);
        row("a method with a bracket", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400);
        row("a space in the path", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 505);
        row("no Host", "GET / HTTP/1.1\r\n\r\n", 400);
        row("two Hosts", get + "Host: b\r\n\r\n", 400);
        row("a space before the colon", get + "X : y\r\n\r\n", 400);
        row("a folded header", get + "X: y\r\n z\r\n\r\n", 400);
        row("no colon", get + "X\r\n\r\n", 400);
        row("a NUL", get + QByteArray("X: a\0b\r\n\r\n", 10), 400);
        row("a lone line feed", get + "X: a\nEvil: b\r\n\r\n", 400);
        row("too many headers", get + QByteArray("X: y\r\n").repeated(6) + "\r\n", 431);
        row("a long head", get + "X: " + QByteArray(500, 'y') + "\r\n\r\n", 431);
        row("a head without end", get + "X: " + QByteArray(5000, 'y'), 431);
        row("a length that is none", post + "Content-Length: 5x\r\n\r\n", 400);
        row("a negative length", post + "Content-Length: -5\r\n\r\n", 400);
        row("an empty length", post + "Content-Length: \r\n\r\n", 400);
        row("a huge length", post + "Content-Length: 99999999999999999999999\r\n\r\n", 413);
        row("a length above the limit", post + "Content-Length: 101\r\n\r\n", 413);
        row("two lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400);
        row("length and chunks", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
        row("another encoding", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501);
        row("chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 501);
        row("a compressed body", post + "Content-Length: 1\r\nContent-Encoding: gzip\r\n\r\n", 415);
        row("another expectation", post + "Content-Length: 1\r\nExpect: more\r\n\r\n", 417);
        const QByteArray chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
        row("a chunk without size", chunked + "\r\n", 400);
        row("a chunk of no number", chunked + "xyz\r\n", 400);
        row("a negative chunk", chunked + "-1\r\n", 400);
        row("a chunk longer than it says", chunked + "3\r\nabcdef\r\n", 400);
        row("a huge chunk", chunked + "ffffffffffffffff\r\n", 413);
        row("a chunk beyond all numbers", chunked + "fffffffffffffffff\r\n", 413);
        row("chunks above the limit", chunked + "50\r\n" + QByteArray(80, 'a') + "\r\n50\r\n", 413);
        row("an endless chunk line", chunked + "1;" + QByteArray(1000, 'a'), 400);
        row("endless trailers", chunked + "0\r\n" + QByteArray("X: y\r\n").repeated(1000), 431);
    }

    void refusesWhatIsMalformed()
    {
        QFETCH(QByteArray, text);
        QFETCH(int, status);
        for (const std::size_t piece : {std::size_t(1), std::size_t(7), std::size_t(text.size())}) {
            HttpReader reader(tiny_limits());
            feed(reader, text.toStdString(), piece);
            QVERIFY(reader.state() == HttpReader::State::Refused);
            QCOMPARE(reader.refusal().status, status);
            QVERIFY(!reader.refusal().sentence.empty());
            QVERIFY(reader.request().body.size() <= kTinyBody);
        }
    }

    void knowsWhetherTheConnectionGoesOn()
    {
        const auto keeps_alive = [](const std::string& text) {
            HttpReader reader(tiny_limits());
            feed(reader, text, text.size());
            return reader.request().keeps_alive;
        };
        QVERIFY(keeps_alive("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
        QVERIFY(!keeps_alive("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"));
        QVERIFY(!keeps_alive("GET / HTTP/1.0\r\n\r\n"));
        QVERIFY(keeps_alive("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestHttpReader)
#include "tst_http_reader.moc"
