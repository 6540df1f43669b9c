#include "app/server/shared_core.h"

#include "engine/expert_map.h"

#include <algorithm>
#include <utility>

namespace server {

/// Says whether an event goes to the turn's own seat only; other events concern the model, and go to all seats.
static bool is_of_a_turn(engine::Event::Kind kind)
{
    return kind == engine::Event::Kind::TurnsDropped || kind == engine::Event::Kind::ContextNearlyFull ||
           kind == engine::Event::Kind::KvRestored || kind == engine::Event::Kind::KvPrefilled ||
           kind == engine::Event::Kind::Warning;
}

void tell(const engine::Listener& listener, const EngineNews& news)
{
    if (const auto* prompt = std::get_if<engine::PromptLedger>(&news); prompt && listener.on_prompt)
        listener.on_prompt(*prompt);
    if (const auto* text = std::get_if<std::string>(&news); text && listener.on_text)
        listener.on_text(*text);
    if (const auto* token = std::get_if<engine::TokenLogprobs>(&news); token && listener.on_token)
        listener.on_token(*token);
    if (const auto* frame = std::get_if<engine::Telemetry>(&news); frame && listener.on_telemetry)
        listener.on_telemetry(*frame);
    if (const auto* event = std::get_if<engine::Event>(&news); event && listener.on_event)
        listener.on_event(*event);
}

SeatPlace::Held* SeatPlace::find(engine::TurnId id)
{
    const auto found = std::ranges::find(turns, id, &Held::id);
    return found == turns.end() ? nullptr : &*found;
}

bool SeatPlace::runs() const
{
    return std::ranges::any_of(turns, [](const Held& turn) { return !turn.over; });
}

SharedCore::SharedCore(std::unique_ptr<engine::Engine> its_engine, SharedEngine::Admits admits)
    : engine(std::move(its_engine))
    , admits_(std::move(admits))
{
    engine->on_posted = [this] {
        const std::lock_guard lock(mutex);
        wake_owner();
    };
}

SharedCore::Place SharedCore::add_place(bool owner, std::function<void()> wake)
{
    auto place = std::make_shared<SeatPlace>(SeatPlace{owner, std::move(wake)});
    const std::lock_guard lock(mutex);
    places_.push_back(place);
    return place;
}

void SharedCore::remove_place(const Place& place)
{
    const std::lock_guard lock(mutex);
    std::erase(places_, place);
}

/// Lets places enter in the order in which they come; a guest that is not admitted does not wait.
bool SharedCore::enter(const Place& place)
{
    std::unique_lock lock(mutex);
    const auto refused = [&] { return !may_enter(*place); };
    const auto me = queue_.insert(queue_.end(), place.get());
    moved_.wait(lock, [&] { return refused() || (!taken_ && queue_.begin() == me); });
    const bool enters = !refused();
    queue_.erase(me);
    if (enters) {
        taken_ = true;
        inside_ = place.get();
    } else {
        moved_.notify_all();  // the place behind it may be the next
    }
    return enters;
}

/// Says whether the engine admits the place. Called under the lock.
bool SharedCore::may_enter(const SeatPlace& place) const
{
    return place.owner || (open_.model && place.generation == open_.generation);
}

void SharedCore::leave()
{
    const std::lock_guard lock(mutex);
    inside_ = nullptr;
    taken_ = false;
    moved_.notify_all();
}

/// Wakes the owner, unless it was woken and has not looked yet. Called under the lock, as wake_guests() and
/// add_general() are.
void SharedCore::wake_owner()
{
    for (const Place& place : places_)
        if (place->owner && !place->woken && place->wake) {
            place->woken = true;
            place->wake();
        }
}

void SharedCore::wake_guests()
{
    for (const Place& place : places_)
        if (!place->owner && place->wake)
            place->wake();
}

/// Adds news of the model for a seat. A guest without a turn gets none, and a frame replaces the one before it. The
/// owner is woken, unless it has a turn, whose steps look by themselves.
void SharedCore::add_general(SeatPlace& to, EngineNews news)
{
    if (!to.owner && !to.runs())
        return;
    const bool replaces = std::holds_alternative<engine::Telemetry>(news) && !to.general_news.empty() &&
                          std::holds_alternative<engine::Telemetry>(to.general_news.back());
    if (replaces)
        to.general_news.back() = std::move(news);
    else
        to.general_news.push_back(std::move(news));
    if (to.owner && !to.runs())
        wake_owner();
}

/// Returns an event as a seat is told it. The event of a moved block names conversations: only the seat's own are left,
/// under its own numbers. If none of them is the seat's, the tokens are left out, too.
static engine::Event as_seen_by(const SeatPlace& place, const engine::Event& event)
{
    engine::Event seen = event;
    if (event.kind != engine::Event::Kind::Offload && event.kind != engine::Event::Kind::Fetch)
        return seen;
    seen.sequences.clear();
    for (const auto& [its, in_engine] : place.sequences)
        if (std::ranges::find(event.sequences, in_engine) != event.sequences.end())
            seen.sequences.push_back(its);
    if (seen.sequences.empty())
        seen.tokens = {};
    return seen;
}

void SharedCore::tell_others(const SeatPlace& place, const EngineNews& news)
{
    const auto* const event = std::get_if<engine::Event>(&news);
    const std::lock_guard lock(mutex);
    for (const Place& other : places_)
        if (other.get() != &place)
            add_general(*other, event ? EngineNews(as_seen_by(*other, *event)) : news);
}

/// Passes news to a turn's listener: at once, if the turn's own thread is in the engine; else the news waits for that
/// thread.
void SharedCore::tell_turn(const Place& place, engine::TurnId id,
                           const std::shared_ptr<const engine::Listener>& listener, EngineNews news)
{
    if (inside_ == place.get())
        return tell(*listener, news);
    const std::lock_guard lock(mutex);
    if (const SeatPlace::Held* turn = place->find(id); turn && !turn->result)
        place->turn_news.push_back({id, listener, std::move(news)});
}

engine::Listener SharedCore::of_turn(const Place& place, engine::TurnId id, engine::SequenceId sequence,
                                     const engine::Listener& listener)
{
    const auto told = std::make_shared<const engine::Listener>(listener);
    engine::Listener l;
    l.on_prompt = [this, place, id, told](const engine::PromptLedger& ledger) { tell_turn(place, id, told, ledger); };
    l.on_text = [this, place, id, told](std::string_view text) { tell_turn(place, id, told, std::string(text)); };
    if (listener.on_token)
        l.on_token = [this, place, id, told](const engine::TokenLogprobs& token) { tell_turn(place, id, told, token); };
    l.on_telemetry = [this, place, id, told, sequence](const engine::Telemetry& frame) {
        engine::Telemetry its = frame;
        its.sequence = sequence;
        if (place->owner) {
            owners_in_engine_ = frame.sequence;
            owners_frame_ = its;
        } else {
            show_owner(frame);
        }
        tell_turn(place, id, told, std::move(its));
    };
    l.on_event = [this, place, id, told](const engine::Event& event) {
        tell_turn(place, id, told, seen_by(*place, event));
        if (!is_of_a_turn(event.kind))
            tell_others(*place, event);
    };
    return l;
}

engine::Listener SharedCore::of_no_turn(const Place& place, const engine::Listener& listener)
{
    engine::Listener l;
    l.on_load = listener.on_load;
    l.on_event = [this, place, &listener](const engine::Event& event) {
        if (listener.on_event)
            listener.on_event(seen_by(*place, event));
        tell_others(*place, event);
    };
    l.on_telemetry = [this, place, &listener](const engine::Telemetry& frame) {
        if (frame.sequence == owners_in_engine_) {
            const engine::SequenceId sequence = owners_frame_.sequence;
            owners_frame_ = frame;
            owners_frame_.sequence = sequence;
        }
        const engine::Telemetry seen = of_memory(frame);
        if (listener.on_telemetry)
            listener.on_telemetry(seen);
        tell_others(*place, seen);
    };
    return l;
}

/// Returns where experts lie now, with the counts of how often the owner's tokens chose them.
static std::shared_ptr<const engine::ExpertMap> with_counts_of(const std::shared_ptr<const engine::ExpertMap>& owners,
                                                               const std::shared_ptr<const engine::ExpertMap>& now)
{
    if (!now || now == owners)
        return owners;
    auto map = std::make_shared<engine::ExpertMap>(*now);
    const bool counted = owners && owners->in_answer.size() == now->in_answer.size() &&
                         owners->in_conversation.size() == now->in_conversation.size();
    if (counted) {
        map->in_answer = owners->in_answer;
        map->in_conversation = owners->in_conversation;
    } else {
        std::ranges::fill(map->in_answer, 0);
        std::ranges::fill(map->in_conversation, 0);
    }
    return map;
}

/// Returns a frame without a turn's numbers, for the owner: with the model's memory, and with the owner's own
/// conversation, which its window shows.
engine::Telemetry SharedCore::of_memory(const engine::Telemetry& frame) const
{
    engine::Telemetry seen = frame;
    seen.phase = engine::Phase::Idle;
    seen.sequence = owners_frame_.sequence;
    seen.context_tokens = owners_frame_.context_tokens;
    seen.kv_map = owners_frame_.kv_map;
    seen.expert_map = with_counts_of(owners_frame_.expert_map, frame.expert_map);
    seen.prompt_tokens = seen.reused_tokens = seen.restored_tokens = seen.prefilled_tokens = 0;
    seen.generated_tokens = seen.drafted_tokens = seen.accepted_tokens = 0;
    seen.plain_steps = {};
    seen.ttft_ms.reset();
    seen.tpot.reset();
    seen.prefill_tokens_per_s.reset();
    seen.decode_tokens_per_s.reset();
    seen.shares.reset();
    return seen;
}

engine::Event SharedCore::seen_by(const SeatPlace& place, const engine::Event& event) const
{
    const std::lock_guard lock(mutex);
    return as_seen_by(place, event);
}

/// Passes a guest's frame to the owner, as far as it is about memory, while the owner has no turn with frames of its
/// own.
void SharedCore::show_owner(const engine::Telemetry& frame)
{
    const std::lock_guard lock(mutex);
    for (const Place& place : places_)
        if (place->owner && !place->runs())
            add_general(*place, of_memory(frame));
}

void SharedCore::mark_over(const std::vector<engine::TurnId>& in_engine)
{
    const std::lock_guard lock(mutex);
    for (const Place& place : places_)
        for (SeatPlace::Held& turn : place->turns)
            turn.over = turn.over || std::ranges::find(in_engine, turn.in_engine) != in_engine.end();
}

/// Ends turns and conversations. The seats' turns are marked as failed first, so that nobody waits for them; then they
/// are ended in the engine. A turn that was over before keeps the engine's result.
void SharedCore::close(Whose whose, const char* sentence)
{
    struct Ended {
        Place place;
        engine::TurnId id, in_engine;
        bool was_over;
    };
    std::vector<Ended> turns;
    std::vector<engine::SequenceId> sequences;
    {
        const std::lock_guard lock(mutex);
        open_ = {open_.generation + 1, std::nullopt};
        for (const Place& place : places_) {
            if (place->owner && whose == Whose::Guests)
                continue;
            for (SeatPlace::Held& turn : place->turns)
                if (const engine::TurnId in_engine = std::exchange(turn.in_engine, 0)) {
                    turns.push_back({place, turn.id, in_engine, turn.over});
                    turn.over = true;
                    turn.result = engine::fail(engine::Error::Code::NotLoaded, sentence);
                }
            for (const auto& sequence : place->sequences)
                sequences.push_back(sequence.second);
            place->sequences.clear();
        }
        if (whose == Whose::All) {
            owners_frame_ = {};
            owners_in_engine_ = 0;
        }
        moved_.notify_all();
    }
    for (const Ended& turn : turns) {
        auto result = engine->end(turn.in_engine);
        const std::lock_guard lock(mutex);
        if (SeatPlace::Held* const held = turn.place->find(turn.id); held && turn.was_over)
            held->result = std::move(result);
    }
    for (const engine::SequenceId sequence : sequences)
        engine->end_sequence(sequence);
    const std::lock_guard lock(mutex);
    if (whose == Whose::All)
        for (const Place& place : places_)  // frames that wait are of the model that goes
            std::erase_if(place->general_news,
                          [](const EngineNews& news) { return std::holds_alternative<engine::Telemetry>(news); });
    wake_guests();
}

void SharedCore::opened(const engine::ModelInfo& model)
{
    const bool may = !admits_ || admits_(model);
    const std::lock_guard lock(mutex);
    loaded_ = true;
    ++open_.generation;
    if (may)
        open_.model = model;
    wake_guests();
}

void SharedCore::look_whether_it_is_there()
{
    const bool is = engine->loaded();
    {
        const std::lock_guard lock(mutex);
        if (std::exchange(loaded_, is) == is || is)
            return;
    }
    close(Whose::Guests, "the model was closed, since its file went away");
}

OpenModel SharedCore::open() const
{
    const std::lock_guard lock(mutex);
    return open_;
}

OpenModel SharedCore::look(SeatPlace& place)
{
    const std::lock_guard lock(mutex);
    place.generation = open_.generation;
    return open_;
}

bool SharedCore::admits(const SeatPlace& place) const
{
    const std::lock_guard lock(mutex);
    return may_enter(place);
}

bool SharedCore::loaded() const
{
    const std::lock_guard lock(mutex);
    return loaded_;
}

int SharedCore::guest_turns() const
{
    const std::lock_guard lock(mutex);
    std::ptrdiff_t turns = 0;
    for (const Place& place : places_)
        if (!place->owner)
            turns += std::ranges::count(place->turns, false, &SeatPlace::Held::over);
    return int(turns);
}

}  // namespace server
