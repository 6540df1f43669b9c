#include "app/chat/chat_request.h"

#include "app/attachments/prompt_text.h"
#include "app/chat/request_settings.h"
#include "app/text/reasoning.h"

namespace {

bool answered(const QList<const StoredMessage*>& path, qsizetype question)
{
    return question + 1 < path.size() && path[question + 1]->role == StoredMessage::Role::Assistant &&
           !path[question + 1]->text.isEmpty();
}

/// Returns a message as the model reads it, the thoughts apart. The answer that it is to go on with stays whole, since
/// it may be cut off in a thought.
PartedAnswer asRead(const StoredMessage& message, bool last)
{
    if (message.role == StoredMessage::Role::User)
        return {promptText(message.text, message.attachments), {}};
    return last ? PartedAnswer{message.text, {}} : partedAnswer(message.text);
}

std::string rawText(const QList<const StoredMessage*>& path)
{
    QString text;
    const bool goesOn = path.last()->role == StoredMessage::Role::Assistant;
    const qsizetype question = path.size() - (goesOn ? 2 : 1);
    if (question >= 0)
        text = promptText(path[question]->text, path[question]->attachments);
    if (goesOn)
        text += path.last()->text;
    return text.toStdString();
}

}  // namespace

ChatRequest chatRequest(const engine::Request& defaults, const ConversationSettings& settings,
                        const QList<const StoredMessage*>& path, ModelReads reads)
{
    ChatRequest asked{defaults, {}};
    engine::Request& request = asked.request;
    request.messages.clear();
    if (path.isEmpty())
        return asked;
    if (reads == ModelReads::Text) {
        request.raw_prompt = rawText(path);
        applySettings(settings, request);
        return asked;
    }

    for (qsizetype i = 0; i < path.size(); ++i) {
        const StoredMessage& message = *path[i];
        const bool last = i + 1 == path.size();
        const bool mine = message.role == StoredMessage::Role::User;
        if (!last && (message.leftOut || (mine ? !answered(path, i) : message.text.isEmpty())))
            continue;
        const auto [text, thoughts] = asRead(message, last);
        request.messages.push_back({.role = mine ? "user" : "assistant",
                                    .text = text.toStdString(),
                                    .reasoning = thoughts.toStdString()});  // the template may leave it out
        asked.ids.append(message.id);
    }
    request.continue_last = path.last()->role == StoredMessage::Role::Assistant;
    applySettings(settings, request);
    while (asked.ids.size() < qsizetype(request.messages.size()))
        asked.ids.prepend(QString());  // the system prompt
    return asked;
}

ChatRequest nextRequest(const engine::Request& defaults, const ConversationSettings& settings,
                        const QList<const StoredMessage*>& path, ModelReads reads)
{
    if (!path.isEmpty() && path.last()->role == StoredMessage::Role::User)
        return chatRequest(defaults, settings, path, reads);
    const StoredMessage question{};  // empty, so that the template's own share of it is counted
    QList<const StoredMessage*> next = path;
    next.append(&question);
    return chatRequest(defaults, settings, next, reads);
}
