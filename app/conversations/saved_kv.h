// The KV of conversations on the disk: where it is, how much of it, and that it goes with its conversation.
#pragma once

#include "app/conversations/conversations_controller.h"
#include "app/settings/setting.h"
#include "app/worker/engine_thread.h"

#include <QObject>

/// Tells the engine where to keep it and how much, and of what conversations there is none any more; those that went
/// while the program did not run included. On the UI thread; owned by Program.
class SavedKv : public QObject
{
    Q_OBJECT

public:
    /// `gib`: the most there may be; 0: none. Where the store keeps nothing, nothing is kept here either.
    SavedKv(EngineThread& engine, const ConversationStore& store, const ConversationsController& conversations,
            const Setting& gib);
};
