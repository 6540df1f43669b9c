#include "app/server/shared_engine.h"

#include "app/server/shared_core.h"
#include "engine/caught.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace server {

constexpr const char* kModelGone = "another model is being opened in the window, or none: ask again in a moment";
constexpr int kMostGuestTurns = engine::kMostRowsTogether - 1;  // one row is always left for the owner

/// The functions of a seat are called on one thread, but for post().
class SharedEngine::Seat final : public GuestEngine
{
public:
    Seat(std::shared_ptr<SharedCore> core, bool owner, std::function<void()> wake)
        : core_(std::move(core))
        , place_(core_->add_place(owner, owner ? [this] { wake_up(); } : std::move(wake)))
    {
    }
    ~Seat() override;

    engine::Result<engine::ModelInfo> load(const engine::LoadRequest& request, const engine::Listener& listener,
                                           std::stop_token stop) override;
    void unload() override;
    bool loaded() const override;
    engine::Result<engine::SequenceId> create_sequence() override;
    engine::Result<engine::SequenceId> branch(engine::SequenceId from, int tokens) override;
    void end_sequence(engine::SequenceId sequence) override;
    engine::Result<engine::TurnId> begin(engine::SequenceId sequence, const engine::Request& request,
                                         const engine::Listener& listener, std::stop_token stop) override;
    std::vector<engine::TurnId> step(const engine::Listener& listener) override;
    engine::Result<engine::Turn> end(engine::TurnId turn) override;
    engine::Result<engine::Turn> generate(engine::SequenceId sequence, const engine::Request& request,
                                          const engine::Listener& listener, std::stop_token stop) override;
    engine::Result<int> count_tokens(std::string_view text, std::stop_token stop) const override;
    engine::Result<engine::Embedding> embed(const engine::EmbeddingInput& input, std::stop_token stop) override;
    engine::Result<engine::PromptLedger> count_prompt(const engine::Request& request,
                                                      std::stop_token stop) const override;
    std::uint64_t post(engine::Command command) override;
    void poll(const engine::Listener& listener) override;
    OpenModel look() override { return core_->look(*place_); }

private:
    void wake_up() const
    {
        if (on_posted)
            on_posted();
    }
    static tl::unexpected<engine::Error> not_open() { return engine::fail(engine::Error::Code::NotLoaded, kModelGone); }
    std::optional<engine::SequenceId> in_engine(engine::SequenceId sequence) const;
    engine::SequenceId keep(engine::SequenceId sequence);
    void forget(engine::TurnId turn);
    bool has_news() const;
    void tell_news(const engine::Listener* general);
    std::vector<engine::TurnId> over() const;

    const std::shared_ptr<SharedCore> core_;
    const SharedCore::Place place_;
};

/// Ends this seat's turns and conversations; the owner's seat also closes the engine.
SharedEngine::Seat::~Seat()
{
    {
        const SharedCore::Pass pass(*core_, place_);
        if (pass && place_->owner) {
            core_->close(SharedCore::Whose::All, kModelGone);
            core_->engine.reset();
        } else if (pass) {  // else the owner has ended all of them
            std::list<SeatPlace::Held> turns;
            std::map<engine::SequenceId, engine::SequenceId> sequences;
            {
                const std::lock_guard lock(core_->mutex);
                turns.swap(place_->turns);
                sequences.swap(place_->sequences);
            }
            for (const SeatPlace::Held& turn : turns)
                if (turn.in_engine != 0)
                    (void)core_->engine->end(turn.in_engine);
            for (const auto& sequence : sequences)
                core_->engine->end_sequence(sequence.second);
        }
    }
    core_->remove_place(place_);
}

engine::Result<engine::ModelInfo> SharedEngine::Seat::load(const engine::LoadRequest& request,
                                                           const engine::Listener& listener, std::stop_token stop)
try {
    if (!place_->owner)
        return engine::fail(engine::Error::Code::Unsupported, "which model is open is decided in the window");
    tell_news(&listener);
    const SharedCore::Pass pass(*core_, place_);
    core_->close(SharedCore::Whose::All, kModelGone);
    auto info = core_->engine->load(request, core_->of_no_turn(place_, listener), std::move(stop));
    if (info)
        core_->opened(*info);
    else
        core_->look_whether_it_is_there();
    return info;
} catch (...) {
    return engine::caught("for this model");
}

void SharedEngine::Seat::unload()
{
    if (!place_->owner)
        return;
    const SharedCore::Pass pass(*core_, place_);
    core_->close(SharedCore::Whose::All, kModelGone);
    core_->engine->unload();
    core_->look_whether_it_is_there();
}

bool SharedEngine::Seat::loaded() const
{
    return place_->owner ? core_->loaded() : core_->admits(*place_);
}

engine::Result<engine::SequenceId> SharedEngine::Seat::create_sequence()
try {
    const SharedCore::Pass pass(*core_, place_);
    if (!pass)
        return not_open();
    const auto made = core_->engine->create_sequence();
    return made ? engine::Result<engine::SequenceId>(keep(*made)) : made;
} catch (...) {
    return engine::caught("for another conversation");
}

engine::Result<engine::SequenceId> SharedEngine::Seat::branch(engine::SequenceId from, int tokens)
try {
    const SharedCore::Pass pass(*core_, place_);
    const auto original = pass ? in_engine(from) : std::nullopt;
    if (!original)
        return pass ? engine::fail(engine::Error::Code::NotLoaded, "there is no such conversation") : not_open();
    const auto made = core_->engine->branch(*original, tokens);
    return made ? engine::Result<engine::SequenceId>(keep(*made)) : made;
} catch (...) {
    return engine::caught("for another conversation");
}

void SharedEngine::Seat::end_sequence(engine::SequenceId sequence)
{
    const SharedCore::Pass pass(*core_, place_);
    const auto there = pass ? in_engine(sequence) : std::nullopt;
    if (!there)
        return;
    core_->engine->end_sequence(*there);
    const std::lock_guard lock(core_->mutex);
    place_->sequences.erase(sequence);
}

std::optional<engine::SequenceId> SharedEngine::Seat::in_engine(engine::SequenceId sequence) const
{
    const std::lock_guard lock(core_->mutex);
    const auto found = place_->sequences.find(sequence);
    return found == place_->sequences.end() ? std::nullopt : std::optional(found->second);
}

engine::SequenceId SharedEngine::Seat::keep(engine::SequenceId sequence)
{
    const std::lock_guard lock(core_->mutex);
    place_->sequences.emplace(++place_->last_sequence, sequence);
    return place_->last_sequence;
}

engine::Result<engine::TurnId> SharedEngine::Seat::begin(engine::SequenceId sequence, const engine::Request& request,
                                                         const engine::Listener& listener, std::stop_token stop)
try {
    const SharedCore::Pass pass(*core_, place_);
    const auto there = pass ? in_engine(sequence) : std::nullopt;
    if (!there)
        return pass ? engine::fail(engine::Error::Code::NotLoaded, "there is no such conversation") : not_open();
    if (!place_->owner && core_->guest_turns() >= kMostGuestTurns)
        return engine::fail(engine::Error::Code::BadRequest,
                            std::to_string(kMostGuestTurns) + " requests are being answered: another one has to wait");
    engine::TurnId id = 0;
    {
        const std::lock_guard lock(core_->mutex);
        id = ++place_->last_turn;
        place_->turns.push_back({id});
    }
    if (!place_->owner && core_->on_guest_turn)
        core_->on_guest_turn();
    engine::Result<engine::TurnId> begun = not_open();
    try {
        begun = core_->engine->begin(*there, request, core_->of_turn(place_, id, sequence, listener), std::move(stop));
    } catch (...) {
        begun = engine::caught("to go on");
    }
    if (!begun) {
        forget(id);
        return begun;
    }
    const std::lock_guard lock(core_->mutex);
    place_->find(id)->in_engine = *begun;
    return id;
} catch (...) {
    return engine::caught("to go on");
}

void SharedEngine::Seat::forget(engine::TurnId turn)
{
    const std::lock_guard lock(core_->mutex);
    place_->turns.remove_if([&](const SeatPlace::Held& held) { return held.id == turn; });
    std::erase_if(place_->turn_news, [&](const SeatPlace::TurnNews& news) { return news.turn == turn; });
}

bool SharedEngine::Seat::has_news() const
{
    const std::lock_guard lock(core_->mutex);
    return !place_->turn_news.empty() || std::ranges::any_of(place_->turns, &SeatPlace::Held::over);
}

/// Passes waiting news to the listeners, on the seat's own thread. Without `general`, news of no turn go on waiting.
void SharedEngine::Seat::tell_news(const engine::Listener* general)
{
    std::deque<SeatPlace::TurnNews> of_turns;
    std::deque<EngineNews> of_none;
    {
        const std::lock_guard lock(core_->mutex);
        of_turns.swap(place_->turn_news);
        if (general) {
            of_none.swap(place_->general_news);
            place_->woken = false;
        }
    }
    for (const SeatPlace::TurnNews& news : of_turns)
        tell(*news.listener, news.news);
    for (const EngineNews& news : of_none)
        tell(*general, news);
}

std::vector<engine::TurnId> SharedEngine::Seat::over() const
{
    std::vector<engine::TurnId> over;
    const std::lock_guard lock(core_->mutex);
    for (const SeatPlace::Held& turn : place_->turns)
        if (turn.over)
            over.push_back(turn.id);
    return over;
}

/// Makes a step, unless another seat's step has advanced this seat's turns meanwhile, which counts as this step.
std::vector<engine::TurnId> SharedEngine::Seat::step(const engine::Listener& listener)
try {
    {
        const SharedCore::Pass pass(*core_, place_);
        if (pass && !has_news()) {
            tell_news(&listener);
            core_->mark_over(core_->engine->step(core_->of_no_turn(place_, listener)));
            core_->look_whether_it_is_there();
        }
    }
    tell_news(&listener);
    return over();
} catch (...) {
    return {};  // there was no memory even to report it: the next step does
}

engine::Result<engine::Turn> SharedEngine::Seat::end(engine::TurnId turn)
try {
    std::optional<engine::Result<engine::Turn>> result;
    tell_news(nullptr);
    {
        const SharedCore::Pass pass(*core_, place_);
        engine::TurnId there = 0;
        {
            const std::lock_guard lock(core_->mutex);
            const SeatPlace::Held* const held = place_->find(turn);
            if (!held)
                return engine::fail(engine::Error::Code::BadRequest, "there is no such turn, or it was ended before");
            there = held->in_engine;
            result = held->result;
        }
        tell_news(nullptr);
        if (!result)
            result = pass ? core_->engine->end(there) : not_open();
    }
    forget(turn);
    return std::move(*result);
} catch (...) {
    return engine::caught("to end the answer");
}

/// Begins a turn, steps until it is over and ends it, so that other seats enter between two steps.
engine::Result<engine::Turn> SharedEngine::Seat::generate(engine::SequenceId sequence, const engine::Request& request,
                                                          const engine::Listener& listener, std::stop_token stop)
try {
    const auto turn = begin(sequence, request, listener, std::move(stop));
    if (!turn)
        return tl::unexpected(turn.error());
    for (bool over = false; !over;)
        over = std::ranges::count(step(listener), *turn) > 0;
    return end(*turn);
} catch (...) {
    return engine::caught("to go on");
}

engine::Result<int> SharedEngine::Seat::count_tokens(std::string_view text, std::stop_token stop) const
try {
    const SharedCore::Pass pass(*core_, place_);
    return pass ? core_->engine->count_tokens(text, std::move(stop)) : engine::Result<int>(not_open());
} catch (...) {
    return engine::caught("for the tokens of so much text");
}

engine::Result<engine::PromptLedger> SharedEngine::Seat::count_prompt(const engine::Request& request,
                                                                      std::stop_token stop) const
try {
    const SharedCore::Pass pass(*core_, place_);
    if (!pass)
        return not_open();
    return core_->engine->count_prompt(request, std::move(stop));
} catch (...) {
    return engine::caught("to count the prompt");
}

/// Embeds a text. Other seats wait for as long as that takes.
engine::Result<engine::Embedding> SharedEngine::Seat::embed(const engine::EmbeddingInput& input, std::stop_token stop)
try {
    const SharedCore::Pass pass(*core_, place_);
    if (!pass)
        return not_open();
    auto made = core_->engine->embed(input, std::move(stop));
    core_->look_whether_it_is_there();
    return made;
} catch (...) {
    return engine::caught("for an embedding");
}

/// Posts the owner's commands. A guest's are refused, since commands change the placement in memory.
std::uint64_t SharedEngine::Seat::post(engine::Command command)
{
    return place_->owner ? core_->engine->post(std::move(command)) : 0;
}

void SharedEngine::Seat::poll(const engine::Listener& listener)
try {
    if (place_->owner) {
        const SharedCore::Pass pass(*core_, place_);
        tell_news(&listener);
        core_->engine->poll(core_->of_no_turn(place_, listener));
    }
    tell_news(&listener);
} catch (...) {
    return;  // the next poll does what was not done
}

SharedEngine::SharedEngine(std::unique_ptr<engine::Engine> engine, Admits admits)
    : core_(std::make_shared<SharedCore>(std::move(engine), std::move(admits)))
{
}

SharedEngine::~SharedEngine() = default;

std::unique_ptr<engine::Engine> SharedEngine::owner()
{
    return std::make_unique<Seat>(core_, true, nullptr);
}

std::unique_ptr<GuestEngine> SharedEngine::guest(std::function<void()> changed)
{
    return std::make_unique<Seat>(core_, false, std::move(changed));
}

OpenModel SharedEngine::open() const
{
    return core_->open();
}

int SharedEngine::guest_turns() const
{
    return core_->guest_turns();
}

void SharedEngine::set_on_guest_turn(std::function<void()> on_guest_turn)
{
    core_->on_guest_turn = std::move(on_guest_turn);
}

}  // namespace server
