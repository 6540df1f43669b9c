// ThrownAway hides what the engine still reports of a conversation that was thrown away.
#pragma once

#include "engine/telemetry.h"

#include <QtGlobal>

/// Replaces frames of a thrown-away conversation by empty ones: its turn may still run for a moment, and the engine
/// keeps its tokens as long as the removal can be taken back.
class ThrownAway
{
public:
    /// Call it when the conversation of this turn is thrown away. Returns what to show instead of the newest frame,
    /// which may still be of another conversation.
    engine::Telemetry throwAway(quint64 turn, const engine::Telemetry& newest)
    {
        m_turn = turn;
        m_sequence = turn == m_newestTurn ? newest.sequence : 0;
        return turn == m_newestTurn ? ofNone(newest) : newest;
    }
    /// Returns what to show of a frame. `turn`: whose frame it is, 0: of none; `asked`: that turn is still wanted.
    engine::Telemetry shown(quint64 turn, const engine::Telemetry& frame, bool asked)
    {
        m_newestTurn = turn != 0 ? turn : m_newestTurn;
        if (turn != 0 && turn == m_turn && !asked)
            m_sequence = frame.sequence;
        if (m_sequence == 0 || frame.sequence != m_sequence)
            return frame;
        if (!asked)
            return ofNone(frame);
        m_sequence = 0;  // the removal was taken back, and the conversation goes on
        return frame;
    }
    /// Call it when the engine has gone: the next one counts its sequences anew.
    void clear() { m_sequence = 0; }

private:
    static engine::Telemetry ofNone(engine::Telemetry frame)
    {
        frame.sequence = frame.context_tokens = 0;
        frame.ttft_ms = frame.prefill_tokens_per_s = frame.decode_tokens_per_s = {};
        frame.tpot.reset();
        frame.kv_map.reset();
        frame.expert_map.reset();
        return frame;
    }
    int m_sequence = 0;                    // of what was thrown away; 0: none, or no frame of it has come yet
    quint64 m_turn = 0, m_newestTurn = 0;  // that was thrown away; that sent the newest frame
};
