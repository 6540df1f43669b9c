// TurnEvents carries the events of a turn from the engine's thread to the connection's.
#pragma once

#include "app/server/ask.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace server {

/// Holds the events of a request's turns, in the order in which they happened. Shared by the engine's thread and the
/// one that answers.
class EventQueue
{
public:
    struct Item {
        int choice = 0;  // which of the turns
        TurnEvent event;
    };

    void put(int choice, TurnEvent event)
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back({choice, std::move(event)});
        came_.notify_one();
    }

    /// Returns the next event, if it comes within that time.
    std::optional<Item> next(std::chrono::milliseconds patience)
    {
        std::unique_lock lock(mutex_);
        if (!came_.wait_for(lock, patience, [this] { return !waiting_.empty(); }))
            return std::nullopt;
        Item item = std::move(waiting_.front());
        waiting_.pop_front();
        return item;
    }

private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::deque<Item> waiting_;  // never longer than the answers
};

/// Puts one turn's events into the queue. The thread that reads may cancel the turn.
class TurnEvents
{
public:
    TurnEvents(std::shared_ptr<EventQueue> queue, int choice)
        : queue_(std::move(queue))
        , choice_(choice)
    {
    }

    void put(TurnEvent event) { queue_->put(choice_, std::move(event)); }
    void cancel() { stop_.request_stop(); }
    std::stop_token stop_token() const { return stop_.get_token(); }

private:
    const std::shared_ptr<EventQueue> queue_;
    const int choice_;
    std::stop_source stop_;
};

}  // namespace server
