// SavedKv tells the engine where and how much KV of conversations to keep on disk, and what to delete.
#pragma once

#include "app/conversations/conversations_controller.h"
#include "app/settings/setting.h"
#include "app/worker/engine_thread.h"

#include <QObject>

/// Also tells the engine which conversations are gone, so that their files are deleted, those that vanished while the
/// program did not run included. Lives on the UI thread; owned by Program.
class SavedKv : public QObject
{
    Q_OBJECT

public:
    /// `gib`: the most there may be; 0: none. Where the store keeps nothing, nothing is kept here either.
    SavedKv(EngineThread& engine, const ConversationStore& store, const ConversationsController& conversations,
            const Setting& gib);
};
