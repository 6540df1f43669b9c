#include "app/chat/placement_move.h"

#include <QDateTime>

PlacementMove placementMove(const engine::Event& event, const QList<MessageTokens>& places)
{
    PlacementMove move{.ms = QDateTime::currentMSecsSinceEpoch(), .event = event};
    for (const MessageTokens& place : places) {
        if (place.tokens.first >= event.tokens.last || place.tokens.last <= event.tokens.first)
            continue;
        if (move.messages++ == 0)
            move.message = place.message;
    }
    return move;
}
