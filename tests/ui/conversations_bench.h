// ConversationsBench gives the test of the column of conversations what it needs.
#pragma once

#include "app/conversations/conversations_controller.h"
#include "app/store/conversation_store.h"

#include <QObject>
#include <QSemaphore>
#include <QTemporaryDir>
#include <QVariantList>

#include <memory>

/// A store in a folder of its own and the controller of the column, new for each test. UI thread; a singleton of the
/// module Spillway.Tests.
class ConversationsBench : public QObject
{
    Q_OBJECT
    Q_PROPERTY(ConversationsController* controller READ controller NOTIFY changed)
    Q_PROPERTY(QStringList opened READ opened NOTIFY heard)
    Q_PROPERTY(QString message READ message NOTIFY heard)
    Q_PROPERTY(int news READ news NOTIFY heard)

public:
    ConversationsController* controller() const { return m_controller.get(); }
    QStringList opened() const { return m_opened; }  // what was asked for, in order
    QString message() const { return m_message; }    // the last one asked for
    int news() const { return m_news; }              // how often a new one was

    /// Each: title, folder, daysAgo, pinned, text (of the answers), bare (without messages). Ids are "0", "1"...
    Q_INVOKABLE void reset(const QVariantList& conversations = {});
    Q_INVOKABLE void clear();
    Q_INVOKABLE void turn(const QString& id);  // it gets another turn now
    Q_INVOKABLE void setActivity(const QString& id, int activity);
    Q_INVOKABLE QString title(const QString& id) const;
    Q_INVOKABLE QString file(const QString& name) const;  // its URL in the test's folder
    /// Lets no search that reads texts begin until it is called with false, or the test is over.
    Q_INVOKABLE void holdSearches(bool held);

Q_SIGNALS:
    void changed();
    void heard();

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ConversationStore> m_store;
    std::unique_ptr<ConversationsController> m_controller;
    QStringList m_opened;
    QString m_message;
    int m_news = 0;
    const std::shared_ptr<QSemaphore> m_gate = std::make_shared<QSemaphore>();
    int m_waiting = 0;  // threads of the pool that are kept busy, so that no search begins
};
