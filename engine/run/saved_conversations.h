// SavedConversations saves the engine's conversations, and begins one with what was saved of it.
#pragma once

#include "engine/kv/saved_kv_store.h"
#include "engine/run/conversation.h"
#include "engine/run/loaded_model.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// Stands between the conversations of the loaded model and the folder of their files. Pages that are being written are
/// held as a branch of the conversation is: the conversation may go on, be cut or end meanwhile. Used by the engine's
/// thread.
class SavedConversations
{
public:
    /// `wake` is called on another thread when collect() has something to do. Fails where the system gives no more
    /// threads.
    Status use(const SetSavedKv& settings, std::function<void()> wake);
    void forget(const std::string& name);
    void keep_only(std::vector<std::string> names);

    /// The file of a conversation that has no KV in memory, with the replies in it; or why there is none of use.
    /// `goes_on` false ends the waiting for what is still being written.
    SavedStart open(LoadedModel& model, Conversation& conversation, const std::string& name,
                    const std::function<bool()>& goes_on);

    /// Has the conversation written, as it is now.
    void save(LoadedModel& model, const Conversation& conversation, const std::string& name);

    /// Gives back the pages that have been written. What there is to tell.
    std::vector<Event> collect(LoadedModel* model);
    /// Gives back all pages, and the writing up that would take longer. False: none was held.
    bool release_all(LoadedModel& model, std::chrono::milliseconds grace);

private:
    bool keeps(const std::string& name) const { return keeps_any_ && SavedKvStore::usable(name); }
    SavedKvJob job_for(LoadedModel& model, const Conversation& conversation, const std::string& name,
                       const KvSequence& held) const;

    bool keeps_any_ = false;
    std::map<int, KvSequence> held_;  // by ticket
    int last_ticket_ = 0;
    std::unique_ptr<SavedKvStore> store_;  // reads from what is held: goes first
};

/// Puts into a sequence, which is empty at first, what the file keeps of the prompt's beginning, page by page;
/// `goes_on` is told how many tokens are there, and false pauses it: call it again with the same sequence and reader.
/// Where a page is missing `make_room` is asked for it; without room, what is there must do. Answers why it was not all
/// of the file; nothing: it was paused, and recurrent layers have no state yet. Throws std::bad_alloc.
std::optional<SavedKvMiss> restore(KvCache& cache, KvSequence& sequence, SavedKvReader& reader,
                                   std::span<const int> prompt, const std::function<bool(int)>& goes_on,
                                   const std::function<bool()>& make_room);

}  // namespace engine
