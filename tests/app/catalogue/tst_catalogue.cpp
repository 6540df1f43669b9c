// Tests that models are found in the folders of other programs and in the user's own, and that hostile folders end the
// search neither late nor with a crash.
#include "tests/app/catalogue/catalogue_case.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <filesystem>

using namespace test_support;
namespace fs = std::filesystem;

namespace {

/// Everything below a folder: names, sizes, times of change.
QStringList inventory(const QString& root)
{
    QStringList all;
    for (const auto& entry : fs::recursive_directory_iterator(root.toStdString()))
        all.append(QString("%1 %2 %3")
                       .arg(QString::fromStdString(entry.path().string()))
                       .arg(entry.is_regular_file() ? qint64(entry.file_size()) : -1)
                       .arg(entry.is_symlink() ? -1 : qint64(fs::last_write_time(entry).time_since_epoch().count())));
    all.sort();
    return all;
}

}  // namespace

class TestCatalogue : public CatalogueCase
{
    Q_OBJECT

private Q_SLOTS:
    void init() { begin(); }

    // ---- folders ----

    void aFolderIsLookedThroughToItsDepth()
    {
        m_folder->put("m/Tiny.gguf", chatModel("Tiny"));
        m_folder->put("m/a/b/c/Deep.GGUF", chatModel("Deep"));
        m_folder->put("m/.hidden/Hidden.gguf", chatModel("Hidden"));
        m_folder->put("m/a/.also-hidden.gguf", chatModel("Hidden"));
        m_folder->put("m/readme.txt", "no model");
        m_folder->put("m/picture.gguf", "this is a picture");
        QCOMPARE(found(Store::Folder, "m"),
                 QStringList({"Folder | Deep |  |  |  | openable", "Folder | Tiny |  |  |  | openable",
                              "Folder | picture |  |  |  | This is not a GGUF model, the file does not begin with the "
                              "GGUF mark."}));
    }

    void linksAreFollowedAndLoopsEnd()
    {
        m_folder->put("m/Tiny.gguf", chatModel("Tiny"));
        m_folder->link("m/loop", m_folder->path("m"));
        m_folder->link("m/a/up", m_folder->path("m/a"));
        m_folder->put("elsewhere/Other.gguf", chatModel("Other"));
        m_folder->link("m/outside", m_folder->path("elsewhere"));
        m_folder->link("m/again.gguf", m_folder->path("m/Tiny.gguf"));
        m_folder->link("m/nowhere.gguf", m_folder->path("m/nothing"));
        m_folder->link("m/itself.gguf", m_folder->path("m/itself.gguf"));
        ScanReport report;
        const auto rows = rowsOf(request(Store::Folder, "m"), &report);
        QCOMPARE(lines(rows), QStringList({"Folder | Other |  |  |  | openable", "Folder | Tiny |  |  |  | openable"}));
        QCOMPARE(report.places.first().unreadable, 2);
    }

    void limitsEndTheWalk_data()
    {
        QTest::addColumn<int>("depth");
        QTest::addColumn<int>("entries");
        QTest::addColumn<int>("files");
        QTest::addColumn<int>("models");
        QTest::newRow("depth") << 1 << 1000 << 1000 << 20;
        QTest::newRow("entries") << 10 << 10 << 1000 << 9;
        QTest::newRow("files") << 10 << 1000 << 5 << 5;
    }

    void limitsEndTheWalk()
    {
        QFETCH(int, depth);
        QFETCH(int, entries);
        QFETCH(int, files);
        QFETCH(int, models);
        for (int i = 0; i < 10; ++i)
            for (const char* folder : {"", "a/", "a/b/c/"})
                m_folder->put(QString("m/%1%2.gguf").arg(folder).arg(i), chatModel("M"));
        ScanRequest limited = request(Store::Folder, "m");
        limited.limits = {depth, entries, files};
        ScanReport report;
        const auto rows = rowsOf(limited, &report);
        QVERIFY2(rows.size() <= models && !rows.isEmpty(), qPrintable(QString::number(rows.size())));
        QVERIFY(report.places.first().cutShort);
    }

    void aScanCanBeCancelled()
    {
        for (int i = 0; i < 50; ++i)
            m_folder->put(QString("m/%1.gguf").arg(i), chatModel("M"));
        std::stop_source stop;
        ScanRequest counted = request(Store::Folder, "m");
        int inspected = 0;
        counted.inspect = [&](const fs::path& path, const std::stop_token& inspecting) {
            if (++inspected == 3)
                stop.request_stop();
            return engine::inspect_model(path, inspecting);
        };
        int given = 0;
        const ScanReport report = scanForModels(
            counted, [&](const QList<ModelEntry>& rows) { given += int(rows.size()); }, stop.get_token());
        QVERIFY(report.cancelled);
        QCOMPARE(inspected, 3);
        QCOMPARE(given, 2);  // the third was stopped in the midst of its header: no row says that it is broken
    }

    void aPlaceIsShownBeforeTheNextIsLookedInto()
    {
        m_folder->put("a/one.gguf", chatModel("One"));
        m_folder->put("b/two.gguf", chatModel("Two"));
        ScanRequest both = request(Store::Folder, "a");
        both.places.append({Store::Folder, m_folder->path("b")});
        QStringList shown, shownBefore;
        both.inspect = [&](const fs::path& path, const std::stop_token& inspecting) {
            if (path.filename() == "two.gguf")
                shownBefore = shown;
            return engine::inspect_model(path, inspecting);
        };
        const auto show = [&](const QList<ModelEntry>& rows) {
            for (const ModelEntry& row : rows)
                shown.append(row.title);
        };
        scanForModels(both, show, {});
        QCOMPARE(shownBefore, QStringList("One"));
        QCOMPARE(shown, QStringList({"One", "Two"}));
    }

    void noSuchFolder()
    {
        ScanReport report;
        QVERIFY(rowsOf(request(Store::Folder, "nowhere"), &report).isEmpty());
        QVERIFY(!report.places.first().there);
    }

    // ---- Ollama ----

    void ollamaNamesAndLayers()
    {
        const auto d = [](char c) { return "sha256:" + ModelFolder::digest(c); };
        m_folder->blob('a', chatModel("ignored"));
        m_folder->blob('b', model("ignored"));
        m_folder->blob('e', projector());
        m_folder->manifest("registry.ollama.ai/library/llama3.2/3b", {{"model", d('a')}, {"template", d('c')}});
        m_folder->manifest("registry.ollama.ai/library/llama3.2/latest", {{"model", d('a')}, {"template", d('c')}});
        m_folder->manifest("registry.ollama.ai/someone/eyes/7b",
                           {{"model", d('b')}, {"projector", d('e')}, {"template", d('c')}, {"adapter", d('c')}});
        m_folder->manifest("hf.co/org/repo-GGUF/Q4_K_M", {{"model", d('f')}});
        const auto rows = rowsOf(request(Store::Ollama, "ollama"));
        QCOMPARE(lines(rows), QStringList({
                                  "Ollama | hf.co/org/repo-GGUF:Q4_K_M | hf.co/org/repo-GGUF:Q4_K_M |  |  | Ollama has "
                                  "removed this model’s file.",
                                  "Ollama | llama3.2:3b | llama3.2:3b | llama3.2:latest |  | openable",
                                  "Ollama | someone/eyes:7b | someone/eyes:7b |  | sha256-" + ModelFolder::digest('e') +
                                      " | openable",
                              }));
        for (const ModelEntry& row : rows)
            if (row.title == "someone/eyes:7b")
                QCOMPARE(row.notes.size(), 4);  // base model, template, adapter, may vanish
    }

    void ollamaDownloadsThatAreNotFinished()
    {
        m_folder->put("ollama/blobs/sha256-" + ModelFolder::digest('a') + "-partial", "half");
        m_folder->manifest("registry.ollama.ai/library/x/y", {{"model", "sha256:" + ModelFolder::digest('a')}});
        m_folder->blob('b', chatModel("short"));
        m_folder->manifest("registry.ollama.ai/library/short/y",
                           {{"model", "sha256:" + ModelFolder::digest('b'), 1'000'000}});
        for (const QString& row : found(Store::Ollama, "ollama"))
            QVERIFY2(row.contains("finished") || row.contains("shorter"), qPrintable(row));
    }

    void hostileManifests_data()
    {
        QTest::addColumn<QByteArray>("json");
        const auto layer = [](const QByteArray& digest) {
            return "{\"layers\": [{\"mediaType\": \"application/vnd.ollama.image.model\", \"digest\": \"" + digest +
                   "\"}]}";
        };
        QTest::newRow("path traversal") << layer("sha256:../../secret.gguf");
        QTest::newRow("absolute path") << layer("/etc/passwd");
        QTest::newRow("traversal of the right length") << layer("sha256:" + QByteArray("../").repeated(21) + "a");
        QTest::newRow("short digest") << layer("sha256:abc");
        QTest::newRow("capital letters") << layer("sha256:" + QByteArray(64, 'A'));
        QTest::newRow("line break") << layer("sha256:" + QByteArray(64, 'a') + "\\n");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("no JSON") << QByteArray("hello");
        QTest::newRow("an array") << QByteArray("[[[[]]]]");
        QTest::newRow("deep") << QByteArray(100'000, '[');
        QTest::newRow("layers of another kind") << QByteArray("{\"layers\": \"model\"}");
        QTest::newRow("giant") << layer(QByteArray(64, 'a'))
                                      .replace("{\"layers\"",
                                               "{\"x\": \"" + QByteArray(2 << 20, 'x') + "\", \"layers\"");
        QTest::newRow("many layers") << "{\"layers\": [" + QByteArray("{},").repeated(100) + "{}]}";
    }

    void hostileManifests()
    {
        QFETCH(QByteArray, json);
        m_folder->put("secret.gguf", chatModel("Secret"));
        m_folder->put("ollama/manifests/registry.ollama.ai/library/evil/latest", json);
        m_folder->put("ollama/manifests/too-short", json);
        m_folder->blob('b', chatModel("good"));
        m_folder->manifest("registry.ollama.ai/library/good/latest", {{"model", "sha256:" + ModelFolder::digest('b')}});
        m_folder->link("ollama/manifests/registry.ollama.ai/loop", m_folder->path("ollama/manifests"));
        ScanReport report;
        const auto rows = rowsOf(request(Store::Ollama, "ollama"), &report);
        QCOMPARE(lines(rows), QStringList("Ollama | good:latest | good:latest |  |  | openable"));
        QCOMPARE(report.places.first().strange, 2);
    }

    // ---- the others ----

    void huggingFaceRevisionsOfOneBlobAreOneRow()
    {
        const QString repo = "hub/models--org--Some-Model-GGUF/";
        const QString blob = m_folder->put(repo + "blobs/0123abcd", chatModel("Some Model"));
        m_folder->link(repo + "snapshots/aaaaaaaaaaaaaaaaaa/Some-Q4.gguf", blob);
        m_folder->link(repo + "snapshots/bbbbbbbbbbbbbbbbbb/Some-Q4.gguf", blob);
        m_folder->link(repo + "snapshots/bbbbbbbbbbbbbbbbbb/gone.gguf", m_folder->path(repo + "blobs/none"));
        m_folder->put(repo + "refs/main", "bbbbbbbbbbbbbbbbbb");
        m_folder->put(repo + "blobs/ffff.incomplete", "half");
        m_folder->put(repo + "blobs/eeee.spillway-part", "half");
        m_folder->put(repo + "blobs/eeee.spillway-part.json", "{}");
        m_folder->put("hub/models--org--plain/snapshots/cc/real.gguf", chatModel("Plain"));
        m_folder->put("hub/datasets--org--x/snapshots/cc/data.gguf", chatModel("Data"));
        ScanReport report;
        const auto rows = rowsOf(request(Store::HuggingFace, "hub"), &report);
        QCOMPARE(lines(rows),
                 QStringList({"Hugging Face | Plain | org/plain |  |  | openable",
                              "Hugging Face | Some Model | org/Some-Model-GGUF | aaaaaaaaaaaa |  | openable"}));
        QCOMPARE(report.places.first().unfinished, 2);
        QCOMPARE(report.places.first().unreadable, 1);
        for (const ModelEntry& row : rows)
            QVERIFY(row.path.contains("snapshots"));  // the name that people know, not the blob's
    }

    void splitModelsOfTheHuggingFaceCache()
    {
        const QString repo = "hub/models--org--Split/";
        for (int part = 1; part <= 2; ++part) {
            auto w = part == 1 ? chatModel("Split") : support::GgufWriter();
            if (part > 1)
                w.tensor("b", 0, {256, 1}, support::GgufWriter::Bytes(1024));
            w.u16("split.no", std::uint16_t(part - 1)).u16("split.count", 2);
            const QString blob = m_folder->put(repo + QString("blobs/%1").arg(part), w);
            m_folder->link(repo + QString("snapshots/rev/Split-0000%1-of-00002.gguf").arg(part), blob);
        }
        QCOMPARE(found(Store::HuggingFace, "hub"), QStringList("Hugging Face | Split | org/Split |  |  | openable"));
    }

    void flatStores()
    {
        m_folder->put("store/Tiny.gguf", chatModel("Tiny"));
        m_folder->put("store/gpt4all-1.chat", "chat");
        m_folder->put("store/org/repo/model.gguf", chatModel("Nested"));
        QCOMPARE(found(Store::Gpt4All, "store").first(), "GPT4All | Nested |  |  |  | openable");
        QCOMPARE(found(Store::LlamaCpp, "store").last(), "llama.cpp | Tiny |  |  |  | openable");
        QCOMPARE(found(Store::Jan, "store").first(), "Jan | Nested | org/repo |  |  | openable");
    }

    /// Its folder as GPT4All leaves it: models beside its chats, its indexes of documents and what it is fetching.
    void gpt4AllIsFoundByItself()
    {
        for (const char* file : {"gpt4all-1f3a.chat", "localdocs_v3.db", "test_write.txt"})
            m_folder->put(QString("data/nomic.ai/GPT4All/") + file, "not a model");
        m_folder->put("data/nomic.ai/GPT4All/Tiny.Q4_0.gguf", chatModel("Tiny"));
        m_folder->put("data/nomic.ai/GPT4All/incomplete-Large.Q4_0.gguf", "half of it");
        Surroundings here;
        here.system = Surroundings::System::Linux;
        here.home = m_folder->path("home");
        here.variable = [this](const char* name) {
            return QLatin1String(name) == QLatin1String("XDG_DATA_HOME") ? m_folder->path() + "/data" : QString();
        };
        here.shortFileText = [](const QString&) { return QString(); };
        ScanRequest all = request(Store::Gpt4All, "nowhere");
        all.places = placesOfOtherPrograms(here);
        all.places.removeIf([](const StoreFolder& place) { return place.store != Store::Gpt4All; });
        ScanReport report;
        QCOMPARE(lines(rowsOf(all, &report)), QStringList("GPT4All | Tiny |  |  |  | openable"));
        QCOMPARE(report.places.first().unfinished, 1);
    }

    void oneFileInTwoPlacesIsOneRow()
    {
        m_folder->put("lm/org/repo/Tiny.gguf", chatModel("Tiny"));
        ScanRequest both = request(Store::LmStudio, "lm");
        both.places.append({Store::Folder, m_folder->path()});
        QCOMPARE(lines(rowsOf(both)), QStringList("LM Studio | Tiny | org/repo |  |  | openable"));
    }

    void nothingIsWritten()
    {
        aFolderIsLookedThroughToItsDepth();
        ollamaNamesAndLayers();
        huggingFaceRevisionsOfOneBlobAreOneRow();
        const QStringList before = inventory(m_folder->path());
        ScanRequest all;
        all.inspect = engine::inspect_model;
        all.places = {{Store::Ollama, m_folder->path("ollama")},
                      {Store::HuggingFace, m_folder->path("hub")},
                      {Store::Folder, m_folder->path()}};
        QVERIFY(rowsOf(all).size() > 5);
        QCOMPARE(inventory(m_folder->path()), before);
    }
};

SPILLWAY_TEST(QCoreApplication, TestCatalogue)
#include "tst_catalogue.moc"
