#include "app/server/engine_desk.h"

#include "app/server/turn_listener.h"
#include "engine/caught.h"

#include <algorithm>
#include <future>
#include <utility>

namespace server {

EngineDesk::EngineDesk(std::unique_ptr<engine::Engine> engine, DeskOptions options, Metrics& metrics)
    : engine_(std::move(engine))
    , options_(options)
    , metrics_(metrics)
{
    engine_->on_posted = [this] {
        const std::lock_guard lock(mutex_);
        posted_ = true;
        came_.notify_all();
    };
    thread_ = std::thread([this] { work(); });
}

EngineDesk::~EngineDesk()
{
    close({});
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
        came_.notify_all();
    }
    thread_.join();
}

/// Waits until the engine's thread has done it.
template <class Work>
auto EngineDesk::on_engine_thread(When when, Work work) -> decltype(work())
{
    std::promise<decltype(work())> done;
    auto result = done.get_future();
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back({when, [&done, &work] {
                             try {
                                 done.set_value(work());
                             } catch (...) {
                                 done.set_value(engine::caught("for this request"));
                             }
                         }});
        came_.notify_all();
    }
    return result.get();
}

engine::Status EngineDesk::load(const engine::LoadRequest& request, std::string name, const engine::Listener& listener)
{
    return on_engine_thread(When::BetweenTurns, [&]() -> engine::Status {
        known_.clear();
        auto info = engine_->load(request, listener, {});
        if (!info)
            return tl::unexpected(info.error());
        auto text = ModelText::open(request.model);
        if (!text)
            return tl::unexpected(text.error());
        auto served = std::make_shared<Served>(Served{std::move(name), std::move(*info), std::move(*text)});
        const std::lock_guard lock(mutex_);
        served_ = std::move(served);
        return {};
    });
}

std::shared_ptr<const Served> EngineDesk::served() const
{
    const std::lock_guard lock(mutex_);
    return served_;
}

tl::expected<std::shared_ptr<TurnEvents>, Refusal> EngineDesk::submit(Ask ask)
{
    if (ask.turn.most_drafted < 0)
        ask.turn.most_drafted = options_.most_drafted;
    auto events = std::make_shared<TurnEvents>();
    const std::lock_guard lock(mutex_);
    if (closed_)
        return tl::unexpected(Refusal{Refusal::Kind::Busy, "the server is about to stop"});
    std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.events->stop_token().stop_requested(); });
    if (waiting_.size() >= std::size_t(options_.waiting))
        return tl::unexpected(Refusal{Refusal::Kind::Busy, std::to_string(waiting_.size()) +
                                                               " requests wait already, which is as many as may"});
    waiting_.push_back({std::move(ask), events, Clock::now()});
    came_.notify_all();
    return events;
}

engine::Result<engine::PromptLedger> EngineDesk::count(const engine::Request& request)
{
    return on_engine_thread(When::BetweenTokens, [&] { return engine_->count_prompt(request, {}); });
}

EngineDesk::Queue EngineDesk::queue() const
{
    const std::lock_guard lock(mutex_);
    return {running_ ? 1 : 0, int(waiting_.size())};
}

void EngineDesk::close(std::chrono::milliseconds grace)
{
    std::unique_lock lock(mutex_);
    closed_ = true;
    came_.wait_for(lock, grace, [this] { return waiting_.empty() && !running_; });
    for (const Waiting& waiting : waiting_)
        waiting.events->cancel();
    if (running_)
        running_->cancel();
}

void EngineDesk::work()
{
    for (;;) {
        std::optional<Waiting> next;
        bool poll = false;
        {
            std::unique_lock lock(mutex_);
            came_.wait(lock, [this] { return ends_ || posted_ || !jobs_.empty() || !waiting_.empty(); });
            if (ends_ && waiting_.empty() && jobs_.empty())
                return;
            poll = std::exchange(posted_, false);
            if (!waiting_.empty()) {
                next = std::move(waiting_.front());
                waiting_.pop_front();
                running_ = next->events;
            }
        }
        if (poll)
            engine_->poll({});
        do_jobs(When::BetweenTurns);
        if (!next)
            continue;
        try {
            answer(*next);
        } catch (...) {
            next->events->put(Failed{refusal_of(engine::caught("for this request").value())});
        }
        const std::lock_guard lock(mutex_);
        running_.reset();
        came_.notify_all();
    }
}

/// Also between the tokens of a turn, since who only wants something counted need not wait for its end.
void EngineDesk::do_jobs(When now)
{
    for (;;) {
        std::function<void()> work;
        {
            const std::lock_guard lock(mutex_);
            const auto next = std::ranges::find_if(
                jobs_, [&](const Job& job) { return now == When::BetweenTurns || job.when == When::BetweenTokens; });
            if (next == jobs_.end())
                return;
            work = std::move(next->work);
            jobs_.erase(next);
        }
        work();
    }
}

void EngineDesk::answer(Waiting& waiting)
{
    const Ask& ask = waiting.ask;
    const std::shared_ptr<const Served> served = this->served();
    if (!served || waiting.events->stop_token().stop_requested()) {
        waiting.events->put(Failed{{Refusal::Kind::Busy, served ? "the turn was ended" : "no model is loaded"}});
        return;
    }
    TurnListener turn(ask, *waiting.events, metrics_, waiting.since, [this] { do_jobs(When::BetweenTokens); });
    std::string text = conversation_text(ask.turn);
    const auto sequence = sequence_for(text);
    if (!sequence) {
        turn.end(tl::unexpected(sequence.error()), 0, 0);
        return;
    }
    known_.asked(*sequence, std::move(text));
    const auto done = engine_->generate(*sequence, ask.turn, turn.listener(), waiting.events->stop_token());
    int prompt_tokens = 0;
    if (!done && done.error().code == engine::Error::Code::ContextFull)
        if (const auto ledger = engine_->count_prompt(ask.turn, waiting.events->stop_token()))
            prompt_tokens = ledger->total_tokens;
    turn.end(done, prompt_tokens, served->info.context_in_use);
}

/// The conversation that has most of this one's KV, or a new one.
engine::Result<engine::SequenceId> EngineDesk::sequence_for(const std::string& text)
{
    const KnownConversations::Match match = known_.match(text);
    if (match.goes_on)
        return *match.goes_on;
    auto sequence = match.begins_like ? engine_->branch(*match.begins_like, -1) : engine_->create_sequence();
    if (sequence)
        known_.asked(*sequence, {});
    while (const auto old = known_.one_too_many(options_.conversations)) {
        engine_->end_sequence(*old);
        known_.forget(*old);
    }
    return sequence;
}

}  // namespace server
