// Finding models: the layouts of other programs' stores, folders as people have them, and hostile ones.
#include "tests/app/catalogue_case.h"

#include <QElapsedTimer>
#include <QTest>

#include <filesystem>

using namespace test_support;
namespace fs = std::filesystem;

namespace {

/// One row as text: what the tests compare.
QString line(const ModelEntry& entry)
{
    return QStringList{entry.storeName(),         entry.title,     entry.origin,
                       entry.alsoNamed.join('+'), entry.projector, entry.openable() ? "openable" : entry.obstacle}
        .join(" | ");
}

QStringList lines(const QList<ModelEntry>& rows)
{
    QStringList all;
    for (const ModelEntry& row : rows)
        all.append(line(row));
    all.sort();
    return all;
}

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

class TestCatalogue : public QObject
{
    Q_OBJECT

    std::unique_ptr<ModelFolder> m_folder;

    ScanRequest request(Store store, const QString& below) const
    {
        ScanRequest r;
        r.places = {{store, m_folder->path(below)}};
        r.inspect = engine::inspect_model;
        return r;
    }
    QStringList found(Store store, const QString& below) const { return lines(rowsOf(request(store, below))); }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<ModelFolder>(); }

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
        QVERIFY2(rows.size() <= models && rows.size() > 0, qPrintable(QString::number(rows.size())));
        QVERIFY(report.places.first().cutShort);
    }

    void aScanCanBeCancelled()
    {
        for (int i = 0; i < 50; ++i)
            m_folder->put(QString("m/%1.gguf").arg(i), chatModel("M"));
        std::stop_source stop;
        ScanRequest counted = request(Store::Folder, "m");
        int inspected = 0;
        counted.inspect = [&](const fs::path& path) {
            if (++inspected == 3)
                stop.request_stop();
            return engine::inspect_model(path);
        };
        const ScanReport report = scanForModels(
            counted, [](const auto&) {}, stop.get_token());
        QVERIFY(report.cancelled);
        QCOMPARE(inspected, 3);
    }

    void noSuchFolder()
    {
        ScanReport report;
        QVERIFY(rowsOf(request(Store::Folder, "nowhere"), &report).isEmpty());
        QVERIFY(!report.places.first().there);
    }

    // ---- what files are ----

    void splitFilesAreOneRow()
    {
        for (int part = 1; part <= 3; ++part) {
            auto w = part == 1 ? chatModel("Large") : support::GgufWriter();
            if (part > 1)
                w.tensor("part" + std::to_string(part), 0, {256, 1}, support::GgufWriter::Bytes(1024));
            w.u16("split.no", std::uint16_t(part - 1)).u16("split.count", 3);
            m_folder->put(QString("m/Large-%1-of-00003.gguf").arg(part, 5, 10, QChar('0')), w);
        }
        auto rows = rowsOf(request(Store::Folder, "m"));
        QCOMPARE(lines(rows), QStringList("Folder | Large |  |  |  | openable"));
        QCOMPARE(rows.first().facts.splitFiles, 3);

        QFile::remove(m_folder->path("m/Large-00001-of-00003.gguf"));
        rows = rowsOf(request(Store::Folder, "m"));
        QCOMPARE(rows.size(), 1);
        QCOMPARE(rows.first().title, "Large");
        QVERIFY2(rows.first().obstacle.contains("3 parts"), qPrintable(rows.first().obstacle));
        QVERIFY(rows.first().bytes > 0);
    }

    void aMillionPartsAreNotLookedFor()
    {
        m_folder->put("m/Huge-00001-of-99999.gguf", chatModel("Huge"));
        QElapsedTimer clock;
        clock.start();
        const auto rows = rowsOf(request(Store::Folder, "m"));
        QVERIFY(clock.elapsed() < 5000);
        QVERIFY(!rows.first().openable());
    }

    void projectorsBelongToTheirModel()
    {
        m_folder->put("m/gemma-3-4b-it-Q4_K_M.gguf", chatModel("Gemma"));
        m_folder->put("m/qwen2-vl-7b-Q8_0.gguf", chatModel("Qwen"));
        m_folder->put("m/mmproj-gemma-3-4b-it-F16.gguf", projector());
        m_folder->put("m/lonely/mmproj-llava-f16.gguf", projector());
        QCOMPARE(
            found(Store::Folder, "m"),
            QStringList({"Folder | Gemma |  |  | mmproj-gemma-3-4b-it-F16.gguf | openable",
                         "Folder | Qwen |  |  |  | openable",
                         "Folder | mmproj-llava-f16 |  |  |  | This is the projector of a model that sees: it is no "
                         "model by itself."}));
        m_folder->put("lm/org/Vision-GGUF/Vision-Q4_0.gguf", chatModel("Vision"));
        m_folder->put("lm/org/Vision-GGUF/mmproj-model-f16.gguf", projector());
        QCOMPARE(found(Store::LmStudio, "lm"),
                 QStringList("LM Studio | Vision | org/Vision-GGUF |  | mmproj-model-f16.gguf | openable"));
    }

    void whatAFileIsGoodFor()
    {
        auto embedding = model("Embed");
        embedding.u32("llama.pooling_type", 3);
        auto adapter = model("Lora");
        adapter.string("general.type", "adapter");
        support::GgufWriter vocabulary;
        vocabulary.string("general.architecture", "llama").string("general.name", "Vocab");
        m_folder->put("m/chat.gguf", chatModel("Chat"));
        m_folder->put("m/base.gguf", model("Base"));
        m_folder->put("m/bert.gguf", model("Bert", 4, "bert"));
        m_folder->put("m/embedding.gguf", embedding);
        m_folder->put("m/lora.gguf", adapter);
        m_folder->put("m/vocab.gguf", vocabulary);
        m_folder->put("m/chat-draft-0.5b.gguf", chatModel("Drafty"));
        m_folder->put("m/draftsman.gguf", chatModel("Draftsman"));
        QMap<QString, ModelKind::Kind> kinds;
        for (const ModelEntry& row : rowsOf(request(Store::Folder, "m"))) {
            kinds[row.title] = row.kind;
            const bool usable =
                row.kind == ModelKind::Chat || row.kind == ModelKind::Base || row.kind == ModelKind::Draft;
            QCOMPARE(row.openable(), usable);
            QVERIFY(usable || row.obstacle.endsWith('.'));
        }
        const QMap<QString, ModelKind::Kind> expected = {
            {"Chat", ModelKind::Chat},       {"Base", ModelKind::Base},      {"Bert", ModelKind::Embedding},
            {"Embed", ModelKind::Embedding}, {"Lora", ModelKind::Adapter},   {"Vocab", ModelKind::Vocabulary},
            {"Drafty", ModelKind::Draft},    {"Draftsman", ModelKind::Chat},
        };
        QCOMPARE(kinds, expected);
    }

    void brokenFilesAreRowsWithASentence()
    {
        const auto whole = chatModel("Whole").bytes();
        m_folder->put("m/empty.gguf", QByteArray());
        m_folder->put("m/cut.gguf",
                      QByteArray(reinterpret_cast<const char*>(whole.data()), qsizetype(whole.size()) / 2));
        auto evil = chatModel("evil\n\x1b[2J"
                              "\xe2\x80\xae"
                              "");
        m_folder->put("m/evil.gguf", evil);
        m_folder->put("m/half.gguf.part", "half");
        m_folder->put("m/incomplete-x.gguf", "half");
        ScanReport report;
        const auto rows = rowsOf(request(Store::Folder, "m"), &report);
        QCOMPARE(rows.size(), 3);
        QCOMPARE(report.places.first().unfinished, 2);
        for (const ModelEntry& row : rows) {
            if (row.title.startsWith("evil")) {
                QVERIFY(row.openable());
                QVERIFY(!row.title.contains('\n') && !row.title.contains(QChar(0x1b)) &&
                        !row.title.contains(QChar(0x202e)));
            } else {
                QCOMPARE(row.kind, ModelKind::Broken);
                QVERIFY2(row.obstacle.endsWith('.') && !row.obstacle.contains(m_folder->path()),
                         qPrintable(row.obstacle));
            }
        }
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
        m_folder->put("hub/models--org--plain/snapshots/cc/real.gguf", chatModel("Plain"));
        m_folder->put("hub/datasets--org--x/snapshots/cc/data.gguf", chatModel("Data"));
        ScanReport report;
        const auto rows = rowsOf(request(Store::HuggingFace, "hub"), &report);
        QCOMPARE(lines(rows),
                 QStringList({"Hugging Face | Plain | org/plain |  |  | openable",
                              "Hugging Face | Some Model | org/Some-Model-GGUF | aaaaaaaaaaaa |  | openable"}));
        QCOMPARE(report.places.first().unfinished, 1);
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

    // ---- the cache of headers ----

    void theSecondScanReadsNothing()
    {
        for (int i = 0; i < 20; ++i)
            m_folder->put(QString("m/%1.gguf").arg(i), chatModel("Model " + std::to_string(i), i + 1));
        m_folder->put("m/broken.gguf", "broken");
        ScanRequest cached = request(Store::Folder, "m");
        cached.cacheFile = m_folder->path("cache/headers.json");
        ScanReport first, second, third;
        const auto rows = rowsOf(cached, &first);
        QCOMPARE(first.headersRead, 21);
        const auto again = rowsOf(cached, &second);
        QCOMPARE(second.headersRead, 0);
        QCOMPARE(lines(again), lines(rows));
        for (qsizetype i = 0; i < rows.size(); ++i) {
            QCOMPARE(again[i].info.weight_bytes, rows[i].info.weight_bytes);
            QCOMPARE(again[i].info.memory.scratch_bytes_per_row, rows[i].info.memory.scratch_bytes_per_row);
            QCOMPARE(again[i].kind, rows[i].kind);
        }
        m_folder->put("m/3.gguf", chatModel("Changed", 99));
        QFile::remove(m_folder->path("m/4.gguf"));
        const auto changed = rowsOf(cached, &third);
        QCOMPARE(third.headersRead, 1);
        QCOMPARE(changed.size(), 20);
        QVERIFY(lines(changed).contains("Folder | Changed |  |  |  | openable"));
    }

    void aDamagedCacheIsNoCache_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("garbage") << QByteArray("{{{{");
        QTest::newRow("another form") << QByteArray("{\"form\": \"0/0\", \"headers\": {\"x\": 1}}");
        QTest::newRow("wrong kinds") << QByteArray("{\"form\": [], \"headers\": []}");
    }

    void aDamagedCacheIsNoCache()
    {
        QFETCH(QByteArray, bytes);
        m_folder->put("m/a.gguf", chatModel("A"));
        ScanRequest cached = request(Store::Folder, "m");
        cached.cacheFile = m_folder->put("headers.json", bytes);
        ScanReport report;
        QCOMPARE(rowsOf(cached, &report).size(), 1);
        QCOMPARE(report.headersRead, 1);
        QCOMPARE(rowsOf(cached, &report).size(), 1);
        QCOMPARE(report.headersRead, 0);
    }

    void aThousandFilesAreQuickTheSecondTime()
    {
        for (int i = 0; i < 1000; ++i)
            m_folder->put(QString("m/%1/%2.gguf").arg(i / 50).arg(i), chatModel("Model " + std::to_string(i)));
        ScanRequest cached = request(Store::Folder, "m");
        cached.cacheFile = m_folder->path("headers.json");
        QElapsedTimer clock;
        clock.start();
        QCOMPARE(rowsOf(cached).size(), 1000);
        const qint64 first = clock.restart();
        ScanReport report;
        QCOMPARE(rowsOf(cached, &report).size(), 1000);
        const qint64 second = clock.elapsed();
        QCOMPARE(report.headersRead, 0);
        qInfo("1000 files: %lld ms, then %lld ms", first, second);
        QVERIFY(second < 2000);
    }

    // ---- places ----

    void placesFollowTheEnvironment_data()
    {
        QTest::addColumn<int>("system");
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("place");
        const int l = int(Surroundings::System::Linux), w = int(Surroundings::System::Windows);
        const auto row = [](const char* name, int system, const char* variable, const char* value, const char* place) {
            QTest::newRow(name) << system << QString(variable) << QString(value) << QString(place);
        };
        row("Ollama", l, "", "", "/home/u/.ollama/models");
        row("Ollama's service", l, "", "", "/usr/share/ollama/.ollama/models");
        row("Ollama by variable", l, "OLLAMA_MODELS", "/big/ollama", "/big/ollama");
        row("a relative variable", l, "OLLAMA_MODELS", "models", "/home/u/.ollama/models");
        row("Hugging Face", l, "", "", "/home/u/.cache/huggingface/hub");
        row("Hugging Face's cache", l, "HF_HUB_CACHE", "/hf", "/hf");
        row("Hugging Face's home", l, "HF_HOME", "~/hf", "/home/u/hf/hub");
        row("the desktop's cache", l, "XDG_CACHE_HOME", "/c", "/c/huggingface/hub");
        row("LM Studio", l, "", "", "/home/u/.lmstudio/models");
        row("LM Studio before", l, "", "", "/home/u/.cache/lm-studio/models");
        row("LM Studio moved", l, "", "", "/moved/models");
        row("Jan", l, "", "", "/home/u/.local/share/Jan/data/llamacpp/models");
        row("GPT4All", l, "XDG_DATA_HOME", "/d", "/d/nomic.ai/GPT4All");
        row("llama.cpp", l, "", "", "/home/u/.cache/llama.cpp");
        row("llama.cpp by variable", l, "LLAMA_CACHE", "/l", "/l");
        row("Ollama on Windows", w, "", "", "C:/Users/u/.ollama/models");
        row("Ollama on Windows by variable", w, "OLLAMA_MODELS", "D:\\ollama", "D:/ollama");
        row("Jan on Windows", w, "APPDATA", "C:\\Users\\u\\R", "C:/Users/u/R/Jan/data/llamacpp/models");
        row("GPT4All on Windows", w, "", "", "C:/Users/u/AppData/Local/nomic.ai/GPT4All");
        row("llama.cpp on Windows", w, "LOCALAPPDATA", "E:\\L", "E:/L/llama.cpp");
        row("Hugging Face on Windows", w, "", "", "C:/Users/u/.cache/huggingface/hub");
    }

    void placesFollowTheEnvironment()
    {
        QFETCH(int, system);
        QFETCH(QString, variable);
        QFETCH(QString, value);
        QFETCH(QString, place);
        Surroundings here;
        here.system = Surroundings::System(system);
        here.home = here.system == Surroundings::System::Windows ? "C:/Users/u" : "/home/u";
        here.variable = [&](const char* name) { return variable == name ? value : QString(); };
        here.shortFileText = [&](const QString& file) {
            return file == here.home + "/.lmstudio-home-pointer" ? QString("/moved\n") : QString();
        };
        QStringList paths;
        for (const Place& known : placesOfOtherPrograms(here))
            paths.append(known.path);
        QVERIFY2(paths.contains(place), qPrintable(paths.join(' ')));
        QCOMPARE(QSet<QString>(paths.begin(), paths.end()).size(), paths.size());
    }
};

QTEST_GUILESS_MAIN(TestCatalogue)
#include "tst_catalogue.moc"
