#include "app/worker/engine_thread.h"

#include <QDeadlineTimer>

#include <utility>

EngineThread::EngineThread(const EngineFactory& makeEngine, EngineEnd end)
    : m_end(std::move(end))
    , m_thread(std::make_unique<QThread>())
    , m_worker(new EngineWorker(makeEngine(), m_shutdown.get_token()))
{
    m_worker->moveToThread(m_thread.get());
    QObject::connect(m_thread.get(), &QThread::finished, m_worker, &QObject::deleteLater);
    m_thread->setObjectName(QStringLiteral("engine"));
    m_thread->start();
}

EngineThread::~EngineThread()
{
    m_shutdown.request_stop();
    m_thread->quit();
    if (m_thread->wait(QDeadlineTimer(m_end.patience)))
        return;
    if (m_end.giveUp)
        m_end.giveUp();
    // The thread that goes on still uses the worker and this QThread, which must not be destroyed while it runs.
    [[maybe_unused]] QThread* const running = m_thread.release();
}

void EngineThread::load(quint64 job, const engine::LoadRequest& request, const std::stop_token& stop)
{
    endCounts();
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, job, request, stop] { worker->load(job, request, stop); }, Qt::QueuedConnection);
}

void EngineThread::unload(quint64 job)
{
    endCounts();
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, job] { worker->unload(job); }, Qt::QueuedConnection);
}

void EngineThread::answer(const QString& conversation, const QStringList& path, const std::vector<AskedAnswer>& asked)
{
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, conversation, path, asked] { worker->answer(conversation, path, asked); },
        Qt::QueuedConnection);
}

void EngineThread::generate(quint64 turn, const QString& conversation, const engine::Request& request,
                            const std::stop_token& stop)
{
    answer(conversation, {}, {{turn, {}, request, stop}});
}

void EngineThread::branchConversation(const QString& from, const QString& to)
{
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, from, to] { worker->branchConversation(from, to); }, Qt::QueuedConnection);
}

void EngineThread::endConversation(const QString& conversation)
{
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, conversation] { worker->endConversation(conversation); }, Qt::QueuedConnection);
}

void EngineThread::pin(const QString& conversation, const std::vector<engine::TokenRange>& tokens)
{
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, conversation, tokens] { worker->pin(conversation, tokens); },
        Qt::QueuedConnection);
}

void EngineThread::countTokens(quint64 job, const QString& text, const std::stop_token& stop)
{
    QMetaObject::invokeMethod(
        m_worker,
        [worker = m_worker, job, text, stop, inTheWay = m_counts.get_token()] {
            worker->countTokens(job, text, stop, inTheWay);
        },
        Qt::QueuedConnection);
}

void EngineThread::countPrompt(quint64 job, const engine::Request& request, const std::stop_token& stop)
{
    QMetaObject::invokeMethod(
        m_worker,
        [worker = m_worker, job, request, stop, inTheWay = m_counts.get_token()] {
            worker->countPrompt(job, request, stop, inTheWay);
        },
        Qt::QueuedConnection);
}

void EngineThread::endCounts()
{
    std::exchange(m_counts, std::stop_source()).request_stop();
}
