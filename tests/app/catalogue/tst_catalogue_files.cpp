// Tests that the catalogue knows what each file is (a model, a part of one, a projector, a broken file), and does not
// read a file twice.
#include "tests/app/catalogue/catalogue_case.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>

using namespace test_support;

class TestCatalogueFiles : public CatalogueCase
{
    Q_OBJECT

private Q_SLOTS:
    void init() { begin(); }

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
        QVERIFY(clock.elapsed() < 60'000);
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

    void whatCannotBeOpenedIsNotPraisedBeside()
    {
        support::GgufWriter matrix;
        matrix.string("general.type", "imatrix").string("general.name", "Matrix");
        matrix.tensor("blk.0.attn_q.weight.in_sum2", 0, {4, 2}, support::GgufWriter::Bytes(32));
        m_folder->put("m/m-imatrix.gguf", matrix);
        m_folder->put("m/base.gguf", model("Base"));
        for (const ModelEntry& row : rowsOf(request(Store::Folder, "m"))) {
            QCOMPARE(row.openable(), row.title == "Base");
            QCOMPARE(row.notes.isEmpty(), !row.openable());
            QVERIFY(row.openable() || row.obstacle.contains("imatrix"));
        }
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
        m_folder->put("m/y.gguf.spillway-part", "half");
        ScanReport report;
        const auto rows = rowsOf(request(Store::Folder, "m"), &report);
        QCOMPARE(rows.size(), 3);
        QCOMPARE(report.places.first().unfinished, 3);
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

    // ---- the cache of headers ----

    void theSecondScanReadsNothing()
    {
        for (int i = 0; i < 20; ++i)
            m_folder->put(QString("m/%1.gguf").arg(i), chatModel("Model " + std::to_string(i), i + 1));
        m_folder->put("m/broken.gguf", "broken");
        QVERIFY(QFile::copy(SPILLWAY_SOURCE_DIR "/tests/data/models/lfm2.gguf", m_folder->path("m/lfm2.gguf")));
        ScanRequest cached = request(Store::Folder, "m");
        cached.cacheFile = m_folder->path("cache/headers.json");
        ScanReport first, second, third;
        const auto rows = rowsOf(cached, &first);
        QCOMPARE(first.headersRead, 22);
        const auto again = rowsOf(cached, &second);
        QCOMPARE(second.headersRead, 0);
        QCOMPARE(lines(again), lines(rows));
        for (qsizetype i = 0; i < rows.size(); ++i) {
            QCOMPARE(again[i].info.weight_bytes, rows[i].info.weight_bytes);
            QCOMPARE(again[i].info.memory.scratch_bytes_per_row, rows[i].info.memory.scratch_bytes_per_row);
            QCOMPARE(again[i].kind, rows[i].kind);
        }
        const auto hybrid =
            std::ranges::find(again, std::string("lfm2"), [](const ModelEntry& row) { return row.info.architecture; });
        QVERIFY(hybrid != again.end());
        QCOMPARE(hybrid->info.memory.recurrent_layers, 2);
        QCOMPARE(hybrid->info.memory.kv_layers, 1);
        QCOMPARE(hybrid->info.memory.kv_and_state_layers, 0);
        QCOMPARE(hybrid->info.memory.state_bytes, std::int64_t(2 * 2 * 32 * 4));
        m_folder->put("m/3.gguf", chatModel("Changed", 99));
        QFile::remove(m_folder->path("m/4.gguf"));
        const auto changed = rowsOf(cached, &third);
        QCOMPARE(third.headersRead, 1);
        QCOMPARE(changed.size(), 21);
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
};

SPILLWAY_TEST(QCoreApplication, TestCatalogueFiles)
#include "tst_catalogue_files.moc"
