#include "app/store/conversation_store.h"

#include "app/store/rows.h"
#include "app/store/schema.h"
#include "app/store/store_reader.h"
#include "app/store/store_writer.h"

#include <QDateTime>
#include <QDir>
#include <QTemporaryDir>

#include <utility>

using namespace std::chrono_literals;

namespace {

// A message is limited by a model's context and a pasted text by patience; beyond this something has gone wrong.
constexpr qsizetype kLongestText_chars = 32 * 1024 * 1024;
constexpr qsizetype kLongestTitle_chars = 500;
// The newest words should be found; nobody waits for an import's.
constexpr auto kSearchWaits = 150ms;

QSqlError outcome(const Database& database, bool done)
{
    return done ? QSqlError() : database.error();
}

// In place of a conversation.
const QString kPresets = QStringLiteral("presets");

QSqlError diskFull()
{
    return {QString(), QString(), QSqlError::UnknownError, QStringLiteral("13")};
}

QString attachmentsIn(const QString& folder)
{
    return folder + QLatin1String("/attachments");
}

ConversationHeader bounded(ConversationHeader header)
{
    header.title.truncate(kLongestTitle_chars);
    if (!header.title.isEmpty() && header.title.back().isHighSurrogate())
        header.title.chop(1);
    return header;
}

}  // namespace

ConversationStore::ConversationStore(const QString& folder, QObject* parent)
    : QObject(parent)
    , m_folder(folder)
    , m_opened(openStore(folder, attachmentsIn(folder)))
{
    if (m_opened.inMemory)
        m_temporary = std::make_unique<QTemporaryDir>();
    m_attachments = AttachmentFolder(attachmentsIn(m_temporary ? m_temporary->path() : folder));
    m_reader = std::make_unique<StoreReader>(m_opened.database, Database::Access::Read, m_attachments);
    if (m_opened.inMemory)
        makeTables(m_opened.database);
    m_writer = std::make_unique<StoreWriter>(m_opened.database, [this](const QSqlError& error) {
        QMetaObject::invokeMethod(
            this, [this, error] { onWriteFailed(error); }, Qt::QueuedConnection);
    });
    // An answer in whose middle the program ended gets no more text: it can be found from now on.
    ask({}, [](const Database& database) {
        return outcome(database,
                       database.ran(QStringLiteral("UPDATE messages SET searchable = 1 WHERE searchable = 0")));
    });
    if (m_opened.toCheck)
        ask({}, schema::checkIndexes);  // the writer makes them anew if it has to
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
    QDir().mkpath(m_attachments.path());
    return m_attachments.path();
}

QString ConversationStore::savedKvFolder() const
{
    return m_opened.inMemory ? QString() : m_folder + QLatin1String("/kv");
}

// ---- reading ----

QList<ConversationHeader> ConversationStore::conversations() const
{
    auto all = readerOf(StoreWriter::any()).headers();
    noteDamage();
    return all;
}

std::optional<StoredConversation> ConversationStore::conversation(const QString& id) const
{
    auto found = readerOf(id).conversation(id);
    noteDamage();
    return found;
}

QByteArray ConversationStore::recording(const QString& conversation) const
{
    QByteArray found = readerOf(conversation).recording(conversation);
    noteDamage();
    return found;
}

QList<SearchHit> ConversationStore::search(const QString& words, int limit) const
{
    if (m_opened.inMemory)
        flush();
    else
        m_writer->waitAWhile(kSearchWaits);
    auto hits = m_reader->search(words, limit);
    noteDamage();
    return hits;
}

QList<Preset> ConversationStore::presets() const
{
    return readerOf(kPresets).presets();
}

const StoreReader& ConversationStore::readerOf(const QString& conversation) const
{
    if (m_opened.inMemory)
        flush();  // its connections share one cache: nothing can be read while another writes
    else
        m_writer->waitFor(conversation);
    return *m_reader;
}

void ConversationStore::flush() const
{
    m_writer->flush();
}

void ConversationStore::noteDamage() const
{
    if (m_damageNoted || !m_reader->sawDamage())
        return;
    m_damageNoted = true;
    if (!m_opened.inMemory)
        checkAtNextOpen(m_opened.database);
    m_writer->ask({.work = schema::checkIndexes, .concerns = {}});  // perhaps it is they
    auto* self = const_cast<ConversationStore*>(this);  // a reader may well say so, but not from within its answer
    QMetaObject::invokeMethod(
        self,
        [self] {
            Q_EMIT self->failed(tr("The database of conversations is damaged in places. It is repaired as far as "
                                   "possible when the program starts the next time."));
        },
        Qt::QueuedConnection);
}

// ---- writing ----

void ConversationStore::ask(const QString& concerns, Work work, const QString& replaces)
{
    m_writer->ask({.work = std::move(work), .concerns = concerns, .replaces = replaces});
}

void ConversationStore::save(const ConversationHeader& header)
{
    const ConversationHeader kept = bounded(header);
    ask(
        kept.id, [kept](const Database& database) { return outcome(database, rows::write(database, kept)); },
        QLatin1String("header ") + kept.id);
    Q_EMIT saved(kept);
}

void ConversationStore::save(const QString& conversation, const StoredMessage& message)
{
    if (message.text.size() > kLongestText_chars) {
        Q_EMIT failed(tr("A message of this length cannot be kept; it will be gone when the program ends."));
        return;
    }
    ask(conversation, [conversation, message, files = m_attachments](const Database& database) {
        if (!files.keepTexts(message.attachments))
            return diskFull();
        return outcome(database, rows::write(database, conversation, message));
    });
}

void ConversationStore::saveText(const QString& message, const QString& text)
{
    if (text.size() > kLongestText_chars)
        return;  // said when it is saved
    ask(
        StoreWriter::any(),
        [message, text](const Database& database) {
            return outcome(database,
                           database.ran(QStringLiteral("UPDATE messages SET text = ? WHERE id = ?"), {text, message}));
        },
        QLatin1String("text ") + message);
}

ConversationStore::Work ConversationStore::writing(const StoredConversation& conversation) const
{
    return [conversation, files = m_attachments](const Database& database) {
        for (const StoredMessage& message : conversation.messages)
            if (!files.keepTexts(message.attachments))
                return diskFull();
        return outcome(database, rows::write(database, conversation));
    };
}

void ConversationStore::saveAll(const StoredConversation& conversation)
{
    StoredConversation kept = conversation;
    kept.header = bounded(std::move(kept.header));
    ask(kept.header.id, writing(kept));
    Q_EMIT saved(kept.header);
}

void ConversationStore::add(const StoredConversation& conversation, std::function<void(bool)> done)
{
    StoredConversation kept = conversation;
    kept.header = bounded(std::move(kept.header));
    m_writer->ask({.work = writing(kept),
                   .concerns = kept.header.id,
                   .done = [this, header = kept.header, done = std::move(done)](const QSqlError& error) {
                       const bool there = error.type() == QSqlError::NoError;
                       QMetaObject::invokeMethod(
                           this,
                           [this, header, done, there] {
                               if (there)
                                   Q_EMIT saved(header);
                               done(there);
                           },
                           Qt::QueuedConnection);
                   }});
}

void ConversationStore::saveRecording(const QString& conversation, std::function<QByteArray()> json)
{
    ask(
        conversation,
        [conversation, json = std::move(json)](const Database& database) {
            return outcome(database, rows::writeRecording(database, conversation, json()));
        },
        QLatin1String("recording ") + conversation);
}

void ConversationStore::moveToTrash(const QString& conversation)
{
    ask(conversation, [conversation, now = QDateTime::currentMSecsSinceEpoch()](const Database& database) {
        return outcome(database, database.ran(QStringLiteral("UPDATE conversations SET trashed_ms = ? WHERE id = ?"),
                                              {now, conversation}));
    });
    Q_EMIT trashed(conversation);
}

void ConversationStore::restore(const QString& conversation)
{
    ask(conversation, [conversation](const Database& database) {
        return outcome(database, database.ran(QStringLiteral("UPDATE conversations SET trashed_ms = NULL WHERE id = ?"),
                                              {conversation}));
    });
    if (const auto header = readerOf(conversation).header(conversation))
        Q_EMIT restored(*header);
}

void ConversationStore::emptyTrash()
{
    ask({}, [](const Database& database) {
        return outcome(database,
                       database.ran(QStringLiteral("DELETE FROM conversations WHERE trashed_ms IS NOT NULL")));
    });
    // Should its transaction fail, the trash is emptied once more, and these files are not missed until then.
    ask({}, [files = m_attachments](const Database& database) {
        QSqlQuery sent = database.run(QStringLiteral("SELECT DISTINCT sha256 FROM attachments"));
        if (!sent.isActive())
            return database.error();
        QSet<QString> used;
        while (sent.next())
            used.insert(sent.value(0).toString());
        QSqlQuery drafts =
            database.run(QStringLiteral("SELECT draft_files FROM conversations WHERE draft_files <> '[]'"));
        if (!drafts.isActive())
            return database.error();
        while (drafts.next())
            for (const DraftFile& file : rows::draftFiles(drafts.value(0)))
                used.insert(file.sha256);
        files.removeUnused(used);
        return QSqlError();
    });
}

void ConversationStore::save(const Preset& preset)
{
    ask(kPresets, [preset](const Database& database) { return outcome(database, rows::write(database, preset)); });
}

void ConversationStore::removePreset(const QString& name)
{
    ask(kPresets, [name](const Database& database) {
        return outcome(database, database.ran(QStringLiteral("DELETE FROM presets WHERE name = ?"), {name}));
    });
}

void ConversationStore::onWriteFailed(const QSqlError& error)
{
    if (isDamage(error) && !m_opened.inMemory)
        checkAtNextOpen(m_opened.database);
    Q_EMIT failed(isDiskFull(error)
                      ? tr("The disk is full: what is said now is kept as soon as there is room again.")
                      : tr("Conversations cannot be written at the moment: %1.").arg(error.databaseText()));
}
