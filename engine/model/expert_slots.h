// ExpertSlots says which experts of one layer are worth the few places that a device has for them, by how often and how
// lately tokens have chosen them. Values only: it moves nothing.
//
// What an expert is worth halves with every kHalfLife tokens, and grows by one when a token chooses it. Routers choose
// other experts when the topic changes: this keeps more of the next tokens' experts than the order of last use does,
// and a list that never changes keeps hardly any.
#pragma once

#include <optional>
#include <vector>

namespace engine {

class ExpertSlots
{
public:
    static constexpr int kNone = -1;
    static constexpr double kHalfLife = 16;  // tokens
    /// How much more an expert must be worth than the one whose place it takes, since the link is needed for each copy.
    static constexpr double kAdvantage = 1.25;

    /// `places`: at most as many as experts. Throws std::bad_alloc.
    ExpertSlots(int experts, int places);

    int places() const { return int(expert_in_.size()); }
    int filled() const { return filled_; }  // of the places
    /// Returns the slot in which the expert lies; kNone: in none.
    int slot_of(int expert) const { return slot_of_[std::size_t(expert)]; }

    /// Begins a step of this many tokens.
    void begin_step(int tokens);
    /// Notes that this many of the step's tokens have chosen the expert.
    void note(int expert, int tokens);

    struct Change {
        int expert = kNone;
        int slot = kNone;
    };
    /// Returns the expert that gains most by a slot, and the slot that it is to have. Empty: all lie as they should.
    std::optional<Change> wanted() const;
    /// Leaves the slot empty from now on, until put().
    void clear(int slot);
    void put(const Change& change);

private:
    std::vector<double> worth_;   // (experts,)
    std::vector<int> slot_of_;    // (experts,)
    std::vector<int> expert_in_;  // (places,)
    int filled_ = 0;
    double of_one_ = 1;  // what one token adds to the step's experts
};

}  // namespace engine
