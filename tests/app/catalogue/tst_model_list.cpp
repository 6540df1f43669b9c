// Tests that the list of models follows the catalogue row by row, can be sorted and searched, and that its controller
// starts and ends the scans that fill it.
#include "app/catalogue/catalogue_controller.h"
#include "app/catalogue/last_used.h"
#include "app/catalogue/tell_apart.h"
#include "tests/app/catalogue/catalogue_case.h"
#include "tests/support/fake_engine.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QSignalSpy>
#include <QTest>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

ModelEntry entry(const QString& id, double bytes = 1, bool openable = true)
{
    ModelEntry e;
    e.id = e.title = id;
    e.path = "/models/" + id;
    e.kind = ModelKind::Chat;
    e.bytes = bytes;
    e.info.weight_bytes = std::int64_t(bytes);
    e.info.context_tokens = 4096;
    e.info.memory = {.kv_heads = 100, .key_numbers = 6400, .value_numbers = 6400};
    if (!openable)
        e.obstacle = "No.";
    return e;
}

QString titles(const QAbstractItemModel& model)
{
    QStringList all;
    for (int row = 0; row < model.rowCount(); ++row)
        all.append(model.index(row, 0).data().toString());
    return all.join(' ');
}

}  // namespace

class TestModelList : public QObject
{
    Q_OBJECT

    std::unique_ptr<ModelFolder> m_folder;
    std::shared_ptr<FakeScript> m_script;
    std::unique_ptr<EngineThread> m_thread;
    std::unique_ptr<ModelController> m_opener;
    std::unique_ptr<CatalogueController> m_catalogue;
    std::unique_ptr<QAbstractItemModelTester> m_tester;
    engine::MachineMemory m_memory;
    std::atomic<bool> m_noMemory = false;

    void makeCatalogue()
    {
        m_tester.reset();
        CatalogueController::World world;
        world.inspect = [this](const std::filesystem::path& path, const std::stop_token& stop) {
            if (m_noMemory)
                throw std::bad_alloc();
            return engine::inspect_model(path, stop);
        };
        world.otherPlaces = [this] { return QList<StoreFolder>{{Store::LmStudio, m_folder->path("lm")}}; };
        world.memory = [this] { return m_memory; };
        world.cacheFile = m_folder->path("cache/headers.json");
        world.usedFile = m_folder->path("state/used.json");
        m_catalogue = std::make_unique<CatalogueController>(*m_opener, world);
        m_tester = std::make_unique<QAbstractItemModelTester>(m_catalogue->models(),
                                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
    }
    void scan()
    {
        m_catalogue->rescan();
        QTRY_VERIFY(!m_catalogue->scanning());
    }
    QString idOf(const QString& title) const
    {
        const ShownModels& shown = *m_catalogue->models();
        for (int row = 0; row < shown.rowCount(); ++row)
            if (const auto e = shown.index(row, 0).data(ModelListModel::EntryRole).value<ModelEntry>();
                e.title == title)
                return e.id;
        return {};
    }
    QVariant roleOf(const QString& title, int role) const
    {
        const ShownModels& shown = *m_catalogue->models();
        for (int row = 0; row < shown.rowCount(); ++row)
            if (shown.index(row, 0).data().toString() == title)
                return shown.index(row, 0).data(role);
        return {};
    }

private Q_SLOTS:
    // The planner knows, soon after the page has asked, and anew for another device.
    void aRowSaysWhatShareOfTheExpertsADeviceHolds()
    {
        makeCatalogue();
        const QString folder = m_folder->path("m");
        QVERIFY(QDir().mkpath(folder));
        QVERIFY(QFile::copy(own_models_folder() + "/gpt-oss.gguf", folder + "/mixture.gguf"));
        QVERIFY(QFile::copy(own_models_folder() + "/llama.gguf", folder + "/dense.gguf"));
        m_catalogue->setFolders({folder});
        scan();
        const ShownModels& shown = *m_catalogue->models();
        QCOMPARE(shown.rowCount(), 2);
        const auto shares = [&] {
            QVariantList found;
            for (int row = 0; row < shown.rowCount(); ++row) {
                const QModelIndex at = shown.index(row, 0);
                m_catalogue->findExpertsOnDevice(at.data(ModelListModel::EntryRole).value<ModelEntry>().id);
                const QVariant share = at.data(ModelListModel::FitRole).value<ModelFit>().expertsOnDevice;
                if (share.isValid())
                    found.append(share);
            }
            return found;
        };
        QCOMPARE(shares(), QVariantList());  // there is no device
        engine::LoadRequest request;
        request.context_tokens = 512;
        request.prefill_chunk_tokens = 32;
        request.placement.device = engine::PlacementOptions::Device::Emulated;
        request.placement.emulated.fit_tokens = 256;
        m_catalogue->setLoadRequest(request);
        QTRY_COMPARE(shares(), QVariantList{1.0});  // none for the dense model
        request.placement.host_expert_layers = 1;
        m_catalogue->setLoadRequest(request);
        QTRY_COMPARE(shares(), QVariantList{0.5});
        request.placement = {};
        m_catalogue->setLoadRequest(request);
        QTRY_COMPARE(shares(), QVariantList());
    }

    void namesakesAreToldApart()
    {
        QCOMPARE(tellApart({{"a", "/x/a.gguf"}, {"b", "/x/b.gguf"}}), QStringList({"", ""}));
        QCOMPARE(tellApart({{"a", "/x/a-q4.gguf"}, {"a", "/x/a-q8.gguf"}, {"b", "/x/b.gguf"}}),
                 QStringList({"a-q4.gguf", "a-q8.gguf", ""}));
        QCOMPARE(tellApart({{"a", "/x/a.gguf"}, {"a", "/y/a.gguf"}, {"a", "/y/b.gguf"}}),
                 QStringList({"/x/a.gguf", "/y/a.gguf", "b.gguf"}));
        const QString one = "http://127.0.0.1:8080/#%2Fx%2Fa.gguf", two = "http://127.0.0.1:8080/#%2Fy%2Fa.gguf";
        QCOMPARE(tellApart({{"a", "/x/a.gguf"}, {"a", one, "Workshop"}}), QStringList({"a.gguf", "Workshop"}));
        QCOMPARE(tellApart({{"a", one, "Workshop"}, {"a", two, "Workshop"}}),
                 QStringList({"Workshop: /x/a.gguf", "Workshop: /y/a.gguf"}));
    }

    void whatWasOpenedIsKeptWithItsName()
    {
        const QTemporaryDir folder;
        const QString file = folder.filePath("used.json");
        {
            LastUsed used(file);
            used.note({"/blobs/1", "/models/one.gguf", "One", 1000});
            used.note({"/blobs/2", "/models/two.gguf", "Two", 2000});
        }
        const QList<UsedModel> kept = LastUsed(file).newest(8);
        QCOMPARE(kept.size(), 2);
        QCOMPARE(kept.first().title, "Two");
        QCOMPARE(kept.first().path, "/models/two.gguf");
        QCOMPARE(kept.last().id, "/blobs/1");
        QCOMPARE(LastUsed(file).newest(1).size(), 1);

        // Earlier versions kept the times only.
        QFile old(file);
        QVERIFY(old.open(QFile::WriteOnly));
        old.write(
            R"({"/models/old.gguf": "2026-01-02T03:04:05.000Z", "/models/never.gguf": "soon", "/models/odd.gguf": 7})");
        old.close();
        const QList<UsedModel> read = LastUsed(file).newest(8);
        QCOMPARE(read.size(), 1);
        QCOMPARE(read.first().title, "old");
        QCOMPARE(read.first().path, "/models/old.gguf");
        QCOMPARE(LastUsed(file).msById().value("/models/old.gguf"), read.first().ms);
    }

    void init()
    {
        m_folder = std::make_unique<ModelFolder>();
        m_memory = {std::int64_t(16) << 30, std::int64_t(8) << 30};
        m_script = std::make_shared<FakeScript>();
        m_thread = std::make_unique<EngineThread>([this] { return std::make_unique<FakeEngine>(m_script); });
        m_opener = std::make_unique<ModelController>(
            *m_thread, [script = m_script](const auto& path, const auto&) { return inspect_fake(*script, path); },
            engine::LoadRequest());
        makeCatalogue();
    }

    void cleanup()
    {
        m_tester.reset();
        m_catalogue.reset();
        m_opener.reset();
        m_thread.reset();
    }

    /// What is thrown on the thread of the scan ends the scan and nothing else.
    void aScanWithoutMemoryEnds()
    {
        m_folder->put("lm/a.gguf", chatModel("A"));
        m_noMemory = true;
        scan();
        QCOMPARE(m_catalogue->total(), 0);
        m_noMemory = false;
        scan();
        QCOMPARE(m_catalogue->total(), 1);
    }

    // ---- the models ----

    void rowsAreAddedReplacedAndRemoved()
    {
        ModelListModel models;
        ShownModels shown(models);
        const QAbstractItemModelTester tester(&models, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QAbstractItemModelTester shownTester(&shown, QAbstractItemModelTester::FailureReportingMode::QtTest);
        models.beginScan();
        models.add({entry("b"), entry("a")});
        models.add({entry("c"), entry("c"), entry("a", 5)});  // twice in a batch; again
        models.finishScan();
        QCOMPARE(titles(shown), "a b c");
        QCOMPARE(models.entry(models.rowOf("a")).bytes, 5.0);
        models.beginScan();
        models.add({entry("d"), entry("b")});
        QCOMPARE(titles(shown), "a b c d");  // what is not found again goes when the scan has ended, not before
        models.finishScan();
        QCOMPARE(titles(shown), "b d");
        QCOMPARE(models.rowOf("d"), 1);
        QCOMPARE(models.rowOf("a"), -1);
    }

    void ordersAndWords()
    {
        ModelListModel models;
        ShownModels shown(models);
        const QAbstractItemModelTester tester(&shown, QAbstractItemModelTester::FailureReportingMode::QtTest);
        models.setLastUsed({{"mid", 2000}, {"old", 1000}});
        models.beginScan();
        models.add({entry("alpha", 3), entry("mid", 9), entry("old", 1), entry("aaa-broken", 99, false)});
        models.finishScan();
        QCOMPARE(titles(shown), "mid old alpha aaa-broken");
        models.setLastUsed({{"alpha", 3000}});
        QCOMPARE(titles(shown), "alpha mid old aaa-broken");
        shown.setOrder(ShownModels::BySize);
        QCOMPARE(titles(shown), "mid alpha old aaa-broken");
        shown.setOrder(ShownModels::ByName);
        QCOMPARE(titles(shown), "alpha mid old aaa-broken");
        QSignalSpy count(&shown, &ShownModels::countChanged);
        shown.setText("  AL ph ");
        QCOMPARE(titles(shown), "alpha");
        QVERIFY(!count.isEmpty());
        shown.setText("folder m");  // the store's name counts
        QCOMPARE(titles(shown), "mid");
        shown.setText("(");
        QCOMPARE(shown.count(), 0);
        shown.setText("");
        QCOMPARE(shown.count(), 4);
    }

    void verdictsFollowMemoryAndSettings()
    {
        ModelListModel models;
        models.beginScan();
        models.add({entry("m", 4e9), entry("no", 1, false)});
        models.finishScan();
        const auto fit = [&](int row) { return models.index(row).data(ModelListModel::FitRole).value<ModelFit>(); };
        QCOMPARE(fit(0).verdict, Fit::Unknown);
        QSignalSpy changed(&models, &QAbstractItemModel::dataChanged);
        models.setMemory({}, {std::int64_t(16e9), std::int64_t(8e9)});
        QCOMPARE(fit(0).verdict, Fit::Fits);
        QCOMPARE(fit(0).weightBytes, 4e9);
        QCOMPARE(fit(0).kvBytes, 4096.0 * 100 * 128 * 2);
        QCOMPARE(fit(1).verdict, Fit::Unknown);
        QCOMPARE(changed.size(), 1);
        models.setMemory({}, {std::int64_t(16e9), std::int64_t(8e9)});
        QCOMPARE(changed.size(), 1);
        engine::LoadRequest half;
        half.k_type = half.v_type = engine::KvType::Q8_0;
        models.setMemory(half, {std::int64_t(16e9), std::int64_t(8e9)});
        QCOMPARE(fit(0).kvBytes, 4096.0 * 100 * (64 + 4) * 2);
        models.setMemory(half, {std::int64_t(16e9), std::int64_t(3e9)});
        QCOMPARE(fit(0).verdict, Fit::DoesNotFit);
    }

    /// What layers that keep a state of fixed size save, in numbers worked out by hand.
    void statesOfFixedSizeAreWorthWhatTheySave()
    {
        engine::ModelInfo info;
        info.context_tokens = 262144;
        info.layers = 32;
        // Every fourth layer keeps 2 heads of 256 numbers each way, the other 24 a state of 1 MB.
        info.memory = {.kv_heads = 8 * 2, .key_numbers = 8 * 512, .value_numbers = 8 * 512};
        info.memory.kv_layers = 8;
        info.memory.recurrent_layers = 24;
        info.memory.state_bytes = 24'000'000;
        const FixedState hybrid(info, {});
        QCOMPARE(hybrid.layers, 24);
        QCOMPARE(hybrid.ofLayers, 32);
        QCOMPARE(hybrid.tokens, 131072);   // 128K, though it was made for more
        QCOMPARE(hybrid.bytes, 8 * 24e6);  // with six checkpoints
        QCOMPARE(hybrid.conversationBytes, 131072.0 * 8 * 1024 * 2 + 8 * 24e6);
        QCOMPARE(hybrid.withoutBytes, 131072.0 * 32 * 1024 * 2);
        QVERIFY(hybrid.saves() && !hybrid.besideKv);

        engine::LoadRequest half;
        half.k_type = half.v_type = engine::KvType::Q8_0;
        QVERIFY(FixedState(info, half).withoutBytes < hybrid.withoutBytes * 0.6);

        info.context_tokens = 1024;  // too short for it to pay
        QVERIFY(!FixedState(info, {}).saves());
        info.context_tokens = 131072;
        info.memory.recurrent_layers = info.memory.kv_and_state_layers = 8;  // as many as attend, and the same
        QVERIFY(FixedState(info, {}).besideKv && !FixedState(info, {}).saves());
        info.memory.kv_and_state_layers = info.memory.kv_layers = 0;  // no layer attends
        info.memory.kv_heads = info.memory.key_numbers = info.memory.value_numbers = 0;
        QCOMPARE(FixedState(info, {}).conversationBytes, 8 * 24e6);
        QVERIFY(!FixedState(info, {}).saves());
        info.memory.recurrent_layers = 0;
        QCOMPARE(FixedState(info, {}), FixedState());
    }

    // ---- the controller ----

    void aFirstScanStreamsAndEnds()
    {
        m_folder->put("lm/org/repo/Tiny.gguf", chatModel("Tiny"));
        QVERIFY(!m_catalogue->scanned());
        m_catalogue->begin();
        QVERIFY(m_catalogue->scanning());
        QTRY_VERIFY(m_catalogue->scanned());
        QCOMPARE(m_catalogue->total(), 1);
        QCOMPARE(m_catalogue->places().size(), 1);
        QCOMPARE(m_catalogue->places().first().models, 1);
        m_catalogue->begin();  // once is enough
        QVERIFY(!m_catalogue->scanning());
    }

    void theUsersFoldersComeAndGo()
    {
        m_folder->put("mine/Mine.gguf", chatModel("Mine"));
        m_catalogue->setFolders({m_folder->path("mine")});
        QVERIFY(!m_catalogue->scanning());  // nobody has asked yet
        scan();
        QCOMPARE(m_catalogue->total(), 1);
        QCOMPARE(m_catalogue->places().last().path, m_folder->path("mine"));
        QVERIFY(m_catalogue->places().last().own);
        m_catalogue->setFolders({});
        QTRY_VERIFY(!m_catalogue->scanning());
        QCOMPARE(m_catalogue->total(), 0);
        QVERIFY(QFileInfo::exists(m_folder->path("mine/Mine.gguf")));
    }

    // A folder that was added and brings nothing is a sentence until a model comes into it; one to fetch into is none.
    void anEmptyFolderIsSaid()
    {
        QVERIFY(QDir().mkpath(m_folder->path("empty")) && QDir().mkpath(m_folder->path("fetched")));
        scan();
        m_catalogue->setFolders({m_folder->path("fetched")}, m_folder->path("fetched"));
        QTRY_VERIFY(!m_catalogue->scanning());
        QCOMPARE(m_catalogue->error(), "");
        m_catalogue->setFolders({m_folder->path("fetched"), m_folder->path("empty")}, m_folder->path("fetched"));
        QTRY_VERIFY(!m_catalogue->scanning());
        QVERIFY2(m_catalogue->error().startsWith("There is no model in"), qPrintable(m_catalogue->error()));
        m_catalogue->rescan();
        QTRY_VERIFY(!m_catalogue->scanning());
        QVERIFY(!m_catalogue->error().isEmpty());
        m_folder->put("empty/Mine.gguf", chatModel("Mine"));
        m_catalogue->rescan();
        QTRY_VERIFY(!m_catalogue->scanning());
        QCOMPARE(m_catalogue->error(), "");
    }

    // The folder is looked into also where it is none of the user's folders, such as one that was taken off their list.
    void whereFetchedModelsGoIsLookedInto()
    {
        m_folder->put("fetched/Fetched.gguf", chatModel("Fetched"));
        scan();
        m_catalogue->setFolders({}, m_folder->path("fetched"));
        QTRY_VERIFY(!m_catalogue->scanning());
        QCOMPARE(m_catalogue->total(), 1);
        const ModelPlace place = m_catalogue->places().last();
        QVERIFY(place.path == m_folder->path("fetched") && place.there && !place.own);
        QCOMPARE(place.note, "what is fetched goes there");
        m_catalogue->setFolders({});
        QTRY_VERIFY(!m_catalogue->scanning());
        QCOMPARE(m_catalogue->total(), 0);
    }

    void whetherAPlaceIsThereTheScanKnows()
    {
        m_catalogue->setFolders({m_folder->path("nowhere")});
        QVERIFY(m_catalogue->places().last().there);  // nobody has looked: a share may take its time
        scan();
        QVERIFY(!m_catalogue->places().last().there);
        m_folder->put("mine/Mine.gguf", chatModel("Mine"));
        m_catalogue->setFolders({m_folder->path("mine")});
        QTRY_VERIFY(!m_catalogue->scanning());
        QVERIFY(m_catalogue->places().last().there);
    }

    void aDamagedListOfUsesIsEmpty()
    {
        m_folder->put("state/used.json", "{{{");
        makeCatalogue();
        m_folder->put("lm/A.gguf", chatModel("A"));
        scan();
        QCOMPARE(roleOf("A", ModelListModel::LastUsedRole).toDouble(), 0.0);
    }

    void whatIsOpenedIsMarkedAndRemembered()
    {
        m_folder->put("lm/org/a/A.gguf", chatModel("A"));
        m_folder->put("lm/org/b/B.gguf", chatModel("B"));
        scan();
        QCOMPARE(titles(*m_catalogue->models()), "A B");
        QVERIFY(m_catalogue->open(idOf("B")));
        QTRY_COMPARE(m_opener->current().name, "B");
        QVERIFY(roleOf("B", ModelListModel::OpenRole).toBool());
        QVERIFY(!roleOf("A", ModelListModel::OpenRole).toBool());
        QVERIFY(roleOf("B", ModelListModel::LastUsedRole).toDouble() > 1e12);
        QCOMPARE(titles(*m_catalogue->models()), "B A");
        makeCatalogue();
        scan();
        QCOMPARE(titles(*m_catalogue->models()), "B A");
    }

    // What a page opens by its file is called as its row is.
    void aFileIsOpenedByTheNameOfItsRow()
    {
        const QString known = m_folder->put("lm/org/a/file-Q8_0.gguf", chatModel("Its own name"));
        const QString strange = m_folder->put("elsewhere/other-Q8_0.gguf", chatModel("Other"));
        scan();
        m_catalogue->openFile(known, "file-Q8_0");
        QTRY_COMPARE(m_opener->current().path, known);
        QCOMPARE(m_opener->current().name, "Its own name");
        m_catalogue->openFile(strange, "other-Q8_0");
        QTRY_COMPARE(m_opener->current().path, strange);
        QCOMPARE(m_opener->current().name, "other-Q8_0");
    }

    // It may be on a share that no longer answers.
    void whatIsOpenIsKnownWithoutTheDisk()
    {
        const QString path = m_folder->put("elsewhere/A.gguf", chatModel("A"));
        m_catalogue->openFile(path, "A");
        QTRY_COMPARE(m_opener->current().path, path);
        const QString id = m_catalogue->openId();
        QCOMPARE(id, whereItLies(path));
        QVERIFY(QFile::remove(path));
        scan();
        m_opener->onDevice("another");
        QCOMPARE(m_catalogue->openId(), id);
    }

    void whatCannotBeOpenedSaysWhy()
    {
        m_folder->put("lm/x/Broken.gguf", "broken");
        const QString gone = m_folder->put("lm/x/broken-later.gguf", chatModel("Gone"));  // the opener can't read it
        scan();
        QVERIFY(!m_catalogue->open(idOf("Broken")));
        QVERIFY(m_catalogue->error().contains("GGUF"));
        QVERIFY(QFile::remove(gone));
        QVERIFY(m_catalogue->open(idOf("Gone")));  // a share may take its time to say that it is not there
        QTRY_VERIFY(!m_opener->error().isEmpty());
        QTRY_COMPARE(m_catalogue->total(), 1);
        QVERIFY(!m_catalogue->open("/no/such/id"));
    }

    void aRescanInTheMiddleStartsAgain()
    {
        for (int i = 0; i < 300; ++i)
            m_folder->put(QString("lm/%1.gguf").arg(i), chatModel("M" + std::to_string(i)));
        for (int i = 0; i < 5; ++i)
            m_catalogue->rescan();
        QTRY_VERIFY(!m_catalogue->scanning());
        QCOMPARE(m_catalogue->total(), 300);
        m_catalogue->rescan();
        m_catalogue->cancelScan();
        QTRY_VERIFY(!m_catalogue->scanning());
        QCOMPARE(m_catalogue->total(), 300);  // what was known stays
        m_catalogue->rescan();
        m_tester.reset();
        m_catalogue.reset();  // in the middle of a scan
        QTest::qWait(50);
    }

    void fitFollowsTheRequest()
    {
        m_folder->put("lm/A.gguf", chatModel("A"));
        scan();
        const auto fit = [&] { return roleOf("A", ModelListModel::FitRole).value<ModelFit>(); };
        QCOMPARE(fit().verdict, Fit::Fits);
        QCOMPARE(fit().contextTokens, 4096);
        engine::LoadRequest request;
        request.context_tokens = 1 << 24;
        m_catalogue->setLoadRequest(request);
        QCOMPARE(fit().contextTokens, 1 << 24);
        QCOMPARE(fit().verdict, Fit::FitsWithLessContext);
        m_memory.available_bytes = 1000;
        m_catalogue->measure();
        QCOMPARE(fit().verdict, Fit::DoesNotFit);
        QCOMPARE(m_catalogue->availableBytes(), 1000.0);
    }

    void thePathCanBeCopied()
    {
        const QString path = m_folder->put("lm/A.gguf", chatModel("A"));
        scan();
        m_catalogue->copyPath(idOf("A"));
        QCOMPARE(QGuiApplication::clipboard()->text(), path);
    }
};

SPILLWAY_TEST(QApplication, TestModelList)
#include "tst_model_list.moc"
