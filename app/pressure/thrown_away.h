// ThrownAway keeps what the engine still tells of a conversation that was thrown away from being shown.
#pragma once

#include "engine/telemetry.h"

/// Its turn may still have to stop, and the engine keeps its tokens until nobody can take the removal back.
class ThrownAway
{
public:
    /// Frames of this sequence are those of the conversation. Where the bytes lie stays in the newest one.
    engine::Telemetry throwAway(const engine::Telemetry& newest)
    {
        m_sequence = newest.sequence;
        return ofNone(newest);
    }
    /// What is to be shown of a frame. `asked`: of a turn that somebody has asked for since.
    engine::Telemetry shown(const engine::Telemetry& frame, bool asked)
    {
        if (m_sequence == 0 || frame.sequence != m_sequence)
            return frame;
        if (!asked)
            return ofNone(frame);
        m_sequence = 0;  // it was taken back, and goes on
        return frame;
    }
    /// Another engine counts its sequences anew.
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
    int m_sequence = 0;  // 0: none
};
