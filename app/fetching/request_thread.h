// RequestThread asks the network on a thread of its own and brings the answer back.
#pragma once

#include "app/net/failure.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QThreadPool>

#include <exception>
#include <memory>
#include <stop_token>
#include <utility>

/// Runs one request at a time: a newer one stops the one before, whose answer is dropped. The destructor stops what
/// runs and waits for it. Lives on the UI thread; a member of the object that asks.
class RequestThread
{
public:
    RequestThread() { m_pool.setMaxThreadCount(1); }
    ~RequestThread()
    {
        stop();
        m_pool.waitForDone();
    }
    RequestThread(const RequestThread&) = delete;
    RequestThread& operator=(const RequestThread&) = delete;

    /// Calls `work(stop)` on the thread and `done(its net::Result)` on the UI thread, unless it was stopped.
    template <typename Work, typename Done>
    void ask(Work work, Done done)
    {
        stop();
        m_stop = std::stop_source();
        m_pool.start([this, alive = std::weak_ptr<const int>(m_alive), job = m_job, stop = m_stop.get_token(),
                      work = std::move(work), done = std::move(done)]() mutable {
            using Answer = std::invoke_result_t<Work&, const std::stop_token&>;
            const auto answer = std::make_shared<Answer>(caught<Answer>(work, stop));
            const auto comeBack = [this, alive, job, answer, done = std::move(done)]() mutable {
                if (!alive.expired() && job == m_job)
                    done(std::move(*answer));
            };
            QMetaObject::invokeMethod(qApp, std::move(comeBack), Qt::QueuedConnection);
        });
    }

    /// Calls `work()` on the thread when what runs there has ended. It is not stopped by newer requests.
    template <typename Work>
    void after(Work work)
    {
        m_pool.start(std::move(work));
    }

    /// next() returns the number of the next request, isNewest() whether that is still the newest: for what `work`
    /// reports before it ends.
    quint64 next() const { return m_job + 1; }
    bool isNewest(quint64 job) const { return job == m_job; }

    void stop()
    {
        m_stop.request_stop();
        ++m_job;
    }

private:
    template <typename Answer, typename Work>
    static Answer caught(Work& work, const std::stop_token& stop)
    {
        try {
            return work(stop);
        } catch (const std::exception& thrown) {  // out of memory, in most cases
            return net::fail(net::Failure::Kind::CannotRead, thrown.what());
        }
    }

    std::shared_ptr<const int> m_alive = std::make_shared<int>(0);
    quint64 m_job = 0;  // the newest
    std::stop_source m_stop{std::nostopstate};
    QThreadPool m_pool;
};
