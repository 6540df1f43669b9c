// Starts engines that keep conversations in a folder, as a program does each time it starts.
#pragma once

#include "tests/engine/run/loaded_engine.h"

#include <QTemporaryDir>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace test_support {

/// An engine that keeps conversations in a folder, as it is after a start of the program, and the events of its last
/// answer. most_bytes: what the files may take, 0: nothing is kept.
struct Started {
    Loaded loaded;
    std::vector<engine::Event> events;
    std::function<void(const engine::Telemetry&)> on_telemetry;

    explicit Started(const QTemporaryDir& folder, std::int64_t most_bytes = std::int64_t(1) << 30,
                     const engine::LoadRequest* request = nullptr)
        : loaded(0, 16)
    {
        loaded.engine->post(engine::SetSavedKv{folder.filePath("kv").toStdString(), most_bytes});
        loaded.engine->poll({});
        if (!request)
            return;
        const auto info = loaded.engine->load(*request, {}, {});
        if (!info)
            qFatal("%s", info.error().what.c_str());
        loaded.sequence = loaded.engine->create_sequence().value_or(0);
    }
    engine::Turn ask(const std::vector<engine::Message>& messages, const std::string& name = "c1")
    {
        engine::Request request = chat(messages, 40);
        request.saved_as = name;
        engine::Listener listener;
        listener.on_event = [this](const engine::Event& event) { events.push_back(event); };
        listener.on_telemetry = on_telemetry;
        events.clear();
        auto turn = loaded.generate(request, listener);
        if (!turn)
            qFatal("%s", turn.error().what.c_str());
        return *turn;
    }
    const engine::Event* heard(engine::Event::Kind kind) const
    {
        const auto found = std::ranges::find(events, kind, &engine::Event::kind);
        return found == events.end() ? nullptr : &*found;
    }
};

/// Returns the messages of a short talk; with an answer, the answer and another question follow.
inline std::vector<engine::Message> talk(const std::string& answer = {})
{
    std::vector<engine::Message> messages = {{"system", "be short and to the point, please"},
                                             {"user", "tell me of rivers and of lakes"}};
    if (!answer.empty()) {
        messages.push_back({"assistant", answer});
        messages.push_back({"user", "and of the sea"});
    }
    return messages;
}

}  // namespace test_support
