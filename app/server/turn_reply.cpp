#include "app/server/turn_reply.h"

#include <optional>
#include <utility>

namespace server {

namespace {

constexpr int kClientGone = 499;  // for the metrics only: nobody is there to be told

bool is_last(const TurnEvent& event)
{
    return std::holds_alternative<Ended>(event) || std::holds_alternative<Failed>(event);
}

/// Puts the events of a turn together.
class Collector
{
public:
    void take(TurnEvent event)
    {
        if (auto* text = std::get_if<TextPiece>(&event))
            answer.text += text->text;
        else if (auto* thought = std::get_if<ThoughtPiece>(&event))
            answer.thought += thought->text;
        else if (auto* call = std::get_if<CallBegun>(&event))
            answer.calls.push_back({std::move(call->id), std::move(call->name), {}});
        else if (auto* arguments = std::get_if<CallArguments>(&event))
            answer.calls.at(std::size_t(arguments->index)).arguments += arguments->text;
        else if (auto* ended = std::get_if<Ended>(&event))
            answer.ended = *ended;
    }

    Answer answer;
};

/// One turn's way to its client.
class Delivery
{
public:
    Delivery(TurnEvents& events, HttpReply& reply, const TurnPatience& patience)
        : events_(events)
        , reply_(reply)
        , patience_(patience)
    {
    }

    /// Nothing: the client is gone and the turn was told to end, or it was the deadline.
    std::optional<TurnEvent> next(std::optional<Clock::time_point> deadline = std::nullopt)
    {
        for (;;) {
            if (auto event = events_.next(patience_.glance))
                return event;
            if (reply_.client_is_gone()) {
                gone_ = true;
                events_.cancel();
                return std::nullopt;
            }
            if (deadline && Clock::now() >= *deadline)
                return std::nullopt;
        }
    }

    void stream(Wording& wording, std::optional<TurnEvent> first)
    {
        for (std::optional<TurnEvent> event = std::move(first); !gone_;) {
            if (!reply_.write(event ? wording.piece(*event) : wording.ping()))
                break;
            if (event && is_last(*event))
                return;
            event = next(Clock::now() + patience_.ping);
        }
        events_.cancel();
    }

    bool gone() const { return gone_; }

private:
    TurnEvents& events_;
    HttpReply& reply_;
    const TurnPatience& patience_;
    bool gone_ = false;
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

int reply_with_turn(EngineDesk& desk, const Dialect& dialect, Asked asked, const std::vector<HttpHeader>& headers,
                    HttpReply& reply, const TurnPatience& patience)
{
    const auto refuse = [&](const Refusal& refusal) {
        reply.whole(answer_to(refusal, dialect, headers));
        return http_status(refusal.kind);
    };
    const bool streams = asked.ask.streams;
    const auto events = desk.submit(std::move(asked.ask));
    if (!events)
        return refuse(events.error());
    Delivery delivery(**events, reply, patience);
    if (streams) {
        // What cannot be answered gets its status as long as none has been sent.
        const auto first = delivery.next(Clock::now() + patience.head);
        if (delivery.gone())
            return kClientGone;
        if (first && std::holds_alternative<Failed>(*first))
            return refuse(std::get<Failed>(*first).refusal);
        reply.begin({200, {}, asked.wording->stream_type(), headers});
        delivery.stream(*asked.wording, first);
        return 200;
    }
    Collector collector;
    for (;;) {
        auto event = delivery.next();
        if (!event)
            return kClientGone;
        if (const auto* failed = std::get_if<Failed>(&*event))
            return refuse(failed->refusal);
        const bool last = is_last(*event);
        collector.take(std::move(*event));
        if (last)
            break;
    }
    reply.whole({200, asked.wording->whole(collector.answer), "application/json", headers});
    return 200;
}

}  // namespace server
