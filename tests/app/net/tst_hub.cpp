// Tests that Hub finds models page by page, groups a repository's files by quantisation, and reads its card.
#include "app/net/companion_kind.h"
#include "app/net/hub.h"
#include "app/net/pull.h"
#include "tests/support/net/model_hub.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <thread>

using support::HubModel;
using support::ModelHub;
using support::WebAnswer;
using support::WebRequest;
using support::WebServer;
using Kind = net::Failure::Kind;

namespace {

net::HubFile file_of(std::string path, std::int64_t bytes)
{
    return {std::move(path), bytes, {}, {}};
}

}  // namespace

class TestHub : public QObject
{
    Q_OBJECT

    const std::string m_small = std::string(1000, 's'), m_large = std::string(3000, 'l');
    net::HttpClient m_client;

    HubModel model(const std::string& id, std::int64_t downloads) const
    {
        return {id,
                {{"m-Q8_0-00001-of-00002.gguf", &m_large},
                 {"m-Q8_0-00002-of-00002.gguf", &m_large},
                 {"m-Q4_K_M.gguf", &m_small},
                 {"mmproj-F16.gguf", &m_small},
                 {"notes.txt", &m_small}},
                "---\nlicense: mit\ntags:\n- chat\n---\n# A model\n\nIt talks.\n",
                "mit",
                downloads};
    }

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"})
            qunsetenv(name);
    }

    void findsPageByPage()
    {
        std::vector<HubModel> models;
        for (int i = 0; i < 7; ++i)
            models.push_back(model("org/tiny-" + std::to_string(i), 100 * i));
        models.push_back(model("org/other", 5000));
        ModelHub served(models);
        served.page_models = 3;
        const net::Hub hub(m_client, served.url(), {});
        std::string names;
        auto page = hub.search("tiny", 3, {});
        QVERIFY(page);
        QCOMPARE(served.server().requests().back().target,
                 std::string("/api/models?search=tiny&filter=gguf&sort=downloads&direction=-1&limit=3"));
        for (int pages = 1;; ++pages) {
            for (const net::FoundModel& found : page->models)
                names += found.id.back();
            if (page->next.empty())
                break;
            QVERIFY(pages < 4);
            page = hub.search_on(page->next, {});
            QVERIFY(page);
        }
        QCOMPARE(names, std::string("6543210"));
        QVERIFY(hub.search("nobody", 3, {})->models.empty());
    }

    // The token goes along, so that neither a list nor a caller may lead it to somebody else.
    void goesOnAtHomeOnly()
    {
        WebServer stranger([](const WebRequest&) { return WebAnswer{200, {}, "[]"}; });
        WebServer home([&](const WebRequest&) {
            return WebAnswer{200, {{"Link", "<" + stranger.url("/x") + ">; rel=\"next\""}}, R"([{"id":"a/b"}])"};
        });
        const net::Hub hub(m_client, home.url(), "secret");
        const auto page = hub.search("b", 3, {});
        QVERIFY(page && page->models.size() == 1 && page->next.empty());
        QCOMPARE(hub.search_on(stranger.url("/x"), {}).error().kind, Kind::BadAnswer);
        QVERIFY(stranger.requests().empty());
    }

    void groupsFilesAndReadsTheCard()
    {
        ModelHub served({model("org/tiny", 12)});
        const net::Hub hub(m_client, served.url(), {});
        const auto repository = hub.repository({"org/tiny"}, {});
        QVERIFY(repository);
        QCOMPARE(repository->files.choices.size(), std::size_t(2));
        QCOMPARE(repository->files.choices[0].quant, std::string("Q4_K_M"));
        QCOMPARE(repository->files.choices[0].bytes, std::int64_t(1000));
        QCOMPARE(repository->files.choices[1].quant, std::string("Q8_0"));
        QCOMPARE(repository->files.choices[1].bytes, std::int64_t(6000));
        QCOMPARE(repository->files.companions.size(), std::size_t(1));
        const auto card = hub.card(*repository, {});
        QVERIFY(card);
        QCOMPARE(card->licence, std::string("mit"));
        QCOMPARE(card->text, std::string("# A model\n\nIt talks.\n"));
        QCOMPARE(card->downloads, std::int64_t(12));
        QVERIFY(!card->gated);
    }

    void allPartsHaveRoomBeforeTheFirstIsFetched()
    {
        ModelHub served({model("org/tiny", 12)});
        net::FetchSettings settings;
        settings.hub = served.url();
        net::Puller puller(m_client, settings);
        const QTemporaryDir folder;
        net::PullRequest request;
        request.reference = net::HubReference{"org/tiny", "main", {}, "Q8_0"};
        request.to = folder.filePath("models/new").toStdString();
        const auto plan = puller.plan(request, {});
        QVERIFY(plan);
        QCOMPARE(plan->missing_bytes, std::int64_t(6000));
        std::int64_t free = 5999;
        net::FetchLimits limits;
        limits.spare_bytes = 0;
        limits.free_bytes = [&](const std::filesystem::path& there) {
            return std::filesystem::exists(there) ? std::optional(free) : std::nullopt;
        };
        const auto none = puller.fetch(*plan, limits, {}, {});
        QVERIFY(!none);
        QCOMPARE(none.error().kind, Kind::DiskFull);
        QVERIFY(QDir(folder.path()).isEmpty());
        free = 6000;
        QVERIFY(puller.fetch(*plan, limits, {}, {}));
    }

    /// Else what memory is free that day would decide what is fetched once more.
    void whatIsHereGoesBeforeWhatWouldBeChosen()
    {
        ModelHub served({model("org/tiny", 12)});
        const QTemporaryDir folder;
        net::FetchSettings settings;
        settings.hub = served.url();
        settings.hub_cache = folder.path().toStdString();
        net::Puller puller(m_client, settings);
        net::PullRequest request;
        request.reference = net::HubReference{"org/tiny", "main", {}, "Q4_K_M"};
        QVERIFY(!puller.here(request));
        const auto named = puller.plan(request, {});
        QVERIFY(named && puller.fetch(*named, {}, {}, {}));
        request.reference = net::HubReference{"org/tiny"};
        QCOMPARE(puller.plan(request, {})->quant, std::string("Q8_0"));
        request.prefers_here = true;
        const auto plan = puller.plan(request, {});
        QVERIFY(plan);
        QCOMPARE(plan->quant, std::string("Q4_K_M"));
        QCOMPARE(plan->reason, std::string("it is here already"));
        QCOMPARE(plan->missing_bytes, std::int64_t(0));
        QCOMPARE(puller.here(request), std::optional(plan->model));
    }

    /// Without a network nothing tells whether a file of the right name came from there.
    void onlyItsOwnFileIsHere_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QString>("file");
        QTest::addColumn<bool>("here");
        QTest::newRow("of the library") << "ollama.com/tiny:1b"
                                        << "tiny-1b.gguf" << true;
        QTest::newRow("or somebody's") << "ollama.com/me-tiny:1b"
                                       << "me-tiny-1b.gguf" << false;
        QTest::newRow("or the library's") << "ollama.com/me/tiny:1b"
                                          << "me-tiny-1b.gguf" << false;
        QTest::newRow("a link") << "https://b.example/model.gguf"
                                << "model.gguf" << false;
    }
    void onlyItsOwnFileIsHere()
    {
        QFETCH(QString, typed);
        QFETCH(QString, file);
        QFETCH(bool, here);
        const QTemporaryDir folder;
        QFile there(folder.filePath(file));
        QVERIFY(there.open(QFile::WriteOnly));
        net::FetchSettings settings;
        settings.models = folder.path().toStdString();
        const net::Puller puller(m_client, settings);
        const auto reference = net::read_reference(typed.toStdString());
        QVERIFY(reference);
        net::PullRequest request;
        request.reference = *reference;
        QCOMPARE(puller.here(request).has_value(), here);
    }

    void companionsAreNoModels_data()
    {
        QTest::addColumn<QByteArray>("beside");
        QTest::addColumn<int>("kind");  // -1: it may be a model by itself
        using Kinds = net::CompanionKind;
        QTest::newRow("projector") << QByteArray("mmproj-Q8_0.gguf") << int(Kinds::Projector);
        QTest::newRow("behind a dot") << QByteArray("m.mmproj-Q8_0.gguf") << int(Kinds::Projector);
        QTest::newRow("behind a dash") << QByteArray("vision/m-MMPROJ-Q8_0.gguf") << int(Kinds::Projector);
        QTest::newRow("a folder of drafters") << QByteArray("MTP/m-Q8_0-MTP.gguf") << int(Kinds::Drafter);
        QTest::newRow("drafter") << QByteArray("mtp-m-Q8_0.gguf") << int(Kinds::Drafter);
        QTest::newRow("draft model") << QByteArray("m-draft-Q8_0.gguf") << -1;
        QTest::newRow("drafter by its end") << QByteArray("m-mtp-Q8_0.gguf") << -1;
    }
    /// Each is a Q8_0 small enough for a model that loses most by fewer bits, and smaller than the model's fewer bits.
    void companionsAreNoModels()
    {
        QFETCH(QByteArray, beside);
        QFETCH(int, kind);
        const std::string path = beside.toStdString();
        const auto files = net::group_files({file_of("m.Q4_K_M.gguf", 5'000'000'000),
                                             file_of("m.Q2_K.gguf", 3'000'000'000), file_of(path, 800'000'000)});
        QCOMPARE(int(net::companion_kind(path).value_or(net::CompanionKind(-1))), kind);
        QCOMPARE(files.companions.size(), std::size_t(kind >= 0 ? 1 : 0));
        const auto chosen = net::choose(files, {}, {}, std::nullopt);
        QVERIFY(chosen);
        QCOMPARE(chosen->choice.name, std::string("m.Q4_K_M"));
    }

    void wholeModelsMayHaveTheirDraftersInside()
    {
        QVERIFY(!net::companion_kind("Qwen3.6-27B-MTP-Q8_0.gguf"));
        QVERIFY(!net::companion_kind("Qwen3.6-27B-MTP/m-Q8_0.gguf"));
        QVERIFY(!net::companion_kind("xmmproj.gguf"));
        const auto files =
            net::group_files({file_of("m-Q8_0.gguf", 1'000'000'000), file_of("m-Q4_K_M.gguf", 600'000'000)});
        QCOMPARE(net::choose(files, {}, {}, std::nullopt)->choice.quant, std::string("Q8_0"));
    }

    void importanceMatricesAreNoModels()
    {
        const auto files =
            net::group_files({file_of("m-Q4_K_M-imatrix.gguf", 5000), file_of("imatrix-IQ2_XS.gguf", 3000),
                              file_of("m-imatrix.gguf", 100), file_of("m.imatrix.gguf", 100),
                              file_of("m-BF16-imatrix.gguf", 100), file_of("m-Q8_0.imatrix.gguf", 100)});
        QCOMPARE(files.choices.size(), std::size_t(2));
        QCOMPARE(files.choices[0].quant, std::string("IQ2_XS"));
        QCOMPARE(files.choices[1].quant, std::string("Q4_K_M"));
        QVERIFY(files.companions.empty());

        // Of models that there are in 4 bits only, the matrix was measured on those.
        const auto few_bits =
            net::group_files({file_of("m-Q4_0.gguf", 5'000'000'000), file_of("m-Q4_0-imatrix.gguf", 5'000'000),
                              file_of("m-Q5_K_M-imatrix.gguf", 6'000'000'000)});
        QCOMPARE(few_bits.choices.size(), std::size_t(2));
        const auto named = net::choose(few_bits, {}, "Q4_0", std::nullopt);
        QVERIFY(named);
        QCOMPARE(named->choice.name, std::string("m-Q4_0"));
    }

    void cardsMayBeOdd_data()
    {
        QTest::addColumn<QByteArray>("card");
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("none") << QByteArray() << QByteArray();
        QTest::newRow("no table") << QByteArray("# M") << QByteArray("# M");
        QTest::newRow("only a table") << QByteArray("---\na: b\n---") << QByteArray();
        QTest::newRow("no end") << QByteArray("---\na: b\n") << QByteArray("---\na: b\n");
        QTest::newRow("of Windows") << QByteArray("---\r\na: b\r\n---\r\nM") << QByteArray("M");
        QTest::newRow("too long") << QByteArray(2 << 20, 'x') << QByteArray();
    }
    void cardsMayBeOdd()
    {
        QFETCH(QByteArray, card);
        QFETCH(QByteArray, text);
        HubModel odd = model("org/tiny", 1);
        odd.card = card.toStdString();
        odd.licence.clear();
        ModelHub served({odd});
        const net::Hub hub(m_client, served.url(), {});
        const auto read = hub.card(*hub.repository({"org/tiny"}, {}), {});
        QVERIFY(read);
        QCOMPARE(read->text, text.toStdString());
        QCOMPARE(read->licence, std::string());
    }

    // A search asks for no file, and what answers in a hotel is no hub.
    void refusalsOfASearch_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("401") << 401 << QByteArray("asks for a token");
        QTest::newRow("404") << 404 << QByteArray("has nothing at this address");
        QTest::newRow("a page for people") << 200 << QByteArray("sign in first");
    }
    void refusalsOfASearch()
    {
        QFETCH(int, status);
        QFETCH(QByteArray, words);
        WebServer server([&](const WebRequest&) {
            return WebAnswer{status, {{"Content-Type", "text/html; charset=utf-8"}}, "<html>"};
        });
        const auto found = net::Hub(m_client, server.url(), {}).search("tiny", 3, {});
        QVERIFY(!found);
        const QByteArray what = found.error().what.c_str();
        QVERIFY2(what.contains(words) && !what.contains("file"), what.constData());
    }

    void asksOnceMoreWhereTheConnectionBroke()
    {
        std::atomic<int> breaks = 3;
        WebServer server([&](const WebRequest&) {
            return WebAnswer{200, {}, "[]", breaks-- > 0 ? WebAnswer::End::Reset : WebAnswer::End::Whole, 0};
        });
        const net::Hub hub(m_client, server.url(), {}, {3, std::chrono::milliseconds(1), std::chrono::seconds(9)});
        QCOMPARE(hub.search("x", 3, {}).error().kind, Kind::Interrupted);
        QCOMPARE(server.requests().size(), std::size_t(3));
        breaks = 2;
        QVERIFY(hub.search("x", 3, {}));
        QCOMPARE(server.requests().size(), std::size_t(6));
    }

    void waitsForABusyHubWhereThatIsShort_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<QByteArray>("wait");
        QTest::addColumn<bool>("waits");
        QTest::newRow("too many requests") << 429 << QByteArray("8") << true;
        QTest::newRow("busy") << 503 << QByteArray("8") << true;
        QTest::newRow("for long") << 429 << QByteArray("10") << false;
        QTest::newRow("nobody says for how long") << 503 << QByteArray() << false;
        QTest::newRow("no fault of the hub") << 404 << QByteArray("8") << false;
    }
    void waitsForABusyHubWhereThatIsShort()
    {
        QFETCH(int, status);
        QFETCH(QByteArray, wait);
        QFETCH(bool, waits);
        std::stop_source stop;
        WebServer server([&](const WebRequest&) {
            return WebAnswer{status, {{"Retry-After", wait.toStdString()}}, {}};
        });
        const net::Hub hub(m_client, server.url(), {}, {3, std::chrono::milliseconds(1), std::chrono::seconds(9)});
        const std::jthread stops([&](const std::stop_token& test_is_over) {
            while (server.requests().empty() && !test_is_over.stop_requested())
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (waits)
                stop.request_stop();
        });
        QElapsedTimer timer;
        timer.start();
        const auto found = hub.search("x", 3, stop.get_token());
        QVERIFY(timer.elapsed() < 4000);
        QCOMPARE(found.error().kind == Kind::Cancelled, waits);
        QCOMPARE(server.requests().size(), std::size_t(1));
    }

    void oddAnswersAreOneSentence_data()
    {
        QTest::addColumn<QByteArray>("answer");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("a page for people") << QByteArray("<html>");
        QTest::newRow("a number") << QByteArray("5");
        QTest::newRow("a string") << QByteArray("\"x\"");
    }
    void oddAnswersAreOneSentence()
    {
        QFETCH(QByteArray, answer);
        WebServer server([&](const WebRequest&) { return WebAnswer{200, {}, answer.toStdString()}; });
        const net::Hub hub(m_client, server.url(), {});
        QCOMPARE(hub.search("x", 3, {}).error().kind, Kind::BadAnswer);
        QCOMPARE(hub.repository({"a/b"}, {}).error().kind, Kind::BadAnswer);
        QCOMPARE(hub.card({"a/b", ModelHub::commit(), {}}, {}).error().kind, Kind::BadAnswer);
        server.answer_by([](const WebRequest&) {
            return WebAnswer{200, {}, R"([7,null,{"id":5},{"id":"a/b","downloads":"x","gated":[]}])"};
        });
        const auto found = hub.search("x", 3, {});
        QVERIFY(found);
        QCOMPARE(found->models.size(), std::size_t(1));
        QVERIFY(found->models[0].downloads == 0 && !found->models[0].gated);
    }
};

SPILLWAY_TEST(QCoreApplication, TestHub)
#include "tst_hub.moc"
