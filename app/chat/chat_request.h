// chatRequest() turns a conversation into a request to the engine.
#pragma once

#include "app/store/conversation.h"
#include "engine/engine.h"

#include <QStringList>

/// A request, and which message of the conversation each of its messages is (empty: the system prompt).
struct ChatRequest {
    engine::Request request;
    QStringList ids;
};

enum class ModelReads {
    Messages,
    Text,  // it has no chat template and goes on with the text it is given
};

/// Asks for an answer to the last message of `path`, or to go on with it when it is an answer. What has no answer and
/// is not the last, and what is left out, is not part of it: templates want the roles to take turns. Nor is what was
/// thought before an earlier answer: models are made to read their answers without, and some templates refuse its
/// marks. The conversation's settings replace those of `defaults`.
ChatRequest chatRequest(const engine::Request& defaults, const ConversationSettings& settings,
                        const QList<const StoredMessage*>& path, ModelReads reads);

/// The next prompt with its question still empty: for counting what is there before anything is sent.
ChatRequest nextRequest(const engine::Request& defaults, const ConversationSettings& settings,
                        const QList<const StoredMessage*>& path, ModelReads reads);
