// Tests that deleting a model removes its own files and no others, however folders and links lie, and names what could
// not be removed.
#include "app/catalogue/catalogue_controller.h"
#include "tests/app/catalogue/catalogue_case.h"
#include "tests/support/fake_engine.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDirIterator>
#include <QSignalSpy>
#include <QTest>

#include <filesystem>

using namespace test_support;
namespace fs = std::filesystem;

class TestModelRemoval : public CatalogueCase
{
    Q_OBJECT

    /// Files and links below the folder of this test.
    QStringList all() const
    {
        QStringList files;
        QDirIterator entries(m_folder->path(), QDir::Files | QDir::System | QDir::Hidden, QDirIterator::Subdirectories);
        while (entries.hasNext())
            files.append(entries.next().mid(m_folder->path().size() + 1));
        files.sort();
        return files;
    }
    ModelEntry row(Store store, const QString& below, const QString& title) const
    {
        for (const ModelEntry& entry : rowsOf(request(store, below)))
            if (entry.title == title)
                return entry;
        return {};
    }
    ModelRemoval plan(const ModelEntry& entry, const QStringList& folders = {}) const
    {
        return planRemoval(entry, folders, {});
    }
    /// Returns what is there before and not afterwards.
    QStringList gone(const ModelRemoval& removal) const
    {
        QStringList before = all();
        const QString trouble = removeModel(removal);
        if (!trouble.isEmpty())
            return {trouble};
        for (const QString& file : all())
            before.removeOne(file);
        return before;
    }
    QString inCache(const QString& file) const { return m_folder->path("hf/models--org--repo/" + file); }

private Q_SLOTS:
    void init() { begin(); }

    void aFileGoesAlone()
    {
        m_folder->put("m/a.gguf", chatModel("A"));
        m_folder->put("m/b.gguf", chatModel("B"));
        m_folder->put("m/mmproj-a.gguf", projector());
        m_folder->put("m/a.gguf.txt", "notes");
        const ModelRemoval removal = plan(row(Store::Folder, "m", "A"));
        QCOMPARE(removal.obstacle, "");
        QCOMPARE(removal.fileCount(), 1);
        QCOMPARE(removal.bytes, double(QFileInfo(m_folder->path("m/a.gguf")).size()));
        QCOMPARE(removal.shownFiles(), QStringList{"a.gguf"});
        QCOMPARE(removal.notes.size(), 1);
        QVERIFY(removal.notes.first().contains("mmproj-a.gguf"));
        QCOMPARE(gone(removal), QStringList{"m/a.gguf"});
        QVERIFY(plan(row(Store::Folder, "m", "B")).notes.isEmpty());
        QCOMPARE(plan(row(Store::Folder, "m", "B")).fileCount(), 1);
    }

    void allPartsGoAndNoOthers()
    {
        for (const char* part : {"big-00001-of-00004", "big-00002-of-00004", "big-00004-of-00004", "big-00001-of-00002",
                                 "bigger-00001-of-00004", "big"})
            m_folder->put(QString("m/%1.gguf").arg(part), chatModel(part));
        m_folder->put("m/sub/big-00003-of-00004.gguf", "another's");
        ModelEntry split;
        for (const ModelEntry& entry : rowsOf(request(Store::Folder, "m")))
            if (entry.path.endsWith("big-00001-of-00004.gguf"))
                split = entry;
        QVERIFY(!split.openable());  // a part is missing: to be got rid of all the same
        const ModelRemoval removal = plan(split);
        QCOMPARE(removal.shownFiles(),
                 QStringList({"big-00001-of-00004.gguf", "big-00002-of-00004.gguf", "big-00004-of-00004.gguf"}));
        QCOMPARE(gone(removal),
                 QStringList({"m/big-00001-of-00004.gguf", "m/big-00002-of-00004.gguf", "m/big-00004-of-00004.gguf"}));
        QCOMPARE(all().size(), 4);
    }

    void ofALinkOnlyTheLinkGoes()
    {
        m_folder->put("elsewhere/a.gguf", chatModel("A"));
        m_folder->link("m/a.gguf", m_folder->path("elsewhere/a.gguf"));
        const ModelRemoval removal = plan(row(Store::Folder, "m", "A"));
        QCOMPARE(removal.fileCount(), 0);
        QCOMPARE(removal.bytes, 0.0);
        QCOMPARE(removal.notes.size(), 1);
        QVERIFY2(removal.notes.first().contains("elsewhere/a.gguf"), qPrintable(removal.notes.first()));
        QCOMPARE(gone(removal), QStringList{"m/a.gguf"});
    }

    void ofALinkedFolderItSaysWhereItLies()
    {
        m_folder->put("elsewhere/a.gguf", chatModel("A"));
        m_folder->link("m", m_folder->path("elsewhere"));
        ModelEntry opened;
        opened.store = Store::Opened;
        opened.path = m_folder->path("m/a.gguf");
        const ModelRemoval removal = plan(opened);
        QCOMPARE(removal.notes.size(), 1);
        QVERIFY2(removal.notes.first().contains("it lies in “") && removal.notes.first().contains("elsewhere”"),
                 qPrintable(removal.notes.first()));
        QCOMPARE(gone(removal), QStringList{"elsewhere/a.gguf"});
    }

    void inACacheAllNamesOfTheBytesGo()
    {
        m_folder->put("hf/models--org--repo/blobs/aaa", chatModel("A"));
        m_folder->put("hf/models--org--repo/blobs/bbb", chatModel("B"));
        m_folder->put("hf/models--org--repo/refs/main", "r1");
        m_folder->link("hf/models--org--repo/snapshots/r1/a.gguf", "../../blobs/aaa");
        m_folder->link("hf/models--org--repo/snapshots/r1/b.gguf", "../../blobs/bbb");
        m_folder->link("hf/models--org--repo/snapshots/r2/a.gguf", "../../blobs/aaa");
        m_folder->link("hf/models--org--repo/snapshots/r2/sub/renamed.gguf", "../../../blobs/aaa");
        m_folder->link("m/mine.gguf", inCache("blobs/aaa"));
        m_folder->link("m/cache", m_folder->path("hf"));  // the very links by another way
        const ModelRemoval removal =
            plan(row(Store::HuggingFace, "hf", "A"), {m_folder->path("m"), m_folder->path("nowhere")});
        QCOMPARE(removal.fileCount(), 1);
        QCOMPARE(removal.bytes, double(QFileInfo(inCache("blobs/aaa")).size()));
        const QString notes = removal.notes.join(' ');
        QCOMPARE(notes.count("is a link to it"), 1);
        QVERIFY2(notes.contains("r2, r2/renamed.gguf") && notes.contains("fetch it again") &&
                     notes.contains("m/mine.gguf” is a link to it"),
                 qPrintable(notes));
        QCOMPARE(gone(removal),
                 QStringList({"hf/models--org--repo/blobs/aaa", "hf/models--org--repo/snapshots/r1/a.gguf",
                              "hf/models--org--repo/snapshots/r2/a.gguf",
                              "hf/models--org--repo/snapshots/r2/sub/renamed.gguf"}));
        QVERIFY(row(Store::HuggingFace, "hf", "B").openable());
        QVERIFY(!QFileInfo::exists(inCache("snapshots/r2/sub")));  // nothing else was in it
        QVERIFY(QFileInfo::exists(inCache("snapshots/r2")));       // which refs may name
    }

    // A cache that somebody else filled must not get at files outside of it.
    void whatACacheLeadsToOutsideStays()
    {
        m_folder->put("home/thesis.gguf", chatModel("Thesis"));
        m_folder->put("hf/models--org--other/blobs/ccc", chatModel("C"));
        m_folder->link("hf/models--org--repo/snapshots/r1/t.gguf", m_folder->path("home/thesis.gguf"));
        m_folder->link("hf/models--org--repo/snapshots/r1/c.gguf", m_folder->path("hf/models--org--other/blobs/ccc"));
        QCOMPARE(gone(plan(row(Store::HuggingFace, "hf", "Thesis"))),
                 QStringList{"hf/models--org--repo/snapshots/r1/t.gguf"});
        QCOMPARE(gone(plan(row(Store::HuggingFace, "hf", "C"))),
                 QStringList{"hf/models--org--repo/snapshots/r1/c.gguf"});
        // Nor by a folder that is a link.
        m_folder->link("hf/models--org--linked/snapshots/r1", m_folder->path("home"));
        const ModelRemoval removal = plan(row(Store::HuggingFace, "hf", "Thesis"));
        QVERIFY2(removal.obstacle.contains("home/thesis.gguf") && removal.files.isEmpty() && removal.names.isEmpty(),
                 qPrintable(removal.obstacle));
        QVERIFY(QFileInfo(m_folder->path("home/thesis.gguf")).isFile());
    }

    void aCacheWithoutLinks()
    {
        m_folder->put("hf/models--org--repo/snapshots/r1/a.gguf", chatModel("A"));
        m_folder->put("hf/models--org--repo/snapshots/r2/a.gguf", chatModel("A2"));
        QCOMPARE(gone(plan(row(Store::HuggingFace, "hf", "A"))),
                 QStringList{"hf/models--org--repo/snapshots/r1/a.gguf"});
    }

    void splitModelsInACache()
    {
        for (const char* part : {"1", "2"}) {
            const QString name = QString("s-0000%1-of-00002.gguf").arg(part);
            m_folder->put(QString("hf/models--org--repo/blobs/p%1").arg(part), "not a model");
            m_folder->link("hf/models--org--repo/snapshots/r1/" + name, QString("../../blobs/p%1").arg(part));
        }
        const QList<ModelEntry> rows = rowsOf(request(Store::HuggingFace, "hf"));
        QCOMPARE(rows.size(), 1);
        const ModelRemoval removal = plan(rows.first());
        QCOMPARE(removal.fileCount(), 2);
        QVERIFY2(removal.notes.size() == 1, qPrintable(removal.notes.join(' ')));  // no other names
        QCOMPARE(gone(removal).size(), 4);
    }

    void ollamasStay()
    {
        m_folder->blob('a', chatModel("ignored"));
        m_folder->manifest("registry.ollama.ai/library/llama3.2/3b", {{"model", "sha256:" + ModelFolder::digest('a')}});
        const ModelEntry ollamas = row(Store::Ollama, "ollama", "llama3.2:3b");
        QVERIFY(ollamas.openable());
        QVERIFY(plan(ollamas).obstacle.contains("ollama rm llama3.2:3b"));
        // The same file is not removed either where it was opened by its path; but a link to it that lies in the user's
        // folder is.
        ModelEntry opened;
        opened.store = Store::Opened;
        opened.path = ollamas.path;
        QVERIFY(!plan(opened).obstacle.isEmpty());
        m_folder->link("m/a.gguf", ollamas.path);
        QCOMPARE(gone(plan(row(Store::Folder, "m", "ignored"))), QStringList{"m/a.gguf"});
    }

    void saysWhatElseHasTheBytes()
    {
        const QString file = m_folder->put("m/a.gguf", chatModel("A"));
        fs::create_hard_link(file.toStdString(), m_folder->path("m/kept.bin").toStdString());
        const ModelRemoval removal = plan(row(Store::Folder, "m", "A"));
        QVERIFY(removal.notes.join(' ').contains("another name"));
        QCOMPARE(gone(removal), QStringList{"m/a.gguf"});
    }

    void whatResistsIsNamedAndTheRestStays()
    {
        m_folder->put("m/folder/inside.txt", "x");
        m_folder->put("m/z.gguf", chatModel("Z"));
        ModelRemoval removal;
        removal.files = {m_folder->path("m/folder"), m_folder->path("m/z.gguf")};
        const QStringList before = all();
        const QString trouble = removeModel(removal);
        QVERIFY2(trouble.contains("m/folder” could not be deleted: ") && trouble.endsWith('.'), qPrintable(trouble));
        QCOMPARE(all(), before);
        removal.files = {m_folder->path("m/not-there.gguf"), m_folder->path("m/z.gguf")};  // somebody was faster
        QCOMPARE(gone(removal), QStringList{"m/z.gguf"});
    }

    void aFolderThatMayNotBeChanged()
    {
        m_folder->put("m/a.gguf", chatModel("A"));
        const QString folder = m_folder->path("m");
        QFile::setPermissions(folder, QFile::ReadOwner | QFile::ExeOwner);
        const bool anyway = QFileInfo(folder).isWritable();  // root may all
        const ModelRemoval removal = plan(row(Store::Folder, "m", "A"));
        QFile::setPermissions(folder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        QCOMPARE(removal.obstacle.contains("no right"), !anyway);
    }

    void whatIsNotThereAnyMore()
    {
        const QString file = m_folder->put("m/a.gguf", chatModel("A"));
        const ModelEntry entry = row(Store::Folder, "m", "A");
        QFile::remove(file);
        QVERIFY(plan(entry).obstacle.contains("not there any more"));
    }

    // ---- from the page ----

    void askedOnceThenDone()
    {
        m_folder->put("lm/a.gguf", chatModel("A"));
        m_folder->put("lm/b.gguf", chatModel("B"));
        m_folder->put("lm/c.gguf", chatModel("C"));
        const auto script = std::make_shared<FakeScript>();
        EngineThread thread([script] { return std::make_unique<FakeEngine>(script); });
        ModelController opener(thread, [script](const auto& path, const auto&) { return inspect_fake(*script, path); },
                               {});
        CatalogueController::World world;
        world.inspect = engine::inspect_model;
        world.otherPlaces = [this] { return QList<StoreFolder>{{Store::LmStudio, m_folder->path("lm")}}; };
        world.memory = [] { return engine::MachineMemory{}; };
        world.usedFile = m_folder->path("state/used.json");
        CatalogueController catalogue(opener, world);
        catalogue.begin();
        QTRY_VERIFY(catalogue.scanned());
        QTRY_COMPARE(catalogue.total(), 3);
        ModelRemover& remover = *catalogue.remover();
        const QSignalSpy asked(&remover, &ModelRemover::question), removed(&remover, &ModelRemover::removed);
        const auto idOf = [this](const char* file) { return whereItLies(m_folder->path(QString("lm/") + file)); };

        // What is open stays, and what another part of the program needs.
        QVERIFY(catalogue.open(idOf("b.gguf")));
        QTRY_VERIFY(opener.current().known());
        remover.ask(idOf("b.gguf"));
        QTRY_VERIFY(catalogue.error().contains("is open"));
        remover.setInUse([](const QStringList& files) {
            return files.first().endsWith("c.gguf") ? QString("It is needed.") : QString();
        });
        remover.ask(idOf("c.gguf"));
        QTRY_COMPARE(catalogue.error(), "It is needed.");
        QVERIFY(asked.isEmpty());
        remover.confirm();  // to nothing
        remover.ask("no such row");
        QVERIFY(!remover.busy());
        remover.setInUse({});

        // Nothing goes before it is confirmed, nor what was not confirmed.
        remover.ask(idOf("c.gguf"));
        QTRY_COMPARE(asked.size(), 1);
        QCOMPARE(asked.first().first().value<ModelRemoval>().title, "C");
        m_folder->put("lm/c.gguf", chatModel("C", 40));
        remover.confirm();
        QTRY_COMPARE(removed.size(), 1);
        QVERIFY2(catalogue.error().contains("have changed meanwhile"), qPrintable(catalogue.error()));
        QVERIFY(QFileInfo(m_folder->path("lm/c.gguf")).isFile());

        // It was opened between question and answer.
        remover.ask(idOf("a.gguf"));
        QTRY_COMPARE(asked.size(), 2);
        QVERIFY(catalogue.open(idOf("a.gguf")));
        remover.confirm();
        QVERIFY(catalogue.error().contains("is open") && !remover.busy());
        QTRY_COMPARE(opener.current().name, "A");

        QVERIFY(std::ranges::any_of(catalogue.recent(), [](const RecentModel& m) { return m.title == "B"; }));
        remover.ask(idOf("b.gguf"));
        QTRY_COMPARE(asked.size(), 3);
        remover.confirm();
        remover.confirm();  // once is enough
        QTRY_COMPARE(removed.size(), 2);
        QVERIFY(!QFileInfo::exists(m_folder->path("lm/b.gguf")));
        QCOMPARE(catalogue.total(), 2);
        QVERIFY(std::ranges::none_of(catalogue.recent(), [](const RecentModel& m) { return m.title == "B"; }));
        QTRY_VERIFY(!catalogue.scanning());
        QCOMPARE(catalogue.total(), 2);
    }
};

SPILLWAY_TEST(QApplication, TestModelRemoval)
#include "tst_model_removal.moc"
