// placementMove() notes that something moved between the memories, when, and whose tokens it was.
#pragma once

#include "engine/telemetry.h"

#include <QList>
#include <QtGlobal>

#include <optional>

/// Says where a message lies in the prompt. `message`: its place in the order in which the conversation's were made,
/// from 1, which stays the same through versions, export and import; 0: the system prompt.
struct MessageTokens {
    int message = 0;
    engine::TokenRange tokens;
};

/// Holds an event that gets a row of its own. A plain value.
struct PlacementMove {
    qint64 ms = 0;  // since 1970
    engine::Event event;
    std::optional<int> message = {};  // the first of the messages whose tokens moved, as in MessageTokens
    int messages = 0;                 // how many messages' tokens moved
};

/// Notes an event that has happened just now; `places` are in the order of their tokens.
PlacementMove placementMove(const engine::Event& event, const QList<MessageTokens>& places);
