#include "app/worker/engine_thread.h"

EngineThread::EngineThread(const EngineFactory& makeEngine)
    : m_worker(new EngineWorker(makeEngine(), m_shutdown.get_token()))
{
    m_worker->moveToThread(&m_thread);
    QObject::connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    m_thread.setObjectName(QStringLiteral("engine"));
    m_thread.start();
}

EngineThread::~EngineThread()
{
    m_shutdown.request_stop();
    m_thread.quit();
    m_thread.wait();
}

void EngineThread::load(quint64 job, const engine::LoadRequest& request, const std::stop_token& stop)
{
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, job, request, stop] { worker->load(job, request, stop); }, Qt::QueuedConnection);
}

void EngineThread::generate(quint64 turn, const engine::Request& request, const std::stop_token& stop)
{
    QMetaObject::invokeMethod(
        m_worker, [worker = m_worker, turn, request, stop] { worker->generate(turn, request, stop); },
        Qt::QueuedConnection);
}

void EngineThread::endConversation()
{
    QMetaObject::invokeMethod(m_worker, &EngineWorker::endConversation, Qt::QueuedConnection);
}
