#include "app/conversations/saved_kv.h"

#include <filesystem>

SavedKv::SavedKv(EngineThread& engine, const ConversationStore& store, const ConversationsController& conversations,
                 const Setting& gib)
{
    if (store.savedKvFolder().isEmpty())
        return;
    EngineWorker* const worker = engine.worker();
    const auto tell = [worker, &gib, folder = std::filesystem::path(store.savedKvFolder().toStdU16String())] {
        worker->post(engine::SetSavedKv{folder, qint64(gib.value()) << 30});
    };
    tell();
    connect(&gib, &Setting::changed, this, tell);
    // The worker is the receiver, so that this works also at the program's end, when SavedKv is destroyed first.
    connect(
        &conversations, &ConversationsController::goneForGood, worker,
        [worker](const QString& id) { worker->post(engine::ForgetSavedKv{id.toStdString()}); }, Qt::DirectConnection);

    engine::KeepSavedKv there;
    for (const ConversationHeader& header : store.conversations())
        there.saved_as.push_back(header.id.toStdString());
    worker->post(std::move(there));
}

#include "moc_saved_kv.cpp"
