// ConversationStore keeps conversations on disk.
#pragma once

#include "app/store/attachment_folder.h"
#include "app/store/conversation.h"
#include "app/store/open_store.h"
#include "app/store/unwritten.h"

#include <QByteArray>
#include <QHash>
#include <QObject>

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
/// of their own, in order, and are on disk when their transaction ends; imports go behind them. No read waits for them:
/// it answers from what is on disk and what is on its way there; a search from the former, and `caughtUp` says when it
/// may find more. Lives on the UI thread; owned by Program. Its destructor writes what the user did; an import that has
/// not come to its end is lost.
class ConversationStore : public QObject
{
    Q_OBJECT

public:
    /// Opens or makes the database in `folder`. An older schema is migrated after a backup; a damaged database is set
    /// aside under another name; if nothing can be written there, what can be read is shown and the rest lives in
    /// memory. What the user has to know of it is in `notice`.
    explicit ConversationStore(const QString& folder, QObject* parent = nullptr);
    ~ConversationStore() override;

    QString notice() const;             // one sentence; empty: all is well
    QString attachmentsFolder() const;  // made when needed
    /// Where files lie that were attached when this folder could be written; empty: it can.
    QString olderAttachmentsFolder() const;
    QString savedKvFolder() const;  // for the engine, which makes it; empty: nothing outlives the program

    QList<ConversationHeader> conversations() const;  // without those in the trash; pinned first, then newest first
    std::optional<StoredConversation> conversation(const QString& id) const;
    struct Kept {
        StoredConversation conversation = {};
        bool trashed = false;
    };
    std::optional<Kept> kept(const QString& id) const;  // in the trash, too
    /// Returns what was measured of it, as JSON; empty: nothing that is kept.
    QByteArray recording(const QString& conversation) const;
    /// Hands over the titles and texts that hold all the words (the last one may be a beginning), best first: at once,
    /// or, where all texts have to be read for it, later and on this thread. Nothing comes after `stop`.
    void search(const QString& words, int limit, const std::stop_token& stop,
                const std::function<void(const QList<SearchHit>&)>& found);

    void save(const ConversationHeader& header);  // inserts or replaces
    void save(const QString& conversation, const StoredMessage& message);
    /// Saves the text of an answer that is being made.
    void saveText(const QString& conversation, const QString& message, const QString& text);
    void saveAll(const StoredConversation& conversation);  // in one transaction: a branch
    /// Does the same for one that may be long, such as an import: it is written behind all else and piece by piece.
    /// `saved` comes when it is on disk, and then `done`, which is told whether it could be written. After `stop` none
    /// of it is kept, unless it was about to be there.
    void add(const StoredConversation& conversation, std::function<void(bool)> done, std::stop_token stop = {});
    /// Keeps what was measured of a conversation that is kept. `json` is called when it is written, on the writer's
    /// thread.
    void saveRecording(const QString& conversation, const std::function<QByteArray()>& json);
    void moveToTrash(const QString& conversation);  // gone from lists; kept until emptyTrash
    void restore(const QString& conversation);
    void emptyTrash();  // with the attachments that nothing refers to any more

    QList<Preset> presets() const;  // by name
    void save(const Preset& preset);
    void removePreset(const QString& name);

    void flush() const;  // waits until all that the user did is on disk; for no import

Q_SIGNALS:
    void saved(const ConversationHeader& header);  // as soon as it was asked for
    void trashed(const QString& conversation);
    void restored(const ConversationHeader& header);
    void caughtUp();                       // a search may find more than before
    void failed(const QString& sentence);  // a write did not reach the disk; said once until one does again

private:
    using Work = std::function<QSqlError(const Database&)>;
    /// Queues the work; `change` is what reads see of it meanwhile.
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

    QString m_folder;
    OpenedStore m_opened;
    std::unique_ptr<QTemporaryDir> m_temporary;  // of attachments, when in memory
    AttachmentFolder m_attachments;
    std::unique_ptr<StoreReader> m_reader;
    std::unique_ptr<StoreWriter> m_writer;          // none: nothing can be written
    mutable quint64 m_unkept = 0;                   // in its place: the newest change's number
    mutable QHash<QString, quint64> m_replaceable;  // the numbers of those with a name, since one without
    mutable Unwritten m_unwritten;
    mutable std::optional<QList<Preset>> m_presets;  // once somebody has asked
    mutable bool m_damageNoted = false;
};
