#include "app/server/turn_reply.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace server {

namespace {

/// Adds an event of a turn to the answer.
void take(Answer& answer, TurnEvent event)
{
    if (auto* text = std::get_if<TextPiece>(&event))
        answer.text += text->text;
    else if (auto* thought = std::get_if<ThoughtPiece>(&event))
        answer.thought += thought->text;
    else if (auto* said = std::get_if<TokenPiece>(&event))
        std::ranges::move(said->tokens, std::back_inserter(answer.tokens));
    else if (auto* call = std::get_if<CallBegun>(&event))
        answer.calls.push_back({std::move(call->id), std::move(call->name), {}});
    else if (auto* arguments = std::get_if<CallArguments>(&event))
        answer.calls.at(std::size_t(arguments->index)).arguments += arguments->text;
    else if (auto* ended = std::get_if<Ended>(&event))
        answer.ended = *ended;
}

/// Passes the events of a request's turns on to its client.
class Delivery
{
public:
    Delivery(EngineDesk::Submitted submitted, HttpReply& reply, const TurnPatience& patience)
        : submitted_(std::move(submitted))
        , reply_(reply)
        , patience_(patience)
        , running_(submitted_.turns.size())
    {
    }
    /// Cancels the turns that still run: nobody waits for them.
    ~Delivery()
    {
        for (const auto& turn : submitted_.turns)
            turn->cancel();
    }

    /// Waits for the next event. Empty: the client is gone, or the deadline has passed.
    std::optional<EventQueue::Item> next(std::optional<Clock::time_point> deadline = std::nullopt)
    {
        for (;;) {
            if (left())
                return std::nullopt;
            if (auto item = submitted_.events->next(patience_.glance)) {
                if (const auto* ended = std::get_if<Ended>(&item->event)) {
                    --running_;
                    if (item->choice % submitted_.choices == 0)  // the other choices have the same prompt
                        prompt_tokens_ += ended->prompt_tokens;
                    answer_tokens_ += ended->answer_tokens;
                }
                return item;
            }
            if (deadline && Clock::now() >= *deadline)
                return std::nullopt;
        }
    }

    void stream(Wording& wording, std::optional<EventQueue::Item> first)
    {
        for (auto item = std::move(first); !gone_;) {
            if (item)
                wording.turn_to(item->choice);
            if (!reply_.write(item ? wording.piece(item->event) : wording.ping())) {
                gone_ = true;
                return;
            }
            if (const auto* failed = item ? std::get_if<Failed>(&item->event) : nullptr) {
                failed_ = http_status(failed->refusal.kind);
                return;
            }
            if (all_ended())
                return;
            item = next(Clock::now() + patience_.ping);
        }
    }

    std::size_t answers() const { return submitted_.turns.size(); }
    bool all_ended() const { return running_ == 0; }
    bool gone() const { return gone_; }
    Replied replied(int status) const
    {
        return {gone_ ? kClientGone : failed_.value_or(status), prompt_tokens_, answer_tokens_, {}};
    }

private:
    /// Says whether the client has left, and looks only now and then. It looks also while events come: a whole answer
    /// is sent at its end only, so that no failed write would tell.
    bool left()
    {
        if (!gone_ && Clock::now() - looked_ >= patience_.glance) {
            gone_ = reply_.client_is_gone();
            looked_ = Clock::now();
        }
        return gone_;
    }

    const EngineDesk::Submitted submitted_;
    HttpReply& reply_;
    const TurnPatience& patience_;
    std::size_t running_;
    int prompt_tokens_ = 0, answer_tokens_ = 0;
    bool gone_ = false;
    std::optional<int> failed_;  // status for the log, of an answer that broke off after the head was sent
    Clock::time_point looked_ = Clock::now();
};

}  // namespace

HttpAnswer answer_to(const Refusal& refusal, const Dialect& dialect, std::vector<HttpHeader> headers)
{
    if (refusal.kind == Refusal::Kind::Busy)
        headers.push_back({"Retry-After", "2"});
    if (refusal.kind == Refusal::Kind::NoKey)
        headers.push_back({"WWW-Authenticate", "Bearer"});
    return {http_status(refusal.kind), dialect.error(refusal), "application/json", std::move(headers)};
}

Replied reply_with_turn(EngineDesk& desk, const Dialect& dialect, Asked asked, const std::vector<HttpHeader>& headers,
                        HttpReply& reply, const TurnPatience& patience)
{
    const auto refuse = [&](const Refusal& refusal) {
        reply.whole(answer_to(refusal, dialect, headers));
        return Replied{http_status(refusal.kind)};
    };
    const bool streams = asked.ask.streams;
    auto submitted = desk.submit(std::move(asked.ask));
    if (!submitted)
        return refuse(submitted.error());
    Delivery delivery(std::move(*submitted), reply, patience);
    if (streams) {
        // A request that cannot be answered gets its own status, if that shows before the head of the stream is sent.
        const auto first = delivery.next(Clock::now() + patience.head);
        if (delivery.gone())
            return delivery.replied(kClientGone);
        if (first && std::holds_alternative<Failed>(first->event))
            return refuse(std::get<Failed>(first->event).refusal);
        reply.begin({200, {}, asked.wording->stream_type(), headers});
        delivery.stream(*asked.wording, first);
        return delivery.replied(200);
    }
    std::vector<Answer> answers(delivery.answers());
    while (!delivery.all_ended()) {
        auto item = delivery.next();
        if (!item)
            return delivery.replied(kClientGone);
        if (const auto* failed = std::get_if<Failed>(&item->event))
            return refuse(failed->refusal);
        take(answers[std::size_t(item->choice)], std::move(item->event));
    }
    reply.whole({200, asked.wording->whole_of_all(answers), "application/json", headers});
    return delivery.replied(200);
}

}  // namespace server
