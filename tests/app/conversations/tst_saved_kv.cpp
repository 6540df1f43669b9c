// Tests that a conversation goes on after a restart from its KV on the disk, with the real engine, and that this file
// is deleted with the conversation.
#include "app/chat/chat_controller.h"
#include "app/conversations/saved_kv.h"
#include "tests/support/conversations.h"
#include "tests/support/heard.h"
#include "tests/support/models.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

namespace {

/// The parts of a running program that save a conversation's KV and go on from it.
struct Running {
    Setting gib{QStringLiteral("gib"), Setting::Number{8, 0, 4096}, nullptr};
    ConversationStore store;
    EngineThread thread;
    OpenConversations open;
    TurnRunner turns;
    ChatController chat;
    ConversationsController conversations;
    SavedKv saved;

    explicit Running(const QString& folder)
        : store(folder)
        , thread(engine::make_engine)
        , open(store)
        , turns(thread, store, open, greedy())
        , chat(thread, store, open, turns)
        , conversations(store)
        , saved(thread, store, conversations, gib)
    {
        QObject::connect(&conversations, &ConversationsController::openRequested, &chat, &ChatController::open);
        load(engine::KvType::F16);
    }
    void load(engine::KvType type)
    {
        const Heard loaded(thread.worker(), &EngineWorker::loaded);
        engine::LoadRequest request;
        request.model = (test_support::own_models_folder() + "/llama.gguf").toStdString();
        request.kv_block_tokens = 16;
        request.k_type = request.v_type = type;
        request.threads = 1;
        thread.load(1, request, {});
        QTRY_COMPARE(loaded.size(), size_t(1));
        turns.onModelReady(loaded.at<1>(0));
    }
    static engine::Request greedy()
    {
        engine::Request request;
        request.sampling.temperature = 0;
        request.max_tokens = 20;
        return request;
    }
    /// Asks, and waits until the answer is there and saved.
    void ask(const QString& question)
    {
        int saved = 0;
        const auto connection =
            QObject::connect(thread.worker(), &EngineWorker::eventHappened, &chat,
                             [&](const engine::Event& event) { saved += event.kind == engine::Event::Kind::KvSaved; });
        QVERIFY(chat.turn()->send(question));
        QTRY_VERIFY_WITH_TIMEOUT(!chat.turn()->busy(), 30'000);
        QTRY_VERIFY_WITH_TIMEOUT(saved > 0 || gib.value() == 0, 30'000);
        QObject::disconnect(connection);
    }
};

}  // namespace

class TestSavedKv : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder;
    std::unique_ptr<Running> running;
    const QString question = "tell me of rivers and of lakes, of the sea and of the rain that falls on it";

    void restart()
    {
        running.reset();
        running = std::make_unique<Running>(folder->path());
    }
    QStringList files() const { return QDir(folder->filePath("kv")).entryList(QDir::Files); }
    QString fileOf(const QString& id) const { return folder->filePath("kv/" + id + ".kv"); }

private Q_SLOTS:
    void init()
    {
        folder = std::make_unique<QTemporaryDir>();
        restart();
    }
    void cleanup() { running.reset(); }

    void aConversationGoesOnAfterARestart()
    {
        running->ask(question);
        const QString id = running->chat.conversationId();
        QCOMPARE(running->chat.turn()->savedNote(), QString());  // a new one has nothing to restore
        QCOMPARE(files(), QStringList{id + ".kv"});

        restart();
        QVERIFY(running->chat.open(id));
        QSignalSpy changed(running->chat.turn(), &ChatTurn::savedNoteChanged);
        running->ask("more of it");
        QVERIFY(running->chat.turn()->savedNote().contains("were read back from the disk in"));
        QVERIFY(!running->chat.turn()->savedNote().contains("again"));
        QVERIFY(!changed.isEmpty());
        running->ask("and more");  // now it is in memory
        QCOMPARE(running->chat.turn()->savedNote(), QString());
        running->chat.newConversation();
        QCOMPARE(running->chat.turn()->savedNote(), QString());
    }

    void theWindowSaysWhyItWasReadAnew()
    {
        running->ask(question);
        const QString id = running->chat.conversationId();
        restart();
        QFile file(fileOf(id));
        QVERIFY(file.open(QFile::ReadWrite) && file.seek(200) && file.write("broken") == 6);
        file.close();
        QVERIFY(running->chat.open(id));
        running->ask("more of it");
        QVERIFY(running->chat.turn()->savedNote().contains("were computed again: the saved file was damaged."));

        restart();
        running->load(engine::KvType::Q8_0);
        QVERIFY(running->chat.open(id));
        running->ask("more of it");
        QVERIFY(running->chat.turn()->savedNote().contains("another kind of KV cache"));

        restart();
        running->load(engine::KvType::Q8_0);
        QVERIFY(QFile::remove(fileOf(id)));
        QVERIFY(running->chat.open(id));
        running->ask("more of it");
        QVERIFY(running->chat.turn()->savedNote().contains("nothing of it had been saved"));
    }

    void theFileGoesWithItsConversation()
    {
        running->ask(question);
        const QString id = running->chat.conversationId();
        running->conversations.remove(id);
        QTest::qWait(50);
        QVERIFY(QFile::exists(fileOf(id)));  // it can still be undone
        running->conversations.undo();
        QVERIFY(running->conversations.list()->rowOf(id) >= 0);
        running->conversations.remove(id);
        running->conversations.dismissUndo();
        QTRY_VERIFY(!QFile::exists(fileOf(id)));
    }

    void alsoWhenTheProgramEnds()
    {
        running->ask(question);
        const QString id = running->chat.conversationId();
        running->conversations.remove(id);
        running.reset();
        QVERIFY(!QFile::exists(fileOf(id)));
    }

    void whatNobodyKnowsIsSwept()
    {
        running->ask(question);
        const QString id = running->chat.conversationId();
        running.reset();
        QVERIFY(QFile::copy(fileOf(id), fileOf("of-nobody")));
        running = std::make_unique<Running>(folder->path());
        QTRY_VERIFY(!QFile::exists(fileOf("of-nobody")));
        QVERIFY(QFile::exists(fileOf(id)));
    }

    void noneIsKeptWhenNobodyWantsIt()
    {
        running->ask(question);
        QCOMPARE(files().size(), 1);
        running->gib.setValue(0);
        QTRY_COMPARE(files().size(), 0);
        running->ask("more of it");
        QTest::qWait(50);
        QCOMPARE(files().size(), 0);
        running->gib.setValue(1);
        running->ask("more of it");
        QCOMPARE(files().size(), 1);
    }
};

SPILLWAY_TEST(QApplication, TestSavedKv)
#include "tst_saved_kv.moc"
