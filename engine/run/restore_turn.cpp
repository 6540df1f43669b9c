// TurnRunner: a conversation that begins with what was saved of it.
#include "engine/metrics/clock.h"
#include "engine/run/saved_conversations.h"
#include "engine/run/turn.h"

#include <algorithm>

namespace engine {

/// What the file keeps of the prompt's beginning goes into the KV cache.
Status TurnRunner::restore_saved(const std::vector<int>& prompt)
{
    SavedStart& saved = host_.saved;
    if (!saved.asked)
        return {};
    const std::int64_t start = now_us();
    const auto goes_on = [&](int tokens) {
        restored_ = reused_ = prefilled_ = tokens;
        report(Phase::Prefill, false);
        host_.between_steps();
        return !host_.stop.stop_requested();
    };
    while (saved.reader) {
        const auto done = restore(host_.model.cache(), conversation_.kv, *saved.reader, prompt, goes_on);
        saved.miss = done.value_or(SavedKvMiss::None);
        if (done || !host_.make_room(conversation_))  // without room, what is there must do
            break;
    }
    restored_ = conversation_.kv.length();
    if (saved.miss == SavedKvMiss::Damaged && host_.forget_saved)
        host_.forget_saved();
    if (host_.stop.stop_requested())
        return fail(Error::Code::Cancelled, "the answer was stopped");
    tell_of_saved(now_us() - start);
    saved.reader.reset();
    return {};
}

/// A first question has nothing to restore; and where nothing has gone wrong, a few tokens are not worth a word.
void TurnRunner::tell_of_saved(std::int64_t duration_us)
{
    SavedKvMiss miss = host_.saved.miss;
    const bool usual = miss == SavedKvMiss::NoFile || miss == SavedKvMiss::OtherText;
    if (usual && turn_.prompt.count() - restored_ < host_.model.cache().block_tokens())
        miss = SavedKvMiss::None;
    const bool answered =
        std::ranges::any_of(request_.messages, [](const Message& message) { return message.role == "assistant"; });
    if (restored_ == 0 && (!answered || miss == SavedKvMiss::None))
        return;
    Event event;
    event.kind = restored_ > 0 ? Event::Kind::KvRestored : Event::Kind::KvPrefilled;
    event.tokens = restored_ > 0 ? TokenRange{0, restored_} : turn_.prompt;
    event.bytes = host_.saved.reader ? host_.saved.reader->bytes_read() : 0;
    event.duration_us = duration_us;
    event.time_us = now_us();
    event.miss = miss;
    if (host_.listener.on_event)
        host_.listener.on_event(event);
}

}  // namespace engine
