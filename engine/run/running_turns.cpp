#include "engine/run/running_turns.h"

#include "engine/caught.h"
#include "engine/kv/lost_tokens.h"
#include "engine/run/events.h"
#include "engine/run/step_rows.h"

#include <algorithm>

namespace engine {

namespace {

/// Keeps, of the turns that compute lost tokens again, only the one that has the fewest. Where memory is short, two at
/// a time would each drive out what the other has just computed; and a turn that lost little does not wait for one that
/// lost much.
void one_recomputes_at_a_time(std::vector<RunningTurn*>& going)
{
    const auto lost = [](const RunningTurn* turn) { return turn->conversation->kv.lost.size(); };
    const RunningTurn* first = nullptr;
    for (const RunningTurn* const turn : going)
        if (lost(turn) > 0 && (!first || lost(turn) < lost(first)))
            first = turn;
    std::erase_if(going, [&](const RunningTurn* turn) { return lost(turn) > 0 && turn != first; });
}

}  // namespace

RunningTurn& RunningTurns::add(SequenceId sequence, Conversation& conversation, const Listener& listener)
{
    turns_.push_back({last_ + 1, sequence, &conversation, listener});
    ++last_;
    conversation.answered_now = true;
    return turns_.back();
}

void RunningTurns::remove(TurnId id)
{
    std::erase_if(turns_, [&](const RunningTurn& turn) { return turn.id == id; });
}

RunningTurn* RunningTurns::find(TurnId id)
{
    const auto found = std::ranges::find(turns_, id, &RunningTurn::id);
    return found == turns_.end() ? nullptr : &*found;
}

RunningTurn* RunningTurns::of(SequenceId sequence)
{
    const auto found = std::ranges::find_if(
        turns_, [&](const RunningTurn& turn) { return turn.stepper && turn.sequence == sequence; });
    return found == turns_.end() ? nullptr : &*found;
}

int RunningTurns::running() const
{
    return int(std::ranges::count_if(turns_, [](const RunningTurn& turn) { return turn.stepper != nullptr; }));
}

void RunningTurns::wake_all()
{
    for (RunningTurn& turn : turns_)
        turn.waits = false;
}

void RunningTurns::fail_all(const Error& error)
{
    for (RunningTurn& turn : turns_)
        if (goes_on(turn))
            turn.stepper->break_off(error);
}

/// Returns the turns that may have rows in the next step. Turns that are read back from a file have a piece of it read
/// in place of rows.
std::vector<RunningTurn*> RunningTurns::find_going()
{
    std::vector<RunningTurn*> going;
    for (RunningTurn& turn : turns_) {
        if (turn.stepper)
            turn.stepper->heed_stop();
        if (goes_on(turn) && turn.stepper->restores()) {
            restore_more(turn);
        } else if (goes_on(turn) && !turn.waits) {
            turn.stepper->find_lost();
            going.push_back(&turn);
        }
    }
    one_recomputes_at_a_time(going);
    return going;
}

/// Returns the turns that are in the next step, and their rows. The turns take it in turns to be in front, in case
/// there is not a row for each.
std::vector<RunningTurn*> RunningTurns::next_members(int max_rows, std::vector<RowGroup>& groups)
{
    std::vector<RunningTurn*> going = find_going();
    if (going.empty())
        return going;
    std::rotate(going.begin(), going.begin() + std::ptrdiff_t(first_++ % going.size()), going.end());
    std::vector<RowsWanted> wanted;
    for (const RunningTurn* turn : going) {
        turn->stepper->set_company(going.size() > 1 ? Company::OtherTurns : Company::None);
        wanted.push_back({turn->stepper->answers(), turn->stepper->most_rows()});
    }
    const std::vector<int> rows = divide_rows(wanted, max_rows);
    std::vector<RunningTurn*> members;
    for (std::size_t i = 0; i < going.size(); ++i)
        if (rows[i] > 0) {
            groups.push_back(going[i]->stepper->next(rows[i]));
            members.push_back(going[i]);
        }
    return members;
}

void RunningTurns::restore_more(RunningTurn& turn)
try {
    turn.stepper->restore_more();
} catch (...) {
    turn.stepper->break_off(caught("to go on").value());
}

void RunningTurns::step(LoadedModel& model)
try {
    const auto restores = [this](const RunningTurn& turn) { return goes_on(turn) && turn.stepper->restores(); };
    const bool takes_longer = std::ranges::any_of(turns_, restores);
    std::vector<RowGroup> groups;
    const std::vector<RunningTurn*> members = next_members(model.max_rows(), groups);
    const bool alone = members.size() == 1 && !takes_longer;
    const Status together = alone || members.empty() || !model.computes_together()
                                ? fail(Error::Code::NoMemory, "they are computed one after another")
                                : model.append(groups);
    for (RunningTurn* turn : members)
        if (together || !lacks_room(together.error()))
            take(*turn, together, false);
        else
            compute_alone(*turn, model, alone);
} catch (...) {
    fail_all(caught("to go on").value());
}

/// Computes the turn's next rows in a step of their own.
void RunningTurns::compute_alone(RunningTurn& turn, LoadedModel& model, bool alone)
try {
    model.placement().go_on(turn.conversation->pins);
    Status done = turn.stepper->compute_alone();
    while (!done && lacks_room(done.error()) && take_from_waiting(model.cache()))
        done = turn.stepper->compute_alone();
    if (!done && may_wait(turn, done.error()))
        let_wait(turn);
    else
        take(turn, done, alone);
} catch (...) {
    turn.stepper->break_off(caught("to go on").value());
}

/// Takes the KV from the waiting turn that began last; it is computed again when that goes on. False: none has any.
bool RunningTurns::take_from_waiting(KvCache& cache)
{
    const auto found = std::find_if(turns_.rbegin(), turns_.rend(), [&](const RunningTurn& turn) {
        return goes_on(turn) && turn.waits && !turn.conversation->kv.pages.empty();
    });
    if (found == turns_.rend())
        return false;
    lose_tokens(cache, found->conversation->kv, 0);
    return true;
}

bool RunningTurns::may_wait(const RunningTurn& turn, const Error& error) const
{
    return lacks_room(error) && std::ranges::any_of(turns_, [&](const RunningTurn& other) {
               return &other != &turn && goes_on(other) && !other.waits;
           });
}

void RunningTurns::let_wait(RunningTurn& turn)
{
    turn.waits = true;
    turn.stepper->put_off();
    if (!std::exchange(turn.said_so, true))
        send(turn.listener, make_event(Event::Kind::Warning, "there is no memory left for this answer: it goes on when "
                                                             "another one has ended"));
}

void RunningTurns::take(RunningTurn& turn, const Status& done, bool alone)
try {
    turn.stepper->take(done, alone);
} catch (...) {
    turn.stepper->break_off(caught("to go on").value());
}

}  // namespace engine
