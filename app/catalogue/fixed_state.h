// FixedState says how much less memory a long conversation takes because layers of the model are recurrent.
#pragma once

#include "engine/engine.h"
#include "engine/model_info.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

/// Says how much memory layers save that keep a state of fixed size, as a value for the pages. Bytes are doubles, since
/// QML has no 64-bit integers.
class FixedState
{
    Q_GADGET
    QML_VALUE_TYPE(fixedState)
    Q_PROPERTY(int layers MEMBER layers CONSTANT)
    Q_PROPERTY(int ofLayers MEMBER ofLayers CONSTANT)
    Q_PROPERTY(double bytes MEMBER bytes CONSTANT)
    Q_PROPERTY(bool besideKv MEMBER besideKv CONSTANT)
    Q_PROPERTY(int tokens MEMBER tokens CONSTANT)
    Q_PROPERTY(double conversationBytes MEMBER conversationBytes CONSTANT)
    Q_PROPERTY(double withoutBytes MEMBER withoutBytes CONSTANT)
    Q_PROPERTY(bool saves READ saves CONSTANT)

public:
    FixedState() = default;
    /// `request` says in which types keys and values are kept.
    FixedState(const engine::ModelInfo& model, const engine::LoadRequest& request);

    /// Says whether a long conversation takes less memory than if all these layers kept keys and values.
    bool saves() const { return conversationBytes < withoutBytes; }
    bool operator==(const FixedState&) const = default;

    int layers = 0;  // that keep such a state; 0: none does
    int ofLayers = 0;
    double bytes = 0;              // of a conversation's states, checkpoints included
    bool besideKv = false;         // all these layers keep KV as well
    int tokens = 0;                // of a long conversation: what the model was made for, 128K at most
    double conversationBytes = 0;  // of KV and states then
    double withoutBytes = 0;       // of KV, if each of these layers kept as much as one that attends
};
