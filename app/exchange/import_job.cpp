#include "app/exchange/import_job.h"

#include "app/exchange/same_conversation.h"
#include "app/store/conversation_store.h"
#include "app/system/background.h"

#include <QElapsedTimer>
#include <QFuture>
#include <QPointer>
#include <QUuid>

#include <memory>
#include <utility>

namespace {

constexpr qint64 kStep_ms = 8;
constexpr qsizetype kMostOnTheirWay = 64;  // the writer takes small ones together
constexpr int kFarewell_ms = 1000;         // so long a cancelled job waits for the store to drop them

}  // namespace

ImportJob::ImportJob(ConversationStore& store, QStringList paths, QObject* parent)
    : QObject(parent)
    , m_store(store)
    , m_paths(std::move(paths))
{
    connect(&m_timer, &QTimer::timeout, this, &ImportJob::step);
    readNext();
}

ImportJob::~ImportJob()
{
    m_stop.request_stop();
}

void ImportJob::cancel()
{
    m_outcome.cancelled = true;
    m_stop.request_stop();
    QTimer::singleShot(kFarewell_ms, this, &ImportJob::waitNoLonger);
}

/// Ends a cancelled job without waiting for the store, which tries for hours to write what it cannot.
void ImportJob::waitNoLonger()
{
    if (m_onTheirWay.isEmpty())
        return;  // it is done, or is about to be
    m_onTheirWay.clear();
    m_timer.start(0);
}

void ImportJob::readNext()
{
    inBackground(
        this, [path = m_paths.takeFirst(), stop = m_stop.get_token()] { return importFile(path, stop); },
        [this](const Imported& imported) { onRead(imported); });
}

void ImportJob::onRead(const Imported& imported)
{
    if (!imported.error.isEmpty() && m_outcome.unreadFiles++ == 0)
        m_outcome.error = imported.error;
    m_outcome.leftOut += imported.leftOut;
    m_waiting = imported.conversations;
    m_timer.start(0);
}

void ImportJob::step()
{
    QElapsedTimer clock;
    clock.start();
    if (m_outcome.cancelled)
        m_waiting.clear();
    bool waits = false;
    while (!waits && !m_waiting.isEmpty() && clock.elapsed() < kStep_ms) {
        waits = !place(m_waiting.first());
        if (!waits)
            m_waiting.removeFirst();
    }
    if (waits || (m_waiting.isEmpty() && !m_onTheirWay.isEmpty()))
        m_timer.stop();  // onAdded() starts it again
    else if (m_waiting.isEmpty())
        end();
}

void ImportJob::end()
{
    m_timer.stop();
    if (!m_paths.isEmpty() && !m_outcome.cancelled)
        readNext();
    else
        Q_EMIT done(m_outcome);
}

/// Gives a conversation to the store unless it is here already. False: it has to wait, since too many, or one with its
/// id, are not written yet.
bool ImportJob::place(StoredConversation conversation)
{
    QString& id = conversation.header.id;
    if (m_onTheirWay.size() == kMostOnTheirWay)
        return false;
    for (const QString& candidate : {id, idOfOtherCopy(conversation)}) {
        if (m_onTheirWay.contains(candidate))
            return false;
        id = candidate;
        const auto ours = m_store.kept(id);
        if (!ours) {
            add(conversation);
            return true;
        }
        if (!hasAllOf(ours->conversation, conversation))
            continue;
        if (ours->trashed)
            m_store.restore(id);
        ++(ours->trashed ? m_outcome.added : m_outcome.here);
        m_outcome.last = id;
        return true;
    }
    id = QUuid::createUuid().toString(QUuid::WithoutBraces);
    add(conversation);
    return true;
}

void ImportJob::add(const StoredConversation& conversation)
{
    const QString id = conversation.header.id;
    m_onTheirWay.insert(id);
    const auto added = [guard = QPointer(this), id](bool there) {
        if (guard)
            guard->onAdded(id, there);
    };
    m_store.add(conversation, added, m_stop.get_token());
}

// Goes on after a conversation was written, or could not be: then the store has said why.
void ImportJob::onAdded(const QString& id, bool there)
{
    if (!m_onTheirWay.remove(id))
        return;  // waitNoLonger() has ended the job
    if (there) {
        ++m_outcome.added;
        m_outcome.last = id;
    }
    m_timer.start(0);
}

#include "moc_import_job.cpp"
