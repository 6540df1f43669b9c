// RunningTurns keeps the turns that were begun and computes their steps: the rows that each may have, in one go where
// the model computes several sequences together. Owned by the engine, on its thread.
#pragma once

#include "engine/run/turn.h"

#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace engine {

struct RunningTurn {
    TurnId id = 0;
    SequenceId sequence = 0;
    Conversation* conversation = nullptr;  // null with the stepper
    Listener listener = {};
    std::unique_ptr<TurnStepper> stepper = {};  // null: the turn is over and has its result
    std::optional<Result<Turn>> result = {};
    bool waits = false;  // for memory that another turn has
    bool said_so = false;
};

class RunningTurns
{
public:
    /// Throws std::bad_alloc; then there is no such turn.
    RunningTurn& add(SequenceId sequence, Conversation& conversation, const Listener& listener);
    void remove(TurnId id);
    /// Returns null where there is no such turn.
    RunningTurn* find(TurnId id);
    RunningTurn* of(SequenceId sequence);  // that runs
    bool any() const { return running() > 0; }
    int running() const;
    std::list<RunningTurn>& all() { return turns_; }

    /// Computes one step of all turns that run. It does not throw: what fails is that turn's error. A turn that finds
    /// no memory waits while another one goes on whose KV may go when it is over, and leaves its own KV to that one.
    /// Where no other goes on, it fails. KV that was lost comes back in pieces, one in a step.
    void step(LoadedModel& model);
    /// Call it when memory has become free: no turn waits any longer.
    void wake_all();
    /// Lets all turns that run fail with this.
    void fail_all(const Error& error);

private:
    bool goes_on(const RunningTurn& turn) const { return turn.stepper && !turn.stepper->over(); }
    std::vector<RunningTurn*> find_going();
    std::vector<RunningTurn*> next_members(int max_rows, std::vector<RowGroup>& groups);
    void restore_more(RunningTurn& turn);
    void compute_alone(RunningTurn& turn, LoadedModel& model, bool alone);
    bool take_from_waiting(KvCache& cache);
    bool may_wait(const RunningTurn& turn, const Error& error) const;
    void let_wait(RunningTurn& turn);
    void take(RunningTurn& turn, const Status& done, bool alone);

    std::list<RunningTurn> turns_;  // in the order in which they were begun
    TurnId last_ = 0;
    unsigned first_ = 0;  // which turn is in front in the next step
};

}  // namespace engine
