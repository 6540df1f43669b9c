// Runs one turn of a conversation by itself, as the engine runs those that nothing else runs beside.
#pragma once

#include "engine/run/turn.h"

#include <QtGlobal>

namespace test_support {

/// Runs a turn, which is stopped when it gives the piece of text of this number. draft: the draft model, or null; mtp:
/// the model's own block. What goes wrong ends the test.
inline engine::Turn one_turn(engine::LoadedModel& model, engine::DraftModel* draft, engine::Conversation& conversation,
                             const engine::Request& request, int stop_at, engine::MtpModel* mtp = nullptr)
{
    std::stop_source stop;
    int pieces = 0;
    engine::Listener listener;
    listener.on_text = [&](std::string_view) {
        if (++pieces == stop_at)
            stop.request_stop();
    };
    model.placement().begin_turn({});
    engine::TurnHost host{model, conversation.frames, listener, stop.get_token(),
                          [](engine::Conversation&) { return false; }};
    host.draft = draft;
    host.mtp = mtp;
    auto turn =
        engine::TurnStepper(std::move(host), conversation, request, 4711).run([&] { model.placement().advance(); });
    if (!turn)
        qFatal("%s", turn.error().what.c_str());
    return std::move(*turn);
}

}  // namespace test_support
