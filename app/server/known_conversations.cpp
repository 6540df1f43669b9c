#include "app/server/known_conversations.h"

#include <algorithm>

namespace server {

namespace {

// Shorter common beginnings cost less to compute again than to share.
constexpr std::size_t kWorthSharing_bytes = 256;

}  // namespace

std::string conversation_text(const engine::Request& request)
{
    // Each part has its length before it, so that two different conversations never give the same text. The template's
    // arguments are left out: whether to think changes many prompts at their end only, and the engine finds the common
    // part by itself.
    const auto part = [](const std::string& text) { return std::to_string(text.size()) + ':' + text; };
    if (request.messages.empty() && !request.raw_prompt.empty())
        return "raw:" + request.raw_prompt;
    if (request.messages.empty()) {
        std::string ids = "ids:";
        for (const int id : request.raw_ids)
            ids += std::to_string(id) + ',';
        return ids;
    }
    std::string all = part(request.tools_json);
    for (const engine::Message& message : request.messages)
        all += part(message.role) + part(message.text) + part(message.reasoning) + part(message.more_json);
    return all;
}

KnownConversations::Match KnownConversations::match(std::string_view text) const
{
    Match match;
    std::size_t longest_whole = 0, longest_shared = kWorthSharing_bytes - 1;
    for (const auto& [sequence, kept] : kept_) {
        const auto differ = std::mismatch(text.begin(), text.end(), kept.text.begin(), kept.text.end());
        const auto shared = std::size_t(differ.first - text.begin());
        const bool whole = differ.second == kept.text.end() && !kept.being_answered;
        if (whole && shared >= longest_whole) {
            longest_whole = shared;
            match.goes_on = sequence;
        } else if (!whole && shared > longest_shared) {
            longest_shared = shared;
            match.begins_like = sequence;
        }
    }
    // Another conversation may share a longer beginning: then less has to be computed.
    if (match.begins_like && longest_shared > longest_whole + kWorthSharing_bytes)
        match.goes_on.reset();
    return match;
}

void KnownConversations::asked(engine::SequenceId sequence, std::string text)
{
    kept_[sequence] = {std::move(text), ++asked_};
}

void KnownConversations::answered(engine::SequenceId sequence)
{
    if (const auto found = kept_.find(sequence); found != kept_.end())
        found->second.being_answered = false;
}

std::optional<engine::SequenceId> KnownConversations::one_too_many(std::size_t most) const
{
    if (kept_.size() <= most)
        return std::nullopt;
    std::optional<engine::SequenceId> oldest;
    std::uint64_t asked = asked_ + 1;
    for (const auto& [sequence, kept] : kept_)
        if (!kept.being_answered && kept.last_asked < asked) {
            oldest = sequence;
            asked = kept.last_asked;
        }
    return oldest;
}

}  // namespace server
