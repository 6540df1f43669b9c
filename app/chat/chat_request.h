// chatRequest() turns a conversation into a request to the engine.
#pragma once

#include "app/store/conversation.h"
#include "engine/engine.h"

#include <QStringList>

/// Holds a request, and the ids of the conversation's messages that its messages are (empty: the system prompt).
struct ChatRequest {
    engine::Request request;
    QStringList ids;
};

enum class ModelReads {
    Messages,
    Text,  // it has no chat template and goes on with the text it is given
};

/// Returns a request for an answer to the last message of `path`, or for the rest of it if it is an answer. Messages
/// that are left out, and earlier questions without an answer, are not part of the request: templates want the roles to
/// take turns. What was thought before an earlier answer is given apart from its text: most models are made to read
/// their answers without it, and some templates refuse its marks. The conversation's settings replace those of
/// `defaults`.
ChatRequest chatRequest(const engine::Request& defaults, const ConversationSettings& settings,
                        const QList<const StoredMessage*>& path, ModelReads reads);

/// Returns the next prompt with its question still empty, for counting what is there before anything is sent.
ChatRequest nextRequest(const engine::Request& defaults, const ConversationSettings& settings,
                        const QList<const StoredMessage*>& path, ModelReads reads);
