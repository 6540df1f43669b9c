// Makes a list of servers that the user has added, and conversations with their models.
#pragma once

#include "app/catalogue/model_controller.h"
#include "app/chat/chat_controller.h"
#include "app/servers/servers.h"
#include "app/system/remote_path.h"
#include "tests/support/fake_engine.h"
#include "tests/support/net/look_alike.h"

#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace test_support {

inline QString urlOf(const support::LookAlike& server)
{
    return QString::fromStdString(server.url());
}

/// The list of servers that the user has added, kept in a file in a folder of its own.
struct List {
    QTemporaryDir folder;
    QString file = folder.filePath("profile/servers.json");
    std::shared_ptr<RemoteDoor> door = remoteDoor(nullptr);
    std::unique_ptr<Servers> servers = std::make_unique<Servers>(door, file);

    void add(const QString& name, const QString& address, const QString& key = {})
    {
        servers->add(name, address, key);
        QTRY_VERIFY(!servers->adding());
    }
    void restart()
    {
        servers.reset();
        door = remoteDoor(nullptr);
        servers = std::make_unique<Servers>(door, file);
    }
    QString path(int model = 0) const { return servers->models().at(model).path; }
};

/// A conversation whose model is on one of the list's servers, where its path names one, and else on the fake engine.
struct Talk {
    explicit Talk(List& list)
        : thread([&list, this] { return list.door->engine(std::make_unique<FakeEngine>(script)); })
        , models(thread,
                 [&list, this](const std::filesystem::path& path, const std::stop_token& stop) {
                     return isElsewhere(QString::fromStdU16String(path.u16string()))
                                ? list.door->inspect(path, secrets::MayAsk::Yes, stop)
                                : inspect_fake(*script, path);
                 },
                 {})
    {
        QObject::connect(&models, &ModelController::loadStarted, &turns, &TurnRunner::onLoadStarted);
        QObject::connect(&models, &ModelController::modelReady, &turns, &TurnRunner::onModelReady);
        QObject::connect(&models, &ModelController::modelGone, &turns, &TurnRunner::onModelGone);
        QObject::connect(&turns, &TurnRunner::modelLost, &models, &ModelController::onModelLost);
    }
    void open(const QString& path)
    {
        models.openAndLoad(path);
        QTRY_VERIFY(models.phase() == ModelController::Idle);
    }
    void say(const QString& text)
    {
        QVERIFY(chat.turn()->send(text));
        QTRY_VERIFY(!chat.turn()->busy());
    }
    QVariant last(int role) const
    {
        const MessageModel* messages = chat.messages();
        return messages->data(messages->index(messages->count() - 1), role);
    }
    QString lastText() const { return last(MessageModel::TextRole).toString(); }
    QString lastId() const { return last(MessageModel::MessageIdRole).toString(); }

    std::shared_ptr<FakeScript> script = std::make_shared<FakeScript>();
    QTemporaryDir folder;
    EngineThread thread;
    ModelController models;
    ConversationStore store{folder.path()};
    OpenConversations open_{store};
    TurnRunner turns{thread, store, open_, {}};
    mutable ChatController chat{thread, store, open_, turns};
};

}  // namespace test_support
