// Tests that a fetched file is right or is not there at all, from a server that does everything that goes wrong with
// one.
#include "app/net/fetch_file.h"
#include "app/net/part_state.h"
#include "app/net/sha256.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/net/web_server.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <fstream>
#include <iterator>
#include <random>

#ifdef __linux__
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

static std::atomic<int> lock_error = 0;  // 0: locks are what they are

/// In the place of the C library's.
extern "C" int flock(int file, int operation)
{
    if (lock_error != 0) {
        errno = lock_error;
        return -1;
    }
    return int(::syscall(SYS_flock, file, operation));
}
#endif

using support::WebAnswer;
using support::WebRequest;
using support::WebServer;
using Kind = net::Failure::Kind;

namespace {

std::string randomBytes(std::size_t count, unsigned seed)
{
    std::mt19937 random(seed);
    std::string bytes(count, '\0');
    for (char& byte : bytes)
        byte = char(random());
    return bytes;
}

std::string hashOf(const std::string& bytes)
{
    net::Sha256 sha256;
    sha256.add(std::as_bytes(std::span(bytes)));
    return sha256.hex();
}

/// Nothing waits long, and the file comes in many ranges.
net::FetchLimits quick()
{
    net::FetchLimits limits;
    limits.range_bytes = 64 << 10;
    limits.tries = 3;
    limits.first_pause = std::chrono::milliseconds(5);
    limits.between_states = std::chrono::milliseconds(1);
    return limits;
}

/// A busy machine makes a server look stalled; where that is not what is tested, there is time.
net::HttpLimits impatient(std::chrono::milliseconds stall = std::chrono::seconds(20))
{
    net::HttpLimits limits;
    limits.stall = stall;
    return limits;
}

}  // namespace

class TestFetchFile : public QObject
{
    Q_OBJECT

    const std::string m_file = randomBytes(1'000'000, 7);
    const std::string m_hash = hashOf(m_file);
    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_target;

    WebServer::Handler well() const
    {
        return [this](const WebRequest& request) { return support::file_answer(request, m_file, "\"one\""); };
    }
    net::Result<net::Fetched> fetch(const WebServer& server, const std::string& sha256 = {},
                                    const net::FetchLimits& limits = quick(), const net::HttpLimits& http = impatient())
    {
        net::HttpClient client(http);
        return net::fetch_file(client, {server.url("/a.gguf"), {}, sha256, {}, m_target}, limits, {}, {});
    }
    std::string fetched() const
    {
        std::ifstream in(m_target, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    bool nothingElse() const
    {
        return !std::filesystem::exists(net::part_path(m_target)) &&
               !std::filesystem::exists(net::state_path(m_target));
    }

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "SSL_CERT_FILE"})
            qunsetenv(name);
    }
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_target = m_folder->filePath("a.gguf").toStdString();
    }

    void comesInRanges()
    {
        WebServer server(well());
        const auto file = fetch(server, m_hash);
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(fetched() == m_file);
        QVERIFY(file->checked && file->sha256 == m_hash && file->kept_bytes == 0);
        QVERIFY(nothingElse());
        QCOMPARE(server.requests().size(), std::size_t(1 + (1'000'000 + 65535) / 65536));
        for (const WebRequest& request : server.requests())
            if (request.header("range") != "bytes=0-0")
                QCOMPARE(request.header("if-range"), std::string("\"one\""));
    }

    void comesFromAServerWithoutRanges()
    {
        std::atomic<int> times = 0;
        WebServer server([&](const WebRequest&) {
            WebAnswer answer;
            answer.body = m_file;
            if (++times == 2) {
                answer.end = WebAnswer::End::Close;
                answer.sent_bytes = 300'000;
            }
            return answer;
        });
        const auto file = fetch(server, m_hash);
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(fetched() == m_file);
    }

    // What broke off: some of it is there, and the next call asks for the rest alone.
    void goesOnAfterAStop()
    {
        WebServer server(well());
        server.answer_by([this](const WebRequest& request) {
            WebAnswer answer = support::file_answer(request, m_file, "\"one\"");
            answer.pause_ms = 50;  // the whole takes longer than several reports
            return answer;
        });
        std::stop_source stop;
        net::HttpClient client(impatient());
        const auto stopped = net::fetch_file(
            client, {server.url("/a.gguf"), {}, m_hash, {}, m_target}, quick(),
            [&](const net::FetchProgress& progress) {
                if (progress.done_bytes > 300'000)
                    stop.request_stop();
            },
            stop.get_token());
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().kind, Kind::Cancelled);
        QVERIFY(!std::filesystem::exists(m_target));
        const auto state = net::read_part_state(net::state_path(m_target));
        QVERIFY(state && state->done.total() > 300'000);

        std::atomic<std::int64_t> asked_for = 0;  // bytes; what was under way may still be sent, and does not count
        server.answer_by([&, answer = well()](const WebRequest& request) {
            WebAnswer rest = answer(request);
            asked_for += std::int64_t(rest.body.size());
            return rest;
        });
        const auto file = fetch(server, m_hash);
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(fetched() == m_file);
        QCOMPARE(file->kept_bytes, state->done.total());
        QVERIFY(asked_for <= 1'000'001 - state->done.total());
        QVERIFY(nothingElse());
    }

    void reportsTenTimesASecondHoweverManyPiecesCome()
    {
        WebServer server([this](const WebRequest& request) {
            WebAnswer answer = support::file_answer(request, m_file, "\"one\"");
            answer.piece_bytes = 1 << 10;
            answer.pause_ms = 2;
            return answer;
        });
        net::HttpClient client(impatient());
        int reports = 0;
        std::int64_t last_bytes = 0;
        const auto begun = std::chrono::steady_clock::now();
        const auto file = net::fetch_file(client, {server.url("/a.gguf"), {}, m_hash, {}, m_target}, quick(),
                                          [&](const net::FetchProgress& progress) {
                                              ++reports;
                                              last_bytes = progress.done_bytes;
                                          },
                                          {});
        const auto took = std::chrono::steady_clock::now() - begun;
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY2(reports <= took / std::chrono::milliseconds(100) + 2, qPrintable(QString::number(reports)));
        QCOMPARE(last_bytes, std::int64_t(1'000'000));  // the end is told at once
    }

    // A part of another version, or one that has no version: from the beginning.
    void doesNotMixVersions_data()
    {
        QTest::addColumn<QByteArray>("first");
        QTest::addColumn<QByteArray>("second");
        QTest::newRow("changed") << QByteArray("\"old\"") << QByteArray("\"one\"");
        QTest::newRow("weak, changed") << QByteArray("W/\"old\"") << QByteArray("W/\"one\"");
        QTest::newRow("nobody says") << QByteArray("") << QByteArray("");
    }
    void doesNotMixVersions()
    {
        QFETCH(QByteArray, first);
        QFETCH(QByteArray, second);
        const std::string old = randomBytes(m_file.size(), 8);
        std::atomic<int> times = 0;
        WebServer server([&](const WebRequest& request) {
            WebAnswer answer = support::file_answer(request, old, first.toStdString());
            if (++times > 5)
                answer = {404, {}, {}, WebAnswer::End::Whole, 0, 0};
            return answer;
        });
        QVERIFY(!fetch(server));
        server.answer_by(
            [&](const WebRequest& request) { return support::file_answer(request, m_file, second.toStdString()); });
        const auto file = fetch(server);
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(fetched() == m_file);
        QVERIFY(!file->checked && file->kept_bytes == 0);
    }

    void seesAChangeBetweenTwoRanges_data()
    {
        QTest::addColumn<bool>("honoursIfRange");
        QTest::newRow("by If-Range") << true;
        QTest::newRow("by the answer's ETag") << false;
    }
    void seesAChangeBetweenTwoRanges()
    {
        QFETCH(bool, honoursIfRange);
        const std::string old = randomBytes(m_file.size(), 8);
        std::atomic<int> times = 0;
        WebServer server([&](const WebRequest& request) {
            WebRequest asked = request;
            if (!honoursIfRange)
                asked.headers.erase("if-range");
            return ++times < 8 ? support::file_answer(asked, old, "\"old\"")
                               : support::file_answer(asked, m_file, "\"one\"");
        });
        const auto file = fetch(server);
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(fetched() == m_file);
        QVERIFY(nothingElse());
    }

    // Each of them once: nobody notices. Always: one sentence, and what came is kept for another day.
    void breaksOff_data()
    {
        QTest::addColumn<int>("end");
        QTest::addColumn<int>("status");
        QTest::addColumn<Kind>("kind");
        QTest::newRow("truncated") << int(WebAnswer::End::Close) << 206 << Kind::Interrupted;
        QTest::newRow("reset") << int(WebAnswer::End::Reset) << 206 << Kind::Interrupted;
        QTest::newRow("stalled") << int(WebAnswer::End::Stall) << 206 << Kind::Stalled;
        QTest::newRow("fault of the server") << int(WebAnswer::End::Whole) << 503 << Kind::ServerError;
        QTest::newRow("too many requests") << int(WebAnswer::End::Whole) << 429 << Kind::TooManyRequests;
    }
    void breaksOff()
    {
        QFETCH(int, end);
        QFETCH(int, status);
        QFETCH(Kind, kind);
        std::atomic<bool> always = true;
        std::atomic<int> times = 0;
        const auto badly = [&, this](const WebRequest& request) {
            WebAnswer answer = support::file_answer(request, m_file, "\"one\"");
            const int time = ++times;
            if (time > 4 && (always || time == 5)) {
                answer.end = WebAnswer::End(end);
                answer.sent_bytes = always ? 0 : 1000;  // a byte would be progress, after which it tries again
                if (status != 206)
                    answer = {status, {}, "no", WebAnswer::End::Whole, 0, 0};
            }
            return answer;
        };
        WebServer server(badly);
        net::FetchLimits limits = quick();
        limits.connections = 1;
        limits.tries = 2;
        const auto stall = std::chrono::milliseconds(kind == Kind::Stalled ? 800 : 20'000);
        const auto none = fetch(server, m_hash, limits, impatient(stall));
        QVERIFY(!none);
        QCOMPARE(none.error().kind, kind);
        QVERIFY(!none.error().what.empty());
        QVERIFY(!std::filesystem::exists(m_target));
        QVERIFY(net::read_part_state(net::state_path(m_target))->done.total() >= 3 * 65536);

        always = false;
        times = 0;
        const auto file = fetch(server, m_hash, limits, impatient(stall));
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(file->kept_bytes >= 3 * 65536);
        QVERIFY(fetched() == m_file);
    }

    void saysWhyAServerRefuses_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<Kind>("kind");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("401") << 401 << QByteArray() << Kind::NeedsToken << QByteArray("asks for a token");
        QTest::newRow("401 gated") << 401 << QByteArray("GatedRepo") << Kind::NoAccess << QByteArray("its terms");
        QTest::newRow("401 repository") << 401 << QByteArray("RepoNotFound") << Kind::NeedsToken
                                        << QByteArray("has no such repository, or it is closed to strangers");
        QTest::newRow("403") << 403 << QByteArray() << Kind::NoAccess << QByteArray("refuses access");
        QTest::newRow("403 gated") << 403 << QByteArray("GatedRepo") << Kind::NoAccess << QByteArray("its terms");
        QTest::newRow("404") << 404 << QByteArray("EntryNotFound") << Kind::NotFound << QByteArray("no such file");
        QTest::newRow("404 repository") << 404 << QByteArray("RepoNotFound") << Kind::NotFound
                                        << QByteArray("no such repository");
        QTest::newRow("451") << 451 << QByteArray() << Kind::BadAnswer << QByteArray("status 451");
    }
    void saysWhyAServerRefuses()
    {
        QFETCH(int, status);
        QFETCH(QByteArray, code);
        QFETCH(Kind, kind);
        QFETCH(QByteArray, words);
        WebServer server([&](const WebRequest&) {
            WebAnswer answer{status, {}, "{\"error\": \"because\"}", WebAnswer::End::Whole, 0, 0};
            if (!code.isEmpty())
                answer.headers.emplace_back("X-Error-Code", code.toStdString());
            return answer;
        });
        const auto none = fetch(server, m_hash);
        QVERIFY(!none);
        QCOMPARE(none.error().kind, kind);
        QVERIFY2(none.error().what.find(words.toStdString()) != std::string::npos, none.error().what.c_str());
        QCOMPARE(server.requests().size(), std::size_t(1));  // asking again would not help
        QVERIFY(!std::filesystem::exists(m_target) && nothingElse());
    }

    void waitsAsLongAsItIsAskedTo_data()
    {
        QTest::addColumn<QByteArray>("header");
        QTest::addColumn<QByteArray>("before");  // the seconds
        QTest::newRow("by the usual header") << QByteArray("Retry-After") << QByteArray();
        QTest::newRow("as the hub does") << QByteArray("RateLimit") << QByteArray("\"resolvers\";r=0;t=");
    }
    void waitsAsLongAsItIsAskedTo()
    {
        QFETCH(QByteArray, header);
        QFETCH(QByteArray, before);
        const auto wait = [&](const char* seconds) -> WebAnswer {
            return {429, {{header.toStdString(), (before + seconds).toStdString()}}, {}, WebAnswer::End::Whole, 0, 0};
        };
        std::atomic<int> times = 0;
        std::chrono::steady_clock::time_point asked, next;
        WebServer server([&](const WebRequest& request) -> WebAnswer {
            const int time = ++times;
            if (time == 3) {
                asked = std::chrono::steady_clock::now();
                return wait("1");
            }
            if (time == 4)
                next = std::chrono::steady_clock::now();
            return support::file_answer(request, m_file, "\"one\"");
        });
        net::FetchLimits limits = quick();
        limits.connections = 1;
        limits.tries = 2;
        const auto file = fetch(server, m_hash, limits);
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(next - asked >= std::chrono::seconds(1));

        server.answer_by([&](const WebRequest&) { return wait("4000"); });
        std::filesystem::remove(m_target);
        const auto none = fetch(server, m_hash);  // at once
        QCOMPARE(none.error().kind, Kind::TooManyRequests);
        QVERIFY(none.error().what.find("4000 s") != std::string::npos);
    }

    // Whoever waits hears for how long, second by second, before the first byte and among the others.
    void saysWhenItTriesAgain_data()
    {
        QTest::addColumn<int>("refused");
        QTest::newRow("the first question") << 1;
        QTest::newRow("a range") << 3;
    }
    void saysWhenItTriesAgain()
    {
        QFETCH(int, refused);
        std::atomic<int> times = 0;
        WebServer server([&](const WebRequest& request) -> WebAnswer {
            if (++times == refused)
                return {503, {{"Retry-After", "2"}}, {}, WebAnswer::End::Whole, 0, 0};
            return support::file_answer(request, m_file, "\"one\"");
        });
        net::FetchLimits limits = quick();
        limits.connections = 1;
        net::HttpClient client(impatient());
        std::vector<std::int64_t> said;
        const auto file =
            net::fetch_file(client, {server.url("/file"), {}, m_hash, std::int64_t(m_file.size()), m_target}, limits,
                            [&](const net::FetchProgress& now) {
                                QVERIFY(!now.note.empty() || now.again.count() == 0);
                                if (now.again.count() > 0 && (said.empty() || said.back() != now.again.count()))
                                    said.push_back(now.again.count());
                            },
                            {});
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QCOMPARE(said, (std::vector<std::int64_t>{2, 1}));
    }

    void throwsWrongBytesAway()
    {
        WebServer server([this](const WebRequest& request) {
            std::string other = m_file;
            other[500'000] ^= 1;
            return support::file_answer(request, other, "\"one\"");
        });
        const auto none = fetch(server, m_hash);
        QVERIFY(!none);
        QCOMPARE(none.error().kind, Kind::WrongHash);
        QVERIFY(!std::filesystem::exists(m_target) && nothingElse());
        server.answer_by(well());
        QVERIFY(fetch(server, m_hash));
        QVERIFY(fetched() == m_file);
    }

    // The state is right and the part is not, as after a power cut on a disk that lies: the hash sees it.
    void seesADamagedPart()
    {
        WebServer server(well());
        net::PartState state{1'000'000, m_hash, "\"one\"", {}};
        state.done.add({0, 900'000});
        QVERIFY(net::write_part_state(net::state_path(m_target), state));
        std::ofstream(net::part_path(m_target), std::ios::binary) << randomBytes(1'000'000, 9);
        const auto none = fetch(server, m_hash);
        QVERIFY(!none);
        QCOMPARE(none.error().kind, Kind::WrongHash);
        QVERIFY(fetch(server, m_hash));
        QVERIFY(fetched() == m_file);
    }

    void takesNoNonsenseForAState_data()
    {
        QTest::addColumn<QByteArray>("text");
        const QByteArray hash(m_hash.c_str());
        const QByteArray form =
            "{\"form\":1,\"bytes\":1000000,\"sha256\":\"" + hash + "\",\"validator\":\"v\",\"done\":";
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no JSON") << QByteArray("{\"form\":1");
        QTest::newRow("an array") << QByteArray("[1]");
        QTest::newRow("beyond the end") << form + "[[0,1000001]]}";
        QTest::newRow("backwards") << form + "[[5,3]]}";
        QTest::newRow("negative") << form + "[[-5,3]]}";
        QTest::newRow("no pair") << form + "[[5]]}";
        QTest::newRow("text") << form + "\"all\"}";
    }
    void takesNoNonsenseForAState()
    {
        QFETCH(QByteArray, text);
        std::ofstream(net::state_path(m_target), std::ios::binary) << text.toStdString();
        QVERIFY(!net::read_part_state(net::state_path(m_target)));
    }

    void leavesOtherFilesAlone()
    {
        WebServer server(well());
        std::ofstream(m_target) << "mine";
        const auto none = fetch(server, m_hash);
        QVERIFY(!none);
        QCOMPARE(fetched(), std::string("mine"));
        std::ofstream(m_target, std::ios::binary) << randomBytes(1'000'000, 3);
        QCOMPARE(fetch(server, m_hash).error().kind, Kind::WrongHash);
        std::ofstream(m_target, std::ios::binary) << m_file;
        const std::int64_t before = server.body_bytes();
        const auto there = fetch(server, m_hash);
        QVERIFY(there && there->checked && there->kept_bytes == 1'000'000);
        QVERIFY(server.body_bytes() - before <= 1);
    }

    void asksForRoomFirst()
    {
        WebServer server(well());
        net::FetchLimits limits = quick();
        limits.free_bytes = [](const std::filesystem::path&) { return 1'000'000; };
        const auto none = fetch(server, m_hash, limits);
        QVERIFY(!none);
        QCOMPARE(none.error().kind, Kind::DiskFull);
        QVERIFY(none.error().what.find("0.07 GB") != std::string::npos);
        QCOMPARE(server.requests().size(), std::size_t(1));
    }

    // What is there of another version, or of a fetch that was killed before it could say what it had.
    void anOldPartGivesItsRoom()
    {
        WebServer server(well());
        std::ofstream(net::part_path(m_target), std::ios::binary) << randomBytes(1'000'000, 9);
        net::FetchLimits limits = quick();
        limits.spare_bytes = 0;
        limits.free_bytes = [this](const std::filesystem::path&) {
            std::error_code error;
            const auto part = std::filesystem::file_size(net::part_path(m_target), error);
            return error ? 1'000'000 : 1'000'000 - std::int64_t(part);
        };
        const auto file = fetch(server, m_hash, limits);
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(fetched() == m_file);
        limits.spare_bytes = 1;
        std::filesystem::remove(m_target);
        QCOMPARE(fetch(server, m_hash, limits).error().kind, Kind::DiskFull);
        QVERIFY(nothingElse());
    }

    void isToldWhenTheDiskIsFull()
    {
#ifdef __linux__
        WebServer server(well());
        {
            const FileSizeLimit limit(500'000);
            const auto none = fetch(server, m_hash);
            QVERIFY(!none);
            QCOMPARE(none.error().kind, Kind::CannotWrite);
            QVERIFY(!std::filesystem::exists(m_target));
            QVERIFY(nothingElse());  // what room a part got would be taken for nothing
        }
        QVERIFY(fetch(server, m_hash));
#endif
    }

    void onlyOneFetches()
    {
        WebServer server([this](const WebRequest& request) {
            WebAnswer answer = support::file_answer(request, m_file, "\"one\"");
            answer.pause_ms = 50;  // the whole takes longer than several reports
            return answer;
        });
        std::optional<Kind> second;
        net::HttpClient client(impatient());
        const auto file = net::fetch_file(client, {server.url("/a.gguf"), {}, m_hash, {}, m_target}, quick(),
                                          [&](const net::FetchProgress& progress) {
                                              if (progress.done_bytes < 1'000'000 && !second)
                                                  if (const auto other = fetch(server, m_hash); !other)
                                                      second = other.error().kind;
                                          },
                                          {});
        QVERIFY(file);
        QVERIFY(second == Kind::Busy);
        QVERIFY(fetched() == m_file);
    }

    void fetchesToADiskWithoutLocks()
    {
#ifdef __linux__
        WebServer server(well());
        lock_error = EACCES;  // as SMB may say that somebody else has the lock
        const auto refused = fetch(server, m_hash);
        lock_error = ENOLCK;
        const auto file = fetch(server, m_hash);
        lock_error = 0;
        QVERIFY(!refused && refused.error().kind == Kind::Busy);
        QVERIFY2(file, file ? "" : file.error().what.c_str());
        QVERIFY(fetched() == m_file);
#endif
    }
};

SPILLWAY_TEST(QCoreApplication, TestFetchFile)
#include "tst_fetch_file.moc"
