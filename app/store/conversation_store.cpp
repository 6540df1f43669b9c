#include "app/store/conversation_store.h"

#include "app/store/import_jobs.h"
#include "app/store/rows.h"
#include "app/store/schema.h"
#include "app/store/search_words.h"
#include "app/store/store_reader.h"
#include "app/store/store_writer.h"
#include "app/system/background.h"
#include "app/system/profile_folders.h"

#include <QDateTime>
#include <QDir>
#include <QTemporaryDir>

#include <algorithm>
#include <utility>

namespace {

constexpr qsizetype kLongestStoredTitle_chars = 500;

/// Removes files that nothing uses. Where memory or the disk fail it removes none and reports no error: trying again
/// would hold up what the user writes, and the next emptying of the trash removes them, too.
QSqlError removeUnusedFiles(const Database& database, const AttachmentFolder& files)
{
    QSet<QString> used;
    QSqlQuery sent = database.run(QStringLiteral("SELECT DISTINCT sha256 FROM attachments"));
    while (sent.next())
        used.insert(sent.value(0).toString());
    QSqlQuery drafts = database.run(QStringLiteral("SELECT draft_files FROM conversations WHERE draft_files <> '[]'"));
    while (drafts.next())
        for (const DraftFile& file : rows::draftFiles(drafts.value(0)))
            used.insert(file.sha256);
    // The rows end early where one cannot be read; files named in later rows are in use nevertheless, so none is
    // removed then.
    for (const QSqlQuery* read : {&sent, &drafts})
        if (const QSqlError why = read->lastError(); why.type() != QSqlError::NoError)
            return isForWant(why) ? QSqlError() : why;
    files.removeUnused(used);
    return {};
}

QString attachmentsIn(const QString& folder)
{
    return folder + QLatin1String("/attachments");
}

ConversationHeader bounded(ConversationHeader header)
{
    header.title.truncate(kLongestStoredTitle_chars);
    if (!header.title.isEmpty() && header.title.back().isHighSurrogate())
        header.title.chop(1);
    return header;
}

}  // namespace

ConversationStore::ConversationStore(const QString& folder, QObject* parent, std::chrono::milliseconds betweenAttempts,
                                     std::chrono::milliseconds quiet)
    : QObject(parent)
    , m_folder(folder)
    , m_opened(openStore(folder, attachmentsIn(folder)))
{
    if (m_opened.inMemory || m_opened.readOnly)
        m_temporary = std::make_unique<QTemporaryDir>();
    m_attachments = AttachmentFolder(attachmentsIn(m_temporary ? m_temporary->path() : folder));
    m_reader =
        std::make_unique<StoreReader>(m_opened.database, Database::Access::Read,
                                      m_opened.readOnly ? AttachmentFolder(attachmentsIn(folder)) : m_attachments);
    if (m_opened.readOnly)
        return;
    if (m_opened.inMemory)
        makeTables(m_opened.database);
    const auto later = [this](auto&& slot) { QMetaObject::invokeMethod(this, slot, Qt::QueuedConnection); };
    m_writer = std::make_unique<StoreWriter>(
        m_opened.database,
        StoreWriter::Listener{
            .failed = [this, later](const QSqlError& error) { later([this, error] { onWriteFailed(error); }); },
            .caughtUp = [this, later] { later([this] { Q_EMIT caughtUp(); }); }},
        betweenAttempts);
    // An answer that the end of the program cut off gets no more text: searches find it from now on.
    askForAll([](const Database& database) {
        return outcome(database,
                       database.ran(QStringLiteral("UPDATE messages SET searchable = 1 WHERE searchable = 0")));
    });
    // An import that the end of the program cut off is removed.
    askForAll([](const Database& database) {
        return outcome(database, rows::removeConversations(database, QStringLiteral("trashed_ms = 0")));
    });
    m_quiet.setSingleShot(true);
    connect(&m_quiet, &QTimer::timeout, this, &ConversationStore::checkIndexes);
    if (m_opened.toCheck)
        m_quiet.start(quiet);
}

ConversationStore::~ConversationStore()
{
    m_writer.reset();
}

QString ConversationStore::notice() const
{
    return m_opened.notice;
}

QString ConversationStore::attachmentsFolder() const
{
    ProfileFolders::make(m_attachments.path());
    return m_attachments.path();
}

QString ConversationStore::olderAttachmentsFolder() const
{
    return m_opened.readOnly ? attachmentsIn(m_folder) : QString();
}

QString ConversationStore::savedKvFolder() const
{
    return m_opened.inMemory || m_opened.readOnly ? QString() : m_folder + QLatin1String("/kv");
}

// ---- reading ----

void ConversationStore::reading(const std::function<void()>& read) const
{
    if (m_opened.inMemory)
        m_writer->between(read);  // its connections share one cache: nothing can be read while another writes
    else
        read();
    noteDamage(m_reader->sawDamage());
}

/// Reads a conversation from the disk and applies the changes that are not there yet.
Unwritten::State ConversationStore::state(const QString& conversation, Parts parts) const
{
    Unwritten::State state;
    forgetWritten();  // before the disk is read, which has these changes then
    reading([&] {
        state.trashed = m_reader->isTrashed(conversation);
        if (parts == Parts::All)
            state.conversation = m_reader->conversation(conversation);
        else if (const auto header = m_reader->header(conversation))
            state.conversation = StoredConversation{.header = *header};
    });
    m_unwritten.apply(conversation, state);
    return state;
}

QList<ConversationHeader> ConversationStore::conversations() const
{
    forgetWritten();
    QList<ConversationHeader> all;
    reading([&] { all = m_reader->headers(); });
    for (const QString& id : m_unwritten.conversations()) {
        all.removeIf([&](const ConversationHeader& header) { return header.id == id; });
        const Unwritten::State now = state(id, Parts::Header);
        if (now.conversation && !now.trashed)
            all.prepend(now.conversation->header);
    }
    std::stable_sort(all.begin(), all.end(), [](const ConversationHeader& a, const ConversationHeader& b) {
        return a.pinned != b.pinned ? a.pinned : a.changedMs > b.changedMs;
    });
    return all;
}

std::optional<StoredConversation> ConversationStore::conversation(const QString& id) const
{
    Unwritten::State found = state(id, Parts::All);
    return found.trashed ? std::nullopt : std::move(found.conversation);
}

std::optional<ConversationStore::Kept> ConversationStore::kept(const QString& id) const
{
    Unwritten::State found = state(id, Parts::All);
    if (!found.conversation)
        return {};
    return Kept{.conversation = std::move(*found.conversation), .trashed = found.trashed};
}

QByteArray ConversationStore::recording(const QString& conversation) const
{
    forgetWritten();
    Unwritten::State found;
    reading([&] {
        if (const auto header = m_reader->header(conversation))
            found.conversation = StoredConversation{.header = *header, .recording = m_reader->recording(conversation)};
    });
    m_unwritten.apply(conversation, found);
    return found.conversation ? found.conversation->recording : QByteArray();
}

void ConversationStore::search(const QString& typed, int limit, const std::stop_token& stop,
                               const std::function<void(const QList<SearchHit>&)>& found)
{
    forgetWritten();
    const SearchWords words = searchWords(typed);
    if (words.parts.isEmpty() || m_opened.inMemory) {  // a store in memory is small
        QList<SearchHit> hits;
        reading([&] { hits = m_reader->search(words, limit); });
        found(stillThere(std::move(hits)));
        return;
    }
    struct Read {
        QList<SearchHit> hits;
        bool sawDamage = false;
    };
    inBackground(
        this,
        [name = m_opened.database, words, limit, stop] {
            const StoreReader reader(name, Database::Access::Read, AttachmentFolder());
            const QList<SearchHit> hits = reader.search(words, limit, stop);
            return Read{hits, reader.sawDamage()};
        },
        [this, stop, found](const Read& read) {
            noteDamage(read.sawDamage);
            if (!stop.stop_requested())
                found(stillThere(read.hits));
        },
        [stop, found] {
            if (!stop.stop_requested())
                found({});
        });
}

/// Returns the hits without those whose conversation is about to be removed.
QList<SearchHit> ConversationStore::stillThere(QList<SearchHit> hits) const
{
    hits.removeIf([this](const SearchHit& hit) {
        if (!m_unwritten.concerns(hit.conversation))
            return false;
        const Unwritten::State now = state(hit.conversation, Parts::Header);
        return now.trashed || !now.conversation;
    });
    return hits;
}

QList<Preset> ConversationStore::presets() const
{
    if (!m_presets)
        reading([&] { m_presets = m_reader->presets(); });
    return *m_presets;
}

void ConversationStore::flush() const
{
    if (m_writer)
        m_writer->flush();
}

void ConversationStore::noteDamage(bool seen) const
{
    if (m_damageNoted || !seen)
        return;
    m_damageNoted = true;
    checkAgain();
    queue(schema::checkIndexes);                        // the damage may be in the indexes
    auto* self = const_cast<ConversationStore*>(this);  // reading is const, and the signal comes after it
    QMetaObject::invokeMethod(
        self,
        [self] {
            Q_EMIT self->failed(tr("The database of conversations is damaged in places. It is repaired as far as "
                                   "possible when the program starts the next time."));
        },
        Qt::QueuedConnection);
}

void ConversationStore::checkAgain() const
{
    m_toCheckAgain = true;
    if (!m_opened.inMemory && !m_opened.readOnly)
        checkAtNextOpen(m_opened.database);
}

/// Checks the indexes of words behind all else. In a large database that takes long and cannot be interrupted, and
/// nothing is saved meanwhile. If the program ends before, it is done after the next start.
void ConversationStore::checkIndexes()
{
    m_writer->askBehind({.work = schema::checkIndexes,  // the writer makes them anew if it has to
                         .bytes = StoreWriter::kBatch_bytes,
                         .done = [this](const QSqlError& why) {
                             if (why.type() == QSqlError::NoError)
                                 QMetaObject::invokeMethod(this, &ConversationStore::onIndexesChecked,
                                                           Qt::QueuedConnection);
                         }});
}

void ConversationStore::onIndexesChecked()
{
    if (!m_toCheckAgain)
        setChecked(m_opened.database);
}

// ---- writing ----

quint64 ConversationStore::queue(Work work, const QString& replaces) const
{
    if (m_quiet.isActive())
        m_quiet.start();
    if (m_writer)
        return m_writer->ask({.work = std::move(work), .replaces = replaces});
    if (replaces.isEmpty())
        m_replaceable.clear();
    else if (const auto known = m_replaceable.constFind(replaces); known != m_replaceable.cend())
        return *known;
    ++m_unkept;
    if (!replaces.isEmpty())
        m_replaceable.insert(replaces, m_unkept);
    return m_unkept;
}

void ConversationStore::ask(const QString& concerns, Work work, Unwritten::Change change, const QString& replaces)
{
    forgetWritten();  // here, too: while an answer grows, there may be no read for long
    m_unwritten.add(queue(std::move(work), replaces), concerns, std::move(change));
}

void ConversationStore::askForAll(Work work)
{
    queue(std::move(work));
}

void ConversationStore::forgetWritten() const
{
    if (m_writer)
        m_unwritten.forget(m_writer->written());
}

void ConversationStore::save(const ConversationHeader& header)
{
    const ConversationHeader kept = bounded(header);
    ask(
        kept.id, [kept](const Database& database) { return outcome(database, rows::write(database, kept)); },
        changes::header(kept), QLatin1String("header ") + kept.id);
    Q_EMIT saved(kept);
}

void ConversationStore::save(const QString& conversation, const StoredMessage& message)
{
    if (message.text.size() > kLongestMessage_chars) {
        Q_EMIT failed(tr("A message of this length cannot be kept; it will be gone when the program ends."));
        return;
    }
    ask(
        conversation,
        [conversation, message, files = m_attachments](const Database& database) {
            const QSqlError why = files.keepTexts(message.attachments);
            return why.type() != QSqlError::NoError ? why
                                                    : outcome(database, rows::write(database, conversation, message));
        },
        changes::message(message));
}

void ConversationStore::saveText(const QString& conversation, const QString& message, const QString& text)
{
    if (text.size() > kLongestMessage_chars)
        return;  // save() reports it when the answer has ended
    ask(
        conversation,
        [message, text](const Database& database) {
            return outcome(database,
                           database.ran(QStringLiteral("UPDATE messages SET text = ? WHERE id = ?"), {text, message}));
        },
        changes::text(message, text), QLatin1String("text ") + message);
}

ConversationStore::Work ConversationStore::writing(const StoredConversation& conversation) const
{
    return [conversation, files = m_attachments](const Database& database) {
        for (const StoredMessage& message : conversation.messages)
            if (QSqlError why = files.keepTexts(message.attachments); why.type() != QSqlError::NoError)
                return why;
        return outcome(database, rows::write(database, conversation));
    };
}

void ConversationStore::saveAll(const StoredConversation& conversation)
{
    StoredConversation kept = conversation;
    kept.header = bounded(std::move(kept.header));
    ask(kept.header.id, writing(kept), changes::all(kept));
    Q_EMIT saved(kept.header);
}

void ConversationStore::add(const StoredConversation& conversation, std::function<void(bool)> done,
                            std::stop_token stop)
{
    StoredConversation kept = conversation;
    kept.header = bounded(std::move(kept.header));
    const auto end = [this, header = kept.header, done = std::move(done)](bool there) {
        QMetaObject::invokeMethod(
            this,
            [this, header, done, there] {
                if (there)
                    Q_EMIT saved(header);
                done(there);
            },
            Qt::QueuedConnection);
    };
    if (!m_writer) {
        Q_EMIT failed(m_opened.notice);
        end(false);
        return;
    }
    for (StoreWriter::Job& job : importJobs(kept, m_attachments, end, std::move(stop)))
        m_writer->askBehind(std::move(job));
}

void ConversationStore::saveRecording(const QString& conversation, const std::function<QByteArray()>& json)
{
    ask(
        conversation,
        [conversation, json](const Database& database) {
            return outcome(database, rows::writeRecording(database, conversation, json()));
        },
        changes::recording(json), QLatin1String("recording ") + conversation);
}

void ConversationStore::moveToTrash(const QString& conversation)
{
    ask(
        conversation,
        [conversation, now = QDateTime::currentMSecsSinceEpoch()](const Database& database) {
            return outcome(database,
                           database.ran(QStringLiteral("UPDATE conversations SET trashed_ms = ? WHERE id = ?"),
                                        {now, conversation}));
        },
        changes::trashed(true));
    Q_EMIT trashed(conversation);
}

void ConversationStore::restore(const QString& conversation)
{
    ask(
        conversation,
        [conversation](const Database& database) {
            return outcome(database,
                           database.ran(QStringLiteral("UPDATE conversations SET trashed_ms = NULL WHERE id = ?"),
                                        {conversation}));
        },
        changes::trashed(false));
    if (const auto found = state(conversation, Parts::Header); found.conversation)
        Q_EMIT restored(found.conversation->header);
}

void ConversationStore::emptyTrash()
{
    ask(
        Unwritten::any(),
        [](const Database& database) {
            return outcome(database, rows::removeConversations(database, QStringLiteral("trashed_ms > 0")));
        },
        changes::gone());
    // If its transaction fails, the trash is emptied again, and nothing needs these files in between.
    askForAll([files = m_attachments](const Database& database) { return removeUnusedFiles(database, files); });
}

void ConversationStore::save(const Preset& preset)
{
    QList<Preset> all = presets();
    all.removeIf([&](const Preset& known) { return known.name == preset.name; });
    const auto place = std::find_if(all.begin(), all.end(), [&](const Preset& known) {
        return known.name.compare(preset.name, Qt::CaseInsensitive) > 0;
    });
    all.insert(place, preset);
    m_presets = all;
    askForAll([preset](const Database& database) { return outcome(database, rows::write(database, preset)); });
}

void ConversationStore::removePreset(const QString& name)
{
    QList<Preset> all = presets();
    all.removeIf([&](const Preset& known) { return known.name == name; });
    m_presets = all;
    askForAll([name](const Database& database) {
        return outcome(database, database.ran(QStringLiteral("DELETE FROM presets WHERE name = ?"), {name}));
    });
}

void ConversationStore::onWriteFailed(const QSqlError& error)
{
    if (isDamage(error))
        checkAgain();
    Q_EMIT failed(isDiskFull(error) ? tr("The disk is full: what is said now is kept as soon as there is room again.")
                                    : tr("Conversations cannot be written at the moment: %1.")
                                          .arg(troubleOf(error, m_folder + QLatin1String("/spillway.sqlite"))));
}

#include "moc_conversation_store.cpp"
