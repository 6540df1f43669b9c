#include "app/log/placement_log.h"

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

const char* nameOf(engine::SavedKvMiss miss)
{
    using Miss = engine::SavedKvMiss;
    switch (miss) {
    case Miss::NoFile:
        return "no file";
    case Miss::OtherModel:
        return "the file is another model's";
    case Miss::OtherFormat:
        return "the file has another KV format";
    case Miss::OtherVersion:
        return "the file is another version's";
    case Miss::OtherText:
        return "the file keeps another text from there on";
    case Miss::Damaged:
        return "the file is damaged";
    case Miss::None:
        break;
    }
    return "all of the file";
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
    case Kind::ExpertsMove:
        spdlog::info("{}, {} bytes, {} us ({})", event.sentence, event.bytes, event.duration_us, nameOf(event.cause));
        break;
    case Kind::DeviceLost:
        spdlog::warn("{}", event.sentence);
        break;
    case Kind::KvRestored:
    case Kind::KvPrefilled:
        spdlog::info("{}: {} tokens, {} bytes, {} us ({})",
                     event.kind == Kind::KvRestored ? "KV read back from the disk" : "KV computed again",
                     event.tokens.count(), event.bytes, event.duration_us, nameOf(event.miss));
        break;
    case Kind::KvSaved:
        spdlog::info("KV of {} tokens saved, {} bytes written, {} us", event.tokens.count(), event.bytes,
                     event.duration_us);
        break;
    case Kind::KvRewritten:
        spdlog::info("KV is kept in other types from now on: {}, {} blocks, {} bytes, {} us", event.sentence,
                     event.blocks, event.bytes, event.duration_us);
        break;
    case Kind::DeviceChanged:
        spdlog::info("the model's device: {}", event.sentence);
        break;
    case Kind::Adapted:
        spdlog::info("{}", event.sentence);
        break;
    case Kind::CommandDone:
    case Kind::LoadFinished:
    case Kind::TurnsDropped:
    case Kind::ContextNearlyFull:
    case Kind::Warning:
        break;
    }
}
