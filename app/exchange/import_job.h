// ImportJob reads conversations from files into the store.
#pragma once

#include "app/exchange/imported.h"

#include <QObject>
#include <QSet>
#include <QStringList>
#include <QTimer>

#include <stop_token>

class ConversationStore;

/// Reads files on another thread and puts their conversations into the store, a few at a time between the window's own
/// work. A conversation that is here already stays as it is, and one in the trash comes back; one that has more than
/// the one here is added as another conversation. Lives on the UI thread; owned by ConversationsController.
class ImportJob : public QObject
{
    Q_OBJECT

public:
    struct Outcome {
        int added = 0;      // or taken out of the trash
        int here = 0;       // were here already
        QString last = {};  // the id of the last of all these
        int leftOut = 0;    // see Imported
        int unreadFiles = 0;
        QString error = {};  // why the first of them could not be read
        bool cancelled = false;
    };

    ImportJob(ConversationStore& store, QStringList paths, QObject* parent = nullptr);
    ~ImportJob() override;

    /// Stops reading and writing. done() comes as soon as the store has dropped what it was given, or after a second.
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
    QStringList m_paths;                  // files that are still to be read
    QList<StoredConversation> m_waiting;  // of the file that was read last
    QSet<QString> m_onTheirWay;           // ids of those that were given to the store and are not written yet
    std::stop_source m_stop;
    QTimer m_timer;
    Outcome m_outcome;
};
