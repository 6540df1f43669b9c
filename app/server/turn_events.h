// TurnEvents carries the events of a turn from the engine's thread to the connection's.
#pragma once

#include "app/server/ask.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace server {

/// Shared by the two threads. Whoever reads may end the turn early.
class TurnEvents
{
public:
    void put(TurnEvent event)
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(event));
        came_.notify_one();
    }

    /// The next one, if it comes within that time.
    std::optional<TurnEvent> next(std::chrono::milliseconds patience)
    {
        std::unique_lock lock(mutex_);
        if (!came_.wait_for(lock, patience, [this] { return !waiting_.empty(); }))
            return std::nullopt;
        TurnEvent event = std::move(waiting_.front());
        waiting_.pop_front();
        return event;
    }

    void cancel() { stop_.request_stop(); }
    std::stop_token stop_token() const { return stop_.get_token(); }

private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::deque<TurnEvent> waiting_;  // as long as an answer at most
    std::stop_source stop_;
};

}  // namespace server
