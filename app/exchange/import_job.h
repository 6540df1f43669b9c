// ImportJob reads conversations from files into the store.
#pragma once

#include "app/exchange/imported.h"

#include <QObject>
#include <QSet>
#include <QStringList>
#include <QTimer>

#include <stop_token>

class ConversationStore;

/// Reads files on a thread of their own and puts what they hold into the store, a few conversations at a time between
/// the window's own work. What is here already stays as it is; what lies in the trash comes back; one that has more
/// than ours comes in beside it. Lives on the UI thread; owned by ConversationsController.
class ImportJob : public QObject
{
    Q_OBJECT

public:
    struct Outcome {
        int added = 0;      // or taken out of the trash
        int here = 0;       // already
        QString last = {};  // of all these
        int leftOut = 0;    // see Imported
        int unreadFiles = 0;
        QString error = {};  // of the first of them
        bool cancelled = false;
    };

    ImportJob(ConversationStore& store, QStringList paths, QObject* parent = nullptr);
    ~ImportJob() override;

    /// Stops writing. The job is done as soon as the store has dropped what it had, or when that has no room even to do
    /// so.
    void cancel();

Q_SIGNALS:
    void done(const ImportJob::Outcome& outcome);

private:
    void waitNoLonger();
    void readNext();
    void onRead(const Imported& imported);
    void step();
    void end();
    bool place(StoredConversation conversation);
    void add(const StoredConversation& conversation);
    void onAdded(const QString& id, bool there);

    ConversationStore& m_store;
    QStringList m_paths;                  // to be read
    QList<StoredConversation> m_waiting;  // of the file that was read last
    QSet<QString> m_onTheirWay;           // into the store
    std::stop_source m_stop;
    QTimer m_timer;
    Outcome m_outcome;
};
