#include "tests/ui/conversations_bench.h"

#include "tests/support/conversations.h"
#include "tests/ui/memory_folder.h"

#include <QDateTime>
#include <QThreadPool>
#include <QUrl>

#include <utility>

void ConversationsBench::reset(const QVariantList& conversations)
{
    clear();
    m_folder = memoryFolder();
    m_store = std::make_unique<ConversationStore>(m_folder->path());
    const QDateTime now = QDateTime::currentDateTime();
    for (qsizetype i = 0; i < conversations.size(); ++i) {
        const QVariantMap wanted = conversations[i].toMap();
        StoredConversation conversation = twoTurns(QString::number(i), wanted.value("title").toString(),
                                                   wanted.value("text", QStringLiteral("An answer.")).toString());
        conversation.header.folder = wanted.value("folder").toString();
        conversation.header.pinned = wanted.value("pinned").toBool();
        conversation.header.changedMs = now.addDays(-wanted.value("daysAgo").toInt()).toMSecsSinceEpoch() - i;
        if (wanted.value("bare").toBool())
            m_store->save(conversation.header);
        else
            m_store->saveAll(conversation);
    }
    m_controller = std::make_unique<ConversationsController>(*m_store);
    connect(m_controller.get(), &ConversationsController::openRequested, this, [this](const QString& id) {
        m_opened << id;
        m_controller->onOpened(id);
        Q_EMIT heard();
    });
    connect(m_controller.get(), &ConversationsController::messageRequested, this, [this](const QString& id) {
        m_message = id;
        Q_EMIT heard();
    });
    connect(m_controller.get(), &ConversationsController::newRequested, this, [this] {
        ++m_news;
        Q_EMIT heard();
    });
    Q_EMIT changed();
}

void ConversationsBench::clear()
{
    holdSearches(false);
    m_controller.reset();
    m_store.reset();
    m_opened.clear();
    m_message.clear();
    m_news = 0;
    Q_EMIT changed();
}

void ConversationsBench::turn(const QString& id)
{
    ConversationHeader header = *m_controller->list()->header(id);
    header.changedMs = QDateTime::currentMSecsSinceEpoch() + 1000;
    m_store->save(header);
}

void ConversationsBench::setActivity(const QString& id, int activity)
{
    m_controller->onActivity(id, ConversationActivity::Value(activity));
}

QString ConversationsBench::title(const QString& id) const
{
    const auto conversation = m_store->conversation(id);
    return conversation ? conversation->header.title : QString();
}

QString ConversationsBench::file(const QString& name) const
{
    return QUrl::fromLocalFile(m_folder->filePath(name)).toString();
}

void ConversationsBench::holdSearches(bool held)
{
    m_gate->release(std::exchange(m_waiting, 0));
    if (!held)
        return;
    m_waiting = QThreadPool::globalInstance()->maxThreadCount();
    for (int i = 0; i < m_waiting; ++i)
        QThreadPool::globalInstance()->start([gate = m_gate] { gate->acquire(); });
}

#include "moc_conversations_bench.cpp"
