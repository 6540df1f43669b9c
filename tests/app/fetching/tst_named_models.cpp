// Tests that a model can be fetched by an address, a name of Ollama's or a quantisation, into the chosen folder and no
// faster than the limit.
#include "tests/app/fetching/fetching_case.h"
#include "tests/support/test_program.h"

#include <QCryptographicHash>
#include <QElapsedTimer>

using support::WebAnswer;
using support::WebRequest;

class TestNamedModels : public QObject
{
    Q_OBJECT

    std::unique_ptr<test_support::FetchingCase> m_case;
    std::unique_ptr<support::WebServer> m_web;  // Ollama's registry, and anybody's files
    std::string m_hash;

    ModelPage& page() { return *m_case->fetching->page(); }
    FetchQueue& queue() { return *m_case->fetching->queue(); }
    QString quant(int row) const
    {
        return m_case->value(*m_case->fetching->page()->choices(), row, ModelChoiceList::QuantRole).toString();
    }
    QString note(int row = 0) const
    {
        return m_case->value(*m_case->fetching->queue(), row, FetchQueue::NoteRole).toString();
    }
    bool open(const std::string& name)
    {
        return m_case->fetching->openNamed(QString::fromStdString(name)) &&
               QTest::qWaitFor([&] { return !page().busy() && !page().looking(); }, 10000);
    }
    WebAnswer web(const WebRequest& request) const
    {
        const std::string size = std::to_string(m_case->m_model.size());
        const auto layer = [&](const char* kind) {
            return std::string("{\"mediaType\":\"application/vnd.ollama.image.") + kind +
                   "\",\"digest\":\"sha256:" + m_hash + "\",\"size\":" + size + "}";
        };
        if (request.target == "/v2/library/tiny/manifests/1b")
            return {200, {}, "{\"layers\":[" + layer("model") + ',' + layer("projector") + "]}"};
        if (request.target == "/v2/library/tiny/manifests/tuned")
            return {200, {}, "{\"layers\":[" + layer("model") + ',' + layer("adapter") + "]}"};
        if (request.target == "/v2/library/tiny/blobs/sha256:" + m_hash || request.target == "/files/anybodys.gguf?x=1")
            return support::file_answer(request, m_case->m_model, "\"o\"");
        if (request.target == "/files/whole.gguf")  // whatever part is asked for
            return {200, {}, m_case->m_large};
        return {404, {}, {}};
    }

private Q_SLOTS:
    void init()
    {
        m_case = std::make_unique<test_support::FetchingCase>();
        m_hash = QCryptographicHash::hash(QByteArray::fromStdString(m_case->m_model), QCryptographicHash::Sha256)
                     .toHex()
                     .toStdString();
        m_web = std::make_unique<support::WebServer>([this](const WebRequest& request) { return web(request); });
        qputenv("SPILLWAY_OLLAMA_REGISTRY", m_web->url().c_str());
    }
    void cleanup()
    {
        m_case.reset();
        m_web.reset();
    }

    void tellsNamesFromWords()
    {
        const auto source = hubSource({}, nullptr);
        const auto named = [&](const char* text) { return source->named(text).value_or("-"); };
        QCOMPARE(named("https://example.org/x.gguf"), std::string("https://example.org/x.gguf"));
        QCOMPARE(named("hf.co/org/repo:Q4_K_M"), std::string("hf.co/org/repo:Q4_K_M"));
        QCOMPARE(named("org/repo:Q4_K_M"), std::string("hf.co/org/repo:Q4_K_M"));
        QCOMPARE(named("ollama.com/llama3.2"), std::string("ollama.com/llama3.2"));
        QCOMPARE(named("llama3.2:3b"), std::string("ollama.com/llama3.2:3b"));
        for (const char* words : {"", "qwen3", "qwen3 gguf", "org/repo", "which one: this"})
            QCOMPARE(named(words), std::string("-"));
        m_case->start();
        QVERIFY(m_case->fetching->openNamed("llama3.2:3b"));
        QVERIFY(page().modelId().isEmpty());  // nobody is asked before it is permitted
        QVERIFY(m_web->requests().empty());
    }

    void aQuantisationOnTheHub()
    {
        m_case->startAllowed();
        QVERIFY(open("  hf.co/org/tiny:f16 "));
        QVERIFY2(page().ready(), qPrintable(page().error()));
        QCOMPARE(page().title(), "org/tiny");
        QCOMPARE(page().choices()->rowCount(), 3);
        QCOMPARE(quant(page().chosen()), "F16");
        QVERIFY(page().looked().known());
        page().fetch(page().chosen());
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(QFile::exists(m_case->inCache("tiny-F16.gguf")));
        // The address of a file, as a browser has it; what is not there is said with what is.
        QVERIFY(open("https://huggingface.co/org/tiny/blob/main/sub/tiny-Q8_0.gguf"));
        QCOMPARE(quant(page().chosen()), "Q8_0");
        QVERIFY(open("org/tiny:Q3_K"));
        QVERIFY2(!page().ready() && page().error().contains("Q8_0"), qPrintable(page().error()));
        QVERIFY(open("https://huggingface.co/org/tiny/blob/main/../../x"));
        QVERIFY(!page().ready() && page().error().endsWith('.'));
    }

    void ollamasName()
    {
        m_case->startAllowed();
        QVERIFY(open("tiny:1b"));
        QVERIFY2(page().ready(), qPrintable(page().error()));
        QCOMPARE(page().title(), "ollama.com/tiny:1b");
        QCOMPARE(page().choices()->rowCount(), 1);
        QVERIFY2(page().looked().runnable, qPrintable(page().lookError()));
        QCOMPARE(page().companions().size(), 1);
        page().setWanted(0, true);
        page().fetch(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        const QDir models(m_case->folder.filePath("models"));
        QVERIFY(test_support::bytesOf(models.filePath("tiny-1b.gguf")).toStdString() == m_case->m_model);
        QVERIFY(models.exists("tiny-1b-mmproj.gguf"));
        const auto saysSo = [this] { return page().looked().warnings.join(' ').contains("Ollama applies an adapter"); };
        QVERIFY(!saysSo());
        QVERIFY(open("tiny:tuned"));
        QVERIFY2(saysSo(), qPrintable(page().lookError()));  // the page shows them
        QVERIFY(open("nobody:7b"));
        QVERIFY(!page().ready() && page().error().endsWith('.'));
    }

    void anAddressIntoAFolderOfChoice()
    {
        const QString chosen = m_case->folder.filePath("mine");
        QVERIFY(QDir().mkpath(chosen));
        m_case->settings->setFetchFolder(QUrl::fromLocalFile(m_case->folder.filePath("not-there")));
        QCOMPARE(m_case->settings->fetchFolder(), "");
        m_case->settings->setFetchFolder(QUrl::fromLocalFile(chosen));
        QCOMPARE(m_case->settings->fetchFolder(), chosen);
        QVERIFY(m_case->settings->modelFolders().contains(chosen));  // so that it is found there
        QCOMPARE(SettingsController(m_case->folder.filePath("spillway.ini")).fetchFolder(), chosen);
        m_case->startAllowed();
        QVERIFY(open(m_web->url("/files/anybodys.gguf?x=1")));
        QVERIFY2(page().ready(), qPrintable(page().error()));
        QCOMPARE(page().title(), "anybodys");
        QVERIFY2(page().looked().runnable, qPrintable(page().lookError()));
        page().fetch(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(test_support::bytesOf(chosen + "/anybodys.gguf").toStdString() == m_case->m_model);
        // A fetch goes on where it began, whatever is chosen meanwhile.
        m_case->hub->pause_ms = 4;
        queue().add("org/tiny", "sub/tiny-Q8_0.gguf", "Q8_0", double(m_case->m_large.size()));
        QVERIFY(QTest::qWaitFor([&] { return m_case->done(1) > 200'000; }, 10000));
        queue().pause(1);
        m_case->settings->setFetchFolder({});
        QCOMPARE(m_case->settings->fetchFolder(), "");
        m_case->hub->pause_ms = 0;
        m_case->start();
        queue().resume(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(0), Fetch::Done, 20000);
        QVERIFY(QFile::exists(chosen + "/tiny-Q8_0.gguf"));
        QVERIFY(!QFile::exists(m_case->inCache("sub/tiny-Q8_0.gguf")));
    }

    void anAddressOfAServerWithoutRanges()
    {
        m_case->startAllowed();
        QVERIFY(open(m_web->url("/files/whole.gguf")));
        QVERIFY2(page().looked().known(), qPrintable(page().lookError()));
        page().fetch(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        // Nobody has said which hash this file should have, so it could not be checked. The hub says it of its files.
        QVERIFY(!m_case->value(queue(), 0, FetchQueue::CheckedRole).toBool());
        queue().add("org/tiny", "tiny-F16.gguf", "F16", double(m_case->m_model.size()));
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(1), Fetch::Done, 20000);
        QVERIFY(m_case->value(queue(), 1, FetchQueue::CheckedRole).toBool());
    }

    void noFasterThanItMay()
    {
        m_case->settings->fetchMegabytesPerS()->setValue(1);
        m_case->startAllowed();
        QElapsedTimer clock;
        clock.start();
        queue().add("org/tiny", "sub/tiny-Q8_0.gguf", "Q8_0", double(m_case->m_large.size()));
        QVERIFY(QTest::qWaitFor([&] { return m_case->done() > 0; }, 10000));
        QTest::qWait(1000);
        QVERIFY2(m_case->done() < 1.1e6 * double(clock.elapsed()) / 1000 + 200'000,
                 qPrintable(QString::number(m_case->done())));
        QCOMPARE(m_case->state(), Fetch::Fetching);
        m_case->settings->fetchMegabytesPerS()->setValue(0);  // holds at once
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 1500);
        QVERIFY(m_case->leftovers().isEmpty());
        // Stopping does not wait for it.
        m_case->settings->fetchMegabytesPerS()->setValue(1);
        queue().add("org/tiny", "tiny-F16.gguf", "F16", double(m_case->m_model.size()));
        clock.start();
        m_case->fetching.reset();
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
    }
};

SPILLWAY_TEST(QGuiApplication, TestNamedModels)
#include "tst_named_models.moc"
