// Makes a chat controller on the fake engine and a store of its own, for tests.
#pragma once

#include "app/chat/chat_controller.h"
#include "tests/support/fake_engine.h"
#include "tests/support/heard.h"

#include <QAbstractItemModelTester>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

/// Lives as long as a test function. Used on the test's thread.
struct ChatBench {
    static constexpr int kRest_ms = 20;  // after which a draft is saved and a prompt counted

    std::shared_ptr<FakeScript> script = std::make_shared<FakeScript>();
    QTemporaryDir folder;
    std::unique_ptr<EngineThread> thread;
    std::unique_ptr<ConversationStore> store;
    std::unique_ptr<OpenConversations> open;
    std::unique_ptr<TurnRunner> turns;
    std::unique_ptr<ChatController> chat;

    ChatBench() { start(); }
    ~ChatBench() { end(); }

    void start()
    {
        thread = std::make_unique<EngineThread>([this] { return std::make_unique<FakeEngine>(script); });
        store = std::make_unique<ConversationStore>(folder.path());
        engine::Request options;
        options.sampling.temperature = 0;
        open = std::make_unique<OpenConversations>(*store);
        turns = std::make_unique<TurnRunner>(*thread, *store, *open, options);
        chat = std::make_unique<ChatController>(*thread, *store, *open, *turns);
        chat->setDraftRest(kRest_ms);
        chat->context()->setCountRest(kRest_ms);
        new QAbstractItemModelTester(chat->messages(), QAbstractItemModelTester::FailureReportingMode::QtTest,
                                     chat.get());
    }
    /// Destroys all in the order in which the program does so at its end.
    void end()
    {
        chat.reset();
        turns.reset();
        open.reset();
        store.reset();
        thread.reset();
    }

    void openModel(int contextTokens = 0)
    {
        const Heard loaded(thread->worker(), &EngineWorker::loaded);
        thread->load(1, {.model = "m.gguf", .context_tokens = contextTokens}, {});
        QTRY_COMPARE(loaded.size(), size_t(1));
        turns->onModelReady(loaded.at<1>(0));
    }
    QVariant at(int row, int role) const
    {
        const MessageModel* messages = chat->messages();
        return messages->data(messages->index(row), role);
    }
    QVariant last(int role) const { return at(chat->messages()->count() - 1, role); }
    QString lastText() const { return last(MessageModel::TextRole).toString(); }
    QString lastId() const { return last(MessageModel::MessageIdRole).toString(); }
    QString idAt(int row) const { return at(row, MessageModel::MessageIdRole).toString(); }
    MessageModel::Status lastStatus() const { return MessageModel::Status(last(MessageModel::StatusRole).toInt()); }
    QStringList texts() const
    {
        QStringList all;
        for (int row = 0; row < chat->messages()->count(); ++row)
            all += at(row, MessageModel::TextRole).toString();
        return all;
    }
    void says(const std::string& words)
    {
        script->change([&](FakeScript::Settings& settings) { settings.words = {words}; });
    }
    /// Lets answers take longer than any test waits.
    void saysForever()
    {
        script->change([](FakeScript::Settings& settings) {
            settings.words.assign(100'000, "w ");
            settings.per_token = std::chrono::milliseconds(5);
        });
    }
    void answer(const QString& text)
    {
        QVERIFY(chat->turn()->send(text));
        QTRY_VERIFY(!chat->turn()->busy());
    }
};

/// Holds what tests of conversations have beside it: a bench of its own for each test function, which `init` makes.
class ChatCase
{
protected:
    std::unique_ptr<ChatBench> bench;
    ChatController* chat = nullptr;

    void makeBench()
    {
        bench = std::make_unique<ChatBench>();
        chat = bench->chat.get();
    }
    /// A new conversation with this question; its id.
    QString ask(const QString& question)
    {
        chat->newConversation();
        if (!chat->turn()->send(question))
            qWarning("not sent: %s", qPrintable(chat->turn()->obstacle()));
        return chat->conversationId();
    }
    std::vector<engine::Message> sent() const { return bench->script->requests().back().messages; }  // the last time
    void settle() { QTRY_VERIFY(!chat->turn()->busy()); }
    /// Destroys all and makes it anew, as where the program is started again, with the same conversation and no model.
    void restart()
    {
        const QString id = chat->conversationId();
        bench->end();
        bench->start();
        chat = bench->chat.get();
        QVERIFY(chat->open(id));
    }
};
