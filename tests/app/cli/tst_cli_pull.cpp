// Tests that `spillway-cli pull` fetches models from a hub, another host and a registry, all of which are stand-ins on
// this machine.
#include "app/net/sha256.h"
#include "tests/app/cli/cli_run.h"
#include "tests/support/net/web_server.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QDirIterator>
#include <QJsonArray>
#include <QTemporaryDir>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

using support::WebAnswer;
using support::WebRequest;
using support::WebServer;
using test_support::Outcome;
using test_support::run_cli;

namespace {

QByteArray read_bytes(const QString& path)
{
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

const std::string kCommit(40, 'c');

}  // namespace

class TestCliPull : public QObject
{
    Q_OBJECT

    const std::string m_model = read_bytes(test_support::model("llama")).toStdString();
    std::string m_hash;
    std::unique_ptr<WebServer> m_store, m_hub;
    std::unique_ptr<QTemporaryDir> m_folder;
    int m_pause_ms = 0;

    std::string entry(const std::string& path) const
    {
        const std::string size = std::to_string(m_model.size());
        return "{\"type\":\"file\",\"path\":\"" + path + "\",\"size\":" + size + ",\"oid\":\"" + std::string(40, 'a') +
               "\",\"lfs\":{\"oid\":\"" + m_hash + "\",\"size\":" + size + ",\"pointerSize\":130}}";
    }
    WebAnswer hub(const WebRequest& request) const
    {
        const auto json = [](std::string text) { return WebAnswer{200, {}, std::move(text)}; };
        const std::string& t = request.target;
        if (t == "/api/models/me/tiny/refs")
            return json("{\"branches\":[{\"name\":\"main\",\"targetCommit\":\"" + kCommit + "\"}],\"tags\":[]}");
        if (t == "/api/models/me/tiny/tree/" + kCommit + "?recursive=true") {
            WebAnswer first = json('[' + entry("tiny-Q4_K_M.gguf") +
                                   ",{\"type\":\"file\",\"path\":\"../../etc/x.gguf\",\"size\":5}]");
            first.headers.emplace_back("Link", "<" + m_hub->url("/more") + ">; rel=\"next\"");
            return first;
        }
        if (t == "/more")
            return json('[' + entry("sub/tiny-F16.gguf") + ',' + entry("mmproj-F16.gguf") +
                        ",{\"type\":\"directory\",\"path\":\"sub\"}]");
        if (t.starts_with("/me/tiny/resolve/" + kCommit + '/'))
            return {302, {{"Location", m_store->url("/signed" + t)}}, {}};
        if (t.starts_with("/api/models?search="))
            return json("[{\"id\":\"me/tiny\",\"downloads\":12,\"likes\":3,\"gated\":\"manual\"}]");
        if (t.starts_with("/api/models/you/closed/"))
            return {401, {{"X-Error-Code", "GatedRepo"}}, {}};
        if (t == "/v2/library/tiny/manifests/1b")
            return json("{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:" +
                        m_hash + "\",\"size\":" + std::to_string(m_model.size()) + "},{\"mediaType\":\"x/license\"}]}");
        if (t == "/v2/library/tuned/manifests/1b")
            return json("{\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:" +
                        m_hash + "\",\"size\":" + std::to_string(m_model.size()) +
                        "},{\"mediaType\":\"application/vnd.ollama.image.adapter\",\"digest\":\"sha256:" + m_hash +
                        "\",\"size\":5}]}");
        if (t == "/v2/library/odd/manifests/latest")
            return json("{\"layers\":[5,{\"mediaType\":7,\"digest\":[],\"size\":\"big\"},null]}");
        if (t.starts_with("/v2/library/") && t.ends_with("/blobs/sha256:" + m_hash))
            return support::file_answer(request, m_model, "\"o\"");
        return {404, {{"X-Error-Code", "RepoNotFound"}}, {}};
    }

private Q_SLOTS:
    void init()
    {
        net::Sha256 sha256;
        sha256.add(std::as_bytes(std::span(m_model)));
        m_hash = sha256.hex();
        m_pause_ms = 0;
        m_folder = std::make_unique<QTemporaryDir>();
        m_store = std::make_unique<WebServer>([this](const WebRequest& request) {
            WebAnswer answer = support::file_answer(request, m_model, "\"" + m_hash + "\"");
            answer.pause_ms = m_pause_ms;
            return answer;
        });
        m_hub = std::make_unique<WebServer>([this](const WebRequest& request) { return hub(request); });
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "HF_HUB_CACHE"})
            qunsetenv(name);
        qputenv("HF_ENDPOINT", m_hub->url().c_str());
        qputenv("SPILLWAY_OLLAMA_REGISTRY", m_hub->url().c_str());
        qputenv("HF_HOME", m_folder->filePath("hf").toUtf8());
        qputenv("HF_TOKEN", "secret");
    }
    void cleanup()
    {
        m_hub.reset();
        m_store.reset();
    }

    void saysWhatItWouldFetch()
    {
        const Outcome dry = run_cli({"pull", "hf.co/me/tiny", "--dry-run", "--json"});
        QVERIFY2(dry.code == 0, dry.err);
        const auto json = dry.json();
        QCOMPARE(json["quantization"].toString(), "Q4_K_M");
        QVERIFY(!json["reason"].toString().isEmpty());
        QCOMPARE(json["architecture"].toString(), "llama");
        QCOMPARE(json["runnable"].toBool(), true);
        QCOMPARE(json["bytes"].toInteger(), qint64(m_model.size()));
        QCOMPARE(json["missing_bytes"].toInteger(), qint64(m_model.size()));
        QCOMPARE(json["connections"].toArray().size(), 4);  // revisions, list, header at the hub; header at the store
        QVERIFY(!QFileInfo::exists(m_folder->filePath("hf")));
        const Outcome text = run_cli({"pull", "hf.co/me/tiny", "--dry-run"});
        QVERIFY(text.out.contains("mmproj-F16.gguf") && !text.out.contains("etc"));
    }

    void putsItWhereOthersFindIt()
    {
        const Outcome pulled = run_cli({"pull", "hf.co/me/tiny:q4_k_m"});
        QVERIFY2(pulled.code == 0, pulled.err);
        const QString repository = m_folder->filePath("hf/hub/models--me--tiny");
        const QString name = repository + "/snapshots/" + kCommit.c_str() + "/tiny-Q4_K_M.gguf";
        QCOMPARE(QString::fromUtf8(pulled.out).trimmed(), name);
        QCOMPARE(read_bytes(name).toStdString(), m_model);
        QCOMPARE(QFileInfo(name).symLinkTarget(), repository + "/blobs/" + m_hash.c_str());
        QCOMPARE(read_bytes(repository + "/refs/main").toStdString(), kCommit);
        QCOMPARE(QDir(repository + "/blobs").entryList(QDir::Files).size(), 1);
        // The hub knew who asked; the place where its bytes lie did not.
        for (const WebRequest& request : m_hub->requests())
            QCOMPARE(request.header("authorization"), std::string("Bearer secret"));
        QVERIFY(!m_store->requests().empty());
        for (const WebRequest& request : m_store->requests())
            QCOMPARE(request.header("authorization"), std::string());
        // Once more: nothing is fetched.
        const std::int64_t before = m_store->body_bytes();
        QCOMPARE(run_cli({"pull", "hf.co/me/tiny:Q4_K_M"}).code, 0);
        QCOMPARE(m_store->body_bytes(), before);
    }

    // As on a disk without links: the bytes lie under their name.
    void knowsItWithoutLinks()
    {
        const QString repository = m_folder->filePath("hf/hub/models--me--tiny");
        const QString name = repository + "/snapshots/" + kCommit.c_str() + "/tiny-Q4_K_M.gguf";
        QCOMPARE(run_cli({"pull", "hf.co/me/tiny:Q4_K_M"}).code, 0);
        QVERIFY(QFile::remove(name) && QFile::rename(repository + "/blobs/" + m_hash.c_str(), name));
        const std::int64_t before = m_store->body_bytes();
        const Outcome pulled = run_cli({"pull", "hf.co/me/tiny:Q4_K_M"});
        QVERIFY2(pulled.code == 0, pulled.err);
        QCOMPARE(m_store->body_bytes(), before);
        QVERIFY(QDir(repository + "/blobs").isEmpty());
        QCOMPARE(read_bytes(name).toStdString(), m_model);
    }

    void fetchesAndRuns()
    {
        const QStringList arguments = {"run", "hf.co/me/tiny:F16", "-p", "hello", "-n", "5", "--temp", "0"};
        const Outcome run = run_cli(arguments);
        QVERIFY2(run.code == 0, run.err);
        const Outcome local = run_cli({"run", test_support::model("llama"), "-p", "hello", "-n", "5", "--temp", "0"});
        QCOMPARE(run.out, local.out);
        // What is here is not read once more from its beginning to its end before it is opened.
        QVERIFY2(run.err.contains("100 %"), run.err);
        const Outcome again = run_cli(arguments);
        QCOMPARE(again.out, local.out);
        QVERIFY2(!again.err.contains("100 %"), again.err);
        // The name may lead elsewhere, to a file of the same size.
        namespace fs = std::filesystem;
        const QString repository = m_folder->filePath("hf/hub/models--me--tiny");
        const fs::path blob = (repository + "/blobs/" + m_hash.c_str()).toStdString();
        const fs::path name = (repository + "/snapshots/" + kCommit.c_str() + "/sub/tiny-F16.gguf").toStdString();
        const fs::path other = m_folder->filePath("other").toStdString();
        fs::copy_file(blob, other);
        fs::remove(name);
        fs::create_symlink(other, name);
        const Outcome checked = run_cli(arguments);
        QCOMPARE(checked.out, local.out);
        QVERIFY2(checked.err.contains("100 %"), checked.err);
        QVERIFY(fs::equivalent(name, blob));
    }

    void whatIsHereRunsWithoutANetwork()
    {
        const auto run = [this](const char* name) {
            return run_cli({"run", name, "-p", "hello", "-n", "5", "--temp", "0"}, {}, {}, m_folder->filePath("data"));
        };
        const QList<const char*> names = {"hf.co/me/tiny:F16", "ollama.com/tiny:1b"};
        QByteArray said;
        for (const char* const name : names) {
            const Outcome first = run(name);
            QVERIFY2(first.code == 0, first.err);
            said = first.out;
        }
        // Another program that asked for a commit leaves no note of which commit "main" is. It is written when that is
        // known.
        const QString branch = m_folder->filePath("hf/hub/models--me--tiny/refs/main");
        QVERIFY(QFile::remove(branch));
        const Outcome at_once = run(names[0]);
        QVERIFY2(at_once.code == 0 && !at_once.err.contains("100 %"), at_once.err);
        QCOMPARE(read_bytes(branch).toStdString(), kCommit);
        m_hub.reset();
        for (const char* const name : names) {
            const Outcome again = run(name);
            QVERIFY2(again.code == 0, again.err);
            QCOMPARE(again.out, said);
            QVERIFY2(again.err.contains("refuses the connection; '"), again.err);
            QVERIFY2(again.err.contains(".gguf', which was fetched before, is opened"), again.err);
        }
        QCOMPARE(run("hf.co/me/tiny:Q8_0").code, 1);
        QCOMPARE(run("hf.co/me/other").code, 1);
        QCOMPARE(run_cli({"pull", "hf.co/me/tiny:F16"}).code, 1);  // to fetch is what was asked for
    }

    // A file may have hundreds of gigabytes.
    void whatCannotBeRunIsNotFetchedForIt()
    {
        std::string other = m_model;
        const std::size_t architecture = other.find("llama", other.find("general.architecture"));
        other.replace(architecture, 5, "other");
        m_store->answer_by([&](const WebRequest& request) { return support::file_answer(request, other, "\"x\""); });
        const Outcome run = run_cli({"run", "hf.co/me/tiny:F16", "-p", "hello"});
        QCOMPARE(run.code, 1);
        QVERIFY2(run.err.contains("cannot run the architecture 'other'"), run.err);
        QVERIFY2(!run.err.contains("can be run"), run.err);
        QVERIFY(!QFileInfo::exists(m_folder->filePath("hf")));
        for (const WebRequest& request : m_store->requests())
            QVERIFY(!request.header("range").empty());
    }

    void anAdapterThatStaysBehindIsSaid()
    {
        for (const char* const name : {"ollama.com/tuned:1b", "ollama.com/tiny:1b"}) {
            const Outcome text = run_cli({"pull", name, "--to", m_folder->filePath("to"), "--dry-run"});
            QVERIFY2(text.code == 0, text.err);
            QCOMPARE(text.out.contains("Ollama applies an adapter to it"), QByteArray(name).contains("tuned"));
        }
    }

    void fetchesFromElsewhere_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("file");
        QTest::newRow("the hub, a file") << "me/tiny:tiny-F16.gguf"
                                         << "tiny-F16.gguf";
        QTest::newRow("Ollama") << "ollama.com/tiny:1b"
                                << "tiny-1b.gguf";
        QTest::newRow("an address") << "STORE/a/b%20c.gguf?x=1"
                                    << "b c.gguf";
    }
    void fetchesFromElsewhere()
    {
        QFETCH(QString, name);
        QFETCH(QString, file);
        name.replace("STORE", m_store->url().c_str());
        const Outcome pulled = run_cli({"pull", name, "--to", m_folder->filePath("to")});
        QVERIFY2(pulled.code == 0, pulled.err);
        QCOMPARE(QDir(m_folder->filePath("to")).entryList(QDir::Files), QStringList{file});
        QCOMPARE(read_bytes(m_folder->filePath("to/" + file)).toStdString(), m_model);
    }

    void saysWhyNot_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("code");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("no repository") << "hf.co/me/none" << 1 << QByteArray("no such repository");
        QTest::newRow("closed") << "hf.co/you/closed" << 1 << QByteArray("accepted its terms");
        QTest::newRow("no such quantisation") << "hf.co/me/tiny:Q2_K" << 1 << QByteArray("no Q2_K in it, but");
        QTest::newRow("layers that are none") << "ollama.com/odd" << 1 << QByteArray("no model file");
        QTest::newRow("a bare name") << "tiny" << 1 << QByteArray("me/tiny");
        QTest::newRow("nonsense") << "hf.co/../x" << 2 << QByteArray("names no model");
        QTest::newRow("no GGUF") << "https://127.0.0.1/a.zip" << 2 << QByteArray("names no model");
    }
    void saysWhyNot()
    {
        QFETCH(QString, name);
        QFETCH(int, code);
        QFETCH(QByteArray, words);
        const Outcome none = run_cli({"pull", name, "--to", m_folder->filePath("to")});
        QCOMPARE(none.code, code);
        QVERIFY2(none.err.contains(words), none.err);
        QVERIFY(!QFileInfo::exists(m_folder->filePath("to")));
    }

    void searches()
    {
        const Outcome found = run_cli({"pull", "--search", "tiny model"});
        QVERIFY2(found.code == 0, found.err);
        QVERIFY(found.out.contains("12  me/tiny  (its terms"));
        QCOMPARE(m_hub->requests().back().target,
                 std::string("/api/models?search=tiny%20model&filter=gguf&sort=downloads&direction=-1&limit=20"));
    }

    // Killed at any moment: no file, or the right one; and in the end the right one. SPILLWAY_TEST_KILLS: how often.
    void isRightAfterKills()
    {
        const int kills = qEnvironmentVariableIntValue("SPILLWAY_TEST_KILLS") > 0
                              ? qEnvironmentVariableIntValue("SPILLWAY_TEST_KILLS")
                              : 20;
        const unsigned seed = std::random_device()();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        m_pause_ms = 1;
        const QString target = m_folder->filePath("to/m.gguf");
        const QStringList arguments = {"pull", QString::fromStdString(m_store->url("/m.gguf")), "--to",
                                       m_folder->filePath("to")};
        for (int i = 0; i < kills; ++i) {
            QProcess process;
            process.start(SPILLWAY_CLI, arguments);
            QVERIFY(process.waitForStarted());
            if (!process.waitForFinished(1 + int(random() % 150))) {  // else it was done before
                process.kill();
                QVERIFY(process.waitForFinished() || process.state() == QProcess::NotRunning);
            }
            if (QFileInfo::exists(target)) {
                QVERIFY(read_bytes(target).toStdString() == m_model);
                if (random() % 2 == 0)
                    QVERIFY(QFile::remove(target));
            }
        }
        m_pause_ms = 0;
        const Outcome pulled = run_cli(arguments);
        QVERIFY2(pulled.code == 0, pulled.err);
        QVERIFY(read_bytes(target).toStdString() == m_model);
        QCOMPARE(QDir(m_folder->filePath("to")).entryList(QDir::Files).size(), 1);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCliPull)
#include "tst_cli_pull.moc"
