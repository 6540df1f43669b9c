// Runs the real engine with a model on the emulated device, for tests of what is posted to it.
#pragma once

#include "engine/engine.h"
#include "tests/support/models.h"

#include <QtGlobal>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace test_support {

using namespace engine;

/// An engine with one conversation of a model that has sliding and full layers, and all it has said.
struct DeviceEngine {
    std::unique_ptr<Engine> engine = make_engine();
    SequenceId sequence = 0;
    std::vector<Event> events;
    Telemetry newest;
    int frames = 0;
    std::string device;  // as the model's facts name it

    explicit DeviceEngine(const PlacementOptions& placement)
    {
        LoadRequest request;
        request.model = (test_support::own_models_folder() + "/gemma3.gguf").toStdString();
        request.kv_block_tokens = 16;
        request.threads = 1;
        request.context_tokens = 512;
        request.placement = placement;
        const auto info = engine->load(request, listener(), {});
        if (!info)
            qWarning("%s", info.error().what.c_str());
        else
            device = info->device;
        sequence = engine->create_sequence().value_or(0);
    }

    Listener listener()
    {
        Listener out;
        out.on_event = [this](const Event& event) { events.push_back(event); };
        out.on_telemetry = [this](const Telemetry& telemetry) {
            newest = telemetry;
            ++frames;
        };
        return out;
    }
    int count(Event::Kind kind) const { return int(std::ranges::count(events, kind, &Event::kind)); }
    /// Posts a command between turns and has it carried out; returns its event.
    const Event& ask(const Command& command)
    {
        const std::uint64_t id = engine->post(command);
        engine->poll(listener());
        return *answer_to(id);
    }
    const Event* answer_to(std::uint64_t command) const
    {
        const auto found = std::ranges::find(events, command, &Event::command);
        return found == events.end() ? nullptr : &*found;
    }
};

inline PlacementOptions emulated_device(int fit_tokens)
{
    PlacementOptions placement;
    placement.device = PlacementOptions::Device::Emulated;
    placement.emulated.fit_tokens = fit_tokens;
    placement.emulated.link_bytes_per_s = 0;
    return placement;
}

/// Asks for an answer of this many tokens.
inline Request raw(int max_tokens)
{
    Request request;
    request.raw_prompt = "Once upon a time there was a machine with two memories, and they did not agree";
    request.max_tokens = max_tokens;
    request.sampling.temperature = 0;  // this model then goes round in a circle and does not end by itself
    return request;
}

}  // namespace test_support
