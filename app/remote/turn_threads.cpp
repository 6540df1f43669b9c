#include "app/remote/turn_threads.h"

#include "engine/caught.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace remote {

namespace {

/// How long a step waits at most: meanwhile no other turn can begin, and no stopped turn can end.
constexpr std::chrono::milliseconds kLongestStep{20};

}  // namespace

engine::TurnId TurnThreads::begin(Work work, const engine::Listener& listener, const std::stop_token& stop)
{
    Turn& turn = turns_.emplace_back(++last_, listener, stop);
    try {
        turn.thread = std::jthread([this, &turn, work = std::move(work), heard = collecting(turn)] {
            engine::Result<engine::Turn> result;
            try {
                result = work(heard, turn.stop.get_token());
            } catch (...) {
                result = engine::caught("for this answer");
            }
            const std::lock_guard lock(mutex_);
            turn.result = std::move(result);
            changed_.notify_one();
        });
    } catch (...) {  // no thread could be started
        turns_.pop_back();
        throw;
    }
    return turn.id;
}

std::vector<engine::TurnId> TurnThreads::step()
{
    std::vector<News> news;
    std::vector<engine::TurnId> over;
    {
        std::unique_lock lock(mutex_);
        const auto is_over = [](const Turn& turn) { return turn.result.has_value(); };
        changed_.wait_for(lock, turns_.empty() ? std::chrono::milliseconds(0) : kLongestStep,
                          [&] { return !news_.empty() || std::ranges::any_of(turns_, is_over); });
        news.swap(news_);
        for (const Turn& turn : turns_)
            if (is_over(turn))
                over.push_back(turn.id);
    }
    for (const News& one : news)
        one.tell();
    return over;
}

engine::Result<engine::Turn> TurnThreads::end(engine::TurnId id)
{
    const auto turn = std::ranges::find(turns_, id, &Turn::id);
    if (turn == turns_.end())
        return engine::fail(engine::Error::Code::BadRequest, "there is no such turn");
    turn->stop.request_stop();
    turn->thread.join();
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(news_, [id](const News& news) { return news.turn == id; });
    }
    engine::Result<engine::Turn> result = std::move(*turn->result);
    turns_.erase(turn);
    return result;
}

void TurnThreads::clear()
{
    for (const Turn& turn : turns_)
        turn.stop.request_stop();
    turns_.clear();  // joins each thread
    news_.clear();
}

void TurnThreads::add(News news)
{
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
    changed_.notify_one();
}

/// Returns the listener that the turn's thread calls in place of the turn's own.
engine::Listener TurnThreads::collecting(const Turn& turn)
{
    engine::Listener heard;
    const engine::Listener& its = turn.listener;
    if (its.on_text)
        heard.on_text = [this, &turn](std::string_view text) {
            add({turn.id, [&turn, text = std::string(text)] { turn.listener.on_text(text); }});
        };
    const auto collect = [this, &turn](auto& to, const auto& from) {
        if (from)
            to = [this, &turn, &from](const auto& value) { add({turn.id, [&from, value] { from(value); }}); };
    };
    collect(heard.on_prompt, its.on_prompt);
    collect(heard.on_token, its.on_token);
    collect(heard.on_telemetry, its.on_telemetry);
    collect(heard.on_event, its.on_event);
    return heard;
}

}  // namespace remote
