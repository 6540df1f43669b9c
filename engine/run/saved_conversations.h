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

/// Connects the conversations of the loaded model with the folder of their files. Pages that are being written are held
/// as a branch of the conversation is: the conversation may go on, be cut or end meanwhile. Used by the engine's
/// thread.
class SavedConversations
{
public:
    /// `wake` is called on another thread when collect() has something to do. Fails where the system gives no more
    /// threads.
    Status use(const SetSavedKv& settings, std::function<void()> wake);
    void forget(const std::string& name);
    void keep_only(std::vector<std::string> names);

    /// Opens the file of a conversation that has no KV in memory, with the replies in it; or says why none is of use.
    /// `goes_on` false ends the wait for what is still being written.
    SavedStart open(LoadedModel& model, Conversation& conversation, const std::string& name,
                    const std::function<bool()>& goes_on);

    /// Has the conversation written as it is now.
    void save(LoadedModel& model, const Conversation& conversation, const std::string& name);

    /// Gives back the pages that have been written. Returns events about them.
    std::vector<Event> collect(LoadedModel* model);
    /// Gives back all pages, and gives up writing that would take longer than `grace`. False: none was held.
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

/// Reads into a sequence, which is empty at first, what the file keeps of the prompt's beginning, page by page.
/// `goes_on` is told how many tokens are there, and pauses reading with false: call restore() again with the same
/// sequence and reader. Where there is no page free `make_room` is called; without room, the tokens read so far must
/// do. Returns why it was not all of the file; nothing: it was paused, and recurrent layers have no state yet. Throws
/// std::bad_alloc.
std::optional<SavedKvMiss> restore(KvCache& cache, KvSequence& sequence, SavedKvReader& reader,
                                   std::span<const int> prompt, const std::function<bool(int)>& goes_on,
                                   const std::function<bool()>& make_room);

}  // namespace engine
