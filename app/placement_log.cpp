#include "app/placement_log.h"

#include <spdlog/spdlog.h>

namespace {

const char* nameOf(engine::Event::Cause cause)
{
    using Cause = engine::Event::Cause;
    switch (cause) {
    case Cause::User:
        return "user";
    case Cause::Watermark:
        return "watermark";
    case Cause::Split:
        return "layer split";
    case Cause::OtherProgram:
        return "another program";
    case Cause::DeviceLost:
        return "device lost";
    case Cause::ContextFull:
        return "context full";
    case Cause::None:
        break;
    }
    return "no cause";
}

}  // namespace

void logPlacement(const engine::Event& event)
{
    using Kind = engine::Event::Kind;
    switch (event.kind) {
    case Kind::Offload:
    case Kind::Fetch:
        spdlog::info("{}: KV of tokens {} to {}, {} blocks, {} bytes, {} us ({})",
                     event.kind == Kind::Offload ? "left the device" : "came back to the device", event.tokens.first,
                     event.tokens.last - 1, event.blocks, event.bytes, event.duration_us, nameOf(event.cause));
        break;
    case Kind::LayerMove:
        spdlog::info("{}, {} bytes, {} us ({})", event.sentence, event.bytes, event.duration_us, nameOf(event.cause));
        break;
    case Kind::DeviceLost:
        spdlog::warn("{}", event.sentence);
        break;
    case Kind::CommandDone:
    case Kind::LoadFinished:
    case Kind::TurnsDropped:
    case Kind::ContextNearlyFull:
    case Kind::Warning:
        break;
    }
}
