#include "engine/run/saved_conversations.h"

#include "engine/tokenizer/utf8_stream.h"

#include <algorithm>

namespace engine {

namespace {

/// Returns the text that a turn gave out for these ids, as its prompt will hold it. Nothing where an id does not exist.
std::optional<KeptReply> reply_of(const Tokenizer& tokenizer, const std::vector<int>& ids)
{
    Utf8Stream stream;
    KeptReply reply{{}, ids};
    for (const int id : ids) {
        if (id < 0 || id >= tokenizer.size())
            return {};
        reply.text += stream.feed(tokenizer.piece(id));
    }
    reply.text += stream.flush();
    if (tokenizer.vocabulary().add_space_prefix == Vocabulary::Flag::Yes && reply.text.starts_with(' '))
        reply.text.erase(0, 1);
    return reply;
}

/// Returns the state at the end, and the checkpoint before it.
std::vector<SavedState> newest_states(const RecurrentStates& states, const KvSequence& held)
{
    std::vector<SavedState> newest;
    const auto add = [&](int tokens, StateId state) {
        if (newest.empty() || newest.back().tokens < tokens)
            newest.push_back({tokens, states.host_bytes(state)});
    };
    for (const StateCheckpoint& checkpoint : held.checkpoints)
        add(checkpoint.tokens, checkpoint.state);
    if (held.state != kNoState)
        add(held.length(), held.state);
    if (newest.size() > std::size_t(SavedKvFormat::kMostStates))
        newest.erase(newest.begin(), newest.end() - SavedKvFormat::kMostStates);
    return newest;
}

/// Reads pages for restore(), as far as there is room. ContextFull, NoMemory: call it again to go on.
Result<std::optional<SavedKvMiss>> restore_pages(KvCache& cache, KvSequence& sequence, SavedKvReader& reader,
                                                 std::span<const int> prompt, const std::function<bool(int)>& goes_on)
{
    std::vector<std::byte*> blocks(std::size_t(cache.num_layers()));
    while (sequence.length() < reader.tokens()) {
        if (!reader.format().has_types_of(cache.layer(0).block))  // they were changed meanwhile
            return SavedKvMiss::OtherFormat;
        const int first = sequence.length();
        const auto rest = prompt.subspan(std::size_t(first));
        const int wanted = std::min(cache.block_tokens(), reader.tokens() - first);
        const int tokens = reader.next_matches(rest);
        if (tokens > 0) {
            if (Status ok = cache.reserve(sequence, first + tokens); !ok)
                return tl::unexpected(ok.error());
            cache.states().spoil(sequence);  // it is empty, and not the state of these tokens
            for (int l = 0; l < cache.num_layers(); ++l)
                blocks[std::size_t(l)] = cache.host_block(sequence.pages.back(), l);
            if (!reader.read_page(blocks)) {
                cache.cut_kv(sequence, first);
                return SavedKvMiss::Damaged;
            }
            sequence.ids.insert(sequence.ids.end(), rest.begin(), rest.begin() + tokens);
        }
        if (tokens < std::min(wanted, int(rest.size())))
            return SavedKvMiss::OtherText;
        if (tokens < wanted)
            break;
        if (!goes_on(sequence.length()))
            return std::nullopt;
    }
    return SavedKvMiss::None;
}

/// Restores recurrent layers from the newest saved state that the restored tokens reach. That one is read first, since
/// there may be no memory for another.
void restore_states(KvCache& cache, KvSequence& sequence, SavedKvReader& reader)
{
    RecurrentStates& states = cache.states();
    states.give_back(sequence.state);
    sequence.checkpoints.reserve(std::size_t(reader.states()));  // storing a state that was taken cannot fail then
    for (int number = reader.states() - 1; number >= 0 && states.any(); --number) {
        StateId state = states.take();
        if (state == kNoState)
            break;
        if (const int tokens = reader.read_state(number, sequence.ids, states.host_bytes(state)); tokens > 0)
            sequence.checkpoints.insert(sequence.checkpoints.begin(), StateCheckpoint{tokens, state});
        else
            states.give_back(state);
    }
    cache.truncate(sequence, sequence.length());
}

}  // namespace

Status SavedConversations::use(const SetSavedKv& settings, std::function<void()> wake)
{
    const SavedKvStore::Limits limits{.most_bytes = std::max<std::int64_t>(settings.most_bytes, 0)};
    if (store_ && store_->folder() == settings.folder) {
        store_->set_limits(limits);
        keeps_any_ = limits.most_bytes > 0;
        return {};
    }
    if (store_)
        return fail(Error::Code::BadRequest, "saved conversations have their folder already");
    if (settings.folder.empty())
        return fail(Error::Code::BadRequest, "saved conversations need a folder");
    store_ = std::make_unique<SavedKvStore>(settings.folder, limits, std::move(wake));
    keeps_any_ = limits.most_bytes > 0;
    return {};
}

void SavedConversations::forget(const std::string& name)
{
    if (store_)
        store_->forget(name);
}

void SavedConversations::keep_only(std::vector<std::string> names)
{
    if (store_)
        store_->keep_only(std::move(names));
}

SavedStart SavedConversations::open(LoadedModel& model, Conversation& conversation, const std::string& name,
                                    const std::function<bool()>& goes_on)
{
    if (!keeps(name) || !conversation.kv.ids.empty())
        return {};
    SavedStart start;
    start.asked = true;
    auto reader = store_->open(name, model.saved_kv_format(), goes_on);
    if (!reader) {
        start.miss = reader.error();
        return start;
    }
    if (conversation.replies.empty())
        for (const std::vector<int>& ids : reader->replies())
            if (auto reply = reply_of(model.tokenizer(), ids))
                conversation.replies.push_back(std::move(*reply));
    start.reader = std::make_unique<SavedKvReader>(std::move(*reader));
    return start;
}

void SavedConversations::save(LoadedModel& model, const Conversation& conversation, const std::string& name)
{
    if (!keeps(name))
        return;
    KvCache& cache = model.cache();
    const int tokens = cache.intact_tokens(conversation.kv);
    if (tokens == 0)
        return;
    const auto held = held_.try_emplace(++last_ticket_).first;
    const auto give_back = [&] {
        cache.truncate(held->second, 0);
        held_.erase(held);
    };
    try {
        held->second = cache.branch(conversation.kv, tokens);
        if (cache.wait_mirrored(held->second))
            store_->save(job_for(model, conversation, name, held->second));
        else  // a lost device: the next turn finds out what is left
            give_back();
    } catch (...) {
        give_back();
        throw;
    }
}

SavedKvJob SavedConversations::job_for(LoadedModel& model, const Conversation& conversation, const std::string& name,
                                       const KvSequence& held) const
{
    const KvCache& cache = model.cache();
    SavedKvJob job;
    job.conversation = name;
    job.format = model.saved_kv_format();
    job.ids = held.ids;
    for (const PageId page : held.pages)
        for (int l = 0; l < cache.num_layers(); ++l)
            job.blocks.push_back(cache.host_block(page, l));
    job.states = newest_states(cache.states(), held);
    for (const KeptReply& reply : conversation.replies)
        job.replies.push_back(reply.ids);
    job.ticket = last_ticket_;
    return job;
}

std::vector<Event> SavedConversations::collect(LoadedModel* model)
{
    if (!store_ || !store_->has_news())
        return {};
    for (const int ticket : store_->take_done()) {
        const auto held = held_.find(ticket);
        if (held == held_.end())
            continue;
        if (model)
            model->cache().truncate(held->second, 0);
        held_.erase(held);
    }
    return store_->take_events();
}

bool SavedConversations::release_all(LoadedModel& model, std::chrono::milliseconds grace)
{
    if (held_.empty())
        return false;
    store_->finish(grace);
    for (auto& [ticket, held] : held_)
        model.cache().truncate(held, 0);
    held_.clear();
    return true;
}

std::optional<SavedKvMiss> restore(KvCache& cache, KvSequence& sequence, SavedKvReader& reader,
                                   std::span<const int> prompt, const std::function<bool(int)>& goes_on,
                                   const std::function<bool()>& make_room)
{
    auto done = restore_pages(cache, sequence, reader, prompt, goes_on);
    while (!done && make_room())
        done = restore_pages(cache, sequence, reader, prompt, goes_on);
    if (done && !*done)
        return std::nullopt;
    restore_states(cache, sequence, reader);  // also where reading the pages has ended early
    return done.value_or(SavedKvMiss::None);
}

}  // namespace engine
