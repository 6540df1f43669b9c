// SavedKv tells the engine where and how much KV of conversations to keep on disk, and what to delete.
#pragma once

#include "app/conversations/conversations_controller.h"
#include "app/settings/setting.h"
#include "app/worker/engine_thread.h"

#include <QObject>

/// Tells the engine where and how much to keep, and which conversations are gone, so that their files are deleted; also
/// the files of conversations that are missing when the program starts. Lives on the UI thread; owned by Program.
class SavedKv : public QObject
{
    Q_OBJECT

public:
    /// `gib`: GiB on disk at most; 0: nothing is kept. Where the store has no folder, nothing is kept either.
    SavedKv(EngineThread& engine, const ConversationStore& store, const ConversationsController& conversations,
            const Setting& gib);
};
