// Tests that small models which fit a large one are offered to draft for it, that the choice is kept, and that the
// chosen one is loaded with it.
#include "app/catalogue/draft_models.h"
#include "app/catalogue/model_controller.h"
#include "tests/app/catalogue/catalogue_case.h"
#include "tests/support/fake_engine.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

#include <atomic>

using namespace test_support;

class TestDraftModels : public QObject
{
    Q_OBJECT

    std::unique_ptr<ModelFolder> m_folder;
    std::shared_ptr<FakeScript> m_script;
    std::unique_ptr<EngineThread> m_thread;
    std::unique_ptr<ModelController> m_opener;
    ModelListModel* m_list = nullptr;
    std::unique_ptr<DraftModels> m_drafts;
    std::atomic<int> m_asked = 0;

    ModelEntry entry(const QString& id, std::int64_t bytes, int vocabulary = 1000,
                     const std::string& tokenizer = "gpt2") const
    {
        ModelEntry e;
        e.id = e.title = id;
        e.path = m_folder->put(id + ".gguf", QByteArray("x"));
        e.kind = ModelKind::Chat;
        e.info.weight_bytes = bytes;
        e.info.vocabulary = vocabulary;
        e.info.tokenizer = tokenizer;
        e.info.memory = {.kv_heads = 1, .key_numbers = 16, .value_numbers = 16};
        return e;
    }
    void makeDrafts()
    {
        m_drafts.reset();
        const auto may = [this](const std::filesystem::path&, const std::filesystem::path& draft) {
            ++m_asked;
            return draft.stem() != "stranger";
        };
        m_drafts = std::make_unique<DraftModels>(*m_list, *m_opener, may, m_folder->path("drafts.json"));
    }
    QStringList offersAfterALook(const QString& id)
    {
        QSignalSpy changed(m_drafts.get(), &DraftModels::changed);
        m_drafts->look(id);
        if (changed.isEmpty() && !changed.wait())
            return {"nothing came"};
        return m_drafts->offers(id);
    }

private Q_SLOTS:
    void init()
    {
        m_asked = 0;
        m_folder = std::make_unique<ModelFolder>();
        m_script = std::make_shared<FakeScript>();
        m_thread = std::make_unique<EngineThread>([this] { return std::make_unique<FakeEngine>(m_script); });
        m_opener = std::make_unique<ModelController>(
            *m_thread, [this](const auto& path, const auto&) { return inspect_fake(*m_script, path); },
            engine::LoadRequest());
        m_list = new ModelListModel(m_opener.get());
        makeDrafts();
        ModelEntry server = entry("server", 1);
        server.store = Store::Server;
        ModelEntry embedding = entry("embedding", 1);
        embedding.kind = ModelKind::Embedding;
        m_list->add({entry("large", 1000), entry("half", 501), entry("small", 100), entry("tiny", 50, 900),
                     entry("stranger", 100), entry("few", 100, 500), entry("spm", 100, 1000, "llama"), server,
                     embedding});
    }
    void cleanup()
    {
        m_drafts.reset();
        m_opener.reset();
        m_thread.reset();
    }

    /// Models are offered that are much smaller and have the same kind of vocabulary. The vocabularies are compared
    /// once.
    void siblingsAreOffered()
    {
        QVERIFY(m_drafts->offers("large").isEmpty());
        QCOMPARE(offersAfterALook("large"), QStringList({"tiny", "small"}));
        QCOMPARE(m_asked, 3);
        m_drafts->look("large");
        QCOMPARE(m_drafts->offers("large").size(), 2);
        QTest::qWait(20);
        QCOMPARE(m_asked, 3);
        m_drafts->look("tiny");
        QVERIFY(m_drafts->offers("tiny").isEmpty());
        QVERIFY(m_drafts->offers("nobody").isEmpty());
    }

    /// Whoever hears that a row has gone may ask at once about one that came after it.
    void offersHoldWhileAnotherModelGoes()
    {
        m_list->add({entry("huge", 1000), entry("last", 10)});
        const QStringList offers = offersAfterALook("huge");
        QCOMPARE(offers, QStringList({"last", "tiny", "small"}));
        QStringList meanwhile;
        connect(m_drafts.get(), &DraftModels::changed, this, [&] { meanwhile = m_drafts->offers("huge"); });
        m_list->remove("few");
        QCOMPARE(meanwhile, offers);
    }

    void theChoiceIsKept()
    {
        offersAfterALook("large");
        QCOMPARE(m_drafts->chosen("large"), -1);
        QSignalSpy chose(m_drafts.get(), &DraftModels::chose);
        m_drafts->choose("large", 1);
        QCOMPARE(chose.count(), 1);
        QCOMPARE(m_drafts->chosen("large"), 1);
        QCOMPARE(m_drafts->draftOf(m_folder->path("large.gguf")), m_folder->path("small.gguf"));

        makeDrafts();  // the program is started again: nothing is compared yet
        QCOMPARE(m_drafts->offers("large"), QStringList{"small"});
        QCOMPARE(m_drafts->chosen("large"), 0);
        QVERIFY(QFile::remove(m_folder->path("small.gguf")));  // its share may be back soon
        QCOMPARE(m_drafts->draftOf(m_folder->path("large.gguf")), m_folder->path("small.gguf"));
        m_drafts->choose("large", -1);
        makeDrafts();
        QCOMPARE(m_drafts->chosen("large"), -1);
    }

    /// The smallest model is suggested that finds room beside the large one. Which models may guess is known a moment
    /// after somebody asked first.
    void oneIsSuggestedWhileThereIsMemory()
    {
        engine::LoadRequest request;
        request.model = m_folder->path("large.gguf").toStdString();
        request.context_tokens = 2048;
        const auto suggested = [&](std::int64_t bytes) {
            engine::MachineMemory memory;
            memory.available_bytes = engine::kMemoryMarginBytes + bytes;
            const auto found = m_drafts->suggested(request, memory);
            return found ? found->title : QString();
        };
        QSignalSpy changed(m_drafts.get(), &DraftModels::changed);
        QCOMPARE(suggested(10'000'000), QString());
        QVERIFY(!changed.isEmpty() || changed.wait());
        QCOMPARE(suggested(10'000'000), QStringLiteral("tiny"));
        const engine::ModelInfo tiny = m_list->entry(m_list->rowOf("tiny")).info;
        const engine::ModelInfo large = m_list->entry(m_list->rowOf("large")).info;
        const std::int64_t need = engine::memory_need(large, request, &tiny).total();
        QCOMPARE(suggested(need), QStringLiteral("tiny"));
        QCOMPARE(suggested(need - 1), QString());
        QVERIFY(!m_drafts->suggested(request, {}));  // nobody knows how much there is

        m_drafts->chooseFile(m_folder->path("large.gguf"), m_folder->path("small.gguf"));
        QCOMPARE(m_drafts->chosen("large"), 1);
        QCOMPARE(suggested(10'000'000), QString());  // the user has chosen
        m_drafts->chooseFile(m_folder->path("large.gguf"), {});
        QCOMPARE(suggested(10'000'000), QStringLiteral("tiny"));
        request.model = "/elsewhere.gguf";
        QCOMPARE(suggested(10'000'000), QString());
    }

    void aModelIsLoadedWithIt()
    {
        offersAfterALook("large");
        m_drafts->choose("large", 0);
        m_opener->openAndLoad(m_folder->path("large.gguf"));
        QTRY_VERIFY(m_opener->current().known());
        QCOMPARE(m_script->loads().back().draft_model,
                 std::filesystem::path(m_folder->path("tiny.gguf").toStdString()));
        QVERIFY(!m_drafts->opensOtherwise());
        m_drafts->choose("large", -1);
        QVERIFY(m_drafts->opensOtherwise());
        m_opener->reload();
        QTRY_VERIFY(m_script->loads().size() == 2 && m_opener->current().known());
        QVERIFY(m_script->loads().back().draft_model.empty());
        QVERIFY(!m_drafts->opensOtherwise());

        m_drafts->choose("large", 0);
        QVERIFY(QFile::remove(m_folder->path("tiny.gguf")));
        m_opener->reload();
        QTRY_VERIFY(m_script->loads().size() == 3 && m_opener->current().known());
        QVERIFY(m_script->loads().back().draft_model.empty());
        QVERIFY(!m_drafts->opensOtherwise());  // nothing else would be opened now
    }
};

SPILLWAY_TEST(QCoreApplication, TestDraftModels)
#include "tst_draft_models.moc"
