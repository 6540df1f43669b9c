// ConversationStore keeps conversations on disk.
#pragma once

#include "app/store/attachment_folder.h"
#include "app/store/conversation.h"
#include "app/store/open_store.h"
#include "app/store/unwritten.h"

#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QTimer>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

class Database;
class QSqlError;
class QTemporaryDir;
class StoreReader;
class StoreWriter;

/// Keeps conversations in an SQLite database, whose schema app/store/README.md documents. Writes are queued to a thread
/// of their own, in order, and are on disk when their transaction ends; imports come after them. No read waits for
/// them: it returns what is on disk, with the queued changes applied. A search looks at the disk only, and `caughtUp`
/// says when it may find more. Lives on the UI thread; owned by Program. Its destructor writes what the user did; an
/// import that has not ended is lost.
class ConversationStore : public QObject
{
    Q_OBJECT

public:
    /// Opens or makes the database in `folder`. An older schema is migrated after a backup; a damaged database is set
    /// aside under another name; if nothing can be written there, what can be read is shown and the rest lives in
    /// memory. `notice` tells the user about it. A write that fails is tried again after `betweenAttempts`. Where there
    /// is a reason to check the indexes of words, that begins when nothing has been saved for `quiet`.
    explicit ConversationStore(const QString& folder, QObject* parent = nullptr,
                               std::chrono::milliseconds betweenAttempts = std::chrono::seconds(3),
                               std::chrono::milliseconds quiet = std::chrono::seconds(30));
    ~ConversationStore() override;

    QString notice() const;             // one sentence; empty: all is well
    QString attachmentsFolder() const;  // made when needed
    /// Returns the folder of the attachments from when the data folder could be written; empty: it still can.
    QString olderAttachmentsFolder() const;
    QString savedKvFolder() const;  // for the engine, which makes it; empty: no KV is saved

    QList<ConversationHeader> conversations() const;  // without those in the trash; pinned first, then newest first
    std::optional<StoredConversation> conversation(const QString& id) const;
    struct Kept {
        StoredConversation conversation = {};
        bool trashed = false;
    };
    std::optional<Kept> kept(const QString& id) const;  // also one in the trash
    /// Returns a conversation's kept measurements as JSON; empty: there are none.
    QByteArray recording(const QString& conversation) const;
    /// Calls `found` with the titles and texts that hold all the words (the last one may be a beginning), best first:
    /// at once, or, where all texts have to be read for it, later on this thread. After `stop` it is not called.
    void search(const QString& words, int limit, const std::stop_token& stop,
                const std::function<void(const QList<SearchHit>&)>& found);

    void save(const ConversationHeader& header);  // inserts or replaces
    void save(const QString& conversation, const StoredMessage& message);
    /// Saves the text of an answer that is being made.
    void saveText(const QString& conversation, const QString& message, const QString& text);
    void saveAll(const StoredConversation& conversation);  // in one transaction, as for a branch
    /// Does the same for one that may be long, such as an import: it is written piece by piece, after everything else.
    /// When it is on disk, `saved` comes, and then `done`, with true if all of it could be written. After `stop` it is
    /// removed again, unless its last piece is just being written.
    void add(const StoredConversation& conversation, std::function<void(bool)> done, std::stop_token stop = {});
    /// Saves a conversation's measurements; does nothing for one that is not saved. `json` is called on the writer's
    /// thread.
    void saveRecording(const QString& conversation, const std::function<QByteArray()>& json);
    void moveToTrash(const QString& conversation);  // gone from lists; kept until emptyTrash
    void restore(const QString& conversation);
    void emptyTrash();  // and removes attachments that nothing uses any more

    QList<Preset> presets() const;  // by name
    void save(const Preset& preset);
    void removePreset(const QString& name);

    void flush() const;  // waits until all that the user did is on disk; not for imports

Q_SIGNALS:
    void saved(const ConversationHeader& header);  // emitted when save() is called
    void trashed(const QString& conversation);
    void restored(const ConversationHeader& header);
    void caughtUp();                       // changes or an import are on disk: a search may find more
    void failed(const QString& sentence);  // a write failed; once, until one succeeds again

private:
    using Work = std::function<QSqlError(const Database&)>;
    /// Queues the work; reads apply `change` until it is on disk.
    void ask(const QString& concerns, Work work, Unwritten::Change change, const QString& replaces = {});
    void askForAll(Work work);
    quint64 queue(Work work, const QString& replaces = {}) const;  // its number
    void forgetWritten() const;
    Work writing(const StoredConversation& conversation) const;
    void reading(const std::function<void()>& read) const;
    enum class Parts { Header, All };
    Unwritten::State state(const QString& conversation, Parts parts) const;
    QList<SearchHit> stillThere(QList<SearchHit> hits) const;
    void noteDamage(bool seen) const;
    void onWriteFailed(const QSqlError& error);
    void checkAgain() const;
    void checkIndexes();
    void onIndexesChecked();

    QString m_folder;
    OpenedStore m_opened;
    std::unique_ptr<QTemporaryDir> m_temporary;  // for attachments, where the store is in memory
    AttachmentFolder m_attachments;
    std::unique_ptr<StoreReader> m_reader;
    std::unique_ptr<StoreWriter> m_writer;          // none: nothing can be written
    mutable quint64 m_unkept = 0;                   // number of the newest change, where there is no writer
    mutable QHash<QString, quint64> m_replaceable;  // numbers of replaceable changes, by name, since the last other one
    mutable Unwritten m_unwritten;
    mutable std::optional<QList<Preset>> m_presets;  // after they were first asked for
    mutable bool m_damageNoted = false;
    mutable bool m_toCheckAgain = false;  // at the next start: damage was seen since this one
    mutable QTimer m_quiet;               // since the last save, while the indexes are to be checked
};
