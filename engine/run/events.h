// Makes and sends the events that the engine tells its listener of.
#pragma once

#include "engine/engine.h"
#include "engine/metrics/clock.h"

#include <string>
#include <utility>

namespace engine {

inline void send(const Listener& listener, const Event& event)
{
    if (listener.on_event)
        listener.on_event(event);
}

inline Event make_event(Event::Kind kind, std::string sentence = {})
{
    Event event;
    event.kind = kind;
    event.time_us = now_us();
    event.sentence = std::move(sentence);
    return event;
}

}  // namespace engine
