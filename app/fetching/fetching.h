// Fetching makes and connects what finds and fetches models, and asks the user before any of it uses the network.
#pragma once

#include "app/fetching/contacted_hosts.h"
#include "app/fetching/fetch_queue.h"
#include "app/fetching/model_finder.h"
#include "app/fetching/model_page.h"
#include "app/fetching/request_thread.h"
#include "app/settings/setting.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

#include <memory>

/// No host is contacted until the user has permitted it. Lives on the UI thread; owned by Program.
class Fetching : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(bool available READ available CONSTANT)
    Q_PROPERTY(bool allowed READ allowed NOTIFY allowedChanged)
    Q_PROPERTY(QString host READ host CONSTANT)
    Q_PROPERTY(bool hasToken READ hasToken NOTIFY tokenChanged)
    Q_PROPERTY(bool keepsToken READ keepsToken NOTIFY tokenChanged)
    Q_PROPERTY(bool keepingToken READ keepingToken NOTIFY tokenChanged)
    Q_PROPERTY(QString tokenNote READ tokenNote NOTIFY tokenChanged)
    Q_PROPERTY(QString tokenTrouble READ tokenTrouble NOTIFY tokenChanged)
    Q_PROPERTY(ModelFinder* finder READ finder CONSTANT)
    Q_PROPERTY(ModelPage* page READ page CONSTANT)
    Q_PROPERTY(FetchQueue* queue READ queue CONSTANT)
    Q_PROPERTY(ContactedHosts* contacts READ contacts CONSTANT)

public:
    struct World {
        std::unique_ptr<ModelSource> source;  // null: this program was built without the network
        Setting* permission = nullptr;        // 1: given; outlives this
        Setting* megabytesPerS = nullptr;     // the speed limit; 0, or null: none; outlives this
        std::function<QString()> folder;      // in which models are put; empty: where other programs find them
        QString listFile;                     // of what is being fetched; empty: it is not kept
        std::function<engine::LoadRequest()> request;
        std::function<engine::MachineMemory()> memory;
        ThisMachine machine = {};
    };

    explicit Fetching(World world, QObject* parent = nullptr);

    bool available() const { return m_source != nullptr; }
    bool allowed() const { return m_permission->value() == 1; }
    QString host() const;
    /// Says whether there is a token, which tells the host who the user is.
    bool hasToken() const { return tokenPlace() != TokenPlace::None && tokenPlace() != TokenPlace::Leaving; }
    bool keepsToken() const { return hasToken() && tokenPlace() != TokenPlace::Environment; }  // that was entered here
    bool keepingToken() const { return m_keepingToken; }                                       // another one, just now
    QString tokenNote() const;  // says in one sentence where the token is
    QString tokenTrouble() const { return m_tokenTrouble; }
    ModelFinder* finder() { return &m_finder; }
    ModelPage* page() { return &m_page; }
    FetchQueue* queue() { return &m_queue; }
    ContactedHosts* contacts() { return &m_contacts; }

    /// Opens the page of the model that a text names: an address, hf.co/ORG/REPO:QUANT, Ollama's NAME:TAG. False: these
    /// are words to search for.
    Q_INVOKABLE bool openNamed(const QString& text);
    /// Keeps the user's permission to use the network.
    Q_INVOKABLE void allow() { m_permission->setValue(1); }
    /// Keeps a token, or none if it is empty. Does not ask the host whether it is valid.
    Q_INVOKABLE void keepToken(const QString& token);
    /// Moves the token into the password store if that is unlocked by now. Does not ask the user to unlock it.
    Q_INVOKABLE void settleToken();
    /// Call it when a model has been deleted from the disk.
    void onDeleted();

Q_SIGNALS:
    void allowedChanged();
    void tokenChanged();
    void openRequested(const QString& path, const QString& name);

private:
    void onPermission();
    void showFetches();
    void askAgain();
    TokenPlace tokenPlace() const { return m_source ? m_source->token_place() : TokenPlace::None; }

    const std::unique_ptr<ModelSource> m_source;
    Setting* const m_permission;
    const FetchingWorld m_world;
    ModelFinder m_finder;
    ModelPage m_page;
    FetchQueue m_queue;
    ContactedHosts m_contacts;
    bool m_keepingToken = false;
    QString m_tokenTrouble;
    RequestThread m_tokenThread;
};
