// inBackground() does work on another thread and brings the result back.
#pragma once

#include "app/system/log_lines.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

/// Calls `work()` on a thread of the global pool and then, on the thread of the application, `done(its result)`, if
/// `owner` is still there. `work` may wait for a network share that does not answer, which holds no other work up.
/// Where `work` throws, which on a pool's thread would end the program, `failed()` is called in the place of `done`.
/// Nothing is cancelled by itself: an owner who no longer wants the result tells `work` so, or drops it in `done`.
template <typename Owner, typename Work, typename Done, typename Failed>
void inBackground(Owner* owner, Work work, Done done, Failed failed)
{
    using Result = std::invoke_result_t<Work&>;
    const auto result = std::make_shared<std::optional<Result>>();
    QThreadPool::globalInstance()->start([guard = QPointer<Owner>(owner), result, work = std::move(work),
                                          done = std::move(done), failed = std::move(failed)]() mutable {
        QThreadPool::globalInstance()->releaseThread();  // other work gets a thread meanwhile, since this may wait long
        try {
            result->emplace(work());
        } catch (const std::exception& thrown) {
            logError(QStringLiteral("work in the background: ") + QString::fromUtf8(thrown.what()));
        }
        QThreadPool::globalInstance()->reserveThread();
        const auto comeBack = [guard, result, done = std::move(done), failed = std::move(failed)]() mutable {
            if (!guard)
                return;
            if (*result)
                done(std::move(**result));
            else
                failed();
        };
        QMetaObject::invokeMethod(qApp, comeBack, Qt::QueuedConnection);
    });
}

template <typename Owner, typename Work, typename Done>
void inBackground(Owner* owner, Work work, Done done)
{
    inBackground(owner, std::move(work), std::move(done), [] {});
}
